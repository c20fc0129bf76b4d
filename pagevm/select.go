package pagevm

import (
	"container/heap"
	"slices"
)

// SelectInput is the input from which a cut chooses.
type SelectInput struct {
	Host   []HostMessage
	Places []Place
	// Seen carries the Gone flags, one per host message.
	Seen []Seen
	// Traits are the known facts about each segment, by its place in Host. A message without an
	// entry is judged by its size alone.
	Traits [][]Traits
	// Worth, if set, is how often a turn needs each segment, by its place in Host. Only the names
	// of Traits count then. Set it to select by another policy than the kernel's.
	Worth [][]float64
	// Names describes the past use of each name. Traits refer to names by their index in it.
	Names []NameUse
	// Target is the size that the conversation may have after the cut, in tokens.
	Target int
	// Most is the largest size that the conversation may have, in tokens. Above Target only steps
	// with a rank of at least Hurdle are taken. A Most below Target has no effect.
	Most int
	// Hurdle is the least rank of a step above Target, in needs per token and turn.
	Hurdle float64
	// Instructions is the size up to which a cut keeps instructions at least as outlines, in
	// tokens. The newest come first.
	Instructions int
	// Resolver: pages may go down to a pointer.
	Resolver bool
}

// Select chooses the segments that stay after a cut and the level at which each is shown.
//
// Atoms that must stay (the newest, the open ones, the one that opened the loop, those that are
// not durable) come first, at their lowest level. All other atoms are chosen by worth. An atom
// comes in whole, with each of its results at the level that gives the atom the most worth per
// token. It may then rise level by level. Atoms and levels compete in one order of worth per
// token until the target is reached. An atom that no step brings in leaves, and a result that no
// step raises is shown at its lowest level, as a pointer for example. A name counts for the first
// atom that shows it, a little for the second atom, and for no other atom. A page whose names are
// shown elsewhere, such as a file that was read again, therefore loses its worth. Of two equal
// atoms the earlier one is chosen. Equal inputs give equal choices.
func Select(in SelectInput) *CutWish {
	s, used := newSelection(in)
	if in.Most > in.Target {
		used = in.Most - s.climb(in.Most-used, in.Hurdle)
	}
	s.climb(in.Target-used, 0)
	return s.wish()
}

// newSelection returns a selection of the atoms that must stay, at their lowest level, with their cost.
func newSelection(in SelectInput) (s *selection, used int) {
	s = &selection{in: in, shown: make([]uint8, len(in.Names)), mark: make([]int32, len(in.Names))}
	s.need = make([]float64, len(in.Names))
	for i := range in.Names {
		s.need[i] = in.Names[i].worth()
	}
	s.rules = in.rules()
	for i := 0; i < len(in.Host); {
		end := i + 1
		for end < len(in.Host) && in.Places[end].Atom == in.Places[i].Atom {
			end++
		}
		s.add(i, end)
		i = end
	}
	used = s.held
	for i := range s.atoms {
		if a := &s.atoms[i]; a.stands {
			used += a.tokens()
			s.round++
			s.show(a)
		}
	}
	s.version++
	return s, used
}

// selection is the state of Select.
type selection struct {
	in    SelectInput
	atoms []atomChoice
	// need is the worth of each name. shown is the number of atoms that show the name.
	need  []float64
	shown []uint8
	// version counts the steps that were made. A step that was ranked at an earlier version may be
	// worth less by now.
	version int
	// mark[name] equals the number of this round if the present atom has counted the name
	// already.
	mark  []int32
	round int32
	// rules is the lowest level of each page with an instruction that stays.
	rules map[string]Level
	// held is the cost of the messages that stay even if their atoms leave.
	held int
}

// atomChoice is the choice for one atom.
type atomChoice struct {
	number  int
	stands  bool
	pages   []pageChoice
	version int
	// next is the level of each page after the step that was ranked last.
	next []Level
}

// pageChoice is a page of an atom. A page without a choice of levels has only its present level.
type pageChoice struct {
	seg *Segment
	// worth is how often a turn needs the whole page. lines is the number of its lines that a turn
	// quotes in an edit. names are the names that each level shows.
	worth, lines float64
	// state lowers the worth of the names of text that is gone, and of a finished task's files.
	state float64
	names *[Full + 1][]int32
	level Level
	free  bool
	// gone: the text is gone, so that the page does not rise.
	gone bool
}

func (p *pageChoice) tokens(l Level) int { return p.seg.At[l].Tokens }

