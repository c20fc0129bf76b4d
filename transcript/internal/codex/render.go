package codex

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/openai"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// dropItemKey names the members of a recorded item that are not sent again.
// Ids refer to what the provider stored; beside reasoning that was left out
// they make it miss the reasoning. The other member is the host's own.
func dropItemKey(k string) bool {
	return k == "id" || dropReasoningKey(k)
}

// dropReasoningKey is dropItemKey for items that are known by their id.
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
		drop = dropReasoningKey // the id is what ties it to its other half
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
	switch p.Kind {
	case memkernel.PartText:
		if role == memkernel.RoleAssistant {
			return wire.Put(dst, `{"type":"output_text","text":`, p.Text, `,"annotations":[]}`)
		}
		return wire.Put(dst, `{"type":"input_text","text":`, p.Text, `}`)
	case memkernel.PartToolUse:
		return appendFunctionCall(dst, p.Call)
	case memkernel.PartToolResult:
		return appendFunctionOutput(dst, p.Result)
	case memkernel.PartImage:
		if p.Media == nil {
			return dst
		}
		dst = append(dst, `{"type":"input_image","image_url":`...)
		return append(openai.AppendURL(dst, p.Media), '}')
	case memkernel.PartDocument:
		return appendInputFile(dst, p)
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
		dst = append(dst, `{"type":"custom_tool_call","call_id":`...)
	default:
		dst = append(dst, `{"type":"function_call","call_id":`...)
	}
	dst = append(wire.AppendString(dst, call.ID), `,"name":`...)
	dst = wire.AppendString(dst, call.Name)
	if call.Custom {
		return wire.Put(dst, `,"input":`, call.Input, `}`)
	}
	return wire.Put(dst, `,"arguments":`, openai.Arguments(call), `}`)
}

func appendFunctionOutput(dst []byte, r *memkernel.ToolResult) []byte {
	return appendOutput(dst, r, false)
}

// appendOutput appends the output of a call, custom or not: the item types
// must agree, and a result does not show of which kind its call was.
func appendOutput(dst []byte, r *memkernel.ToolResult, custom bool) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	typ := "function_call_output"
	if custom {
		typ = "custom_tool_call_output"
	}
	dst = append(append(append(dst, `{"type":"`...), typ...), `","call_id":`...)
	dst = append(wire.AppendString(dst, r.CallID), `,"output":`...)
	if len(r.Content) == 0 || len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		return append(wire.AppendString(dst, openai.ResultText(r)), '}')
	}
	dst = append(dst, '[')
	for i := range r.Content {
		dst = wire.AppendListed(dst, func(dst []byte) []byte {
			return appendPart(dst, memkernel.RoleUser, wire.AsText(&r.Content[i]))
		})
	}
	return append(dst, ']', '}')
}

func appendInputFile(dst []byte, p *memkernel.Part) []byte {
	switch {
	case p.Media == nil:
		return dst
	case p.Media.Data == "" && p.Media.URL == "":
		return wire.Put(dst, `{"type":"input_text","text":`, p.Text, `}`)
	case p.Media.Data == "":
		return wire.Put(dst, `{"type":"input_file","file_url":`, p.Media.URL, `}`)
	}
	dst = wire.Put(dst, `{"type":"input_file","filename":`, openai.FileName(p), `,"file_data":`)
	return append(openai.AppendURL(dst, p.Media), '}')
}

func render(r *wire.Renderer) {
	marks := openai.Marked(r)
	if _, ok := r.TTLAt(wire.MarkerSystem, wire.LastPart, 0); ok {
		r.Note("marker-lost", -1, nil, "this format marks no instructions")
	}
	if len(r.System) > 0 {
		texts := make([]string, 0, len(r.System))
		for _, p := range r.System {
			texts = append(texts, p.Text)
		}
		r.Member("instructions")
		r.Dst = wire.AppendString(r.Dst, strings.Join(texts, "\n\n"))
	}
	r.Member("input")
	r.Dst = append(r.Dst, '[')
	out := newOutputs(r.Messages)
	for i := range r.Messages {
		mark, ok := marks[i]
		if !ok {
			mark = openai.NoMark
		}
		writeMessage(r, i, mark, out)
	}
	r.Dst = append(r.Dst, ']')
	r.WriteTools(nil)
	r.Bound("max_output_tokens")
	r.Think("reasoning")
}

// rewrite writes a conversation in the place of a client's.
func rewrite(r *wire.Renderer, e *wire.Envelope) (string, map[string]string) {
	out := newOutputs(r.Messages)
	return r.Rewrite(e, func(i int, m *memkernel.Message) {
		if m.Raw != "" && out.unchanged(m) {
			r.Comma()
			r.Dst = append(r.Dst, m.Raw...)
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
	for k := range m.Parts {
		p := &m.Parts[k]
		if why := r.Refused(i, p); why != "" {
			r.Note("not-sent", i, p, why)
			continue
		}
		if isItem(p) {
			if inside {
				r.Dst, inside = append(r.Dst, ']', '}'), false
			}
			writeItem(r, i, p, out)
			continue
		}
		if !inside {
			r.Comma()
			r.Dst = append(append(append(r.Dst, `{"type":"message","role":"`...), role...), `","content":[`...)
			inside = true
		}
		n := len(r.Dst)
		r.Dst = wire.AppendListed(r.Dst, func(dst []byte) []byte { return appendPart(dst, role, p) })
		if len(r.Dst) > n && role != memkernel.RoleAssistant && (k == mark || mark == wire.LastPart && k == len(m.Parts)-1) {
			r.Dst = wire.InsertMember(r.Dst, openai.Breakpoint)
		}
	}
	if inside {
		r.Dst = append(r.Dst, ']', '}')
	}
}

func writeItem(r *wire.Renderer, i int, p *memkernel.Part, out *outputs) {
	out.note(p)
	p = out.form(p)
	n := len(r.Dst)
	r.Dst = wire.AppendListed(r.Dst, func(dst []byte) []byte {
		if p.Raw == "" && wire.IsResult(p) {
			return appendOutput(dst, p.Result, out.custom[p.Result.CallID])
		}
		return appendPart(dst, memkernel.RoleAssistant, p)
	})
	if len(r.Dst) == n {
		r.Note("not-sent", i, p, "this format can't carry the block")
	}
}
