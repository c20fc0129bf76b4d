package pagevm

import (
	"slices"
	"testing"
)

// grown is a projection of a script without any wish.
func grown(p *Projection, s *script) *Projection {
	q, _ := Next(p, s.delta(p), Wishes{}, Cache{})
	return q
}

// What a refused request showed first is new again, at whatever level it is shown
// then; what preceded it stays byte for byte.
func TestTakeBack(t *testing.T) {
	var s script
	s.user()
	s.call(1, 400)
	before := grown(empty(), &s)
	n := len(s.host)
	s.call(2, 4000)
	refused := grown(before, &s)
	back := refused.TakeBack(s.host[:n])
	if !slices.Equal(flat(back), flat(before)) || back.Generation == refused.Generation || len(back.Seen) != n {
		t.Fatalf("%v\n%v", flat(back), flat(before))
	}
	last := &s.host[len(s.host)-1]
	last.Segments = slices.Clone(last.Segments)
	last.Segments[0].First = Structured
	again := grown(back, &s)
	if got := again.Items[len(again.Items)-2]; got.Level != Structured || !slices.Equal(flat(again)[:len(flat(before))], flat(before)) {
		t.Errorf("%+v", got)
	}
	if len(flat(refused)) != len(flat(again)) || refused.Items[len(refused.Items)-2].Level != Full {
		t.Error("the projection that was handed in changed")
	}
}

// A carry block alone is reason for a cut only where the wish has it so, and notes that
// it replaces with better ones go with it.
func TestCarryOnly(t *testing.T) {
	var s script
	s.user()
	s.say()
	s.user()
	s.call(1, 400)
	p, _ := Next(empty(), s.delta(empty()), Wishes{Append: []Block{{Kind: ItemNote, Page: "nt-1", Hash: "note"}, {Kind: ItemNote, Page: "nt-2", Hash: "other"}}}, Cache{})
	cold := Cache{Cold: true, Event: "e1"}
	carry := []Block{{Kind: ItemCarry, Page: "su-1", Hash: "summary"}}
	if _, dec := Next(p, s.delta(p), Wishes{Cut: &CutWish{Reason: CutCold}, Carry: carry}, cold); dec.Cut != nil {
		t.Error("a cut that changes nothing but the carry block was granted without being asked for")
	}
	q, dec := Next(p, s.delta(p), Wishes{Cut: &CutWish{Reason: CutCold, CarryOnly: true}, Drop: map[string]bool{"nt-1": true}, Carry: carry}, cold)
	if dec.Cut == nil || dec.Cut.Event != "e1" || len(q.Carry) != 1 {
		t.Fatalf("%+v", dec)
	}
	text := flat(q)
	if slices.ContainsFunc(q.Items, func(it Item) bool { return it.Page == "nt-1" }) || !slices.ContainsFunc(q.Items, func(it Item) bool { return it.Page == "nt-2" }) {
		t.Errorf("%v", text)
	}
	if _, dec := Next(q, s.delta(q), Wishes{Cut: &CutWish{Reason: CutCold, CarryOnly: true}, Carry: carry}, cold); dec.Cut != nil {
		t.Error("one cold event made two cuts")
	}
}

// A cut on demand in an open loop needs a cold cache or force.
func TestDemandInALoop(t *testing.T) {
	var s script
	s.user()
	s.call(1, 4000)
	s.call(1, 4000)
	p := grown(empty(), &s)
	wish := Wishes{Cut: &CutWish{Reason: CutDemand, Levels: map[string]Level{"r2-0": Pointer}}}
	for _, test := range []struct {
		cache Cache
		cut   bool
	}{{Cache{Resolver: true}, false}, {Cache{Resolver: true, Forced: true}, true}, {Cache{Resolver: true, Cold: true}, true}} {
		if _, dec := Next(p, s.delta(p), wish, test.cache); (dec.Cut != nil) != test.cut {
			t.Errorf("%+v: %+v", test.cache, dec)
		}
	}
}
