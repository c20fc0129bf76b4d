package pagevm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"pgregory.net/rapid"
)

// choice is a conversation of one user message, n old atoms of one result each, and
// a newest atom, with traits to be filled in.
type choice struct {
	script
	in SelectInput
}

func choiceOf(atoms, tokens int) *choice {
	c := &choice{}
	c.user()
	for range atoms {
		c.call(1, tokens)
	}
	c.say()
	c.user()
	c.in = SelectInput{Host: c.host, Places: c.places, Seen: make([]Seen, len(c.host)), Traits: make([][]Traits, len(c.host)), Resolver: true}
	for i := range c.host {
		c.in.Traits[i] = make([]Traits, len(c.host[i].Segments))
		for j := range c.in.Traits[i] {
			t := &c.in.Traits[i][j]
			t.Age = c.places[len(c.places)-1].Atom - c.places[i].Atom
			if t.Act = toolcall.ActSay; c.host[i].Segments[j].Kind == ItemResult {
				t.Act = toolcall.ActRead
			}
		}
	}
	return c
}

// result is the trait of the n-th old atom's result, and shows what its level is
// after the choice, Gone if the atom leaves.
func (c *choice) result(n int) *Traits { return &c.in.Traits[2+2*n][0] }

func (c *choice) shows(w *CutWish, n int) Level {
	i := 2 + 2*n
	if w.Leave[c.places[i].Atom] {
		return Gone
	}
	return w.Levels[c.host[i].Segments[0].Page]
}

func (c *choice) name(use NameUse) int32 {
	c.in.Names = append(c.in.Names, use)
	return int32(len(c.in.Names) - 1)
}

func TestSelectPrefers(t *testing.T) {
	// What commands print is worth what it names: no edit repeats its lines.
	printed := func(c *choice) {
		c.result(0).Act, c.result(1).Act = toolcall.ActShell, toolcall.ActShell
	}
	cases := []struct {
		name string
		// favour makes the first of two equal old results worth more than the second.
		favour func(c *choice)
	}{
		{"what names something that was said", func(c *choice) {
			printed(c)
			c.result(0).Names[Full] = []int32{c.name(NameUse{Said: 1, Age: 9})}
			c.result(1).Names[Full] = []int32{c.name(NameUse{Age: 9})}
		}},
		{"a name that was said more often", func(c *choice) {
			printed(c)
			c.result(0).Names[Full] = []int32{c.name(NameUse{Said: 9, Age: 9})}
			c.result(1).Names[Full] = []int32{c.name(NameUse{Said: 1, Age: 9})}
		}},
		{"the only one to show a name", func(c *choice) {
			printed(c)
			n, m := c.name(NameUse{Said: 1}), c.name(NameUse{Said: 1})
			c.in.Traits[len(c.in.Traits)-1][0].Names[Full] = []int32{m}
			c.result(0).Names[Full], c.result(1).Names[Full] = []int32{n}, []int32{m}
		}},
		{"what is in work", func(c *choice) { c.result(0).State = InWork }},
		{"what is of no finished task", func(c *choice) { c.result(1).State = TaskDone }},
		{"a finished task's before text that is gone", func(c *choice) { c.result(0).State, c.result(1).State = TaskDone, TextGone }},
		{"a file before a command's output", func(c *choice) { c.result(1).Act = toolcall.ActShell }},
		{"the newer", func(c *choice) { c.result(1).Age += 30 }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := choiceOf(2, 4000)
			tc.favour(c)
			c.in.Target = 50 + 40 + 50 + 30 + 4000 + 100
			w := Select(c.in)
			if a, b := c.shows(w, 0), c.shows(w, 1); a != Full || b >= Compressed {
				t.Errorf("the first is shown %v, the second %v", a, b)
			}
		})
	}
}

// What is worth its keep stands above the target too, as far as there is room for it.
func TestSelectKeepsWhatEarnsIt(t *testing.T) {
	for _, tt := range []struct {
		name         string
		most         int
		hurdle       float64
		first, other bool
	}{
		{"nothing above the target", 0, 0, true, false},
		{"no room", 4700, 1e-9, true, false},
		{"all that there is room for", 20_000, 1e-9, true, true},
		{"a hurdle that the file in work takes", 20_000, 1e-4, true, false},
		{"a hurdle that nothing takes", 20_000, 1, true, false},
	} {
		c := choiceOf(3, 4000)
		c.result(0).State = InWork
		c.result(2).Act = toolcall.ActShell
		c.in.Target = 50 + 40 + 50 + 30 + 4000 + 100
		c.in.Most, c.in.Hurdle = tt.most, tt.hurdle
		w := Select(c.in)
		if first, other := c.shows(w, 0) == Full, c.shows(w, 1) == Full; first != tt.first || other != tt.other {
			t.Errorf("%s: the file in work stands %v, the other %v; want %v, %v", tt.name, first, other, tt.first, tt.other)
		}
	}
}

