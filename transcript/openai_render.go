package transcript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// openAIShaped reports whether a block's JSON is one that chat completions take.
func openAIShaped(p *memkernel.Part) bool {
	if hasMember(p.Raw, "textSignature", "citations", "source", "mimeType") {
		return false
	}
	typ := rawType(p.Raw)
	switch p.Kind {
	case memkernel.PartText:
		return typ == "text"
	case memkernel.PartImage:
		return typ == "image_url"
	case memkernel.PartDocument:
		return typ == "file"
	case memkernel.PartToolUse:
		return hasMember(p.Raw, "function", "custom")
	case memkernel.PartToolResult:
		return memberOf(p.Raw, "role") == `"tool"`
	}
	return openAITakes(p)
}

// openAITakes reports whether chat completions accept a block of an unknown type.
func openAITakes(p *memkernel.Part) bool {
	t := rawType(p.Raw)
	return t == "input_audio" || t == "refusal"
}

// openAIRefuses returns why thinking can't be sent.
func openAIRefuses(_ *renderer, _ int, p *memkernel.Part) string {
	if !isChatReasoning(p) {
		return "thinking that this format has no place for"
	}
	return ""
}

// isChatReasoning reports whether p is thinking that came from a field of a chat message.
func isChatReasoning(p *memkernel.Part) bool {
	switch p.Signature {
	case "reasoning_content", "reasoning", "reasoning_text":
		return p.Kind == memkernel.PartThinking
	}
	return false
}

// appendOpenAIPart appends a content part, a tool call, a tool message or a reasoning member of chat
// completions.
func appendOpenAIPart(dst []byte, role memkernel.Role, p *memkernel.Part) []byte {
	switch {
	case isThinking(p):
		if isChatReasoning(p) {
			dst = put(dst, `"`+p.Signature+`":`, p.Text)
		}
	case p.Raw != "" && openAIShaped(p):
		return AppendClean(dst, p.Raw)
	case p.Kind == memkernel.PartText:
		return put(dst, `{"type":"text","text":`, p.Text, `}`)
	case p.Kind == memkernel.PartToolUse:
		return appendOpenAICall(dst, p.Call)
	case p.Kind == memkernel.PartToolResult:
		return appendOpenAIResult(dst, p.Result, "")
	case p.Media == nil:
	case p.Kind == memkernel.PartImage && role != memkernel.RoleAssistant:
		return put(dst, `{"type":"image_url","image_url":{"url":`, mediaURL(p.Media), `}}`)
	case p.Kind != memkernel.PartDocument:
	case p.Media.Data != "":
		return put(dst, `{"type":"file","file":{"filename":`, fileName(p), `,"file_data":`, mediaURL(p.Media), `}}`)
	case p.Media.URL != "":
		return put(dst, `{"type":"file","file":{"file_id":`, p.Media.URL, `}}`)
	default:
		return put(dst, `{"type":"text","text":`, p.Text, `}`)
	}
	return dst
}

// mediaURL returns the address of a medium. It holds the data if there is any.
func mediaURL(m *memkernel.Media) string {
	if m.Data == "" {
		return m.URL
	}
	return "data:" + m.Type + ";base64," + m.Data
}

// fileName returns the name of a document.
func fileName(p *memkernel.Part) string { return cmp.Or(p.Text, "document") }

// argumentsText returns a call's input as the text that OpenAI takes, which holds a JSON object.
func argumentsText(call *memkernel.ToolCall) string {
	if strings.TrimSpace(call.Input) == "" {
		return "{}"
	}
	return call.Input
}

func appendOpenAICall(dst []byte, call *memkernel.ToolCall) []byte {
	if call == nil || call.Server {
		return dst
	}
	dst = put(dst, `{"id":`, call.ID)
	if call.Custom {
		return put(dst, `,"type":"custom","custom":{"name":`, call.Name, `,"input":`, call.Input, `}}`)
	}
	return put(dst, `,"type":"function","function":{"name":`, call.Name, `,"arguments":`, argumentsText(call), `}}`)
}

