package cachelayout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	id := Identity{Model: "claude-opus-5-5", ToolChoice: "auto", Effort: "high"}
	old := Identity{Model: "claude-opus-4-6", ToolChoice: "auto", Effort: "high"}
	base := grow(fixedPart(), 5, 1000) // 15,000 fixed + 5 messages = 20,000
	with := func(i int, b Block) []Block {
		out := append([]Block(nil), base...)
		out[i] = b
		return out
	}
	set := func(id Identity, f func(*Identity)) Identity { f(&id); return id }
	tests := []struct {
		name   string
		was    Identity
		id     Identity
		blocks []Block
		want   string
		kept   int
		broken cacheLevel
	}{
		{"same", id, id, base, "none", 20_000, levelNone},
		{"append", id, id, grow(base, 2, 100), "append", 20_000, levelNone},
		{"model", id, set(id, func(i *Identity) { i.Model = "claude-opus-5" }), base,
			`model changed from "claude-opus-5-5" to "claude-opus-5": breaks tools`, 0, LevelTools},
		{"tool choice", id, set(id, func(i *Identity) { i.ToolChoice = "any" }), base,
			`tool_choice changed from "auto" to "any": breaks messages`, 15_000, levelMessages},
		{"first image", id, set(id, func(i *Identity) { i.Images = true }), base,
			`images changed from "false" to "true": breaks messages`, 15_000, levelMessages},
		{"effort, new model", id, set(id, func(i *Identity) { i.Effort = "low" }), base,
			`effort changed from "high" to "low": breaks tools`, 0, LevelTools},
		{"effort, old model", old, set(old, func(i *Identity) { i.Effort = "low" }), base,
			`effort changed from "high" to "low": breaks messages`, 15_000, levelMessages},
		{"thinking, old model", old, set(old, func(i *Identity) { i.Thinking = "off" }), base,
			`thinking changed from "" to "off": breaks messages`, 15_000, levelMessages},
		{"a tool", id, id, with(0, block(RegionTools, "tools2", 10_000)),
			`tools changed at block 0: "tools2" stands where "tools" was`, 0, LevelTools},
		{"system", id, id, with(1, Block{ID: "system", Region: RegionSystem, Hash: "x"}),
			`system changed at block 1: "system" has other bytes`, 10_000, levelSystem},
		{"a message", id, id, with(4, block(RegionWorkingSet, "edited", 9)),
			`messages changed at block 4: "edited" stands where "m4" was`, 17_000, levelMessages},
		{"rewind", id, id, base[:5], `messages end at block 5, before "m5"`, 18_000, levelMessages},
		{"a tool added in front of messages", id, id, append([]Block{base[0], block(RegionTools, "t2", 5)}, base[1:]...),
			`tools changed at block 1: "t2" stands where "system" was`, 10_000, LevelTools},
		{"the higher level wins", id, set(id, func(i *Identity) { i.ToolChoice = "any" }), with(1, block(RegionSystem, "s2", 1)),
			`system changed at block 1: "s2" stands where "system" was`, 10_000, levelSystem},
		{"at a draw the setting", id, set(id, func(i *Identity) { i.ToolChoice = "any" }), with(4, block(RegionNewest, "e", 1)),
			`tool_choice changed from "auto" to "any": breaks messages`, 15_000, levelMessages},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l Ledger
			l = l.Advance(tt.was, base, nil, noon)
			c := l.Compare(tt.id, tt.blocks)
			if c.String() != tt.want || c.KeptTokens != tt.kept || c.BrokenTokens != 20_000-tt.kept || c.Broken != tt.broken {
				t.Errorf("%s (kept %d, broken %d, %v)\nwant %s", c, c.KeptTokens, c.BrokenTokens, c.Broken, tt.want)
			}
		})
	}
	if c := new(Ledger).Compare(id, base); c.Kind != ChangeFirst || c.Breaks() {
		t.Errorf("first request: %+v", c)
	}
}

