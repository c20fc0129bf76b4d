package pagevm

import "slices"

// SelectInput is the input from which a cut chooses.
type SelectInput struct {
	Host   []HostMessage
	Places []Place
	// Seen carries the Gone flags, one per host message.
	Seen []Seen
	// Traits are the known facts about each segment, by its place in Host. A message without an
	// entry is judged by its size alone.
	Traits [][]Traits
	// Names describes the past use of each name. Traits refer to names by their index in it.
	Names []NameUse
	// Target is the size that the conversation may have after the cut, in tokens.
	Target int
	// Most is the largest size that the conversation may have, in tokens. Above Target only steps
	// with a rank of at least Hurdle are taken. A Most below Target has no effect.
	Most int
	// Hurdle is the least rank of a step above Target, in needs per token and turn.
	Hurdle float64
	// Resolver: pages may go down to a pointer.
	Resolver bool
}

// Select chooses the segments that stay after a cut and the level at which each is shown.
//
// Atoms that must stay (the newest, the open ones, the one that opened the loop, those that are
// not durable) come first, at their lowest level. All other atoms are chosen by worth. An atom
// comes in whole, with each of its results at the level that gives the atom the most worth per
// token. It may then rise level by level. Atoms and levels compete in one order of worth per
// token ([Climb]) until the target is reached. A name counts for the first atom that shows it, a
// little for the second atom, and for no other atom. A page whose names are shown elsewhere, such
// as a file that was read again, therefore loses its worth. Of two equal atoms the earlier one is
// chosen. Equal inputs give equal choices.
func Select(in SelectInput) *CutWish {
	s := selection{in: in, shown: make([]uint8, len(in.Names)), mark: make([]int32, len(in.Names))}
	s.need = make([]float64, len(in.Names))
	for i := range in.Names {
		s.need[i] = in.Names[i].Worth()
	}
	for i := 0; i < len(in.Host); {
		end := i + 1
		for end < len(in.Host) && in.Places[end].Atom == in.Places[i].Atom {
			end++
		}
		s.add(i, end)
		i = end
	}
	used := s.held
	for i := range s.atoms {
		if a := &s.atoms[i]; a.stands {
			used += a.tokens()
			s.round++
			s.show(a)
		}
	}
	s.version++
	if in.Most > in.Target {
		s.hurdle = in.Hurdle
		left, _ := Climb(&s, len(s.atoms), in.Most-used, nil)
		used, s.hurdle = in.Most-left, 0
	}
	Climb(&s, len(s.atoms), in.Target-used, nil)
	return s.wish()
}

// selection is the state of Select. Its atoms are the entries of the climb.
type selection struct {
	in    SelectInput
	atoms []atomChoice
	// need is the worth of each name. shown is the number of atoms that show the name.
	need  []float64
	shown []uint8
	// version counts the steps that were made. A step that was ranked at an earlier version may
	// have faded.
	version int
	// mark[name] equals the number of this round if the present atom has counted the name
	// already.
	mark  []int32
	round int32
	// held is the cost of the messages that stay even if their atoms leave.
	held int
	// hurdle is the least rank of a step that is taken.
	hurdle float64
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
	seg    *Segment
	traits *Traits
	level  Level
	free   bool
}

func (p *pageChoice) tokens(l Level) int { return p.seg.At[l].Tokens }

func (a *atomChoice) tokens() int {
	n := 0
	for i := range a.pages {
		n += a.pages[i].tokens(a.pages[i].level)
	}
	return n
}

// add adds the atom of the messages [from, end), if the prompt holds it now.
func (s *selection) add(from, end int) {
	a := atomChoice{number: s.in.Places[from].Atom}
	for i := from; i < end; i++ {
		if s.in.Seen[i].Gone {
			a.stands = true // its remainder can't leave alone
			continue
		}
		if s.in.Host[i].apart() {
			s.held += s.in.Host[i].Tokens()
			continue
		}
		a.stands = a.stands || s.mustStay(i)
		for j := range s.in.Host[i].Segments {
			seg := &s.in.Host[i].Segments[j]
			p := pageChoice{seg: seg, traits: s.traits(i, j), level: seg.First}
			if low := seg.Lowest(s.in.Resolver); s.in.Places[i].Closed && low < Full {
				p.level, p.free = low, true
			}
			a.pages = append(a.pages, p)
		}
	}
	if len(a.pages) > 0 {
		a.next = make([]Level, len(a.pages))
		s.atoms = append(s.atoms, a)
	}
}

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

// Next returns the best step of an atom within room. The step brings the atom in, or shows more
// of one of its pages.
func (s *selection) Next(entry int32, room int) (Step, bool) {
	a := &s.atoms[entry]
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
	return Step{Rank: worth / float64(max(tokens, 1)), Cost: tokens, Entry: entry}, tokens >= 0 && tokens <= room
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
		i, l, g, t := s.best(a, room-tokens)
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
	i, l, g, t := s.best(a, room)
	if i < 0 {
		return 0, -1
	}
	a.next[i] = l
	return g, t
}

// best returns the rise of one page above next with the most worth per token.
func (s *selection) best(a *atomChoice, room int) (page int, to Level, worth float64, tokens int) {
	page = -1
	for i := range a.pages {
		p := &a.pages[i]
		if !p.free {
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
	g := p.traits.Worth(p.tokens(Full), p.seg.Superseded) * (levelLines[to] - levelLines[from])
	most := uint8(maxShown)
	if p.seg.Superseded {
		most = 1 // a stale page is no second place for a name
	}
	for _, n := range p.traits.Names[to] {
		if s.shown[n] < most && s.mark[n] != s.round {
			g += s.need[n] * shownShare[s.shown[n]]
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
		for _, n := range a.pages[i].traits.Names[a.pages[i].level] {
			s.mark[n] = s.round
		}
	}
}

// show counts the names that an atom shows now and did not show before.
func (s *selection) show(a *atomChoice) {
	for i := range a.pages {
		for _, n := range a.pages[i].traits.Names[a.pages[i].level] {
			if s.mark[n] != s.round {
				s.mark[n] = s.round
				s.shown[n] = min(s.shown[n]+1, maxShown)
			}
		}
	}
}

// Take makes a step. If other steps were made since it was ranked, Take has it ranked again
// instead.
func (s *selection) Take(st Step) Taken {
	a := &s.atoms[st.Entry]
	if a.version != s.version {
		return Faded
	}
	if st.Rank < s.hurdle {
		return Barred
	}
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
	return Made
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