// appendOpenAIResult appends a tool message. A tool message can't hold media, so a line of text
// replaces each medium, and the renderer sends the media after the tool messages. If there is a
// marker, the content is a list whose element carries it.
func appendOpenAIResult(dst []byte, r *memkernel.ToolResult, marker string) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	dst = put(dst, `{"role":"tool","tool_call_id":`, r.CallID, `,"content":`)
	if marker == "" {
		return put(dst, "", resultText(r), `}`)
	}
	return put(dst, `[{"type":"text","text":`, resultText(r), `,`+marker+`}]}`)
}

// resultText returns the text of a result, a line for each part. Media are named only.
func resultText(r *memkernel.ToolResult) string {
	lines := make([]string, len(r.Content))
	for i := range r.Content {
		switch p := &r.Content[i]; {
		case p.Kind == memkernel.PartText:
			lines[i] = p.Text
		case p.Media != nil:
			lines[i] = "[" + string(p.Kind) + " attached below]"
		default:
			lines[i] = p.Raw
		}
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return strings.Join(lines, "\n")
}

// breakpoint is OpenAI's marker. The lifetime is set for the whole request.
const breakpoint = `"prompt_cache_breakpoint":{"mode":"explicit"}`

// noMark is the part index for a message without a marker.
const noMark = -2

// markedParts returns for each message the index of the part that carries a marker, noMark if there
// is none.
func markedParts(r *renderer) []int {
	parts := slices.Repeat([]int{noMark}, len(r.Messages))
	for _, mk := range r.Markers {
		if mk.Message >= 0 && mk.Message < len(r.Messages) {
			parts[mk.Message] = mk.Part
		} else if mk.Message == MarkerTools {
			r.note("marker-lost", -1, nil, "this format marks no tools; the breakpoint on the system prompt covers them")
		}
	}
	return parts
}

// openAIRole returns the role under which OpenAI gets a message.
func openAIRole(role memkernel.Role) memkernel.Role {
	switch role {
	case memkernel.RoleAssistant, memkernel.RoleSystem, memkernel.RoleDeveloper:
		return role
	}
	return memkernel.RoleUser
}

func openAIRender(r *renderer) {
	marks := markedParts(r)
	r.member("messages")
	r.put("[")
	if n := len(r.System); n > 0 {
		mark := noMark
		if _, ok := r.ttlAt(MarkerSystem, n-1, n); ok {
			mark = n - 1
		}
		sendContent(r, -1, memkernel.RoleSystem, r.System, mark)
	}
	var media []memkernel.Part
	for i, end := 0, 0; i < len(r.Messages); i = end {
		if !HasResults(r.Messages[i]) {
			media = flushMedia(r, media)
		}
		end = callRunEnd(r, i)
		media = sendMessages(r, i, end, marks[i], media)
	}
	flushMedia(r, media)
	r.put("]")
	r.writeTools(nil)
	r.bound("max_completion_tokens")
}

// openAIRewrite writes a conversation in place of a client's.
func openAIRewrite(r *renderer, e *Body) (string, map[string]string) {
	return r.rewrite(e, func(i int, m *memkernel.Message) {
		if m.Raw != "" {
			r.comma()
			r.put(m.Raw)
			return
		}
		flushMedia(r, sendMessages(r, i, i+1, noMark, nil))
	}), nil
}

// callRunEnd returns the end of a run of assistant messages that begins at i if the results for one
// of them follow a later one, and else i+1. The next message must answer a call, so such a run has
// to be sent as one message.
func callRunEnd(r *renderer, i int) int {
	end, asks := i, false
	for ; end < len(r.Messages) && r.Messages[end].Role == memkernel.RoleAssistant; end++ {
		asks = asks || end > i && HasCalls(r.Messages[end-1])
	}
	if !asks {
		return i + 1
	}
	return end
}

// sendMessages writes a message, or a run of assistant messages, as one. It returns media extended
// by the media in the message's results. The caller must send them after the tool messages.
func sendMessages(r *renderer, i, end, mark int, media []memkernel.Part) []memkernel.Part {
	m := &r.Messages[i]
	if r.own && end == i+1 && m.Raw != "" && mark == noMark {
		r.comma()
		r.dst = AppendClean(r.dst, m.Raw)
		return media
	}
	var parts []memkernel.Part
	for at, p := range allParts(r.Messages[i:end]) {
		switch {
		case !r.sends(i+at.Msg, p):
		case m.Role == memkernel.RoleAssistant || !isResult(p):
			parts = append(parts, *p)
		default:
			r.comma()
			if mark == at.Part || mark == LastPart && at.Part == len(m.Parts)-1 {
				r.dst = appendOpenAIResult(r.dst, p.Result, breakpoint)
			} else {
				r.dst = appendOpenAIPart(r.dst, m.Role, p)
			}
			for _, part := range p.Result.Content {
				if part.Media != nil {
					media = append(media, part)
				}
			}
		}
	}
	switch {
	case len(parts) == 0:
	case m.Role == memkernel.RoleAssistant:
		sendAssistant(r, end-1, parts)
	default:
		media = flushMedia(r, media)
		if mark >= len(parts) || mark == LastPart {
			mark = len(parts) - 1
		}
		sendContent(r, i, openAIRole(m.Role), parts, mark)
	}
	return media
}

// flushMedia sends the media of tool results as a user message.
func flushMedia(r *renderer, media []memkernel.Part) []memkernel.Part {
	if len(media) > 0 {
		sendContent(r, -1, memkernel.RoleUser, append([]memkernel.Part{textPart("Attached to the tool results above:")}, media...), noMark)
	}
	return nil
}

// sendContent writes a message of a role.
func sendContent(r *renderer, i int, role memkernel.Role, parts []memkernel.Part, mark int) {
	r.comma()
	r.put(`{"role":"` + string(role) + `","content":`)
	putContent(r, i, role, parts, mark)
	r.put("}")
}

// putContent writes content: a string if it is one text without a marker, else a list.
func putContent(r *renderer, i int, role memkernel.Role, parts []memkernel.Part, mark int) {
	if len(parts) == 1 && parts[0].Kind == memkernel.PartText && mark < 0 {
		r.put("", parts[0].Text)
		return
	}
	r.put("[")
	for k := range parts {
		if !r.list(func(dst []byte) []byte { return appendOpenAIPart(dst, role, &parts[k]) }) {
			r.note("not-sent", i, &parts[k], "this format can't carry the block")
		} else if k == mark {
			r.dst = insertMember(r.dst, breakpoint)
		}
	}
	r.put("]")
}

func sendAssistant(r *renderer, i int, parts []memkernel.Part) {
	var said, calls, reasoning []memkernel.Part
	for k, p := range parts {
		switch {
		case isCall(&p):
			calls = append(calls, p)
		case isThinking(&p):
			reasoning = append(reasoning, p)
		case p.Kind == memkernel.PartText || p.Kind == memkernel.PartOther:
			said = append(said, p)
		default:
			r.note("not-sent", i, &parts[k], "this format can't carry the block in an assistant message")
		}
	}
	if len(said)+len(calls)+len(reasoning) == 0 {
		return
	}
	r.comma()
	r.put(`{"role":"assistant","content":`)
	if len(said) == 0 {
		r.put("null")
	} else {
		putContent(r, i, memkernel.RoleAssistant, said, noMark)
	}
	write := func(dst []byte, p *memkernel.Part) []byte { return appendOpenAIPart(dst, memkernel.RoleAssistant, p) }
	if len(reasoning) > 0 {
		r.put(",")
		r.dst = write(r.dst, &reasoning[0])
	}
	if len(calls) > 0 {
		r.put(`,"tool_calls":`)
		r.dst = appendList(r.dst, calls, write)
	}
	r.put("}")
}
