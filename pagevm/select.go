package pagevm

import (
	"container/heap"
	"math"
)

// SelectInput is what a cut has to choose from.
type SelectInput struct {
	Host   []HostMessage
	Places []Place
	// Seen carries the Gone flags, one per host message.
	Seen []Seen
	// Target is what the conversation may cost after the cut, in tokens.
	Target int
	// Resolver: pages may go down to a pointer.
	Resolver bool
}

// The constants of the selector. They are ours; the paging paper fixes the order
// (minimum first, then upgrades by utility per token), not these figures. They
// were chosen on thirteen recorded sessions, where they matter little: reference
// recall stays within two points for half or twice the value.
const (
	// textShare is the part of the target that dialogue and minimum
	// representations may take before whole atoms leave; the rest is kept for
	// raising what stands, newest first.
	textShare = 0.9
	// halfLifeAtoms is the age at which evidence is worth half as much.
	halfLifeAtoms = 30
	// supersededWeight scales evidence that a later read or edit made stale.
	supersededWeight = 0.15
)

// levelValue is how much of a page's worth each level carries.
var levelValue = [Full + 1]float64{Pointer: 0.02, Structured: 0.45, Compressed: 0.85, Full: 1}

// Select chooses what stays after a cut and how much of it is shown. Everything
// starts at its lowest level; the oldest atoms leave until that fits; then the
// upgrade with the best gain per token is taken until the target is reached.
// Ties go to the smaller page id and the lower level, so the choice is a function
// of its input.
func Select(in SelectInput) *CutWish {
	s := selection{in: in, wish: &CutWish{Levels: map[string]Level{}, Leave: map[int]bool{}}}
	s.collect()
	s.shed()
	s.raise()
	return s.wish
}

type candidate struct {
	seg    *Segment
	atom   int
	weight float64
	level  Level
}

type selection struct {
	in     SelectInput
	wish   *CutWish
	cands  []candidate
	used   int
	newest int
}

// collect puts every degradable result at its lowest level and sums what stands.
func (s *selection) collect() {
	if n := len(s.in.Places); n > 0 {
		s.newest = s.in.Places[n-1].Atom
	}
	for i := range s.in.Host {
		if s.in.Seen[i].Gone {
			continue
		}
		pl := s.in.Places[i]
		for j := range s.in.Host[i].Segments {
			s.place(&s.in.Host[i].Segments[j], pl)
		}
	}
}

func (s *selection) place(seg *Segment, pl Place) {
	low := seg.Lowest(s.in.Resolver)
	if !pl.Closed || low == Full {
		s.used += seg.At[seg.First].Tokens
		return
	}
	s.used += seg.At[low].Tokens
	s.wish.Levels[seg.Page] = low
	w := math.Exp2(-float64(s.newest-pl.Atom) / halfLifeAtoms)
	if seg.Superseded {
		w *= supersededWeight
	}
	s.cands = append(s.cands, candidate{seg: seg, atom: pl.Atom, weight: w, level: low})
}

// shed lets the oldest closed atoms leave until the rest fits its share.
func (s *selection) shed() {
	limit := int(textShare * float64(s.in.Target))
	for i := 0; i < len(s.in.Host) && s.used > limit; {
		atom := s.in.Places[i].Atom
		end := i
		cost, stays := 0, false
		for ; end < len(s.in.Host) && s.in.Places[end].Atom == atom; end++ {
			stays = stays || s.in.Seen[end].Gone || s.mustStay(end)
			cost += s.cost(end)
		}
		if !stays {
			s.wish.Leave[atom] = true
			s.used -= cost
		}
		i = end
	}
}

func (s *selection) mustStay(i int) bool {
	pl := s.in.Places[i]
	if pl.Opener || !pl.Closed || pl.Atom == s.newest {
		return true
	}
	for j := range s.in.Host[i].Segments {
		if !s.in.Host[i].Segments[j].Committed {
			return true
		}
	}
	return false
}

func (s *selection) cost(i int) int {
	n := 0
	for j := range s.in.Host[i].Segments {
		seg := &s.in.Host[i].Segments[j]
		if l, ok := s.wish.Levels[seg.Page]; ok {
			n += seg.At[l].Tokens
		} else {
			n += seg.At[seg.First].Tokens
		}
	}
	return n
}

// raise spends what is left of the target on the best upgrades.
func (s *selection) raise() {
	q := make(upgrades, 0, len(s.cands))
	for _, c := range s.cands {
		if s.wish.Leave[c.atom] {
			delete(s.wish.Levels, c.seg.Page)
			continue
		}
		if u, ok := c.best(s.in.Target - s.used); ok {
			q = append(q, u)
		}
	}
	heap.Init(&q)
	for q.Len() > 0 {
		u := heap.Pop(&q).(upgrade)
		if s.used+u.cost > s.in.Target {
			if u, ok := u.cand.best(s.in.Target - s.used); ok {
				heap.Push(&q, u)
			}
			continue
		}
		s.used += u.cost
		u.cand.level = u.to
		s.wish.Levels[u.cand.seg.Page] = u.to
		if next, ok := u.cand.best(s.in.Target - s.used); ok {
			heap.Push(&q, next)
		}
	}
}

// upgrade is one step up for one candidate.
type upgrade struct {
	cand candidate
	to   Level
	cost int
	gain float64 // utility per token
}

// best is the upgrade of c with the most utility per token within budget tokens.
func (c candidate) best(budget int) (upgrade, bool) {
	var u upgrade
	from := c.seg.At[c.level].Tokens
	for l := c.level + 1; l <= Full; l++ {
		sh, ok := c.seg.at(l)
		if !ok || sh.Tokens-from > budget {
			continue
		}
		cost := max(sh.Tokens-from, 0)
		gain := c.weight * (levelValue[l] - levelValue[c.level]) * float64(c.seg.At[Full].Tokens) / float64(cost+1)
		if u.to == Gone || gain > u.gain {
			u = upgrade{cand: c, to: l, cost: cost, gain: gain}
		}
	}
	return u, u.to != Gone
}

// upgrades is a max-heap by gain, then by page id and level.
type upgrades []upgrade

func (q upgrades) Len() int      { return len(q) }
func (q upgrades) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q upgrades) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	switch {
	case a.gain != b.gain:
		return a.gain > b.gain
	case a.cand.seg.Page != b.cand.seg.Page:
		return a.cand.seg.Page < b.cand.seg.Page
	}
	return a.to < b.to
}
func (q *upgrades) Push(x any) { *q = append(*q, x.(upgrade)) }
func (q *upgrades) Pop() any {
	old := *q
	u := old[len(old)-1]
	*q = old[:len(old)-1]
	return u
}
