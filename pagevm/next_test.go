package pagevm

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"pgregory.net/rapid"
)

// script builds conversations message by message for the tests below.
type script struct {
	host   []HostMessage
	places []Place
	n      int
}

func (s *script) add(role memkernel.Role, pl Place, segs ...Segment) {
	s.n++
	key := fmt.Sprintf("m%d", s.n)
	s.host = append(s.host, HostMessage{Key: key, Hash: "h-" + key, Role: role, Segments: segs})
	s.places = append(s.places, pl)
}

func text(page string, tokens int) Segment {
	s := Segment{Kind: ItemHost, Parts: 1, Page: page, Type: Conversation, Committed: true, First: Full}
	s.At[Full] = Shown{Hash: "f-" + page, Tokens: tokens}
	return s
}

func result(page string, tokens int) Segment {
	s := Segment{Kind: ItemResult, Parts: 1, Page: page, Type: Evidence, Committed: true, First: Full}
	for l := Pointer; l <= Full; l++ {
		s.At[l] = Shown{Hash: fmt.Sprintf("%s-%s", l, page), Tokens: max(1, tokens*int(l)*int(l)/16)}
	}
	return s
}

// user, call and answer append one user message, and one assistant atom.
func (s *script) user() {
	s.close()
	s.add(memkernel.RoleUser, Place{Atom: s.atom(), Closed: true}, text(fmt.Sprintf("u%d", s.n), 50))
}

func (s *script) atom() int {
	if len(s.places) == 0 {
		return 0
	}
	return s.places[len(s.places)-1].Atom + 1
}

// Call appends an assistant message with n parallel calls and their results.
func (s *script) call(n, tokens int) {
	s.closeAtoms()
	a := s.atom()
	s.add(memkernel.RoleAssistant, Place{Atom: a}, text(fmt.Sprintf("a%d", s.n), 30))
	var segs []Segment
	for i := range n {
		segs = append(segs, result(fmt.Sprintf("r%d-%d", s.n, i), tokens))
	}
	s.add(memkernel.RoleUser, Place{Atom: a}, segs...)
	s.markLoop()
}

// say appends an assistant's closing words, which end the loop.
func (s *script) say() {
	s.closeAtoms()
	s.add(memkernel.RoleAssistant, Place{Atom: s.atom(), Closed: true}, text(fmt.Sprintf("a%d", s.n), 40))
	for i := range s.places {
		s.places[i].InLoop, s.places[i].Opener = false, false
	}
}

func (s *script) close() {
	s.closeAtoms()
	for i := range s.places {
		s.places[i].InLoop, s.places[i].Opener = false, false
	}
}

func (s *script) closeAtoms() {
	for i := range s.places {
		s.places[i].Closed = true
	}
}

func (s *script) markLoop() {
	for i := len(s.places) - 1; i >= 0; i-- {
		if len(s.host[i].Segments) > 0 && s.host[i].Segments[0].Page[0] == 'u' {
			s.places[i].Opener = true
			return
		}
		s.places[i].InLoop = true
	}
}

func (s *script) delta(p *Projection) Delta {
	return Delta{Host: s.host, Places: append([]Place(nil), s.places...), Align: Align(p, s.host)}
}

func empty() *Projection { return &Projection{Version: ProjectionVersion} }

func flat(p *Projection) []string {
	var out []string
	for _, it := range append(append([]Item(nil), p.Carry...), p.Items...) {
		out = append(out, it.Key+"|"+it.Hash)
	}
	return out
}

func conversationOf(turns int) *script {
	s := &script{}
	for range turns {
		s.user()
		s.call(2, 1000)
		s.call(1, 4000)
		s.say()
	}
	s.user()
	return s
}

func TestNextOnlyAppendsOffACut(t *testing.T) {
	s := conversationOf(2)
	p, _ := Next(empty(), s.delta(empty()), Wishes{}, Cache{})
	s.call(1, 500)
	q, dec := Next(p, s.delta(p), Wishes{}, Cache{})
	if diff := cmp.Diff(flat(p), flat(q)[:len(flat(p))]); diff != "" {
		t.Errorf("prefix changed:\n%s", diff)
	}
	if dec.Cut != nil || q.Generation != p.Generation {
		t.Errorf("cut %v, generation %d -> %d", dec.Cut, p.Generation, q.Generation)
	}
}

