package transcript

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/codex"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// chat judges the rules of chat completions: C1 calls-answered, C2
// no-orphan-tool, C3 window-start, C4 call-shape.
func (v *validator) chat() {
	open := map[string]wire.At{}
	start := true
	settle := func() {
		for _, b := range v.sorted(open) {
			v.atPart("C1", "calls-answered", b, "call %s is not answered before the next message", v.part(b).Call.ID)
		}
		clear(open)
	}
	for i := range v.req.Messages {
		m := &v.req.Messages[i]
		if wire.IsSystemRole(m.Role) && start {
			continue
		}
		rest := len(m.Parts) == 0
		for k := range m.Parts {
			p := &m.Parts[k]
			if m.Role == memkernel.RoleAssistant || !wire.IsResult(p) {
				rest = true
				continue
			}
			if start {
				v.add("C3", "window-start", i, k, "the conversation begins with a tool message")
			}
			start = false
			if _, ok := open[p.Result.CallID]; !ok {
				v.add("C2", "no-orphan-tool", i, k, "result for %s answers no call of the assistant message before", p.Result.CallID)
			}
			delete(open, p.Result.CallID)
		}
		start = false
		// Neighbouring assistant messages with calls are sent as one.
		run := m.Role == memkernel.RoleAssistant && i > 0 && v.req.Messages[i-1].Role == memkernel.RoleAssistant
		if rest && !run {
			settle()
		}
		if m.Role == memkernel.RoleAssistant {
			for k := range m.Parts {
				if wire.IsCall(&m.Parts[k]) {
					open[m.Parts[k].Call.ID] = wire.At{Msg: i, Part: k}
				}
			}
		}
	}
	settle()
	v.callShape("C4")
}

// deepSeek judges D1 reasoning-content: where the model thinks, every assistant message carries its
// reasoning.
func (v *validator) deepSeek() {
	thinking := func(m memkernel.Message) bool { return hasThinking(&m) }
	if !slices.ContainsFunc(v.req.Messages, thinking) && !slices.ContainsFunc(v.opt.Reference, thinking) {
		return
	}
	for i, m := range v.req.Messages {
		if m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost && !thinking(m) {
			v.add("D1", "reasoning-content", i, -1, "the assistant message has no reasoning_content")
		}
	}
}

func hasThinking(m *memkernel.Message) bool { return wire.Any(m, wire.IsThinking) }

// responses judges R1 call-output, R2 reasoning-group, R3 item-order, R4
// reasoning-after-cut and R5 call-shape.
func (v *validator) responses() {
	v.callOutput()
	v.reasoningGroup()
	v.itemOrder()
	v.afterCut("R4", "reasoning-after-cut")
	v.callShape("R5")
}

func (v *validator) callOutput() {
	open := map[string]wire.At{}
	done := map[string]bool{}
	for at, p := range wire.Parts(v.req.Messages) {
		switch id := wire.CallOf(p); {
		case wire.IsCall(p):
			if _, twice := open[id]; twice || done[id] {
				v.atPart("R1", "call-output", at, "call id %s is used twice", id)
			}
			open[id] = at
		case wire.IsResult(p) && !p.Result.Opaque:
			if _, ok := open[id]; !ok && done[id] {
				v.atPart("R1", "call-output", at, "call %s has two outputs", id)
			} else if !ok {
				v.atPart("R1", "call-output", at, "output for %s has no call", id)
			}
			delete(open, id)
			done[id] = true
		}
	}
	for _, b := range v.sorted(open) {
		v.atPart("R1", "call-output", b, "call %s has no output", v.part(b).Call.ID)
	}
}

// reasoningGroup: a reasoning item needs the item that followed it, and a call
// that came from reasoning needs the reasoning.
func (v *validator) reasoningGroup() {
	find := v.reference()
	for i := range v.req.Messages {
		m := &v.req.Messages[i]
		if m.Role != memkernel.RoleAssistant {
			continue
		}
		more := i+1 < len(v.req.Messages) && v.req.Messages[i+1].Role == memkernel.RoleAssistant
		if n := len(m.Parts); n > 0 && codex.IsReasoning(&m.Parts[n-1]) && !more {
			v.add("R2", "reasoning-group", i, n-1, "a reasoning item is not followed by the item that it led to")
		}
		if ref := find(m); ref != nil && HasCalls(*m) && sendableReasoning(ref) && !hasThinking(m) {
			v.add("R2", "reasoning-group", i, -1, "calls are sent without the reasoning that led to them")
		}
	}
}

func sendableReasoning(m *memkernel.Message) bool {
	return wire.Any(m, func(p *memkernel.Part) bool {
		return codex.IsReasoning(p) && p.Signature != "" && p.Signature != "REDACTED"
	})
}

// itemOrder: the recorded items that are sent keep their order.
func (v *validator) itemOrder() {
	at := map[string]int{}
	for i, m := range v.opt.Reference {
		if m.Key != "" {
			at[m.Key] = i
		}
	}
	last := -1
	for i := range v.req.Messages {
		ref, ok := at[v.req.Messages[i].Key]
		if !ok {
			continue
		}
		if ref < last {
			v.add("R3", "item-order", i, -1, "the message stood earlier in the recorded conversation")
		}
		last = max(last, ref)
	}
}