func TestOtherProvidersBreakByModelOnly(t *testing.T) {
	a := Identity{Model: "gpt-6.1-sol", Effort: "low", ToolChoice: "auto"}
	b := Identity{Model: "gpt-6.1-sol", Effort: "high", ToolChoice: "any", Images: true}
	if f, _, _, l := a.Broken(b); f != "" || l != levelNone {
		t.Errorf("%s breaks %v", f, l)
	}
	b.Model = "gpt-6-sol"
	if f, was, is, l := a.Broken(b); f != "model" || was != a.Model || is != b.Model || l != LevelTools {
		t.Errorf("%s breaks %v", f, l)
	}
}

func TestCold(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5-5"), Identity{Model: "claude-opus-5-5"}
	blocks := grow(fixedPart(), 5, 1000)
	sent := func(opt LayoutOptions) Ledger {
		_, l := sendWith(Ledger{}, m, id, blocks, opt, noon)
		return l
	}
	other, any := id, id
	other.Model, any.ToolChoice = "claude-opus-5", "any"
	hour := LayoutOptions{Messages: time.Hour}
	tests := []struct {
		name string
		l    Ledger
		id   Identity
		gap  time.Duration
		cold bool
		why  string
	}{
		{"nothing sent", Ledger{}, id, 0, true, "nothing was sent"},
		{"at once", sent(LayoutOptions{}), id, 0, false, "started 0s ago"},
		{"just inside", sent(LayoutOptions{}), id, 5*time.Minute - 1, false, "5m"},
		{"at the lifetime", sent(LayoutOptions{}), id, 5 * time.Minute, true, "lived 5m0s"},
		{"clock went back", sent(LayoutOptions{}), id, -3 * time.Hour, false, "-3h"},
		{"an hour asked for", sent(hour), id, 59 * time.Minute, false, "59m"},
		{"an hour over", sent(hour), id, time.Hour, true, "lived 1h"},
		{"only the fixed part lives", sent(LayoutOptions{Fixed: time.Hour}), id, 10 * time.Minute, true, "lived 5m"},
		{"another model", sent(LayoutOptions{}), other, 0, true, `model changed from "claude-opus-5-5" to "claude-opus-5"`},
		{"tool choice", sent(LayoutOptions{}), any, 0, true, "tool_choice changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cold, why := tt.l.Cold(m, tt.id, noon.Add(tt.gap))
			if cold != tt.cold || !strings.Contains(why, tt.why) {
				t.Errorf("%v, %q", cold, why)
			}
			if event := tt.l.ColdEvent(m, tt.id, noon.Add(tt.gap)); (event != "") != cold {
				t.Errorf("event %q", event)
			}
		})
	}
}

func TestColdByClockAlone(t *testing.T) {
	for id, ttl := range map[string]time.Duration{"gpt-5": 5 * time.Minute, "gpt-5.5": 24 * time.Hour, "gemini-2.5-pro": AssumedTTL, "unknown": AssumedTTL} {
		m, _ := DefaultBook().Lookup(id, noon)
		var l Ledger
		l = l.Advance(Identity{Model: id}, fixedPart(), nil, noon)
		if cold, _ := l.Cold(m, Identity{Model: id}, noon.Add(ttl-time.Second)); cold {
			t.Errorf("%s cold inside %s", id, ttl)
		}
		if cold, _ := l.Cold(m, Identity{Model: id}, noon.Add(ttl)); !cold {
			t.Errorf("%s warm after %s", id, ttl)
		}
	}
}

func TestFlippingASettingFindsItsOwnEntries(t *testing.T) {
	m := mustModel(t, "claude-opus-5-5")
	a, b := Identity{Model: m.ID, ToolChoice: "auto"}, Identity{Model: m.ID, ToolChoice: "any"}
	blocks := grow(fixedPart(), 5, 1000)
	_, l := send(Ledger{}, m, a, blocks, noon)
	bill, l := send(l, m, b, blocks, noon.Add(time.Minute))
	if bill.ReadTokens != 15_000 {
		t.Errorf("tools and system are read: %+v", bill)
	}
	blocks = grow(blocks, 1, 1000)
	bill, l = send(l, m, a, blocks, noon.Add(2*time.Minute))
	if bill.ReadTokens != 20_000 {
		t.Errorf("back again reads its own messages: %+v", bill)
	}
	if cold, why := l.Cold(m, b, noon.Add(3*time.Minute)); cold {
		t.Errorf("cold: %s", why)
	}
}