func TestNextRefuses(t *testing.T) {
	idle := conversationOf(3)
	loop := conversationOf(2)
	loop.call(1, 4000)
	loop.call(1, 4000)
	uncommitted := conversationOf(1)
	uncommitted.host[2].Segments[0].Committed = false
	leaveAll := map[int]bool{}
	for i := range 40 {
		leaveAll[i] = true
	}
	tests := []struct {
		name  string
		s     *script
		wish  CutWish
		cache Cache
		rule  string
		made  bool
	}{
		{"cold cut on a warm cache", idle, CutWish{Reason: CutCold, Leave: leaveAll}, Cache{}, ruleNotCold, false},
		{"forced cut without need", idle, CutWish{Reason: CutForced, Leave: leaveAll}, Cache{}, ruleNotForced, false},
		{"high water in an open loop", loop, CutWish{Reason: "high_water", Leave: leaveAll}, Cache{}, RuleOpenLoop, false},
		{"cold in an open loop", loop, CutWish{Reason: CutCold, Leave: leaveAll}, Cache{Cold: true, Event: "after noon"}, RuleOpenLoop, false},
		{"high water in an open loop and a cold cache", loop, CutWish{Reason: "high_water", Leave: leaveAll}, Cache{Cold: true}, RuleOpenLoop, false},
		{"cold in an open loop, and too large", loop, CutWish{Reason: CutCold, Leave: leaveAll}, Cache{Cold: true, Event: "after noon", Forced: true}, ruleOpener, true},
		{"nothing would change", idle, CutWish{Reason: "high_water"}, Cache{}, ruleNothingPending, false},
		{"newest message", idle, CutWish{Reason: "high_water", Leave: leaveAll}, Cache{}, ruleNewest, true},
		{"opener of the loop", loop, CutWish{Reason: CutForced, Leave: leaveAll}, Cache{Forced: true}, ruleOpener, true},
		{"page not durable", uncommitted, CutWish{Reason: "high_water", Leave: leaveAll}, Cache{}, ruleNotDurable, true},
		{"below the floor", idle, CutWish{Reason: "high_water", Levels: map[string]Level{"r2-0": Pointer, "r4-0": Structured}}, Cache{}, ruleFloor, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := Next(empty(), tt.s.delta(empty()), Wishes{}, Cache{})
			_, dec := Next(p, tt.s.delta(p), Wishes{Cut: &tt.wish}, tt.cache)
			if (dec.Cut != nil) != tt.made {
				t.Errorf("cut made: %v, want %v", dec.Cut != nil, tt.made)
			}
			found := false
			for _, r := range dec.Refused {
				found = found || r.Rule == tt.rule
			}
			if !found {
				t.Errorf("refused %v, want rule %s among them", dec.Refused, tt.rule)
			}
		})
	}
}

func TestOneColdEventMakesOneCut(t *testing.T) {
	s := conversationOf(4)
	p, _ := Next(empty(), s.delta(empty()), Wishes{}, Cache{})
	cache := Cache{Cold: true, Event: "after noon", Resolver: true}
	wish := func(l Level) Wishes {
		return Wishes{Cut: &CutWish{Reason: CutCold, Levels: map[string]Level{"r2-0": l}}}
	}
	p, dec := Next(p, s.delta(p), wish(Structured), cache)
	if dec.Cut == nil || dec.Cut.Event != "after noon" {
		t.Fatalf("first cold cut not made: %+v", dec)
	}
	for i, l := range []Level{Pointer, Full, Compressed} {
		q, dec := Next(p, s.delta(p), wish(l), cache)
		if dec.Cut != nil {
			t.Errorf("cut %d of the same cold event was made", i+2)
		}
		if diff := cmp.Diff(flat(p), flat(q)); diff != "" {
			t.Errorf("bytes changed:\n%s", diff)
		}
	}
	cache.Event = "after one"
	if q, dec := Next(p, s.delta(p), wish(Full), cache); dec.Cut == nil || q.Items[2].Level != Full {
		t.Errorf("the next cold event must be able to raise a level again: %+v", dec)
	}
}

