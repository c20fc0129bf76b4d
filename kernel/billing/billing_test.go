package billing

import (
	"testing"
	"time"

	"github.com/memkernel/memkernel"
)

// Sums are over the calls that they can be over: prices of priced calls, errors of planned
// ones, and a day begins where it is said to.
func TestSums(t *testing.T) {
	usd := func(v float64) *float64 { return &v }
	cold := true
	at := time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)
	calls := []Call{
		{Session: "b", Branch: "", Turn: "u2", Model: "m", Time: at.Add(time.Hour), Usage: memkernel.Usage{InputTokens: 100}},
		{Session: "a", Turn: "u1", Model: "m", Time: at, Usage: memkernel.Usage{InputTokens: 50, CacheReadTokens: 150}, BilledCostUSD: usd(2), ColdSeen: &cold,
			Planned: &Expected{UncachedTokens: 60, CacheReadTokens: 180, CostUSD: usd(3), Cold: true, Cut: true, SavedTokens: 7}},
		{Session: "a", Turn: "u1", Model: "n", Time: at.Add(time.Minute), Usage: memkernel.Usage{InputTokens: 10}},
	}
	r := Of(calls, nil)
	if s := r.Total; s.Calls != 3 || s.Turns != 2 || s.Compared != 1 || s.Unpriced != 2 || s.Cuts != 1 || s.SavedTokens != 7 || s.ColdBoth != 1 ||
		s.Billed.InputTokens != 310 || s.BilledCompared.InputTokens != 200 || s.Planned.InputTokens != 240 || *s.BilledCostUSD != 2 || *s.PlannedCostUSD != 3 ||
		*s.InputError != 0.2 || *s.ReadError != 0.2 || s.WriteError != nil {
		t.Errorf("%+v", s)
	}
	if len(r.Sessions) != 2 || r.Sessions[0].Name != "a" || r.Sessions[0].Calls != 2 || len(r.Models) != 2 || !r.Calls[0].Time.Equal(at) {
		t.Errorf("%+v", r)
	}
	if len(r.Days) != 2 || len(Of(calls, time.FixedZone("east", 3600)).Days) != 1 {
		t.Errorf("days %+v", r.Days)
	}
	if none := Of([]Call{}, nil); none.Total.HitRatio != nil || none.Total.InputError != nil || none.Sessions == nil {
		t.Errorf("of nothing: %+v", none)
	}
}

// A host's own id finds the session that a proxy keeps with the host's name before it.
func TestSessionByTheHostsID(t *testing.T) {
	r := Of([]Call{
		{Session: "claude:11aa", Plan: "p1", BilledUSD: new(0.5)},
		{Session: "claude:22bb", Plan: "p2", BilledUSD: new(0.25)},
	}, nil)
	for _, key := range []string{"11aa", "claude:11aa"} {
		if own := r.Session(key); own == nil || len(own.Calls) != 1 || own.Calls[0].Plan != "p1" {
			t.Errorf("%s finds %+v, want the call of the plan p1", key, own)
		}
	}
	if own := r.Session("1aa"); own != nil {
		t.Errorf("a part of an id finds %+v, want nothing", own)
	}
}
