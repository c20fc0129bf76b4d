package proxy

import (
	"context"
	"strings"

	"github.com/memkernel/memkernel/kernel"
)

// deferredBy are the tools whose definitions wait for a search by a plan.
func deferredBy(p *kernel.ContextPlan) []string {
	if p.Deferral == nil {
		return nil
	}
	return p.Deferral.Names
}

// logDeferral writes one line where other tools wait than before, and why.
func (x *Proxy) logDeferral(e *exchange, p *kernel.ContextPlan) {
	if p.Deferral == nil {
		return
	}
	names := strings.Join(p.Deferral.Names, ",")
	said := names
	if said == "" {
		said = p.Deferral.Why
	}
	if !e.line.deferralChanged(said) {
		return
	}
	x.log.Info("tools", "deferred", len(p.Deferral.Names), "of", len(e.body.Tools), "tokens", p.Deferral.Tokens, "why", p.Deferral.Why,
		"names", names, "conversation", e.line.name)
}

// deferralChanged keeps what was said of the tools, and reports whether it is something else.
func (ln *line) deferralChanged(said string) bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	changed := ln.deferral != said
	ln.deferral = said
	return changed
}

// refusesSearch reports whether a refusal is about the search for tools: the model or the
// way to it does not know it.
func refusesSearch(text string) bool {
	for _, word := range []string{"tool_search", "defer_loading", "tool_reference"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// undeferred plans a request again with all definitions in front, and lets none wait from
// now on. It is nil if there is no such plan.
func (x *Proxy) undeferred(ctx context.Context, e *exchange) *outcome {
	e.to.searchless.Store(true)
	x.log.Warn("the upstream refuses to have tools searched for: all definitions are sent from now on")
	o := x.planned(ctx, e, nil)
	if len(o.deferred) > 0 {
		return nil
	}
	return o
}