func TestAlignNamesWhatTheHostDid(t *testing.T) {
	s := conversationOf(4)
	p, _ := Next(empty(), s.delta(empty()), Wishes{}, Cache{})
	leave := map[int]bool{0: true, 1: true, 2: true, 3: true}
	cut, dec := Next(p, s.delta(p), Wishes{Cut: &CutWish{Reason: "high_water", Leave: leave},
		Carry: []Block{{Kind: ItemCarry, Page: "su", Hash: "carry"}}}, Cache{})
	if dec.Cut == nil {
		t.Fatal("no cut")
	}
	edit := func(host []HostMessage, i int) []HostMessage {
		out := append([]HostMessage(nil), host...)
		out[i].Hash = "edited"
		return out
	}
	compacted := append([]HostMessage{{Key: "sum", Hash: "s"}}, s.host[6:]...)
	tests := []struct {
		name string
		p    *Projection
		host []HostMessage
		want Rewrite
		at   int
	}{
		{"same again", p, s.host, RewriteNone, len(s.host)},
		{"one more", p, append(s.host[:len(s.host):len(s.host)], HostMessage{Key: "x"}), RewriteNone, len(s.host)},
		{"taken back", p, s.host[:10], RewriteRewind, 10},
		{"edited where it stands", p, edit(s.host, 5), RewriteBehind, 5},
		{"edited under the cut", cut, edit(s.host, 1), RewriteUnder, len(s.host)},
		{"edited behind the cut", cut, edit(s.host, 9), RewriteBehind, 9},
		{"compacted under the cut", cut, compacted, RewriteUnder, len(compacted)},
		{"compacted past the cut", cut, append(compacted[:1:1], compacted[4:]...), RewriteBehind, 0},
		{"compacted without a cut", p, compacted, RewriteBehind, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := Align(tt.p, tt.host)
			if a.Rewrite != tt.want || a.At != tt.at {
				t.Errorf("got %q at %d, want %q at %d", a.Rewrite, a.At, tt.want, tt.at)
			}
			places := make([]Place, len(tt.host))
			q, dec := Next(tt.p, Delta{Host: tt.host, Places: places, Align: a}, Wishes{}, Cache{})
			if len(q.Seen) != len(tt.host) {
				t.Errorf("seen %d messages of %d", len(q.Seen), len(tt.host))
			}
			if tt.want == RewriteUnder && dec.Kept != len(tt.p.Carry)+len(tt.p.Items) {
				t.Errorf("a rewrite under the cut changed bytes: kept %d", dec.Kept)
			}
		})
	}
}

// TestNextHolds drives random conversations with random, mostly unreasonable
// wishes through Next and checks every rule of the package comment.
// A carry block that is wished for now is shown where the host replaced what was there,
// and what a note said before is not beside it; where the host only went
// on, it waits for a cut.
func TestCarryNowStandsAfterAHostRewrite(t *testing.T) {
	s := conversationOf(3)
	first := Wishes{Append: []Block{{Kind: ItemNote, Page: "rule", Hash: "n"}}}
	p, _ := Next(empty(), s.delta(empty()), first, Cache{})
	now := Wishes{Carry: []Block{{Kind: ItemCarry, Page: "rule", Hash: "c"}}, CarryNow: true}
	s.user()
	if q, _ := Next(p, s.delta(p), now, Cache{}); len(q.Carry) > 0 {
		t.Errorf("the host went on, and the carry block is %v", q.Carry)
	}
	s.host = append([]HostMessage(nil), s.host...)
	s.host[0].Hash += "'"
	q, dec := Next(p, s.delta(p), now, Cache{})
	if dec.Rewrite != RewriteBehind || len(q.Carry) != 1 || q.Carry[0].Page != "rule" {
		t.Errorf("rewrite %q, carry block %v", dec.Rewrite, q.Carry)
	}
	for _, it := range q.Items {
		if it.Page == "rule" {
			t.Error("the page stands twice")
		}
	}
}

func TestNextHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := &script{}, empty()
		s.user()
		event := 0
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			grow(t, s, p)
			c := Cache{Cold: rapid.Bool().Draw(t, "cold"), Forced: rapid.Float64Range(0, 1).Draw(t, "forced") < 0.2,
				Resolver: rapid.Bool().Draw(t, "resolver")}
			event += rapid.IntRange(0, 1).Draw(t, "event")
			c.Event = fmt.Sprint(event)
			w := randomWishes(t, s)
			d := s.delta(p)
			before := snapshot(t, p)
			q, dec := Next(p, d, w, c)
			if got := snapshot(t, p); got != before {
				t.Fatalf("Next changed its argument")
			}
			checkRules(t, p, q, d, w, c, dec)
			p = q
		}
	})
}

