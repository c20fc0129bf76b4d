package telemetry

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/meter"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/transcript"
)

// Proxy is for [proxy.Options.Watch], nil for nil.
func (t *Telemetry) Proxy() proxy.Watcher {
	if t == nil {
		return nil
	}
	return proxied{t}
}

// proxied watches a proxy.
type proxied struct{ t *Telemetry }

// Begin begins the span of a call, in the client's own trace if it has one.
func (p proxied) Begin(r *http.Request) context.Context {
	ctx := r.Context()
	if p.t.spans == nil {
		return ctx
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, _ = p.t.tracer.Start(ctx, "chat", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String(attrOperation, "chat")))
	return ctx
}

// End counts a call, and ends its span.
func (p proxied) End(ctx context.Context, c *proxy.Call) {
	t := p.t
	ctx = context.WithoutCancel(ctx) // a client that has gone counts
	op, provider, model := "chat", providerOfAPI(c.API), t.model(c.Model)
	if c.Count {
		op = "count_tokens"
	}
	where, code := problem(c)
	t.add(ctx, requests, 1, string(c.API), outcomeOf(c), c.Reason)
	if code != "" {
		t.add(ctx, failures, 1, where, code)
	}
	if c.FirstByte > 0 && !c.Count {
		t.record(ctx, firstByte, c.FirstByte.Seconds(), outcomeOf(c))
	}
	if !c.Count {
		t.record(ctx, operation, c.Took.Seconds(), op, provider, model, code)
		if c.Stream && c.FirstByte > 0 && code == "" {
			t.record(ctx, firstChunk, c.FirstByte.Seconds(), op, provider, model)
		}
		if c.Usage != nil {
			t.convention(ctx, provider, c.Model, c.Usage)
		}
	}
	s := trace.SpanFromContext(ctx)
	if t.spans == nil || !s.IsRecording() {
		return
	}
	s.SetName(strings.TrimSpace(op + " " + clip(c.Model)))
	attrs := []attribute.KeyValue{attribute.String(attrOperation, op), attribute.String(attrProvider, provider),
		attribute.Bool("gen_ai.request.stream", c.Stream), attribute.String("memkernel.outcome", outcomeOf(c))}
	if c.Model != "" {
		attrs = append(attrs, attribute.String(attrModel, clip(c.Model)))
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
	if code != "" {
		fail(s, code)
	}
	s.End(trace.WithTimestamp(c.Began.Add(c.Took)))
}

// outcomeOf is what became of a request: one that was given up before anything went out has
// none.
func outcomeOf(c *proxy.Call) string {
	if c.Outcome == "" {
		return "none"
	}
	return c.Outcome
}

// problem says where a call failed, and how; "" if it did not.
func problem(c *proxy.Call) (where, code string) {
	switch {
	case c.Failure == proxy.FailGone:
		return "client", c.Failure
	case c.Failure != "":
		return "upstream", strings.ReplaceAll(c.Failure, " ", "_")
	case c.Status >= http.StatusBadRequest:
		return "upstream", strconv.Itoa(c.Status)
	}
	return "", ""
}

// providerOfAPI is the conventions' name of whose API is spoken, whoever answers.
func providerOfAPI(f transcript.Format) string {
	if f == transcript.FormatAnthropic {
		return "anthropic"
	}
	return "openai"
}

// Metered counts what a proxy's meter took in ([meter.Meter.Each]).
func (t *Telemetry) Metered(b proxy.Billed, s meter.Sum) {
	if t == nil {
		return
	}
	ctx, model := context.Background(), t.model(b.Model)
	t.usage(ctx, b.Model, &s.Usage)
	t.add(ctx, unpriced, float64(s.Unpriced))
	t.add(ctx, billed, s.BilledUSD, model)
	t.add(ctx, without, s.WithoutUSD, model)
}

// Serve is for [serve.Options.Watch], nil for nil.
func (t *Telemetry) Serve() serve.Watcher {
	if t == nil {
		return nil
	}
	return served{t}
}

// served watches a daemon.
type served struct{ t *Telemetry }

// Begin begins the span of a call.
func (s served) Begin(ctx context.Context, method string) context.Context {
	if s.t.spans == nil {
		return ctx
	}
	ctx, _ = s.t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("rpc.system.name", "jsonrpc"), attribute.String("rpc.method", method)))
	return ctx
}

// End counts it.
func (s served) End(ctx context.Context, method, code string, began time.Time) {
	ctx = context.WithoutCancel(ctx)
	s.t.record(ctx, rpc, time.Since(began).Seconds(), method)
	if code != "" {
		s.t.add(ctx, failures, 1, "rpc", code)
	}
	if s.t.spans == nil {
		return
	}
	span := trace.SpanFromContext(ctx)
	if code != "" {
		fail(span, code)
	}
	span.End()
}

// Refused counts a message that was no call.
func (s served) Refused(code string) { s.t.add(context.Background(), failures, 1, "rpc", code) }
