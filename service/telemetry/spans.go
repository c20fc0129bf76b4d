package telemetry

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/proxy"
)

// BeginProxied begins the span of a proxied call, in the client's own trace if it has one.
func (x *exporter) BeginProxied(r *http.Request) context.Context {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, _ = x.tracer.Start(ctx, "chat", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("gen_ai.operation.name", "chat")))
	return ctx
}

// EndProxied ends the span of a proxied call.
func (x *exporter) EndProxied(ctx context.Context, c *proxy.Call) {
	s := trace.SpanFromContext(ctx)
	if !s.IsRecording() {
		return
	}
	op := c.Operation()
	s.SetName(strings.TrimSpace(op + " " + clip(c.Model)))
	attrs := []attribute.KeyValue{attribute.String("gen_ai.operation.name", op), attribute.String("gen_ai.provider.name", c.Provider()),
		attribute.Bool("gen_ai.request.stream", c.Stream), attribute.String("memkernel.outcome", c.Outcome)}
	if c.Model != "" {
		attrs = append(attrs, modelAttribute(c.Model))
	}
	if c.Reason != "" {
		attrs = append(attrs, attribute.String("memkernel.reason", c.Reason))
	}
	if c.Status != 0 {
		attrs = append(attrs, attribute.Int("http.response.status_code", c.Status))
	}
	if c.Stream && c.FirstByte > 0 {
		attrs = append(attrs, attribute.Float64("gen_ai.response.time_to_first_chunk", c.FirstByte.Seconds()))
	}
	if host, port, err := net.SplitHostPort(c.Host); err != nil {
		attrs = append(attrs, attribute.String("server.address", c.Host))
	} else if n, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, attribute.String("server.address", host), attribute.Int("server.port", n))
	}
	if c.Usage != nil {
		attrs = append(attrs, usageAttributes(c.Usage)...)
	}
	s.SetAttributes(attrs...)
	if _, code := c.Failed(); code != "" {
		fail(s, code)
	}
	s.End(trace.WithTimestamp(c.Began.Add(c.Took)))
}

// BeginServed begins the span of a call that a daemon answers.
func (x *exporter) BeginServed(ctx context.Context, method string) context.Context {
	ctx, _ = x.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("rpc.system.name", "jsonrpc"), attribute.String("rpc.method", method)))
	return ctx
}

// EndServed ends the span of a call that a daemon answers.
func (x *exporter) EndServed(ctx context.Context, code string) {
	s := trace.SpanFromContext(ctx)
	if code != "" {
		fail(s, code)
	}
	s.End()
}

// operations maps the kernel's operations on memory to their names in OpenTelemetry's
// conventions. The spans are internal, because memory is a part of this program and not another
// service.
var operations = map[api.Op]string{api.OpSearch: "search_memory", api.OpRecall: "search_memory", api.OpRemember: "create_memory", api.OpForget: "delete_memory"}

// Done writes a span for finished work.
func (x *exporter) Done(ctx context.Context, d *api.Done) {
	name := "memkernel." + string(d.Op)
	var attrs []attribute.KeyValue
	if op := operations[d.Op]; op != "" {
		name, attrs = op, append(attrs, attribute.String("gen_ai.operation.name", op), attribute.String("gen_ai.memory.store.id", "memkernel"), attribute.String("memkernel.op", string(d.Op)))
		if d.Err == nil {
			attrs = append(attrs, attribute.Int("gen_ai.memory.record.count", d.Found))
		}
	}
	if d.Reason != "" {
		attrs = append(attrs, attribute.String("memkernel.search.reason", string(d.Reason)))
	}
	if d.Model != "" {
		attrs = append(attrs, modelAttribute(d.Model))
	}
	if p := d.Plan; p != nil {
		attrs = append(attrs, planAttributes(p, d.Recalled)...)
	}
	if d.Observation != nil {
		attrs = append(attrs, attribute.String("memkernel.turn.outcome", string(d.Observation.Outcome)))
		if x.hosts && len(d.Observation.Bills) == 1 {
			attrs = append(attrs, usageAttributes(&d.Observation.Bills[0].Usage)...)
		}
	}
	_, s := x.tracer.Start(ctx, name, trace.WithTimestamp(d.Began), trace.WithAttributes(attrs...))
	if d.Err != nil {
		fail(s, serve.ErrorCode(d.Err))
	}
	s.End(trace.WithTimestamp(d.Began.Add(d.Took)))
}

func planAttributes(p *api.ContextPlan, recalled bool) []attribute.KeyValue {
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

// usageAttributes returns the token usage in the form of the conventions. Tokens read from and
// written to the cache are a part of the input.
func usageAttributes(u *memkernel.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int("gen_ai.usage.input_tokens", u.InputTotal()),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", u.CacheReadTokens),
		attribute.Int("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite5mTokens+u.CacheWrite1hTokens),
		attribute.Int("gen_ai.usage.output_tokens", u.OutputTokens),
	}
}

// fail marks a span with the code of an error. It leaves out the error's message, which may quote
// paths.
func fail(s trace.Span, code string) {
	s.SetAttributes(attribute.String("error.type", code))
	s.SetStatus(codes.Error, code)
}

func modelAttribute(name string) attribute.KeyValue {
	return attribute.String("gen_ai.request.model", clip(name))
}

// clip bounds the length of a name that clients choose.
func clip(name string) string {
	const most = 100
	return name[:min(len(name), most)]
}
