package cachelayout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// buckets are the four token counts of a bill.
func buckets(b Bill) [4]int {
	return [4]int{b.ReadTokens, b.Write5mTokens, b.Write1hTokens, b.UncachedTokens}
}

func TestBillABC(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5"), Identity{Model: "claude-opus-5"} // 5, 6.25, 10, 0.50
	base := grow(fixedPart(), 5, 1000)                                       // 20,000 tokens
	next := grow(base, 2, 1000)                                              // 22,000
	marks := func(ttls ...any) (out []Breakpoint) {
		for i := 0; i < len(ttls); i += 2 {
			out = append(out, Breakpoint{Block: ttls[i].(int), TTL: ttls[i+1].(time.Duration)})
		}
		return out
	}
	const s, h = 5 * time.Minute, time.Hour
	tests := []struct {
		name   string
		before []Breakpoint // nil: nothing was sent
		bps    []Breakpoint
		gap    time.Duration
		want   [4]int
		cost   float64
	}{
		{"first request", nil, marks(1, s, 8, s), 0, [4]int{0, 22_000, 0, 0}, 22_000 * 6.25e-6},
		{"first request, fixed part for an hour", nil, marks(1, h, 8, s), 0, [4]int{0, 7_000, 15_000, 0}, 7_000*6.25e-6 + 15_000*10e-6},
		{"marker before the end", nil, marks(1, s, 6, s), 0, [4]int{0, 20_000, 0, 2_000}, 20_000*6.25e-6 + 2_000*5e-6},
		{"no markers", nil, nil, 0, [4]int{0, 0, 0, 22_000}, 22_000 * 5e-6},
		{"warm append", marks(6, s), marks(6, s, 8, s), 4 * time.Minute, [4]int{20_000, 2_000, 0, 0}, 20_000*.5e-6 + 2_000*6.25e-6},
		{"warm append at an hour", marks(6, h), marks(6, h, 8, h), 59 * time.Minute, [4]int{20_000, 0, 2_000, 0}, 20_000*.5e-6 + 2_000*10e-6},
		{"warm by look-back only", marks(6, s), marks(8, s), time.Minute, [4]int{20_000, 2_000, 0, 0}, 20_000*.5e-6 + 2_000*6.25e-6},
		{"messages expired, fixed part alive", marks(1, h, 6, s), marks(1, h, 6, s, 8, s), 10 * time.Minute, [4]int{15_000, 7_000, 0, 0}, 15_000*.5e-6 + 7_000*6.25e-6},
		{"all expired", marks(1, h, 6, s), marks(1, h, 8, s), 2 * time.Hour, [4]int{0, 7_000, 15_000, 0}, 15_000*10e-6 + 7_000*6.25e-6},
		{"hit between a long and a short marker", marks(6, s), marks(1, h, 7, h, 8, s), time.Minute, [4]int{20_000, 1_000, 1_000, 0}, 20_000*.5e-6 + 1_000*6.25e-6 + 1_000*10e-6},
		{"clock went back", marks(6, s), marks(6, s, 8, s), -time.Hour, [4]int{20_000, 2_000, 0, 0}, 20_000*.5e-6 + 2_000*6.25e-6},
		{"markers out of range", marks(6, s), marks(99, s, -1, s), 0, [4]int{0, 0, 0, 22_000}, 22_000 * 5e-6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l Ledger
			if tt.before != nil {
				l = l.Advance(id, base, tt.before, noon)
			}
			b := l.Bill(m, id, next, tt.bps, noon.Add(tt.gap))
			if diff := cmp.Diff(tt.want, buckets(b)); diff != "" {
				t.Errorf("read, 5m, 1h, uncached (-want +got):\n%s", diff)
			}
			if !near(dollars(t, b.CostUSD), tt.cost) || !near(dollars(t, b.NoLayoutCostUSD), 22_000*5e-6) {
				t.Errorf("cost %v, want %v; without layout %v", *b.CostUSD, tt.cost, *b.NoLayoutCostUSD)
			}
		})
	}
}

