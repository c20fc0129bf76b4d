package transcript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// adopt converts a block to a call if a result in m answers it. It converts blocks of an unknown
// kind, and blocks that were read as calls of the provider's own tools: a block that the client
// answers is a call.
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

// setCall replaces part k of m by a call. It copies m.Parts first, because other messages may share
// them.
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
	typ, c := "", scan(p.Raw)
	input := func() { call.Input = c.Raw() }
	c.Read("type", &typ, "id", &call.ID, "name", &call.Name, "input", input, "arguments", input)
	fillCall(&call, typ, p.Raw)
	return call, c.Err == nil && call.ID != ""
}

// maxToolName is the length of the longest tool name that every provider accepts.
const maxToolName = 64

// fillCall fills in the missing members of a call of an unknown kind. The name is made from the
// block's type, with only characters that providers accept. The input is an object with all members
// that do not identify the call.
func fillCall(c *memkernel.ToolCall, typ, raw string) {
	if c.Name == "" {
		name := safeID(strings.TrimSuffix(strings.TrimSuffix(typ, "_call"), "_request"))
		c.Name = name[:min(len(name), maxToolName)]
	}
	if c.Input == "" {
		c.Input = string(appendWithout(nil, raw, func(k string) bool {
			return k == "type" || k == "id" || k == "call_id" || k == "name" || k == "status" || isMarkerKey(k)
		}))
	}
	if !strings.HasPrefix(c.Input, "{") {
		c.Input = string(appendInput(nil, c))
	}
}

// safeID replaces the characters of an id, or a name, that some provider does not allow.
func safeID(id string) string {
	ok := func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return strings.Map(func(r rune) rune {
		if ok(r) {
			return r
		}
		return '_'
	}, id)
}

// mend returns a call in a form that every API accepts, and the fault that it had, "" for none. The
// name has only characters that all APIs allow, but dots and colons of a Gemini name stay. The
// input is an object. Calls other than function calls are returned unchanged, since only their
// providers know their form.
func mend(p *memkernel.Part) (call memkernel.ToolCall, wrong string) {
	call = *p.Call
	switch rawType(p.Raw) {
	case "", "tool_use", "toolCall", "custom", "custom_tool_call":
	case "function":
		wrong = noText(memberOf(memberOf(p.Raw, "function"), "arguments"))
	case "function_call":
		wrong = noText(memberOf(p.Raw, "arguments"))
	default:
		return call, ""
	}
	name := call.Name
	if strings.Contains(p.Raw, `"functionCall"`) {
		name = strings.NewReplacer(".", "_", ":", "_").Replace(name)
	}
	if name == "" || len(name) > maxCallName || safeID(name) != name {
		call.Name = cmp.Or(strings.Trim(safeID(strings.TrimSpace(name)), "_"), "unnamed")
		call.Name = call.Name[:min(len(call.Name), maxToolName)]
		wrong = "its name is empty or no name"
	}
	if call.Custom || isObject(call.Input) {
		return call, wrong
	}
	switch c := scan(call.Input); c.Peek() {
	case '"': // an object as a text, or a text
		if s := c.Str(); c.End() == nil {
			call.Input = s
		}
	case 'n':
		call.Input = ""
	}
	if !isObject(call.Input) {
		call.Input = string(appendInput(nil, &call))
	}
	return call, "its input is no object"
}

// noText returns the fault of arguments that should be a string with JSON, "" if they are sound.
func noText(arguments string) string {
	if strings.HasPrefix(arguments, "{") {
		return "its arguments are an object where a text is to hold it"
	}
	return ""
}

// maxCallName is the longest name in a history that any provider takes.
const maxCallName = 200

// isObject reports whether a text is a JSON object.
func isObject(text string) bool {
	c := scan(text)
	if c.Peek() != '{' {
		return false
	}
	c.Skip()
	return c.End() == nil
}

// appendInput appends a call's input as the JSON object that the API takes. Input that is no
// object, such as broken arguments of a model, is wrapped into one.
func appendInput(dst []byte, call *memkernel.ToolCall) []byte {
	if !call.Custom && isObject(call.Input) {
		return appendValid(dst, call.Input)
	}
	if strings.TrimSpace(call.Input) == "" {
		return append(dst, '{', '}')
	}
	dst = append(dst, `{"input":`...)
	return append(appendString(dst, call.Input), '}')
}
