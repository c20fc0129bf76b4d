package pagevm

// Step raises one entry of a selection to a higher level, which shows more of the entry.
type Step struct {
	// Rank is the utility that the step adds per token that it costs.
	Rank float64
	Cost int
	// Entry is the number of the entry that climbs. Of two equal steps the one with the smaller
	// number comes first.
	Entry int32
	// To is the level that the entry reaches.
	To Level
}

// Climber owns the entries of a selection.
type Climber interface {
	// Next returns the next step of an entry that costs at most room tokens, false if
	// there is none.
	Next(entry int32, room int) (Step, bool)
	// Take makes a step, or returns the reason why it did not.
	Take(Step) Taken
}

// Taken is the outcome of a step.
type Taken uint8

const (
	// Made: the entry reached the step's level.
	Made Taken = iota
	// Barred: the entry stays at its level for the rest of the climb.
	Barred
	// Faded: other steps have made this one worth less. Climb ranks it again.
	Faded
)

// Climb spends room tokens on the steps of n entries, best rank first, and returns the tokens
// left (Listing 1 of the ClawVM paper, second phase). Climb asks for an entry's next step only
// after it took the entry's previous step. If the ranks of every entry's steps fall, Climb visits
// the steps in sorted order and never makes the steps that it does not reach. Ties go to the
// smaller entry, then to the lower level. The heap uses buf. Callers should pass the returned
// buffer to the next call, so that repeated calls stop allocating.
func Climb(c Climber, n, room int, buf []Step) (left int, grown []Step) {
	h := steps(buf[:0])
	for i := range int32(n) {
		if s, ok := c.Next(i, room); ok {
			h = append(h, s)
		}
	}
	grown = h
	h.init()
	for len(h) > 0 {
		s := h[0]
		if s.Cost <= room {
			switch c.Take(s) {
			case Barred:
				h = h.pop()
				continue
			case Made:
				room -= s.Cost
			}
		}
		if next, ok := c.Next(s.Entry, room); ok {
			h[0] = next
			h.down(0)
		} else {
			h = h.pop()
		}
	}
	return room, grown
}

// steps is a heap of at most one step per entry, best first. It is written out
// because container/heap would allocate an interface per step.
type steps []Step

// better orders steps by rank, then by entry, then by level.
func better(a, b *Step) bool {
	switch {
	case a.Rank != b.Rank:
		return a.Rank > b.Rank
	case a.Entry != b.Entry:
		return a.Entry < b.Entry
	}
	return a.To < b.To
}

func (h steps) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h steps) pop() steps {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	h.down(0)
	return h
}

func (h steps) down(i int) {
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