func TestBillLookback(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5"), Identity{Model: "claude-opus-5"}
	for distance, hit := range map[int]bool{1: true, 19: true, 20: false, 30: false} {
		base := grow(fixedPart(), 1, 1000)
		next := grow(base, distance, 10)
		var l Ledger
		l = l.Advance(id, base, []Breakpoint{{Block: 2, TTL: 5 * time.Minute}}, noon)
		b := l.Bill(m, id, next, []Breakpoint{{Block: len(next) - 1, TTL: 5 * time.Minute}}, noon)
		if (b.ReadTokens > 0) != hit {
			t.Errorf("entry %d positions before the marker: read %d", distance, b.ReadTokens)
		}
		if hit != (len(b.Notes) == 0) {
			t.Errorf("notes %q", b.Notes)
		}
		// The marker at the previous tail makes the distance irrelevant, and
		// an OpenAI model has no limit.
		if b, _ := send(l, m, id, next, noon); b.ReadTokens != 16_000 {
			t.Errorf("with the previous tail marked: %+v", b)
		}
		g := mustModel(t, "gpt-6.1-sol")
		l.Marks[0].Identity.Model, id.Model = g.ID, g.ID
		if b := l.Bill(g, id, next, []Breakpoint{{Block: len(next) - 1, TTL: 30 * time.Minute}}, noon); b.ReadTokens != 16_000 {
			t.Errorf("without look-back limit: %+v", b)
		}
		id.Model = m.ID
	}
}

func TestBillReadRefreshes(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5"), Identity{Model: "claude-opus-5"}
	blocks := grow(fixedPart(), 3, 1000)
	_, l := send(Ledger{}, m, id, blocks, noon)
	for i := 1; i <= 5; i++ {
		var b Bill
		b, l = send(l, m, id, blocks, noon.Add(time.Duration(i)*4*time.Minute))
		if b.ReadTokens != 18_000 || b.UncachedTokens+b.Write5mTokens+b.Write1hTokens != 0 {
			t.Fatalf("call %d: %+v", i, b)
		}
	}
}

func TestBillMinimum(t *testing.T) {
	m, id := mustModel(t, "claude-opus-4-6"), Identity{Model: "claude-opus-4-6"}
	small := []Block{block(RegionSystem, "s", 4095)}
	var l Ledger
	l = l.Advance(id, small, []Breakpoint{{Block: 0, TTL: 5 * time.Minute}}, noon)
	b := l.Bill(m, id, small, []Breakpoint{{Block: 0, TTL: 5 * time.Minute}}, noon)
	if buckets(b) != [4]int{0, 0, 0, 4095} || len(b.Notes) == 0 {
		t.Errorf("%+v", b)
	}
}

func TestBillCliff(t *testing.T) {
	m, id := mustModel(t, "claude-haiku-5-5"), Identity{Model: "claude-haiku-5-5"}
	base := []Block{block(RegionSystem, "s", 99_000)}
	_, l := send(Ledger{}, m, id, base, noon)
	at, _ := send(l, m, id, append(base[:1:1], block(RegionNewest, "n", 1_000)), noon)
	over, _ := send(l, m, id, append(base[:1:1], block(RegionNewest, "n", 1_001)), noon)
	if at.Tier != 0 || !near(dollars(t, at.CostUSD), 99_000*.01e-6+1_000*.125e-6) {
		t.Errorf("at the cliff: %+v", at)
	}
	if over.Tier != 100_000 || !near(dollars(t, over.CostUSD), 99_000*.05e-6+1_001*.625e-6) || !strings.Contains(over.Notes[0], "cliff") {
		t.Errorf("over the cliff: %+v", over)
	}
}

