package vec

import (
	"cmp"
	"math"
	"slices"
)

// tunedK is the number of nearest vectors for which codes are measured.
const tunedK = 24

// pick is an entry of a table.
type pick struct {
	*slab
	at  int
	far float32
}

// Pick is a vector in use: the row that it belongs to, and its id in embedding_cache.
type Pick struct{ Row, ID int64 }

// nearest returns vectors that probably include the k nearest to v, as the codes estimate.
func (t *table) nearest(v []float32, k int, allowed func(file int64) bool) []Pick {
	room, _ := t.dists.Get().(*[]uint16)
	if room == nil || cap(*room) < t.n {
		room = new(make([]uint16, 0, t.n+t.n/8))
	}
	picks := t.preselect(v, k, allowed, *room)
	t.dists.Put(room)
	out := make([]Pick, len(picks))
	for i, p := range picks {
		out[i] = Pick{p.row(p.at), p.ids[p.at]}
	}
	return out
}

// preselect returns entries that probably include the k nearest. The signs select some entries, and
// all planes select some of these. allowed, if not nil, reports whether a file's entries may be
// selected. dists must have capacity for one distance per entry.
func (t *table) preselect(v []float32, k int, allowed func(file int64) bool, dists []uint16) []pick {
	k = max(k, tunedK)
	q := t.coder.ask(v)
	near := t.bySigns(q, (t.among*k+tunedK-1)/tunedK, allowed, dists)
	words := t.coder.words
	planes := make([][]uint64, t.planes)
	for i := range near {
		p := &near[i]
		planes[0] = p.signs[p.at*words : (p.at+1)*words]
		for j := range t.planes - 1 {
			planes[1+j] = p.fine[(p.at*(t.planes-1)+j)*words:][:words]
		}
		n := p.numbers[3*p.at : 3*p.at+3]
		p.far = q.far(planes, n[0], n[1], n[2])
	}
	return nearestOf(near, (t.rescore*k+tunedK-1)/tunedK)
}

// nearestOf returns the n entries with the smallest estimated distance. It reuses all.
func nearestOf(all []pick, n int) []pick {
	order := func(a, b pick) int { return cmp.Compare(a.far, b.far) }
	out, limit := all[:0], float32(math.Inf(1))
	for _, p := range all {
		if p.far > limit {
			continue
		}
		if out = append(out, p); len(out) == 2*n {
			slices.SortFunc(out, order)
			out = out[:n]
			limit = out[n-1].far
		}
	}
	slices.SortFunc(out, order)
	return out[:min(len(out), n)]
}

// bySigns returns the n allowed entries that are nearest by their signs, and all that are as near as
// the last of them.
func (t *table) bySigns(q *asked, n int, allowed func(file int64) bool, dists []uint16) []pick {
	d, count := t.scan(q, dists)
	// If some near entries are not allowed, entries that are further away are collected as well.
	out := make([]pick, 0, n+n/4)
	for from := 0; from < len(count) && len(out) < n; {
		to, sum := from, 0
		for to < len(count) && sum < n-len(out) {
			sum += count[to]
			to++
		}
		out = t.collect(out, d, uint16(from), uint16(to), allowed)
		from = to
	}
	return out
}

// scan returns the distance of every entry by its signs, and for each distance the number of entries.
func (t *table) scan(q *asked, dists []uint16) (d []uint16, count []int) {
	words := t.coder.words
	d, count = dists[:0], make([]int, max(64*words+1, farSteps))
	for _, s := range t.slabs {
		signs := s.signs
		for i := range s.rows {
			var x uint16
			if t.exactly {
				x = q.bySigns(signs[:words], t.planes, s.numbers[3*i:])
			} else {
				x = uint16(q.differ(signs[:words]))
			}
			signs = signs[words:]
			d = append(d, x)
			count[x]++
		}
	}
	return d, count
}

// collect appends the allowed entries whose distance is at least from and less than to.
func (t *table) collect(out []pick, d []uint16, from, to uint16, allowed func(file int64) bool) []pick {
	for _, s := range t.slabs {
		mine := d[:len(s.rows)]
		d = d[len(s.rows):]
		for i, x := range mine {
			if x-from < to-from && (allowed == nil || allowed(s.files[i])) {
				out = append(out, pick{slab: s, at: i})
			}
		}
	}
	return out
}