func (a *atomChoice) tokens() int {
	n := 0
	for i := range a.pages {
		n += a.pages[i].tokens(a.pages[i].level)
	}
	return n
}

// add adds the atom of the messages [from, end), unless the prompt shows none of them.
func (s *selection) add(from, end int) {
	a := atomChoice{number: s.in.Places[from].Atom}
	for i := from; i < end; i++ {
		if s.in.Seen[i].Gone {
			a.stands = true // the rest of the atom stays
			continue
		}
		if s.in.Host[i].apart() {
			s.held += s.in.Host[i].Tokens()
			continue
		}
		a.stands = a.stands || s.mustStay(i)
		for j := range s.in.Host[i].Segments {
			seg := &s.in.Host[i].Segments[j]
			p := pageChoice{seg: seg, level: seg.First}
			p.worth, p.names = s.judge(i, j)
			state := s.traits(i, j).State
			p.state, p.gone = min(1, state.factor()), state == TextGone
			if s.in.Worth == nil && !seg.instructs() {
				p.lines = s.traits(i, j).lines(seg.At[Full].Tokens)
			}
			newest := state == Newest
			a.stands = a.stands || newest
			if low := seg.Lowest(s.in.Resolver); s.in.Places[i].Closed && low < Full && !newest {
				p.level, p.free = low, true // and so it is shown unless a step of climb raises it
			}
			if low, stays := s.rules[seg.Page]; stays {
				a.stands, p.level = true, max(p.level, low)
			}
			a.pages = append(a.pages, p)
		}
	}
	if len(a.pages) > 0 {
		a.next = make([]Level, len(a.pages))
		s.atoms = append(s.atoms, a)
	}
}

// judge returns the worth of a segment and the names that it shows.
func (s *selection) judge(i, j int) (float64, *[Full + 1][]int32) {
	t := s.traits(i, j)
	if s.in.Worth != nil {
		return s.in.Worth[i][j], &t.Names
	}
	seg := &s.in.Host[i].Segments[j]
	if worth, names, ok := seg.instructionWorth(&t.Names); ok {
		return worth, names
	}
	return t.worth(seg.At[Full].Tokens), &t.Names
}

// traits returns the traits of a segment.
func (s *selection) traits(i, j int) *Traits {
	if i < len(s.in.Traits) && j < len(s.in.Traits[i]) {
		return &s.in.Traits[i][j]
	}
	return &Traits{}
}

func (s *selection) mustStay(i int) bool {
	pl := s.in.Places[i]
	if pl.Opener || !pl.Closed || s.in.Host[i].Held || pl.Atom == s.in.Places[len(s.in.Places)-1].Atom {
		return true
	}
	return slices.ContainsFunc(s.in.Host[i].Segments, func(g Segment) bool { return !g.Committed })
}

// step brings one atom in, or shows more of one of its pages.
type step struct {
	// rank is the worth that the step adds per token.
	rank float64
	cost int
	atom int32
}

