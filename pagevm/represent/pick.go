package represent

import (
	"container/heap"
	"slices"
	"strings"
)

// picker chooses units of a scan for a budget of bytes: greedy maximum
// coverage. A unit's gain is its base worth plus the worth of its tokens that
// no chosen unit shows yet; its cost is its length plus the elision marks that
// it adds or saves. Later levels take a prefix of the same order, so that a
// smaller representation shows a subset of a larger one.
type picker struct {
	*scan
	chosen  []bool
	order   []int  // chosen units, best first
	covered []bool // by token number
	stamp   []int32
	round   int32
	heap    unitHeap
	used    int     // bytes
	kept    []bool  // the flags of head
	count   []int32 // units with each token, see names
}

// markBytes is the length of an elision mark with its line break.
const markBytes = len("[…]\n")

type candidateUnit struct {
	score float32
	unit  int32
}

// zeroed returns n zero values, in the memory of old if it is large enough.
func zeroed[T any](old []T, n int) []T {
	s := slices.Grow(old[:0], n)[:n]
	clear(s)
	return s
}

// pick chooses units until about budget bytes are used. Callers must not use the picker after
// another pick.
func (s *scan) pick(budget int) *picker {
	p := &s.picked
	p.scan, p.order, p.heap, p.round, p.used = s, p.order[:0], p.heap[:0], 0, 0
	p.chosen = zeroed(p.chosen, len(s.units))
	p.covered = zeroed(p.covered, len(s.known))
	p.stamp = zeroed(p.stamp, len(s.known))
	for i := range s.units {
		p.heap = append(p.heap, candidateUnit{p.score(i), int32(i)})
	}
	heap.Init(&p.heap)
	for len(p.heap) > 0 && p.used < budget && p.heap[0].score >= 0 {
		i := int(p.heap[0].unit)
		if p.chosen[i] {
			heap.Pop(&p.heap)
			continue
		}
		// Scores only fall as tokens get covered, and rise only for the neighbours of a chosen
		// unit, which are pushed again; so if the score of the heap's top is still right, the top
		// is the best unit.
		if sc := p.score(i); sc < p.heap[0].score {
			if sc <= 0 {
				heap.Pop(&p.heap)
				continue
			}
			p.heap[0].score = sc
			heap.Fix(&p.heap, 0)
			continue
		}
		heap.Pop(&p.heap)
		c := p.cost(i)
		if p.used+c > budget && len(p.order) > 0 {
			continue
		}
		p.used += c
		p.choose(i)
	}
	return p
}

func (p *picker) choose(i int) {
	p.chosen[i] = true
	p.order = append(p.order, i)
	for _, t := range p.unitToks(i) {
		p.covered[t] = true
	}
	for _, j := range [2]int{i - 1, i + 1} {
		if j >= 0 && j < len(p.units) && !p.chosen[j] {
			if sc := p.score(j); sc > 0 {
				p.heap = append(p.heap, candidateUnit{sc, int32(j)})
				heap.Fix(&p.heap, len(p.heap)-1) // heap.Push allocates
			}
		}
	}
}

func (s *scan) unitToks(i int) []int32 {
	end := int32(len(s.toks))
	if i+1 < len(s.units) {
		end = s.units[i+1].tok
	}
	return s.toks[s.units[i].tok:end]
}

// score is gain per byte. Ties go to the earlier unit, in less.
func (p *picker) score(i int) float32 {
	gain := p.units[i].base
	p.round++
	for _, t := range p.unitToks(i) {
		if !p.covered[t] && p.stamp[t] != p.round {
			p.stamp[t] = p.round
			gain += p.known[t].worth
		}
	}
	return gain / float32(max(p.cost(i), 8)+10)
}

// cost returns the unit's length plus the change in the length of all elision marks. A unit in the
// middle of a gap adds a mark, and a unit that fills a gap saves one.
func (p *picker) cost(i int) int {
	n := p.units[i].end - p.units[i].start + 1
	switch left, right := p.shown(i-1), p.shown(i+1); {
	case !left && !right:
		n += markBytes
	case left && right:
		n -= markBytes
	}
	return n
}

// shown reports whether a neighbouring unit is chosen. Beyond either end nothing is
// left out, so that the ends count as shown.
func (p *picker) shown(i int) bool {
	return i < 0 || i >= len(p.units) || p.chosen[i]
}