func TestBillAutomatic(t *testing.T) {
	base := grow(fixedPart(), 1, 1000) // 16,000
	next := grow(base, 1, 777)
	tests := []struct {
		model string
		gap   time.Duration
		hit   bool
		want  [4]int
	}{
		{"gpt-5", time.Minute, false, [4]int{16_000, 0, 0, 777}}, // 125 × 128
		{"gpt-5", 5 * time.Minute, false, [4]int{0, 0, 0, 16_777}},
		{"gpt-5.5", time.Hour, false, [4]int{7 * 2048, 0, 0, 16_777 - 7*2048}},
		{"gemini-2.5-pro", time.Minute, false, [4]int{0, 0, 0, 16_777}},
		{"gemini-2.5-pro", time.Minute, true, [4]int{16_000, 0, 0, 777}},
		{"gemini-2.5-pro", 5 * time.Minute, true, [4]int{0, 0, 0, 16_777}},
		{"deepseek-flash", time.Minute, false, [4]int{16_000, 0, 0, 777}},
		{"gpt-4-turbo", time.Minute, false, [4]int{0, 0, 0, 16_777}},
	}
	for _, tt := range tests {
		m, id := mustModel(t, tt.model), Identity{Model: tt.model}
		_, l := send(Ledger{}, m, id, base, noon)
		l.Hit = tt.hit
		b, _ := send(l, m, id, next, noon.Add(tt.gap))
		if buckets(b) != tt.want {
			t.Errorf("%s after %s: %v, want %v", tt.model, tt.gap, buckets(b), tt.want)
		}
	}
	m, id := mustModel(t, "gpt-5"), Identity{Model: "gpt-5"}
	tiny := []Block{block(RegionSystem, "s", 1000)}
	_, l := send(Ledger{}, m, id, tiny, noon)
	if b, _ := send(l, m, id, tiny, noon); b.ReadTokens != 0 {
		t.Errorf("below 1,024 tokens: %+v", b)
	}
	edited := append([]Block(nil), base...)
	edited[2].Hash = "other"
	_, l = send(Ledger{}, m, id, base, noon)
	if b, _ := send(l, m, id, edited, noon); b.ReadTokens != 14_976 {
		t.Errorf("15,000 common tokens in steps of 128: %+v", b)
	}
}

func TestRewindReadsTheEarlierEntry(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5"), Identity{Model: "claude-opus-5"}
	a := grow(fixedPart(), 30, 1000)
	b := grow(a, 30, 1000)
	_, l := send(Ledger{}, m, id, a, noon)
	_, l = send(l, m, id, b, noon)
	edited := append(a[:32:32], block(RegionNewest, "another question", 100))
	edited = grow(edited, 25, 10)
	if bill, _ := send(l, m, id, edited, noon); bill.ReadTokens != 45_000 {
		t.Errorf("%+v", bill)
	}
}

// TestBillProperties walks random sessions and holds what must always be true
// of a bill.
func TestBillProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genModel(t)
		id := Identity{Model: m.ID}
		var l Ledger
		now, blocks := noon, genBlocks(t)
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			opt := genOptions(t)
			appended := rapid.Bool().Draw(t, "append")
			if appended {
				for range rapid.IntRange(0, 30).Draw(t, "new") {
					blocks = append(blocks[:len(blocks):len(blocks)], block(RegionNewest, rapid.StringMatching(`[a-z]{6}`).Draw(t, "id"), rapid.IntRange(0, 3000).Draw(t, "tokens")))
				}
			} else {
				blocks = genBlocks(t)
			}
			now = now.Add(time.Duration(rapid.IntRange(-60, 4000).Draw(t, "gap")) * time.Second)
			cold, _ := l.Cold(m, id, now)
			bill, after := sendWith(l, m, id, blocks, opt, now)
			alive := len(l.Marks) > 0 && l.Marks[len(l.Marks)-1].live(now)
			checkBill(t, l, m, blocks, bill, appended && !cold && alive)
			l = after
		}
	})
}

func checkBill(t *rapid.T, l Ledger, m Model, blocks []Block, bill Bill, warmAppend bool) {
	at := sums(blocks)
	total := at[len(blocks)].tokens
	if bill.Total() != total || min(bill.ReadTokens, bill.Write5mTokens, bill.Write1hTokens, bill.UncachedTokens) < 0 {
		t.Fatalf("buckets of %+v are not %d", bill, total)
	}
	if bill.A > bill.B || bill.B > bill.C || bill.C > total {
		t.Fatalf("borders of %+v", bill)
	}
	if kept := at[l.common(blocks)].tokens; bill.ReadTokens > kept {
		t.Fatalf("read %d of %d unchanged tokens", bill.ReadTokens, kept)
	}
	if !warmAppend || !m.Cache.marked() || len(l.Marks) == 0 {
		return
	}
	// The last entry that was written is at the previous tail's marker, so a
	// warm append reads all of it.
	if want := at[l.Marks[len(l.Marks)-1].Index+1].tokens; bill.ReadTokens < want && want >= m.MinCacheTokens {
		t.Fatalf("warm append reads %d of %d cached tokens (%+v)", bill.ReadTokens, want, bill)
	}
}
