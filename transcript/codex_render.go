package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// dropItemKey reports whether a member of a recorded item is not sent again. Ids refer to items
// that the provider stored, and the provider refuses an item with an id that comes without its
// reasoning. The other dropped members are cache markers and members that only the host uses.
func dropItemKey(k string) bool {
	return k == "id" || dropReasoningKey(k)
}

// dropReasoningKey is dropItemKey for items that need their id.
func dropReasoningKey(k string) bool {
	return k == "internal_chat_message_metadata_passthrough" || isMarkerKey(k)
}

// appendCodexItem appends a recorded Responses item.
func appendCodexItem(dst []byte, p *memkernel.Part, typ string) []byte {
	drop := dropItemKey
	switch typ {
	case "reasoning", "compaction", "compaction_summary", "mcp_approval_request":
		drop = dropReasoningKey
	}
	if (p.Call != nil || p.Result != nil) && memberOf(p.Raw, "call_id") == "" {
		drop = dropReasoningKey // its id ties it to its other half
	}
	return appendWithout(dst, p.Raw, drop)
}

// codexTakes reports whether a block of an unknown type is an item.
func codexTakes(p *memkernel.Part) bool {
	return isResponsesItem(p.Raw) && !(rawType(p.Raw) == "compaction" && strings.Contains(p.Raw, `"content"`))
}

// codexRefuses returns why reasoning can't be sent.
func codexRefuses(_ *renderer, _ int, p *memkernel.Part) string {
	switch {
	case !isReasoningItem(p):
		return "thinking of another provider"
	case p.Signature == "" || p.Signature == "REDACTED":
		return "reasoning without its encrypted content"
	}
	return ""
}

func isReasoningItem(p *memkernel.Part) bool {
	return p.Raw != "" && rawType(p.Raw) == "reasoning"
}

// isOwnItem reports whether the part is an item of its own rather than content of
// a message item.
func isOwnItem(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartToolUse || p.Kind == memkernel.PartToolResult || isThinking(p) || isResponsesItem(p.Raw) ||
		p.Kind == memkernel.PartOther && !strings.HasPrefix(rawType(p.Raw), "input_") && !strings.HasPrefix(rawType(p.Raw), "output_")
}

// appendCodexPart appends an item or a content part of the Responses API.
func appendCodexPart(dst []byte, role memkernel.Role, p *memkernel.Part) []byte {
	if p.Raw != "" {
		if t, item := codexItemType(p.Raw); codexShaped(t, item, p.Kind) {
			if item {
				return appendCodexItem(dst, p, t)
			}
			return AppendClean(dst, p.Raw)
		}
	}
	switch {
	case p.Kind == memkernel.PartText && role == memkernel.RoleAssistant:
		return put(dst, `{"type":"output_text","text":`, p.Text, `,"annotations":[]}`)
	case p.Kind == memkernel.PartText:
		return put(dst, `{"type":"input_text","text":`, p.Text, `}`)
	case p.Kind == memkernel.PartToolUse:
		return appendCodexFunctionCall(dst, p.Call)
	case p.Kind == memkernel.PartToolResult:
		return appendCodexOutput(dst, p.Result, false)
	case p.Media == nil:
	case p.Kind == memkernel.PartImage:
		return put(dst, `{"type":"input_image","image_url":`, mediaURL(p.Media), `}`)
	case p.Kind != memkernel.PartDocument:
	case p.Media.Data != "":
		return put(dst, `{"type":"input_file","filename":`, fileName(p), `,"file_data":`, mediaURL(p.Media), `}`)
	case p.Media.URL != "":
		return put(dst, `{"type":"input_file","file_url":`, p.Media.URL, `}`)
	default:
		return put(dst, `{"type":"input_text","text":`, p.Text, `}`)
	}
	return dst
}

