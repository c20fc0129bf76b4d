package kernel

import "github.com/memkernel/memkernel/kernel/internal/branch"

// keepCall remembers the call of the plan at hand.
func (w *work) keepCall() {
	r := &w.req
	w.next.System, w.next.Tools = r.System, r.Tools
	w.next.Call = &branch.Call{ContextWindow: r.ContextWindow, Reserve: r.Reserve, FixedTokens: r.FixedTokens, Resolver: r.Resolver,
		ToolChoice: r.ToolChoice, Thinking: r.Thinking, Effort: r.Effort, DropOption: r.DropOption, Format: r.Format, TTL: r.TTL,
		ToolTokens: w.toolTokens, SystemTokens: w.systemTokens, ToolHash: w.toolHash, SystemHash: w.systemHash}
}

// nextRequest is the request of the last call, and what the host says of the next one in
// its place.
func nextRequest(l *branch.State, o *PlanRequest) PlanRequest {
	c := l.LastCall()
	req := PlanRequest{ContextWindow: c.ContextWindow, Reserve: c.Reserve, FixedTokens: c.FixedTokens, Resolver: c.Resolver,
		ToolChoice: c.ToolChoice, Thinking: c.Thinking, Effort: c.Effort, DropOption: c.DropOption, Format: c.Format, TTL: c.TTL,
		System: l.System, Tools: l.Tools}
	if o == nil {
		return req
	}
	setIf(&req.ContextWindow, o.ContextWindow)
	setIf(&req.Reserve, o.Reserve)
	setIf(&req.FixedTokens, o.FixedTokens)
	setIf(&req.Resolver, o.Resolver)
	setIf(&req.ToolChoice, o.ToolChoice)
	setIf(&req.Thinking, o.Thinking)
	setIf(&req.Effort, o.Effort)
	setIf(&req.DropOption, o.DropOption)
	setIf(&req.Format, o.Format)
	setIf(&req.TTL, o.TTL)
	setIf(&req.Private, o.Private)
	if o.System != nil || o.Tools != nil {
		req.System, req.Tools = o.System, o.Tools
	}
	return req
}

func setIf[T comparable](to *T, v T) {
	var zero T
	if v != zero {
		*to = v
	}
}

// remembered is the last call where system and tools are known by their sizes alone:
// another process planned it. Nil where they are known, or are others.
func remembered(l *branch.State, r *PlanRequest) *branch.Call {
	c := l.Call
	if c == nil || r.System != nil || r.Tools != nil || l.System != nil || l.Tools != nil || c.FixedTokens != r.FixedTokens || c.ToolTokens+c.SystemTokens <= r.FixedTokens {
		return nil
	}
	return c
}
