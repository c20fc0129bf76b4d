package verbs

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/serve/meter"
)

// An amount that is shown as no cents has no change in per cent.
func TestGained(t *testing.T) {
	for _, c := range []struct {
		sum        meter.Sum
		want, lack string
	}{
		{meter.Sum{Calls: 2, Estimated: 2, BilledUSD: 0.0010, WithoutUSD: 0.0031}, "billed $0.00; without about $0.00 by an estimate", "%"},
		{meter.Sum{Calls: 2, Estimated: 2, BilledUSD: 0.004, WithoutUSD: 0.02}, "without about $0.02, −80 % by an estimate", ""},
		{meter.Sum{Calls: 2, Estimated: 2, BilledUSD: 0.5, WithoutUSD: 0.5}, "without about $0.50, 0 % by an estimate", ""},
	} {
		if got := gained(&c.sum); !strings.Contains(got, c.want) || c.lack != "" && strings.Contains(got, c.lack) {
			t.Errorf("%q, want %q and no %q", got, c.want, c.lack)
		}
		day := document.SavedDay{Day: "2026-11-03", Calls: c.sum.Calls, BilledUSD: &c.sum.BilledUSD, WithoutUSD: &c.sum.WithoutUSD}
		text := display.Style{}.Text(func(s *display.Sheet) { showGain(s, &document.Saved{SavedDay: day, Days: []document.SavedDay{day}}) })
		if c.lack == "%" && strings.Contains(text, "%") {
			t.Errorf("of less than a cent: %s", text)
		}
	}
}

func TestUnknown(t *testing.T) {
	got := unknownModels([]string{"barge-2", "raft-1"}, []string{"raft-1"})
	if len(got) != 2 || !strings.Contains(got[0], "barge-2, raft-1") || !strings.Contains(got[0], "plan.context_window") ||
		!strings.Contains(got[1], "raft-1") || !strings.Contains(got[1], "--prices") {
		t.Errorf("%q", got)
	}
	if got := unknownModels(nil, nil); !slices.Equal(got, nil) {
		t.Errorf("of nothing: %q", got)
	}
}