func grow(t *rapid.T, s *script, p *Projection) {
	switch rapid.IntRange(0, 5).Draw(t, "grow") {
	case 0:
		s.user()
	case 1:
		s.say()
	case 2: // an edit somewhere
		if i := rapid.IntRange(0, len(s.host)-1).Draw(t, "edit"); true {
			s.host = append([]HostMessage(nil), s.host...)
			s.host[i].Hash += "'"
		}
	default:
		s.call(rapid.IntRange(1, 3).Draw(t, "parallel"), rapid.IntRange(1, 9000).Draw(t, "tokens"))
	}
}

func randomWishes(t *rapid.T, s *script) Wishes {
	w := Wishes{Carry: []Block{{Kind: ItemCarry, Page: "su", Hash: fmt.Sprint("carry", len(s.host))}}, CarryNow: rapid.Bool().Draw(t, "now")}
	for i := range rapid.IntRange(0, 3).Draw(t, "carried") { // what a note said before is in the carry block now
		w.Carry = append(w.Carry, Block{Kind: ItemCarry, Page: fmt.Sprint("note", len(s.host)-i), Hash: fmt.Sprint("c", i)})
	}
	if rapid.Bool().Draw(t, "note") {
		w.Append = []Block{{Kind: ItemNote, Page: fmt.Sprint("note", len(s.host)), Hash: fmt.Sprint("n", len(s.host))}}
	}
	if rapid.Bool().Draw(t, "recall") {
		turn := fmt.Sprint("turn", len(s.host)/rapid.IntRange(1, 3).Draw(t, "turn"))
		w.Recall = &Recall{Turn: turn, Page: fmt.Sprint("rt", turn, len(s.host))}
		w.Append = append(w.Append, Block{Kind: ItemRetrieval, Page: w.Recall.Page, Hash: "r"})
	}
	if !rapid.Bool().Draw(t, "cut") {
		return w
	}
	w.Cut = &CutWish{Levels: map[string]Level{}, Leave: map[int]bool{}}
	w.Cut.Reason = rapid.SampledFrom([]CutReason{"high_water", CutCold, CutForced, "payback"}).Draw(t, "reason")
	for i := range s.host {
		if rapid.Float64Range(0, 1).Draw(t, "leave") < 0.3 {
			w.Cut.Leave[s.places[i].Atom] = true
		}
		for _, seg := range s.host[i].Segments {
			w.Cut.Levels[seg.Page] = Level(rapid.IntRange(int(Pointer), int(Full)).Draw(t, "level"))
		}
	}
	return w
}

