package transcript

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// dropItemKey names the members of a recorded item that are not sent again.
// Ids refer to what the provider stored; beside reasoning that was left out
// they make it miss the reasoning. The other member is the host's own.
func dropItemKey(k string) bool {
	return k == "id" || dropReasoningKey(k)
}

// dropReasoningKey is dropItemKey for items that are known by their id.
func dropReasoningKey(k string) bool {
	return k == "internal_chat_message_metadata_passthrough" || isMarkerKey(k)
}

// appendItem appends a recorded Responses item.
func appendItem(dst []byte, p *memkernel.Part, typ string) []byte {
	drop := dropItemKey
	switch typ {
	case "reasoning", "compaction", "compaction_summary", "mcp_approval_request":
		drop = dropReasoningKey
	}
	if (p.Call != nil || p.Result != nil) && memberOf(p.Raw, "call_id") == "" {
		drop = dropReasoningKey // the id is what ties it to its other half
	}
	return appendWithout(dst, p.Raw, drop)
}

// takesResponses tells whether a block of an unknown type is an item.
func takesResponses(p *memkernel.Part) bool {
	return isItemJSON(p.Raw) && !(rawType(p.Raw) == "compaction" && strings.Contains(p.Raw, `"content"`))
}

// refusesResponses says why reasoning can't be sent.
func refusesResponses(_ *renderer, _ int, p *memkernel.Part) string {
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

// isItem tells whether the part is an item of its own rather than content of
// a message item.
func isItem(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartToolUse || p.Kind == memkernel.PartToolResult || isThinking(p) || isItemJSON(p.Raw)
}

// appendResponses appends an item or a content part of the Responses API.
func appendResponses(dst []byte, role memkernel.Role, p *memkernel.Part) []byte {
	if p.Raw != "" {
		if t, item := itemType(p.Raw); responsesShape(t, item, p.Kind) {
			if item {
				return appendItem(dst, p, t)
			}
			return appendClean(dst, p.Raw)
		}
	}
	switch p.Kind {
	case memkernel.PartText:
		if role == memkernel.RoleAssistant {
			dst = append(dst, `{"type":"output_text","text":`...)
			return append(appendString(dst, p.Text), `,"annotations":[]}`...)
		}
		dst = append(dst, `{"type":"input_text","text":`...)
		return append(appendString(dst, p.Text), '}')
	case memkernel.PartToolUse:
		return appendFunctionCall(dst, p.Call)
	case memkernel.PartToolResult:
		return appendFunctionOutput(dst, p.Result)
	case memkernel.PartImage:
		if p.Media == nil {
			return dst
		}
		dst = append(dst, `{"type":"input_image","image_url":`...)
		return append(appendURL(dst, p.Media), '}')
	case memkernel.PartDocument:
		return appendInputFile(dst, p)
	}
	return dst
}

// responsesShape tells whether a block's own JSON fits the API.
func responsesShape(typ string, item bool, kind memkernel.PartKind) bool {
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
	dst = append(appendString(dst, call.ID), `,"name":`...)
	dst = appendString(dst, call.Name)
	if call.Custom {
		dst = append(dst, `,"input":`...)
		return append(appendString(dst, call.Input), '}')
	}
	dst = append(dst, `,"arguments":`...)
	return append(appendString(dst, arguments(call)), '}')
}

func appendFunctionOutput(dst []byte, r *memkernel.ToolResult) []byte {
	return appendOutput(dst, r, false)
}

// appendOutput appends the output of a call, custom or not: the item types
// must agree, and a result does not say of which kind its call was.
func appendOutput(dst []byte, r *memkernel.ToolResult, custom bool) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	typ := "function_call_output"
	if custom {
		typ = "custom_tool_call_output"
	}
	dst = append(append(append(dst, `{"type":"`...), typ...), `","call_id":`...)
	dst = append(appendString(dst, r.CallID), `,"output":`...)
	if len(r.Content) == 0 || len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		return append(appendString(dst, resultText(r)), '}')
	}
	dst = append(dst, '[')
	for i := range r.Content {
		dst = appendListed(dst, func(dst []byte) []byte {
			return appendResponses(dst, memkernel.RoleUser, AsText(&r.Content[i]))
		})
	}
	return append(dst, ']', '}')
}

