package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/serve"
)

// Kernel is what a kernel tells of its work ([kernel.Options.Watch]), nil for nil.
func (t *Telemetry) Kernel() func(context.Context, *kernel.Done) {
	if t == nil {
		return nil
	}
	return t.done
}

// operations are the conventions' names of what a kernel does with memory. A memory here is
// a part of the program, not a service: the spans are internal.
var operations = map[kernel.Op]string{kernel.OpSearch: "search_memory", kernel.OpRecall: "search_memory", kernel.OpRemember: "create_memory", kernel.OpForget: "delete_memory"}

func (t *Telemetry) done(ctx context.Context, d *kernel.Done) {
	ctx = context.WithoutCancel(ctx) // it counts all the same
	seconds := d.Took.Seconds()
	if d.Err != nil && !t.o.Hosts { // a daemon's calls tell of theirs
		t.add(ctx, failures, 1, "kernel", serve.ErrorCode(d.Err))
	}
	switch d.Op {
	case kernel.OpPlan, kernel.OpPeek:
		t.record(ctx, planTime, seconds, string(d.Op))
	case kernel.OpSearch, kernel.OpRecall:
		t.record(ctx, search, seconds, string(d.Op))
	}
	if d.Err == nil {
		switch {
		case d.Op == kernel.OpPlan:
			t.planned(ctx, d)
		case d.Observation != nil:
			t.observed(ctx, d)
		case d.Passed != nil:
			t.compacted(ctx, d)
		}
	}
	t.span(ctx, d)
}

func (t *Telemetry) planned(ctx context.Context, d *kernel.Done) {
	p := d.Plan
	if p.Layout.Made != nil {
		t.add(ctx, cuts, 1, p.Layout.Made.Reason)
		t.record(ctx, cutTime, d.Took.Seconds(), string(kernel.OpPlan))
	}
	t.count(ctx, faults, p.Faults)
	t.count(ctx, alerts, p.Alerts)
	t.add(ctx, hits, float64(d.Paging.Hits))
	t.mu.Lock()
	t.faults, t.alerts, t.hits = t.faults+d.Paging.Faults, t.alerts+d.Paging.Alerts, t.hits+d.Paging.Hits
	t.mu.Unlock()
	if d.Recalled {
		t.add(ctx, recalls, 1)
		t.add(ctx, recalled, float64(p.Retrieval.Tokens))
	}
	t.wrote(ctx, &p.Stats)
}

func (t *Telemetry) observed(ctx context.Context, d *kernel.Done) {
	o := d.Observation
	if d.Op == kernel.OpTurn {
		t.add(ctx, turns, 1, string(o.Outcome))
	}
	t.count(ctx, faults, o.Faults)
	t.wrote(ctx, &o.Stats)
	if !t.o.Hosts {
		return
	}
	for i := range o.Bills {
		b := &o.Bills[i]
		price, _ := t.o.Prices.Lookup(b.Model, b.Time)
		if b.BilledUSD == nil {
			t.add(ctx, unpriced, 1)
		} else {
			t.add(ctx, billed, *b.BilledUSD, t.model(b.Model))
		}
		t.usage(ctx, b.Model, &b.Usage)
		t.convention(ctx, providerOf(price.Provider), b.Model, &b.Usage)
	}
}

func (t *Telemetry) compacted(ctx context.Context, d *kernel.Done) {
	t.count(ctx, faults, d.Passed.Faults)
	t.wrote(ctx, &d.Passed.Stats)
	if c := d.Passed.Compaction; c != nil && c.Reason == kernel.CompactOK {
		t.add(ctx, cuts, 1, string(kernel.OpCompact))
		t.record(ctx, cutTime, d.Took.Seconds(), string(kernel.OpCompact))
	}
}

// count counts faults by their codes.
func (t *Telemetry) count(ctx context.Context, m *Metric, list []fault.Fault) {
	for i := range list {
		t.add(ctx, m, 1, string(list[i].Code))
	}
}

// wrote tells of what was made durable.
func (t *Telemetry) wrote(ctx context.Context, s *kernel.Stats) {
	if s.Syncs > 0 {
		t.record(ctx, appendTime, s.SyncTime.Seconds())
	}
	t.add(ctx, journalBytes, float64(s.JournalBytes))
}

// model is a model as a label: clients write what they like, and the price book's names are
// few.
func (t *Telemetry) model(name string) string {
	if m, ok := t.o.Prices.Lookup(name, time.Time{}); ok {
		return m.ID
	}
	return "other"
}