func snapshot(t *rapid.T, p *Projection) string {
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func checkRules(t *rapid.T, p, q *Projection, d Delta, w Wishes, c Cache, dec Decision) {
	if len(q.Seen) != len(d.Host) {
		t.Fatalf("seen %d of %d messages", len(q.Seen), len(d.Host))
	}
	if dec.Cut == nil && dec.Rewrite == RewriteNone {
		for i, f := range flat(p) {
			if flat(q)[i] != f {
				t.Fatalf("off a cut item %d changed", i)
			}
		}
	}
	if dec.Cut != nil && inLoop(d.Places) && !c.Forced && !(c.Cold && (w.Cut.CarryOnly || w.Cut.Reason == CutDemand)) {
		t.Fatalf("a %s cut in an open loop that was not forced", dec.Cut.Reason)
	}
	if dec.Cut != nil && w.Cut.Reason == CutCold && c.Event == p.LastEvent() && !c.Forced {
		t.Fatal("a cold event was used twice")
	}
	if w.Recall != nil && w.Recall.Turn == p.Recalled(d.Align).Turn && slices.ContainsFunc(q.Items, func(it Item) bool { return it.Page == w.Recall.Page && p.Recall.Page != it.Page }) {
		t.Fatalf("turn %s was recalled for twice", w.Recall.Turn)
	}
	pages := map[string]bool{}
	for _, it := range q.Carry {
		pages[it.Page] = true
	}
	next := 0
	was := itemsByPage(p.Items)
	for _, it := range q.Items {
		if pages[it.Page] {
			t.Fatalf("page %s stands twice", it.Page)
		}
		pages[it.Page] = true
		if it.Kind == ItemNote || it.Kind == ItemRetrieval {
			continue
		}
		for next < len(d.Host) && d.Host[next].Key != it.Key {
			if !q.Seen[next].Gone {
				checkWhole(t, q, d.Host[next])
			}
			next++
		}
		if next == len(d.Host) {
			t.Fatalf("item %s is out of order", it.Key)
		}
		if q.Seen[next].Gone {
			t.Fatalf("message %s left and stands", it.Key)
		}
		if before := was[it.Page]; it.Level < Floor(Evidence, c.Resolver) && (before == nil || before.Level != it.Level) {
			t.Fatalf("page %s below its floor", it.Page)
		}
	}
	last := d.Host[len(d.Host)-1]
	if q.Seen[len(q.Seen)-1].Gone {
		t.Fatalf("the newest message %s left", last.Key)
	}
	for i, pl := range d.Places {
		if pl.Opener && q.Seen[i].Gone && !(i < len(p.Seen) && p.Seen[i].Gone) {
			t.Fatalf("the opener of the loop left")
		}
	}
}

// checkWhole: a standing message is there with all its segments.
func checkWhole(t *rapid.T, q *Projection, m HostMessage) {
	n := 0
	for _, it := range q.Items {
		if it.Key == m.Key && it.Kind != ItemNote && it.Kind != ItemRetrieval {
			n++
		}
	}
	if n != len(m.Segments) {
		t.Fatalf("message %s stands with %d of %d segments", m.Key, n, len(m.Segments))
	}
}

// Kernel blocks precede new messages that end the request, and never what
// was sent.
func TestBlocksAheadOfTheEnd(t *testing.T) {
	s := &script{}
	s.user()
	for i := range 2 {
		s.add(memkernel.RoleSystem, Place{Atom: s.atom()}, text(fmt.Sprintf("s%d", i), 10))
	}
	grow := func(p *Projection, host []HostMessage, ahead int) string {
		q, _ := Next(p, Delta{Host: host, Places: s.places[:len(host)], Align: Align(p, host)},
			Wishes{Append: []Block{{Kind: ItemNote, Page: "note", Hash: "h-note", Tokens: 5}}, Ahead: ahead}, Cache{})
		out := ""
		for _, it := range q.Items {
			out += it.Page + "@" + it.Key + " "
		}
		return out
	}
	for _, tt := range []struct {
		sent, ahead int
		want        string
	}{
		{0, 0, "u0@m1 s0@m2 s1@m3 note@m3 "},
		{0, 1, "u0@m1 s0@m2 note@m2 s1@m3 "},
		{0, 2, "u0@m1 note@m1 s0@m2 s1@m3 "},
		{1, 2, "u0@m1 note@m1 s0@m2 s1@m3 "},
		{2, 2, "u0@m1 s0@m2 note@m2 s1@m3 "},
		{3, 2, "u0@m1 s0@m2 s1@m3 note@m3 "},
		{0, 3, "u0@m1 s0@m2 s1@m3 "}, // nothing that they could follow
	} {
		p := &Projection{}
		if tt.sent > 0 {
			p, _ = Next(p, Delta{Host: s.host[:tt.sent], Places: s.places[:tt.sent], Align: Align(p, s.host[:tt.sent])}, Wishes{}, Cache{})
		}
		if got := grow(p, s.host, tt.ahead); got != tt.want {
			t.Errorf("%d sent, %d ahead: %s, want %s", tt.sent, tt.ahead, got, tt.want)
		}
	}
}

// What is open is shown shorter where a cut is forced, and at no other.
func TestOpenPagesGiveWayToForce(t *testing.T) {
	s := conversationOf(1)
	s.call(1, 4000)
	p, _ := Next(empty(), s.delta(empty()), Wishes{}, Cache{})
	page := s.host[len(s.host)-1].Segments[0].Page
	wishes := Wishes{Cut: &CutWish{Reason: CutForced, Levels: map[string]Level{page: Structured}}}
	for _, c := range []Cache{{Cold: true, Event: "e"}, {Forced: true}} {
		wishes.Cut.Reason = CutCold
		if c.Forced {
			wishes.Cut.Reason = CutForced
		}
		q, dec := Next(p, s.delta(p), wishes, c)
		if got := q.Items[len(q.Items)-1].Level; (got == Structured) != c.Forced {
			t.Errorf("forced %v: shown as %v, %v", c.Forced, got, dec.Refused)
		}
	}
}
