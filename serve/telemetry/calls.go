package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/meter"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/transcript"
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
	op, provider, model := OperationOf(c), ProviderOfAPI(c), t.model(c.Model)
	where, code := FailureOf(c)
	t.add(requests, 1, string(c.API), OutcomeOf(c), c.Reason)
	if code != "" {
		t.add(failures, 1, where, code)
	}
	if c.FirstByte > 0 && !c.Count {
		t.record(firstByte, c.FirstByte.Seconds(), OutcomeOf(c))
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

// OperationOf returns the conventions' name of a call's operation.
func OperationOf(c *proxy.Call) string {
	if c.Count {
		return "count_tokens"
	}
	return "chat"
}

// OutcomeOf returns the outcome of a request. It returns "none" if nothing was sent.
func OutcomeOf(c *proxy.Call) string { return cmp.Or(c.Outcome, "none") }

// FailureOf returns where a call failed and the code of the failure. Both are "" if the call did
// not fail.
func FailureOf(c *proxy.Call) (where, code string) {
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

// ProviderOfAPI returns the conventions' name of the provider whose API a call speaks, whoever
// answers.
func ProviderOfAPI(c *proxy.Call) string {
	if c.API == transcript.FormatAnthropic {
		return "anthropic"
	}
	return "openai"
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
