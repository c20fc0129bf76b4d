package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/meter"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Proxy returns a watcher for [proxy.Options.Watch]. It returns nil for a nil Telemetry.
func (t *Telemetry) Proxy() proxy.Watcher {
	if t == nil {
		return nil
	}
	return proxied{t}
}

// proxied watches a proxy.
type proxied struct{ t *Telemetry }

// Begin reports a call to the exporter.
func (p proxied) Begin(r *http.Request) context.Context {
	if p.t.export == nil {
		return r.Context()
	}
	return p.t.export.BeginProxied(r)
}

// End counts a call.
func (p proxied) End(ctx context.Context, c *proxy.Call) {
	t := p.t
	op, provider, model := c.Operation(), c.Provider(), t.model(c.Model)
	where, code := c.Failed()
	t.add(requests, 1, string(c.API), c.Outcome, c.Reason)
	if code != "" {
		t.add(failures, 1, where, code)
	}
	if c.FirstByte > 0 && !c.Count {
		t.record(firstByte, c.FirstByte.Seconds(), c.Outcome)
	}
	if !c.Count {
		t.record(operation, c.Took.Seconds(), op, provider, model, code)
		if c.Stream && c.FirstByte > 0 && code == "" {
			t.record(firstChunk, c.FirstByte.Seconds(), op, provider, model)
		}
		if c.Usage != nil {
			t.convention(provider, c.Model, c.Usage)
		}
	}
	if t.export != nil {
		t.export.EndProxied(ctx, c)
	}
}

// Metered counts a call that a proxy's meter has added ([meter.Meter.Each]).
func (t *Telemetry) Metered(b proxy.Billed, s meter.Sum) {
	if t == nil {
		return
	}
	model := t.model(b.Model)
	t.usage(b.Model, &s.Usage)
	t.add(unpriced, float64(s.Unpriced))
	t.add(billed, s.BilledUSD, model)
	t.add(without, s.WithoutUSD, model)
}

// Serve returns a watcher for [serve.Options.Watch]. It returns nil for a nil Telemetry.
func (t *Telemetry) Serve() serve.Watcher {
	if t == nil {
		return nil
	}
	return served{t}
}

// served watches a daemon.
type served struct{ t *Telemetry }

// Begin reports a call to the exporter.
func (s served) Begin(ctx context.Context, method string) context.Context {
	if s.t.export == nil {
		return ctx
	}
	return s.t.export.BeginServed(ctx, method)
}

// End counts a call.
func (s served) End(ctx context.Context, method, code string, began time.Time) {
	s.t.record(rpc, time.Since(began).Seconds(), method)
	if code != "" {
		s.t.add(failures, 1, "rpc", code)
	}
	if s.t.export != nil {
		s.t.export.EndServed(ctx, code)
	}
}

// Refused counts a message that was not a call.
func (s served) Refused(code string) { s.t.add(failures, 1, "rpc", code) }

// Kernel returns the function for [kernel.Options.Watch], nil for a nil Telemetry.
func (t *Telemetry) Kernel() func(context.Context, *api.Done) {
	if t == nil {
		return nil
	}
	return t.done
}

func (t *Telemetry) done(ctx context.Context, d *api.Done) {
	seconds := d.Took.Seconds()
	if d.Err != nil && !t.o.Hosts { // a daemon counts the errors of its calls instead
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
	t.add(hits, float64(d.Hits))
	t.mu.Lock()
	t.faults, t.alerts, t.hits = t.faults+d.Faults, t.alerts+d.Alerts, t.hits+d.Hits
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
