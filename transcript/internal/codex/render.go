package codex

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/openai"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// dropItemKey reports whether a member of a recorded item is not sent again. Ids refer to items
// that the provider stored: without its reasoning, an item with an id would be refused. The other
// members are the host's own, and cache markers.
func dropItemKey(k string) bool {
	return k == "id" || dropReasoningKey(k)
}

// dropReasoningKey is dropItemKey for items that need their id.
func dropReasoningKey(k string) bool {
	return k == "internal_chat_message_metadata_passthrough" || wire.IsMarkerKey(k)
}

// appendItem appends a recorded Responses item.
func appendItem(dst []byte, p *memkernel.Part, typ string) []byte {
	drop := dropItemKey
	switch typ {
	case "reasoning", "compaction", "compaction_summary", "mcp_approval_request":
		drop = dropReasoningKey
	}
	if (p.Call != nil || p.Result != nil) && wire.MemberOf(p.Raw, "call_id") == "" {
		drop = dropReasoningKey // its id ties it to its other half
	}
	return wire.AppendWithout(dst, p.Raw, drop)
}

// takes reports whether a block of an unknown type is an item.
func takes(p *memkernel.Part) bool {
	return IsItem(p.Raw) && !(wire.RawType(p.Raw) == "compaction" && strings.Contains(p.Raw, `"content"`))
}

// refuses returns why reasoning can't be sent.
func refuses(_ *wire.Renderer, _ int, p *memkernel.Part) string {
	switch {
	case !IsReasoning(p):
		return "thinking of another provider"
	case p.Signature == "" || p.Signature == "REDACTED":
		return "reasoning without its encrypted content"
	}
	return ""
}

func IsReasoning(p *memkernel.Part) bool {
	return p.Raw != "" && wire.RawType(p.Raw) == "reasoning"
}

// isItem reports whether the part is an item of its own rather than content of
// a message item.
func isItem(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartToolUse || p.Kind == memkernel.PartToolResult || wire.IsThinking(p) || IsItem(p.Raw) ||
		p.Kind == memkernel.PartOther && !strings.HasPrefix(wire.RawType(p.Raw), "input_") && !strings.HasPrefix(wire.RawType(p.Raw), "output_")
}

// appendPart appends an item or a content part of the Responses API.
func appendPart(dst []byte, role memkernel.Role, p *memkernel.Part) []byte {
	if p.Raw != "" {
		if t, item := itemType(p.Raw); shaped(t, item, p.Kind) {
			if item {
				return appendItem(dst, p, t)
			}
			return wire.AppendClean(dst, p.Raw)
		}
	}
	switch {
	case p.Kind == memkernel.PartText && role == memkernel.RoleAssistant:
		return wire.Put(dst, `{"type":"output_text","text":`, p.Text, `,"annotations":[]}`)
	case p.Kind == memkernel.PartText:
		return wire.Put(dst, `{"type":"input_text","text":`, p.Text, `}`)
	case p.Kind == memkernel.PartToolUse:
		return appendFunctionCall(dst, p.Call)
	case p.Kind == memkernel.PartToolResult:
		return appendOutput(dst, p.Result, false)
	case p.Media == nil:
	case p.Kind == memkernel.PartImage:
		return wire.Put(dst, `{"type":"input_image","image_url":`, openai.URL(p.Media), `}`)
	case p.Kind != memkernel.PartDocument:
	case p.Media.Data != "":
		return wire.Put(dst, `{"type":"input_file","filename":`, openai.FileName(p), `,"file_data":`, openai.URL(p.Media), `}`)
	case p.Media.URL != "":
		return wire.Put(dst, `{"type":"input_file","file_url":`, p.Media.URL, `}`)
	default:
		return wire.Put(dst, `{"type":"input_text","text":`, p.Text, `}`)
	}
	return dst
}

// shaped reports whether a block's own JSON fits the API.
func shaped(typ string, item bool, kind memkernel.PartKind) bool {
	switch kind {
	case memkernel.PartText:
		return typ == "input_text" || typ == "output_text" || typ == "message"
	case memkernel.PartImage:
		return typ == "input_image"
	case memkernel.PartDocument:
		return typ == "input_file"
	}
	return item
}

