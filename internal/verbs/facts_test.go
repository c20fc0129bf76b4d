package verbs

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/summary"
)

// A request for facts says what would be sent and what it costs, then what came of it, or why
// nothing did.
func TestCuratedFacts(t *testing.T) {
	usd := .0033
	f := api.Facts{Path: "memory/2026-03-09.md", FromLine: 1, ToLine: 57, Model: "m at http://localhost", InputTokens: 2100, OutputTokens: 8000, USD: &usd, File: "memory/.facts/2026-03-09.md"}
	for want, change := range map[string]func(f *api.Facts){
		"lines 1 to 57 of memory/2026-03-09.md would be sent to m at http://localhost for facts: about 2,100 tokens, and at most 8,000 back, at most $0.0033": func(*api.Facts) {},
		"would be sent to m at http://localhost for facts: about 2,100 tokens, and at most 8,000 back\n":                                                      func(f *api.Facts) { f.USD = nil },
		"lines 1 to 57 of memory/2026-03-09.md: 14 facts in memory/.facts/2026-03-09.md, 3 dropped; 2,100 and 8,000 tokens, $0.0033\n": func(f *api.Facts) {
			f.Reason, f.Extracted = summary.ReasonOK, consolidation.Extracted{Taken: 14, Dropped: 3}
		},
		"lines 1 to 57 of memory/2026-03-09.md: no facts: COOLING: later\n": func(f *api.Facts) { f.Reason, f.Detail = summary.ReasonCooling, "later" },
	} {
		f := f
		change(&f)
		text := display.Style{Width: 400}.Text(func(s *display.Sheet) { showCurated(s, &api.Curated{Facts: []api.Facts{f}}) })
		if !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