// codexShaped reports whether a block's own JSON fits the API.
func codexShaped(typ string, item bool, kind memkernel.PartKind) bool {
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

func appendCodexFunctionCall(dst []byte, call *memkernel.ToolCall) []byte {
	switch {
	case call == nil || call.Server:
		return dst
	case call.Custom:
		return put(dst, `{"type":"custom_tool_call","call_id":`, call.ID, `,"name":`, call.Name, `,"input":`, call.Input, `}`)
	}
	return put(dst, `{"type":"function_call","call_id":`, call.ID, `,"name":`, call.Name, `,"arguments":`, argumentsText(call), `}`)
}

// appendCodexOutput appends the output of a call. The types of call and output must agree, so the
// caller must say whether the call was custom.
func appendCodexOutput(dst []byte, r *memkernel.ToolResult, custom bool) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	typ := "function_call_output"
	if custom {
		typ = "custom_tool_call_output"
	}
	dst = put(dst, `{"type":"`+typ+`","call_id":`, r.CallID, `,"output":`)
	if len(r.Content) == 0 || len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		return put(dst, "", resultText(r), `}`)
	}
	dst = appendList(dst, r.Content, func(dst []byte, p *memkernel.Part) []byte {
		return appendCodexPart(dst, memkernel.RoleUser, asText(p))
	})
	return append(dst, '}')
}

func codexRender(r *renderer) {
	marks := markedParts(r)
	if _, ok := r.ttlAt(MarkerSystem, LastPart, 0); ok {
		r.note("marker-lost", -1, nil, "this format marks no instructions")
	}
	if len(r.System) > 0 {
		texts := make([]string, len(r.System))
		for i := range r.System {
			texts[i] = r.System[i].Text
		}
		r.member("instructions")
		r.put("", strings.Join(texts, "\n\n"))
	}
	r.member("input")
	r.put("[")
	out := newCodexOutputs(r.Messages)
	for i := range r.Messages {
		writeCodexMessage(r, i, marks[i], out)
	}
	r.put("]")
	r.writeTools(nil)
	r.bound("max_output_tokens")
	r.think("reasoning")
}

// codexRewrite writes a conversation in place of a client's.
func codexRewrite(r *renderer, e *Body) (string, map[string]string) {
	out := newCodexOutputs(r.Messages)
	return r.rewrite(e, func(i int, m *memkernel.Message) {
		if m.Raw != "" && out.unchanged(m) {
			r.comma()
			r.put(m.Raw)
			return
		}
		writeCodexMessage(r, i, noMark, out)
	}), nil
}

// writeCodexMessage writes a message as items, in the order of its parts.
func writeCodexMessage(r *renderer, i, mark int, out *codexOutputs) {
	m := &r.Messages[i]
	role := openAIRole(m.Role)
	inside := false // a message item is open
	end := func() {
		if inside {
			r.put("]}")
		}
		inside = false
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		if !r.sends(i, p) {
			continue
		}
		if isOwnItem(p) {
			end()
			writeCodexItem(r, i, p, out)
			continue
		}
		if !inside {
			r.comma()
			r.put(`{"type":"message","role":"` + string(role) + `","content":[`)
			inside = true
		}
		written := r.list(func(dst []byte) []byte { return appendCodexPart(dst, role, p) })
		if written && role != memkernel.RoleAssistant && (k == mark || mark == LastPart && k == len(m.Parts)-1) {
			r.dst = insertMember(r.dst, breakpoint)
		}
	}
	end()
}

func writeCodexItem(r *renderer, i int, p *memkernel.Part, out *codexOutputs) {
	p = out.form(p)
	if !r.list(func(dst []byte) []byte {
		if p.Raw == "" && isResult(p) {
			return appendCodexOutput(dst, p.Result, out.custom[p.Result.CallID])
		}
		return appendCodexPart(dst, memkernel.RoleAssistant, p)
	}) {
		r.note("not-sent", i, p, "this format can't carry the block")
	}
}