func appendFunctionCall(dst []byte, call *memkernel.ToolCall) []byte {
	switch {
	case call == nil || call.Server:
		return dst
	case call.Custom:
		return wire.Put(dst, `{"type":"custom_tool_call","call_id":`, call.ID, `,"name":`, call.Name, `,"input":`, call.Input, `}`)
	}
	return wire.Put(dst, `{"type":"function_call","call_id":`, call.ID, `,"name":`, call.Name, `,"arguments":`, openai.Arguments(call), `}`)
}

// appendOutput appends the output of a call. The types of both items must agree, so that the caller
// has to know whether the call was custom.
func appendOutput(dst []byte, r *memkernel.ToolResult, custom bool) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	typ := "function_call_output"
	if custom {
		typ = "custom_tool_call_output"
	}
	dst = wire.Put(dst, `{"type":"`+typ+`","call_id":`, r.CallID, `,"output":`)
	if len(r.Content) == 0 || len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		return wire.Put(dst, "", openai.ResultText(r), `}`)
	}
	dst = wire.AppendList(dst, r.Content, func(dst []byte, p *memkernel.Part) []byte {
		return appendPart(dst, memkernel.RoleUser, wire.AsText(p))
	})
	return append(dst, '}')
}

func render(r *wire.Renderer) {
	marks := openai.Marked(r)
	if _, ok := r.TTLAt(wire.MarkerSystem, wire.LastPart, 0); ok {
		r.Note("marker-lost", -1, nil, "this format marks no instructions")
	}
	if len(r.System) > 0 {
		texts := make([]string, len(r.System))
		for i := range r.System {
			texts[i] = r.System[i].Text
		}
		r.Member("instructions")
		r.Put("", strings.Join(texts, "\n\n"))
	}
	r.Member("input")
	r.Put("[")
	out := newOutputs(r.Messages)
	for i := range r.Messages {
		writeMessage(r, i, marks[i], out)
	}
	r.Put("]")
	r.WriteTools(nil)
	r.Bound("max_output_tokens")
	r.Think("reasoning")
}

// rewrite writes a conversation in place of a client's.
func rewrite(r *wire.Renderer, e *wire.Envelope) (string, map[string]string) {
	out := newOutputs(r.Messages)
	return r.Rewrite(e, func(i int, m *memkernel.Message) {
		if m.Raw != "" && out.unchanged(m) {
			r.Comma()
			r.Put(m.Raw)
			return
		}
		writeMessage(r, i, openai.NoMark, out)
	}), nil
}

// writeMessage writes a message as items, in the order of its parts.
func writeMessage(r *wire.Renderer, i, mark int, out *outputs) {
	m := &r.Messages[i]
	role := openai.SentRole(m.Role)
	inside := false // a message item is open
	end := func() {
		if inside {
			r.Put("]}")
		}
		inside = false
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		if !r.Sends(i, p) {
			continue
		}
		if isItem(p) {
			end()
			writeItem(r, i, p, out)
			continue
		}
		if !inside {
			r.Comma()
			r.Put(`{"type":"message","role":"` + string(role) + `","content":[`)
			inside = true
		}
		written := r.List(func(dst []byte) []byte { return appendPart(dst, role, p) })
		if written && role != memkernel.RoleAssistant && (k == mark || mark == wire.LastPart && k == len(m.Parts)-1) {
			r.Dst = wire.InsertMember(r.Dst, openai.Breakpoint)
		}
	}
	end()
}

func writeItem(r *wire.Renderer, i int, p *memkernel.Part, out *outputs) {
	out.note(p)
	p = out.form(p)
	if !r.List(func(dst []byte) []byte {
		if p.Raw == "" && wire.IsResult(p) {
			return appendOutput(dst, p.Result, out.custom[p.Result.CallID])
		}
		return appendPart(dst, memkernel.RoleAssistant, p)
	}) {
		r.Note("not-sent", i, p, "this format can't carry the block")
	}
}