// climb makes the steps of all atoms that have a rank of at least hurdle, best rank first, for as
// long as room tokens last, and returns the tokens left (Listing 1 of the ClawVM paper, second
// phase). It asks for an atom's next step only after the previous step was made, and ranks a step
// again if other steps were made since.
func (s *selection) climb(room int, hurdle float64) (left int) {
	h := make(steps, 0, len(s.atoms))
	for i := range int32(len(s.atoms)) {
		if st, ok := s.best(i, room); ok {
			h = append(h, st)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		st := h[0]
		if st.cost <= room && s.atoms[st.atom].version == s.version {
			if st.rank < hurdle {
				heap.Pop(&h)
				continue
			}
			s.take(st.atom)
			room -= st.cost
		}
		if next, ok := s.best(st.atom, room); ok {
			h[0] = next
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return room
}

// steps is a heap of at most one step per atom, best first. Of two equal steps the earlier atom's
// comes first. Nothing is pushed, and the result of Pop is of no use.
type steps []step

func (h steps) Len() int      { return len(h) }
func (h steps) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h steps) Push(any)      {}

func (h steps) Less(i, j int) bool {
	return h[i].rank > h[j].rank || h[i].rank == h[j].rank && h[i].atom < h[j].atom
}

func (h *steps) Pop() any {
	*h = (*h)[:len(*h)-1]
	return nil
}

// best returns the best step of an atom within room, false if there is none.
func (s *selection) best(atom int32, room int) (step, bool) {
	a := &s.atoms[atom]
	a.version = s.version
	s.round++
	var worth float64
	var tokens int
	if a.stands {
		s.own(a)
		worth, tokens = s.rise(a, room)
	} else {
		worth, tokens = s.enter(a, room)
	}
	return step{worth / float64(max(tokens, 1)), tokens, atom}, tokens >= 0 && tokens <= room
}

// enter returns the atom coming in, with the rises that lift its worth per token.
func (s *selection) enter(a *atomChoice, room int) (worth float64, tokens int) {
	for i := range a.pages {
		p := &a.pages[i]
		a.next[i] = p.level
		worth += s.gain(p, Gone, p.level, true)
		tokens += p.tokens(p.level)
	}
	for {
		i, l, g, t := s.bestRise(a, room-tokens)
		if i < 0 || g*float64(tokens) <= worth*float64(t) {
			return worth, tokens
		}
		s.gain(&a.pages[i], a.next[i], l, true)
		a.next[i], worth, tokens = l, worth+g, tokens+t
	}
}

// rise returns the best single rise of an atom that is kept. It returns −1 tokens if there is
// none.
func (s *selection) rise(a *atomChoice, room int) (worth float64, tokens int) {
	for i := range a.pages {
		a.next[i] = a.pages[i].level
	}
	i, l, g, t := s.bestRise(a, room)
	if i < 0 {
		return 0, -1
	}
	a.next[i] = l
	return g, t
}

// bestRise returns the rise of one page above next with the most worth per token.
func (s *selection) bestRise(a *atomChoice, room int) (page int, to Level, worth float64, tokens int) {
	page = -1
	for i := range a.pages {
		p := &a.pages[i]
		if !p.free || p.gone {
			continue
		}
		for l := a.next[i] + 1; l <= Full; l++ {
			if _, ok := p.seg.at(l); !ok {
				continue
			}
			t := max(p.tokens(l)-p.tokens(a.next[i]), 0)
			if t > room {
				continue
			}
			if g := s.gain(p, a.next[i], l, false); page < 0 || g*float64(max(tokens, 1)) > worth*float64(max(t, 1)) {
				page, to, worth, tokens = i, l, g, t
			}
		}
	}
	return page, to, worth, tokens
}

// gain returns how much more a page is worth at level to than at level from. It counts the
// content, and the names that no atom shows yet. If count is set, gain marks these names as
// counted in this round.
func (s *selection) gain(p *pageChoice, from, to Level, count bool) float64 {
	g := p.worth*(levelLines[to]-levelLines[from]) + p.lines*(quotedLines[to]-quotedLines[from])
	most := uint8(maxShown)
	if p.seg.Superseded {
		most = 1 // text that is gone is no second place for a name
	}
	for _, n := range p.names[to] {
		if s.shown[n] < most && s.mark[n] != s.round {
			g += s.need[n] * shownShare[s.shown[n]] * p.state
			if count {
				s.mark[n] = s.round
			}
		}
	}
	return g
}

// own marks the names that an atom shows already. The atom gains nothing by showing them at a
// higher level.
func (s *selection) own(a *atomChoice) {
	for i := range a.pages {
		for _, n := range a.pages[i].names[a.pages[i].level] {
			s.mark[n] = s.round
		}
	}
}

// show counts the names that an atom shows now and did not show before.
func (s *selection) show(a *atomChoice) {
	for i := range a.pages {
		for _, n := range a.pages[i].names[a.pages[i].level] {
			if s.mark[n] != s.round {
				s.mark[n] = s.round
				s.shown[n] = min(s.shown[n]+1, maxShown)
			}
		}
	}
}

// take makes the step of an atom that was ranked last.
func (s *selection) take(atom int32) {
	a := &s.atoms[atom]
	s.round++
	if a.stands {
		s.own(a)
	}
	a.stands = true
	for i := range a.pages {
		a.pages[i].level = a.next[i]
	}
	s.show(a)
	s.version++
}

// wish returns the choice as a wish.
func (s *selection) wish() *CutWish {
	w := &CutWish{Levels: map[string]Level{}, Leave: map[int]bool{}}
	for i := range s.atoms {
		a := &s.atoms[i]
		if !a.stands {
			w.Leave[a.number] = true
			continue
		}
		for _, p := range a.pages {
			if p.free {
				w.Levels[p.seg.Page] = p.level
			}
		}
	}
	return w
}
