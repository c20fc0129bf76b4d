package transcript

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/dialect"
)

// chat judges the rules of chat completions: C1 calls-answered, C2
// no-orphan-tool, C3 window-start, C4 call-shape.
func (v *validator) chat() {
	open := map[string]dialect.At{}
	start := true
	settle := func() {
		for _, b := range v.sorted(open) {
			v.atPart("C1", "calls-answered", b, "call %s is not answered before the next message", v.part(b).Call.ID)
		}
		clear(open)
	}
	for i := range v.req.Messages {
		m := &v.req.Messages[i]
		if dialect.IsSystemRole(m.Role) && start {
			continue
		}
		rest := len(m.Parts) == 0
		for k := range m.Parts {
			p := &m.Parts[k]
			if m.Role == memkernel.RoleAssistant || !dialect.IsResult(p) {
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
				if dialect.IsCall(&m.Parts[k]) {
					open[m.Parts[k].Call.ID] = dialect.At{Msg: i, Part: k}
				}
			}
		}
	}
	settle()
	v.callShape("C4")
}

// responses judges R1 call-output, R2 reasoning-group and R5 call-shape.
func (v *validator) responses() {
	v.callOutput()
	v.reasoningGroup()
	v.callShape("R5")
}

func (v *validator) callOutput() {
	open := map[string]dialect.At{}
	done := map[string]bool{}
	for at, p := range dialect.Parts(v.req.Messages) {
		switch id := dialect.CallOf(p); {
		case dialect.IsCall(p):
			if _, twice := open[id]; twice || done[id] {
				v.atPart("R1", "call-output", at, "call id %s is used twice", id)
			}
			open[id] = at
		case dialect.IsResult(p) && !p.Result.Opaque:
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

// reasoningGroup: a reasoning item needs the item that followed it.
func (v *validator) reasoningGroup() {
	msgs := v.req.Messages
	for i := range msgs {
		n := len(msgs[i].Parts)
		if n == 0 || msgs[i].Role != memkernel.RoleAssistant || !dialect.IsReasoningItem(&msgs[i].Parts[n-1]) {
			continue
		}
		if i+1 == len(msgs) || msgs[i+1].Role != memkernel.RoleAssistant {
			v.add("R2", "reasoning-group", i, n-1, "a reasoning item is not followed by the item that it led to")
		}
	}
}
