package transcript

import (
	"slices"

	"github.com/memkernel/memkernel"
)

// adopt makes calls of what the results in a message answer, where that is a block of
// an unknown kind or one that was taken for the provider's own: who gets an answer from
// outside has asked for it.
func adopt(msgs []memkernel.Message, m *memkernel.Message) {
	if m.Role == memkernel.RoleAssistant {
		return
	}
	for k := range m.Parts {
		if p := &m.Parts[k]; isResult(p) {
			adoptCall(msgs, p.Result.CallID)
		}
	}
}

func adoptCall(msgs []memkernel.Message, id string) {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role != memkernel.RoleAssistant {
			continue
		}
		for k := range msgs[i].Parts {
			p := &msgs[i].Parts[k]
			if p.Call != nil && p.Call.ID == id {
				if p.Call.Server {
					setCall(&msgs[i], k, memkernel.ToolCall{ID: id, Name: p.Call.Name, Input: p.Call.Input})
				}
				return
			}
			if c, ok := unknownCall(p); ok && c.ID == id {
				setCall(&msgs[i], k, c)
				return
			}
		}
	}
}

// setCall makes a call of a part; others may hold the parts.
func setCall(m *memkernel.Message, k int, c memkernel.ToolCall) {
	m.Parts = slices.Clone(m.Parts)
	m.Parts[k] = memkernel.Part{Kind: memkernel.PartToolUse, Call: &c, Raw: m.Parts[k].Raw}
}

// unknownCall reads a block of an unknown kind that has an id as a call.
func unknownCall(p *memkernel.Part) (memkernel.ToolCall, bool) {
	if p.Kind != memkernel.PartOther || p.Raw == "" {
		return memkernel.ToolCall{}, false
	}
	var call memkernel.ToolCall
	typ := ""
	c := scan(p.Raw)
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
		case "id":
			call.ID = c.str()
		case "name":
			call.Name = c.str()
		case "input", "arguments":
			call.Input = c.raw()
		default:
			c.skip()
		}
	}
	fillCall(&call, typ, p.Raw)
	return call, c.err == nil && call.ID != ""
}
