package transcript

import (
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
			v.add("C1", "calls-answered", b.Msg, b.Part, "call %s is not answered before the next message", v.part(b).Call.ID)
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

// deepSeek judges D1 reasoning-content: where the model thinks, every
// assistant message carries its reasoning.
func (v *validator) deepSeek() {
	thinks := false
	for i := range v.req.Messages {
		thinks = thinks || hasThinking(&v.req.Messages[i])
	}
	for _, m := range v.opt.Reference {
		thinks = thinks || hasThinking(&m)
	}
	for i := range v.req.Messages {
		m := &v.req.Messages[i]
		if thinks && m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost && !hasThinking(m) {
			v.add("D1", "reasoning-content", i, -1, "the assistant message has no reasoning_content")
		}
	}
}

func hasThinking(m *memkernel.Message) bool {
	for k := range m.Parts {
		if wire.IsThinking(&m.Parts[k]) {
			return true
		}
	}
	return false
}

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
	for i := range v.req.Messages {
		for k := range v.req.Messages[i].Parts {
			p := &v.req.Messages[i].Parts[k]
			switch {
			case wire.IsCall(p):
				if _, twice := open[p.Call.ID]; twice || done[p.Call.ID] {
					v.add("R1", "call-output", i, k, "call id %s is used twice", p.Call.ID)
				}
				open[p.Call.ID] = wire.At{Msg: i, Part: k}
			case wire.IsResult(p) && !p.Result.Opaque:
				id := p.Result.CallID
				if _, ok := open[id]; !ok && done[id] {
					v.add("R1", "call-output", i, k, "call %s has two outputs", id)
				} else if !ok {
					v.add("R1", "call-output", i, k, "output for %s has no call", id)
				}
				delete(open, id)
				done[id] = true
			}
		}
	}
	for _, b := range v.sorted(open) {
		v.add("R1", "call-output", b.Msg, b.Part, "call %s has no output", v.part(b).Call.ID)
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
		if n := len(m.Parts); n > 0 && codex.IsReasoning(&m.Parts[n-1]) && v.nextRole(i) != memkernel.RoleAssistant {
			v.add("R2", "reasoning-group", i, n-1, "a reasoning item is not followed by the item that it led to")
		}
		if ref := find(m); ref != nil && HasCalls(*m) && sendableReasoning(ref) && !hasThinking(m) {
			v.add("R2", "reasoning-group", i, -1, "calls are sent without the reasoning that led to them")
		}
	}
}

func (v *validator) nextRole(i int) memkernel.Role {
	if i+1 < len(v.req.Messages) {
		return v.req.Messages[i+1].Role
	}
	return ""
}

func sendableReasoning(m *memkernel.Message) bool {
	for k := range m.Parts {
		if p := &m.Parts[k]; codex.IsReasoning(p) && p.Signature != "" && p.Signature != "REDACTED" {
			return true
		}
	}
	return false
}

// itemOrder: what is left of the recorded items keeps its order.
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