// An atom leaves whatever its age if it is worth less than newer ones: the oldest
// may stay.
func TestSelectLetsTheMiddleGo(t *testing.T) {
	c := choiceOf(6, 2000)
	for n := range 6 {
		c.result(n).Act = toolcall.ActShell
	}
	n := c.name(NameUse{Said: 3, Age: 1})
	c.in.Traits[1][0].Names[Full] = []int32{n}
	c.in.Target = 500
	w := Select(c.in)
	if w.Leave[c.places[1].Atom] || !w.Leave[c.places[3].Atom] {
		t.Errorf("leave %v, want the first call to stay and the second to go", w.Leave)
	}
}

// A repeated output is shown once, and of its copies the one that is kept anyway.
func TestSelectShowsRepeatsOnce(t *testing.T) {
	c := choiceOf(3, 3000)
	var names []int32
	for range 20 {
		names = append(names, c.name(NameUse{Said: 1, Age: 1}))
	}
	for n := range 3 {
		c.result(n).Names[Full] = names
		c.result(n).Age = 3 - n
	}
	c.in.Target = 1 << 20
	all := Select(c.in)
	c.in.Target = 50 + 40 + 50 + 90 + 3000 + 800
	w := Select(c.in)
	full := 0
	for n := range 3 {
		if c.shows(all, n) != Full {
			t.Errorf("with room for all, copy %d is shown %v", n, c.shows(all, n))
		}
		if c.shows(w, n) == Full {
			full++
		}
	}
	if full != 1 {
		t.Errorf("%d copies are shown in full, want one", full)
	}
}

// drawChoice makes any conversation, with names shared out at random.
func drawChoice(t *rapid.T) *choice {
	c := &choice{}
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		c.user()
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			c.call(rapid.IntRange(1, 3).Draw(t, "results"), rapid.IntRange(10, 3000).Draw(t, "tokens"))
		}
		if rapid.Bool().Draw(t, "said") {
			c.say()
		}
	}
	c.in = SelectInput{Host: c.host, Places: c.places, Seen: make([]Seen, len(c.host)), Traits: make([][]Traits, len(c.host)),
		Resolver: rapid.Bool().Draw(t, "resolver"), Target: rapid.IntRange(0, 12000).Draw(t, "target")}
	for range rapid.IntRange(1, 12).Draw(t, "names") {
		c.name(NameUse{Said: rapid.IntRange(0, 4).Draw(t, "uses"), Age: rapid.IntRange(0, 200).Draw(t, "age")})
	}
	for i := range c.host {
		c.in.Traits[i] = make([]Traits, len(c.host[i].Segments))
		for j := range c.in.Traits[i] {
			tr := &c.in.Traits[i][j]
			tr.Act = toolcall.Act(rapid.IntRange(0, int(toolcall.ActShell)).Draw(t, "act"))
			tr.Age = c.places[len(c.places)-1].Atom - c.places[i].Atom
			tr.Names[Full] = rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(len(c.in.Names)-1)), 0, -1, rapid.ID).Draw(t, "shows")
		}
	}
	return c
}

// Next grants all that Select wishes; what is kept costs no more than the target, or
// is what must be kept, as low as it may; and equal inputs give equal choices.
func TestSelectIsGranted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoice(t)
		w := Select(c.in)
		if diff := cmp.Diff(w, Select(c.in)); diff != "" {
			t.Fatalf("not a function of its input:\n%s", diff)
		}
		w.Reason = CutCold
		cache := Cache{Cold: true, Event: "e", Forced: true, Resolver: c.in.Resolver}
		p, _ := Next(empty(), c.delta(empty()), Wishes{}, Cache{})
		q, dec := Next(p, c.delta(p), Wishes{Cut: w}, cache)
		for _, r := range dec.Refused {
			if r.Rule != ruleNothingPending {
				t.Fatalf("refused %+v", r)
			}
		}
		if got := q.Tokens(); got > c.in.Target {
			c.in.Target = 0
			least, _ := Next(p, c.delta(p), Wishes{Cut: withReason(Select(c.in))}, cache)
			if got != least.Tokens() {
				t.Fatalf("%d tokens stand over the target, %d must", got, least.Tokens())
			}
		}
	})
}