func appendInputFile(dst []byte, p *memkernel.Part) []byte {
	switch {
	case p.Media == nil:
		return dst
	case p.Media.Data == "" && p.Media.URL == "":
		dst = append(dst, `{"type":"input_text","text":`...)
		return append(appendString(dst, p.Text), '}')
	case p.Media.Data == "":
		dst = append(dst, `{"type":"input_file","file_url":`...)
		return append(appendString(dst, p.Media.URL), '}')
	}
	dst = append(dst, `{"type":"input_file","filename":`...)
	dst = append(appendString(dst, fileName(p)), `,"file_data":`...)
	return append(appendURL(dst, p.Media), '}')
}

func renderResponses(r *renderer) {
	marks := marked(r)
	if r.Model != "" {
		r.member("model")
		r.Dst = appendString(r.Dst, r.Model)
	}
	if _, ok := r.TTLAt(MarkerSystem, LastPart, 0); ok {
		r.note("marker-lost", -1, nil, "this format marks no instructions")
	}
	if len(r.System) > 0 {
		texts := make([]string, 0, len(r.System))
		for _, p := range r.System {
			texts = append(texts, p.Text)
		}
		r.member("instructions")
		r.Dst = appendString(r.Dst, strings.Join(texts, "\n\n"))
	}
	r.member("input")
	r.Dst = append(r.Dst, '[')
	out := newOutputs(r.Messages)
	for i := range r.Messages {
		mark, ok := marks[i]
		if !ok {
			mark = noMark
		}
		responsesMessage(r, i, mark, out)
	}
	r.Dst = append(r.Dst, ']')
	r.writeTools(nil)
	if r.MaxTokens > 0 {
		r.member("max_output_tokens")
		r.Dst = strconv.AppendInt(r.Dst, int64(r.MaxTokens), 10)
	}
	if r.Thinking != "" {
		r.member("reasoning")
		r.Dst = append(r.Dst, r.Thinking...)
	}
}

// rewriteResponses writes a conversation in the place of a client's.
func rewriteResponses(r *renderer, e *Envelope) (string, map[string]string) {
	out := newOutputs(r.Messages)
	return r.rewrite(e, func(i int, m *memkernel.Message) {
		if m.Raw != "" && out.stands(m) {
			r.comma()
			r.Dst = append(r.Dst, m.Raw...)
			return
		}
		responsesMessage(r, i, noMark, out)
	}), nil
}

// responsesMessage writes a message as items, in the order of its parts.
func responsesMessage(r *renderer, i, mark int, out *outputs) {
	m := &r.Messages[i]
	role := sentRole(m.Role)
	inside := false // a message item is open
	for k := range m.Parts {
		p := &m.Parts[k]
		if why := r.refused(i, p); why != "" {
			r.note("not-sent", i, p, why)
			continue
		}
		if isItem(p) {
			if inside {
				r.Dst, inside = append(r.Dst, ']', '}'), false
			}
			responsesItem(r, i, p, out)
			continue
		}
		if !inside {
			r.comma()
			r.Dst = append(append(append(r.Dst, `{"type":"message","role":"`...), role...), `","content":[`...)
			inside = true
		}
		n := len(r.Dst)
		r.Dst = appendListed(r.Dst, func(dst []byte) []byte { return appendResponses(dst, role, p) })
		if len(r.Dst) > n && role != memkernel.RoleAssistant && (k == mark || mark == LastPart && k == len(m.Parts)-1) {
			r.Dst = insertMember(r.Dst, breakpoint)
		}
	}
	if inside {
		r.Dst = append(r.Dst, ']', '}')
	}
}

func responsesItem(r *renderer, i int, p *memkernel.Part, out *outputs) {
	out.note(p)
	p = out.form(p)
	n := len(r.Dst)
	r.Dst = appendListed(r.Dst, func(dst []byte) []byte {
		if p.Raw == "" && isResult(p) {
			return appendOutput(dst, p.Result, out.custom[p.Result.CallID])
		}
		return appendResponses(dst, memkernel.RoleAssistant, p)
	})
	if len(r.Dst) == n {
		r.note("not-sent", i, p, "this format can't carry the block")
	}
}
