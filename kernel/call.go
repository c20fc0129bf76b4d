package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// callRecord is what a line remembers of its last call beside the messages, so that
// a compaction knows what it makes room for.
type callRecord struct {
	ContextWindow int               `json:"context_window,omitempty"`
	Reserve       int               `json:"reserve,omitempty"`
	FixedTokens   int               `json:"fixed_tokens,omitempty"`
	Resolver      string            `json:"resolver,omitempty"`
	ToolChoice    string            `json:"tool_choice,omitempty"`
	Thinking      string            `json:"thinking,omitempty"`
	Effort        string            `json:"effort,omitempty"`
	DropOption    bool              `json:"drop_option,omitempty"`
	Format        transcript.Format `json:"format,omitempty"`
	TTL           time.Duration     `json:"ttl,omitempty"`
	// Tools and System are their sizes and hashes as the plan had them: their texts
	// are the host's.
	ToolTokens   int    `json:"tool_tokens,omitempty"`
	SystemTokens int    `json:"system_tokens,omitempty"`
	ToolHash     string `json:"tool_hash,omitempty"`
	SystemHash   string `json:"system_hash,omitempty"`
}

// call is a callRecord with the texts, as long as the process lives that saw them.
type call struct {
	callRecord
	system []memkernel.Part
	tools  []memkernel.Tool
}

// keepCall remembers the call of the plan at hand.
func (w *work) keepCall() {
	r := &w.req
	w.next.call = call{callRecord{ContextWindow: r.ContextWindow, Reserve: r.Reserve, FixedTokens: r.FixedTokens, Resolver: r.Resolver,
		ToolChoice: r.ToolChoice, Thinking: r.Thinking, Effort: r.Effort, DropOption: r.DropOption, Format: r.Format, TTL: r.TTL,
		ToolTokens: w.toolTokens, SystemTokens: w.systemTokens, ToolHash: w.toolHash, SystemHash: w.systemHash}, r.System, r.Tools}
}

// over is the request of the last call, and what the host says of the next one in
// its place.
func (c *call) over(o *PlanRequest) PlanRequest {
	req := PlanRequest{ContextWindow: c.ContextWindow, Reserve: c.Reserve, FixedTokens: c.FixedTokens, Resolver: c.Resolver,
		ToolChoice: c.ToolChoice, Thinking: c.Thinking, Effort: c.Effort, DropOption: c.DropOption, Format: c.Format, TTL: c.TTL,
		System: c.system, Tools: c.tools}
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

// remembered tells whether system and tools are known by their sizes alone: another
// process planned the last call.
func (c *call) remembered(r *PlanRequest) bool {
	return r.System == nil && r.Tools == nil && c.system == nil && c.tools == nil && c.FixedTokens == r.FixedTokens &&
		c.ToolTokens+c.SystemTokens > r.FixedTokens
}

// fixedTokens is the size of tools and system in the line's last call.
func (l *line) fixedTokens() int { return l.call.ToolTokens + l.call.SystemTokens }
