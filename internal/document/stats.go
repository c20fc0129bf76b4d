package document

import (
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/billing"
)

// Stats is the document of stats.
type Stats struct {
	Schema string `json:"schema"`
	*billing.Report
	// Calls is sorted by time.
	Calls []statsCall `json:"calls"`
}

// statsCall is one call.
type statsCall struct {
	// Time is the time of the plan.
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Branch  string    `json:"branch"`
	Model   string    `json:"model"`
	Plan    string    `json:"plan"`
	// Planned is null if no plan was recorded.
	Planned        *billing.Tokens `json:"planned"`
	Billed         billing.Tokens  `json:"billed"`
	PlannedCostUSD *float64        `json:"planned_cost_usd"`
	// BilledCostUSD is null for a model without a price.
	BilledCostUSD *float64 `json:"billed_cost_usd"`
	// Cut reports whether the plan made a cut.
	Cut bool `json:"cut"`
	// SavedTokens counts the tokens that cuts kept out of this prompt.
	SavedTokens int `json:"saved_tokens"`
	// BilledUSD is the bill, including the answer. WithoutUSD is the estimated cost of the call
	// without memkernel. It is null for a call that memkernel did not send.
	BilledUSD    *float64 `json:"billed_usd"`
	WithoutUSD   *float64 `json:"without_usd"`
	ColdExpected *bool    `json:"cold_expected"`
	// ColdSeen is null for a first call, after a cut, and if nothing could be cached.
	ColdSeen *bool `json:"cold_seen"`
	// Reasoning is the model's reasoning that the plan lost, null if the plan lost none. Reported
	// is the provider's report on the request.
	Reasoning *cachelayout.Reasoning `json:"reasoning"`
	Reported  *memkernel.Reported    `json:"reported"`
	// Broke is the part of a warm cache that the host broke, null if the host broke nothing.
	Broke *cachelayout.Broke `json:"broke"`
}

// OfUsage returns the document of a report of usage.
func OfUsage(st *billing.Report) Stats {
	doc := Stats{Schema: "memkernel/stats/v1", Report: st, Calls: []statsCall{}}
	for i := range st.Calls {
		r := &st.Calls[i]
		c := statsCall{Time: r.Time.UTC(), Session: r.Session, Branch: r.Branch, Model: r.Model, Plan: r.Plan,
			Billed: r.Billed(), BilledCostUSD: r.BilledCostUSD, BilledUSD: r.BilledUSD, WithoutUSD: r.WithoutUSD, ColdSeen: r.ColdSeen, Reported: r.Reported}
		if planned, ok := r.Expected(); ok {
			c.Planned, c.PlannedCostUSD, c.Cut, c.SavedTokens = &planned, r.Planned.CostUSD, r.Planned.Cut, r.Planned.SavedTokens
			c.ColdExpected, c.Broke = &r.Planned.Cold, r.Planned.Broke
			if r.Planned.Reasoning.Items() > 0 {
				c.Reasoning = &r.Planned.Reasoning
			}
		}
		doc.Calls = append(doc.Calls, c)
	}
	return doc
}

// Saved sums up the sessions that memkernel planned. It holds bills and no simulated costs.
type Saved struct {
	Sessions int `json:"sessions"`
	SavedDay
	// Unpriced is the number of calls without a price. They are in no cost.
	Unpriced int `json:"unpriced_calls"`
	// Unknown are the models without a price.
	Unknown []string `json:"models_without_price"`
	// Days are the days with calls, the oldest first.
	Days []SavedDay `json:"days"`
}

// SavedDay sums up the calls since a day, or of a day.
type SavedDay struct {
	Day   string `json:"day"`
	Calls int    `json:"calls"`
	// BilledUSD is the bill, and WithoutUSD the estimate of the same calls without memkernel. They
	// are null if no call has a price.
	BilledUSD  *float64 `json:"billed_usd"`
	WithoutUSD *float64 `json:"without_usd"`
}

// OfSaved sums up the bills of the sessions of which memkernel planned a call.
func OfSaved(all *billing.Report, in *time.Location) Saved {
	planned := map[string]bool{}
	for i := range all.Calls {
		c := &all.Calls[i]
		planned[c.Session] = planned[c.Session] || c.Ours()
	}
	st := billing.Of(slices.DeleteFunc(slices.Clone(all.Calls), func(c billing.Call) bool { return !planned[c.Session] }), in)
	day := func(s *billing.Sum) SavedDay { return SavedDay{s.Name, s.Calls, s.BilledUSD, s.WithoutUSD} }
	out := Saved{Sessions: len(st.Sessions), SavedDay: day(&st.Total), Unpriced: st.Total.Unpriced, Unknown: []string{}, Days: []SavedDay{}}
	for i := range st.Days {
		out.Days = append(out.Days, day(&st.Days[i]))
	}
	for i := range st.Models {
		if m := &st.Models[i]; m.Unpriced > 0 {
			out.Unknown = append(out.Unknown, m.Name)
		}
	}
	if out.Day = ""; len(out.Days) > 0 {
		out.Day = out.Days[0].Day
	}
	return out
}
