package telemetry

import (
	"cmp"
	"context"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/serve"
)

// Kernel returns the function for [kernel.Options.Watch], nil for a nil Telemetry.
func (t *Telemetry) Kernel() func(context.Context, *api.Done) {
	if t == nil {
		return nil
	}
	return t.done
}

func (t *Telemetry) done(ctx context.Context, d *api.Done) {
	seconds := d.Took.Seconds()
	if d.Err != nil && !t.o.Hosts { // a daemon's calls tell of theirs
		t.add(failures, 1, "kernel", serve.ErrorCode(d.Err))
	}
	switch d.Op {
	case api.OpPlan, api.OpPeek:
		t.record(planTime, seconds, string(d.Op))
	case api.OpSearch, api.OpRecall:
		t.record(search, seconds, string(d.Op))
	}
	if d.Err == nil {
		switch {
		case d.Op == api.OpPlan:
			t.planned(d)
		case d.Observation != nil:
			t.observed(d)
		case d.Passed != nil:
			t.compacted(d)
		}
	}
	if t.export != nil {
		t.export.Done(ctx, d)
	}
}

func (t *Telemetry) planned(d *api.Done) {
	p := d.Plan
	if p.Layout.Made != nil {
		t.add(cuts, 1, p.Layout.Made.Reason)
		t.record(cutTime, d.Took.Seconds(), string(api.OpPlan))
	}
	t.count(faults, p.Faults)
	t.count(alerts, p.Alerts)
	t.add(hits, float64(d.Paging.Hits))
	t.mu.Lock()
	t.faults, t.alerts, t.hits = t.faults+d.Paging.Faults, t.alerts+d.Paging.Alerts, t.hits+d.Paging.Hits
	t.mu.Unlock()
	if d.Recalled {
		t.add(recalls, 1)
		t.add(recalled, float64(p.Retrieval.Tokens))
	}
	t.wrote(&p.Stats)
}

func (t *Telemetry) observed(d *api.Done) {
	o := d.Observation
	if d.Op == api.OpTurn {
		t.add(turns, 1, string(o.Outcome))
	}
	t.count(faults, o.Faults)
	t.wrote(&o.Stats)
	if !t.o.Hosts {
		return
	}
	for i := range o.Bills {
		b := &o.Bills[i]
		price, _ := t.o.Prices.Lookup(b.Model, b.Time)
		if b.BilledUSD == nil {
			t.add(unpriced, 1)
		} else {
			t.add(billed, *b.BilledUSD, t.model(b.Model))
		}
		t.usage(b.Model, &b.Usage)
		t.convention(cmp.Or(providers[price.Provider], price.Provider), b.Model, &b.Usage)
	}
}

func (t *Telemetry) compacted(d *api.Done) {
	t.count(faults, d.Passed.Faults)
	t.wrote(&d.Passed.Stats)
	if c := d.Passed.Compaction; c != nil && c.Reason == api.CompactOK {
		t.add(cuts, 1, string(api.OpCompact))
		t.record(cutTime, d.Took.Seconds(), string(api.OpCompact))
	}
}

// count counts faults by their codes.
func (t *Telemetry) count(m *Metric, list []fault.Fault) {
	for i := range list {
		t.add(m, 1, string(list[i].Code))
	}
}

// wrote counts the writes that were made durable.
func (t *Telemetry) wrote(s *api.Stats) {
	if s.Syncs > 0 {
		t.record(appendTime, s.SyncTime.Seconds())
	}
	t.add(journalBytes, float64(s.JournalBytes))
}

// model returns a model's label. Clients may write any name, but the price book's names are few.
func (t *Telemetry) model(name string) string {
	if m, ok := t.o.Prices.Lookup(name, time.Time{}); ok {
		return m.ID
	}
	return "other"
}

// usage counts a call and its tokens. It counts each token once, so that cached tokens are not
// input.
func (t *Telemetry) usage(model string, u *memkernel.Usage) {
	model = t.model(model)
	t.add(calls, 1, model)
	t.add(tokens, float64(u.InputTokens), model, "input")
	t.add(tokens, float64(u.CacheReadTokens), model, "cache_read")
	t.add(tokens, float64(u.CacheWrite5mTokens+u.CacheWrite1hTokens), model, "cache_write")
	t.add(tokens, float64(u.OutputTokens), model, "output")
}

// convention records a call's tokens by the conventions, in which cached tokens are input.
func (t *Telemetry) convention(provider, model string, u *memkernel.Usage) {
	t.record(tokenUsage, float64(u.InputTotal()), "chat", provider, t.model(model), "input")
	t.record(tokenUsage, float64(u.OutputTokens), "chat", provider, t.model(model), "output")
}

// providers are the conventions' names of providers of the price book, where they differ.
var providers = map[string]string{"": "_OTHER", "google": "gcp.gemini"}