// usage counts a call and its tokens, each once: what is cached is no input.
func (t *Telemetry) usage(ctx context.Context, model string, u *memkernel.Usage) {
	model = t.model(model)
	t.add(ctx, calls, 1, model)
	t.add(ctx, tokens, float64(u.InputTokens), model, "input")
	t.add(ctx, tokens, float64(u.CacheReadTokens), model, "cache_read")
	t.add(ctx, tokens, float64(u.CacheWrite5mTokens+u.CacheWrite1hTokens), model, "cache_write")
	t.add(ctx, tokens, float64(u.OutputTokens), model, "output")
}

// convention tells of a call's tokens as the conventions count them: all input is input.
func (t *Telemetry) convention(ctx context.Context, provider, model string, u *memkernel.Usage) {
	t.record(ctx, tokenUsage, float64(u.InputTotal()), "chat", provider, t.model(model), "input")
	t.record(ctx, tokenUsage, float64(u.OutputTokens), "chat", provider, t.model(model), "output")
}

// providerOf is the conventions' name of a provider of the price book.
func providerOf(name string) string {
	switch name {
	case "":
		return "_OTHER"
	case "google":
		return "gcp.gemini"
	}
	return name
}

// span writes a span of work that has ended.
func (t *Telemetry) span(ctx context.Context, d *kernel.Done) {
	if t.spans == nil {
		return
	}
	name := "memkernel." + string(d.Op)
	var attrs []attribute.KeyValue
	if op := operations[d.Op]; op != "" {
		name, attrs = op, append(attrs, attribute.String(attrOperation, op), attribute.String("gen_ai.memory.store.id", "memkernel"), attribute.String("memkernel.op", string(d.Op)))
		if d.Err == nil {
			attrs = append(attrs, attribute.Int("gen_ai.memory.record.count", d.Found))
		}
	}
	if d.Reason != "" {
		attrs = append(attrs, attribute.String("memkernel.search.reason", string(d.Reason)))
	}
	if d.Model != "" {
		attrs = append(attrs, attribute.String(attrModel, clip(d.Model)))
	}
	if p := d.Plan; p != nil {
		attrs = append(attrs, planAttributes(p, d.Recalled)...)
	}
	if d.Observation != nil {
		attrs = append(attrs, attribute.String("memkernel.turn.outcome", string(d.Observation.Outcome)))
		if t.o.Hosts && len(d.Observation.Bills) == 1 {
			attrs = append(attrs, usageAttributes(&d.Observation.Bills[0].Usage)...)
		}
	}
	_, s := t.tracer.Start(ctx, name, trace.WithTimestamp(d.Began), trace.WithAttributes(attrs...))
	if d.Err != nil {
		fail(s, serve.ErrorCode(d.Err))
	}
	s.End(trace.WithTimestamp(d.Began.Add(d.Took)))
}

func planAttributes(p *kernel.ContextPlan, recalled bool) []attribute.KeyValue {
	cut := "none"
	if p.Layout.Made != nil {
		cut = p.Layout.Made.Reason
	}
	out := []attribute.KeyValue{
		attribute.String("memkernel.plan.cut", cut), attribute.Bool("memkernel.plan.cold", p.Layout.Cold),
		attribute.Int("memkernel.plan.input_tokens", p.Budgets.PlannedInputTokens),
		attribute.Int("memkernel.plan.cache_read_tokens", p.Budgets.PlannedCacheReadTokens),
		attribute.Int("memkernel.plan.context_window", p.Budgets.ContextWindow),
		attribute.Int("memkernel.plan.faults", len(p.Faults)),
	}
	if recalled {
		out = append(out, attribute.Int("memkernel.recall.items", p.Retrieval.Items), attribute.Int("memkernel.recall.tokens", p.Retrieval.Tokens))
	}
	return out
}

// usageAttributes are a bill by the conventions: what was read from and written to the cache
// is a part of the input.
func usageAttributes(u *memkernel.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int("gen_ai.usage.input_tokens", u.InputTotal()),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", u.CacheReadTokens),
		attribute.Int("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite5mTokens+u.CacheWrite1hTokens),
		attribute.Int("gen_ai.usage.output_tokens", u.OutputTokens),
	}
}

// fail marks a span. The error's own words may quote paths: its code has to do.
func fail(s trace.Span, code string) {
	s.SetAttributes(attribute.String(attrError, code))
	s.SetStatus(codes.Error, code)
}

// clip bounds a name that clients choose.
func clip(name string) string {
	const most = 100
	return name[:min(len(name), most)]
}
