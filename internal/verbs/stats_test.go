package verbs

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/billing"
)

// TestStatsFitTheWidth draws sums of any size in terminals of 80 columns and more.
func TestStatsFitTheWidth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(rt, "calls")
		st := &billing.Report{}
		for range n {
			st.Calls = append(st.Calls, billing.Call{PlannedInputTokens: rapid.IntRange(0, 1<<40).Draw(rt, "planned"),
				Usage: memkernel.Usage{InputTokens: rapid.IntRange(0, 1<<40).Draw(rt, "input")}})
		}
		st.Total = billing.Sum{Calls: n, Name: "total"}
		st.Sessions = []billing.Sum{{Name: rapid.String().Draw(rt, "session"), Calls: n}}
		w := rapid.IntRange(display.Columns, 140).Draw(rt, "width")
		for i, l := range strings.Split(display.Style{Width: w}.Text(func(s *display.Sheet) { showStats(s, st) }), "\n") {
			if display.Width(l) > w {
				rt.Fatalf("line %d is %d columns wide, %d there are: %q", i+1, display.Width(l), w, l)
			}
		}
	})
}

// Stats say in a line each what hosts broke of caches, and what was lost of models' reasoning.
func TestStatsSayWhatWasLost(t *testing.T) {
	cut := func(b billing.Expected) *billing.Expected { b.Cut = true; return &b }
	removed := func(n int) *memkernel.Reported {
		return &memkernel.Reported{Removed: []memkernel.Removal{{Reason: memkernel.RemovedPrefix, Items: n}}}
	}
	st := billing.Of([]billing.Call{
		{Plan: "a", Planned: &billing.Expected{Broke: &cachelayout.Broke{What: "tools", Place: "tools[3].description", Tokens: 20_000, USD: new(0.1)}}},
		{Plan: "b", Planned: &billing.Expected{Broke: &cachelayout.Broke{What: "tools", Place: "tools", Tokens: 21_000, USD: new(0.11)}}},
		{Plan: "c", Planned: cut(billing.Expected{Reasoning: cachelayout.Reasoning{DroppedItems: 9, DroppedTokens: 1200, LostUSD: new(0.02)}}), Reported: removed(9)},
		{Plan: "d", Planned: &billing.Expected{Reasoning: cachelayout.Reasoning{StaleItems: 9}}, Reported: removed(9)},
		{Plan: "e", Planned: cut(billing.Expected{Reasoning: cachelayout.Reasoning{StaleItems: 4, DroppedItems: 6, DroppedTokens: 800, LostUSD: new(0.01)}}), Reported: removed(10)},
		{Plan: "f", Planned: &billing.Expected{Broke: &cachelayout.Broke{What: "model", Tokens: 300}}},
	}, nil)
	drawn := display.Style{Width: 200}.Text(func(s *display.Sheet) { showStats(s, st) })
	for _, want := range []string{"the host broke the cache 3 times: model 1x 300 tokens", "tools 2x 41k tokens $0.21",
		"15 items lost at cuts (0 left out, 15 for the provider to drop): 2,000 tokens that were billed as output for $0.0300",
		"by the provider: 15 items (prefix mismatch) of reasoning"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("no %q in:\n%s", want, drawn)
		}
	}
}