func TestColdEventKeepsItsNameUntilARequest(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5-5"), Identity{Model: "claude-opus-5-5"}
	_, l := send(Ledger{}, m, id, fixedPart(), noon)
	first := l.ColdEvent(m, id, noon.Add(time.Hour))
	if first == "" || first != l.ColdEvent(m, id, noon.Add(2*time.Hour)) {
		t.Errorf("event %q", first)
	}
	_, l = send(l, m, id, fixedPart(), noon.Add(2*time.Hour))
	if again := l.ColdEvent(m, id, noon.Add(4*time.Hour)); again == first || again == "" {
		t.Errorf("next event %q", again)
	}
}

func TestSeed(t *testing.T) {
	m, id := mustModel(t, "claude-sonnet-4-5"), Identity{Model: "claude-sonnet-4-5"}
	blocks := grow(fixedPart(), 5, 1000)
	blocks[6].Markable = false
	l := Seed(id, blocks, time.Hour, noon)
	if cold, why := l.Cold(m, id, noon.Add(59*time.Minute)); cold {
		t.Errorf("cold: %s", why)
	}
	bill, _ := send(l, m, id, grow(blocks, 1, 500), noon.Add(30*time.Minute))
	if bill.ReadTokens != 19_000 {
		t.Errorf("the marker moved back to the last markable block: %+v", bill)
	}
	empty := Seed(id, nil, 0, noon)
	if cold, _ := empty.Cold(m, id, noon); !cold {
		t.Error("an empty seed is warm")
	}
}

func TestAdvanceDoesNotShareItsTail(t *testing.T) {
	id := Identity{Model: "claude-opus-5-5"}
	base := grow(fixedPart(), 3, 1000)
	var l Ledger
	l = l.Advance(id, base, nil, noon)
	a := l.Advance(id, append(base[:5:5], block(RegionNewest, "a", 1)), nil, noon)
	b := l.Advance(id, append(base[:5:5], block(RegionNewest, "b", 1)), nil, noon)
	if a.Chain[5].ID != "a" || b.Chain[5].ID != "b" || len(l.Chain) != 5 {
		t.Error("two continuations share memory")
	}
	if a.Chain[4].Chain != b.Chain[4].Chain || a.Chain[5].Chain == b.Chain[5].Chain {
		t.Error("chains name prefixes wrongly")
	}
}

func TestMarksStayBounded(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5-5"), Identity{Model: "claude-opus-5-5"}
	var l Ledger
	blocks := fixedPart()
	for i := range 300 {
		blocks = grow(blocks, 1, 10)
		_, l = send(l, m, id, blocks, noon.Add(time.Duration(i)*time.Second))
	}
	if len(l.Marks) > maxMarks {
		t.Errorf("%d marks", len(l.Marks))
	}
	if l.Marks[0].Index != 1 || l.Marks[len(l.Marks)-1].Index != 301 {
		t.Errorf("marks from %d to %d", l.Marks[0].Index, l.Marks[len(l.Marks)-1].Index)
	}
}

func TestChainIsAFunctionOfTheBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks, id := genBlocks(t), Identity{Model: "claude-opus-5-5"}
		var whole, steps Ledger
		whole = whole.Advance(id, blocks, nil, noon)
		for i := range blocks {
			steps = steps.Advance(id, blocks[:i+1], nil, noon)
		}
		if len(blocks) > 0 && fmt.Sprint(whole.Chain) != fmt.Sprint(steps.Chain) {
			t.Fatalf("%v\n%v", whole.Chain, steps.Chain)
		}
	})
}
