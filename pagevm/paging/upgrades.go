package paging

import "github.com/memkernel/memkernel/pagevm"

// upgrade is one step up of one entry.
type upgrade struct {
	rank  float64 // ΔU/Δtokens
	entry int32
	to    pagevm.Level
}

// upgrades is a heap of at most one upgrade per entry, best first. A page's step is
// only reached through the one before, so taking the top and putting in the page's
// next step (which, if it ranks higher, is the top at once) visits all upgrades in
// the sorted order of Listing 1 without making or sorting those that are never
// reached. It is written out because container/heap would allocate an interface per
// step.
type upgrades []upgrade

// better orders upgrades by rank, then by page id (which is the order of the
// entries), then by level.
func better(a, b *upgrade) bool {
	switch {
	case a.rank != b.rank:
		return a.rank > b.rank
	case a.entry != b.entry:
		return a.entry < b.entry
	}
	return a.to < b.to
}

func (h upgrades) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h upgrades) replace(u upgrade) {
	h[0] = u
	h.down(0)
}

func (h *upgrades) pop() {
	q := *h
	last := len(q) - 1
	q[0] = q[last]
	*h = q[:last]
	q[:last].down(0)
}

func (h upgrades) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && better(&h[c+1], &h[c]) {
			c++
		}
		if !better(&h[c], &h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