func withReason(w *CutWish) *CutWish {
	w.Reason = CutCold
	return w
}

// Select makes the steps of a walk that ranks all steps again after each one, and takes the best
// that fits: the heap and the ranks that it keeps only save work. What is left fits no step.
func TestSelectIsTheGreedyWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoice(t)
		c.in.Most = c.in.Target + rapid.IntRange(0, 4000).Draw(t, "most")
		c.in.Hurdle = rapid.SampledFrom([]float64{1e-6, 1e-5, 1e-4}).Draw(t, "hurdle")
		s, used := newSelection(c.in)
		used = s.walk(used, c.in.Most, c.in.Hurdle)
		used = s.walk(used, c.in.Target, 0)
		if diff := cmp.Diff(s.wish(), Select(c.in)); diff != "" {
			t.Fatalf("the walk (-) and Select (+):\n%s", diff)
		}
		for i := range int32(len(s.atoms)) {
			if st, ok := s.best(i, c.in.Target-used); ok {
				t.Fatalf("%+v fits in the %d that are left", st, c.in.Target-used)
			}
		}
	})
}

// walk makes steps up to a size, and returns the size reached.
func (s *selection) walk(used, most int, hurdle float64) int {
	for {
		var top *step
		for i := range int32(len(s.atoms)) {
			if st, ok := s.best(i, most-used); ok && st.rank >= hurdle && (top == nil || st.rank > top.rank) {
				top = &st
			}
		}
		if top == nil {
			return used
		}
		s.best(top.atom, most-used)
		s.take(top.atom)
		used += top.cost
	}
}

// The newest stay as they are, whatever the target, except text that is gone.
func TestSelectKeepsTheNewest(t *testing.T) {
	c := choiceOf(3, 4000)
	c.result(0).State, c.result(1).State, c.result(2).State = Newest, TextGone, Newest
	w := Select(c.in)
	for n, want := range []bool{true, false, true} {
		page := c.host[2+2*n].Segments[0].Page
		_, changed := w.Levels[page]
		if stays := !w.Leave[c.places[2+2*n].Atom] && !changed; stays != want {
			t.Errorf("result %d stays as it is: %v", n, stays)
		}
	}
}

// Given worth replaces what the traits say, and only their names count besides.
func TestSelectByGivenWorth(t *testing.T) {
	c := choiceOf(2, 4000)
	c.result(0).State = InWork
	c.in.Worth = make([][]float64, len(c.host))
	for i := range c.host {
		c.in.Worth[i] = make([]float64, len(c.host[i].Segments))
	}
	c.in.Worth[4][0] = 1
	c.in.Target = 50 + 40 + 50 + 30 + 4000 + 100
	if w := Select(c.in); c.shows(w, 0) == Full || c.shows(w, 1) != Full {
		t.Errorf("the first is shown %v, the second %v", c.shows(w, 0), c.shows(w, 1))
	}
}

func TestWorthFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		age, more := rapid.IntRange(0, 500).Draw(t, "age"), rapid.IntRange(1, 500).Draw(t, "more")
		said := rapid.IntRange(0, 50).Draw(t, "said")
		if a, b := (NameUse{said, age}).worth(), (NameUse{said, age + more}).worth(); !(a > b && b > 0) {
			t.Fatalf("a name is worth %v at %d, %v at %d", a, age, b, age+more)
		}
		if a, b := (NameUse{said, age}).worth(), (NameUse{said + 1, age}).worth(); !(a < b) {
			t.Fatalf("said %d times it is worth %v, once more %v", said, a, b)
		}
		tr := Traits{Act: toolcall.Act(rapid.IntRange(0, int(toolcall.ActShell)).Draw(t, "act")), Age: age}
		older := tr
		older.Age += more
		n := rapid.IntRange(1, 20000).Draw(t, "tokens")
		if a, b := tr.worth(n), older.worth(n); !(a > b && b > 0) {
			t.Fatalf("%v: %v at %d, %v at %d", tr.Act, a, age, b, older.Age)
		}
		last := -1.0
		for tr.State = TextGone; tr.State <= InWork; tr.State++ {
			if w := tr.worth(n) + tr.lines(n); w <= last {
				t.Fatalf("%v: %v, and %v in the state before", tr.State, w, last)
			} else {
				last = w
			}
		}
	})
}