// unitHeap has the best unit on top.
type unitHeap []candidateUnit

func (h unitHeap) Len() int      { return len(h) }
func (h unitHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h unitHeap) Less(i, j int) bool {
	return h[i].score > h[j].score || h[i].score == h[j].score && h[i].unit < h[j].unit
}

func (h *unitHeap) Push(c any) { *h = append(*h, c.(candidateUnit)) }

func (h *unitHeap) Pop() any {
	*h = (*h)[:len(*h)-1]
	return nil
}

// head chooses at most lines of the units, of together at most bytes bytes, and returns a flag for
// each unit. It takes the first and the last unit, then for up to half of the lines the best units
// that name errors, then the best of the rest.
func (p *picker) head(lines, bytes int) []bool {
	p.kept = zeroed(p.kept, len(p.units))
	keep := p.kept
	take := func(i int) {
		n := p.units[i].end - p.units[i].start + 1
		if !keep[i] && lines > 0 && bytes >= n {
			keep[i] = true
			lines--
			bytes -= n
		}
	}
	if len(keep) > 0 {
		take(0)
		take(len(keep) - 1)
	}
	if p.kind != kindCode && p.kind != kindGrep { // which only speaks of errors
		spare := lines / 2
		for _, i := range p.order {
			if p.units[i].err && lines > spare {
				take(i)
			}
		}
	}
	for _, i := range p.order {
		take(i)
	}
	return keep
}

// names lists up to n names that no kept unit shows: the paths and identifiers
// that occur in most units, ties by first appearance, in at most bytes.
func (s *scan) names(keep []bool, worth float32, n, bytes int) []string {
	s.picked.count = zeroed(s.picked.count, len(s.known))
	count := s.picked.count
	for _, t := range s.toks {
		count[t]++
	}
	for i, k := range keep {
		if k {
			for _, t := range s.unitToks(i) {
				count[t] = 0
			}
		}
	}
	var list []string
	for len(list) < n {
		best := -1
		for t, c := range count {
			if c > 0 && s.known[t].worth >= worth && (best < 0 || c > count[best]) {
				best = t
			}
		}
		if best < 0 {
			break
		}
		count[best] = 0
		name := s.text[s.known[best].a:s.known[best].b]
		if bytes -= len(name) + 2; bytes < 0 {
			break
		}
		list = append(list, name)
	}
	return list
}

// excerpt returns the kept units in order, verbatim, with a mark wherever something is left out.
func (s *scan) excerpt(keep []bool) string {
	var b strings.Builder
	b.Grow(max(0, s.picked.used+s.picked.used/8)) // a unit between two others saves a mark
	pos := 0
	for i, k := range keep {
		if !k {
			continue
		}
		u := s.units[i]
		s.gapParts(&b, pos, u.start)
		b.WriteString(s.text[u.start:u.end])
		pos = u.end
	}
	s.gapParts(&b, pos, len(s.text))
	return b.String()
}

// gapParts is gap for a part of a text that may contain [PartBreak]. Each break keeps its place.
func (s *scan) gapParts(b *strings.Builder, from, to int) {
	for s.breaks {
		n := strings.Index(s.text[from:to], PartBreak)
		if n < 0 {
			break
		}
		s.gap(b, from, from+n)
		b.WriteString(PartBreak)
		from += n + len(PartBreak)
	}
	s.gap(b, from, to)
}

// gap writes a replacement for a part of the text, or the bytes themselves if they are hardly
// longer than a mark or show nothing.
func (s *scan) gap(b *strings.Builder, from, to int) {
	g := s.text[from:to]
	mark := gapMark(g)
	if len(g) <= len(mark)+2 || len(g) <= 8 && blank(g) {
		b.WriteString(g)
		return
	}
	switch {
	case from == 0:
	case g[0] == '\n':
		b.WriteByte('\n')
	default:
		b.WriteByte(' ')
	}
	b.WriteString(mark)
	switch {
	case to == len(s.text):
	case g[len(g)-1] == '\n':
		b.WriteByte('\n')
	default:
		b.WriteByte(' ')
	}
}

// gapMark returns the mark for a gap. It has the size of large gaps only, since the size costs
// tokens.
func gapMark(g string) string {
	if len(g) < 4096 {
		return "[…]"
	}
	return "[… " + sizeText(int64(len(g))) + "]"
}
