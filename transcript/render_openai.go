package transcript

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// chatShape tells whether a block's JSON is what chat completions take.
func chatShape(p *memkernel.Part) bool {
	c := scan(p.Raw)
	typ, role, fn := "", "", false
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
			continue
		case "role":
			role = c.str()
			continue
		case "function", "custom":
			fn = true
		case "textSignature", "citations", "source", "mimeType":
			return false
		}
		c.skip()
	}
	switch p.Kind {
	case memkernel.PartText:
		return typ == "text"
	case memkernel.PartImage:
		return typ == "image_url"
	case memkernel.PartDocument:
		return typ == "file"
	case memkernel.PartToolUse:
		return fn
	case memkernel.PartToolResult:
		return role == "tool"
	}
	return takesChat(p)
}

// takesChat tells the blocks of other types that chat completions have.
func takesChat(p *memkernel.Part) bool {
	t := rawType(p.Raw)
	return t == "input_audio" || t == "refusal"
}

// refusesChat says why thinking can't be sent.
func refusesChat(_ *renderer, _ int, p *memkernel.Part) string {
	if !isChatReasoning(p) {
		return "thinking that this format has no place for"
	}
	return ""
}

// isChatReasoning tells thinking that came from a field of a chat message.
func isChatReasoning(p *memkernel.Part) bool {
	switch p.Signature {
	case "reasoning_content", "reasoning", "reasoning_text":
		return p.Kind == memkernel.PartThinking
	}
	return false
}

// appendChat appends a content part, a tool call, a tool message or a
// reasoning member of chat completions.
func appendChat(dst []byte, role memkernel.Role, p *memkernel.Part) []byte {
	if isThinking(p) {
		if isChatReasoning(p) {
			dst = append(append(append(dst, '"'), p.Signature...), `":`...)
			dst = appendString(dst, p.Text)
		}
		return dst
	}
	if p.Raw != "" && chatShape(p) {
		return appendClean(dst, p.Raw)
	}
	switch p.Kind {
	case memkernel.PartText:
		dst = append(dst, `{"type":"text","text":`...)
		return append(appendString(dst, p.Text), '}')
	case memkernel.PartToolUse:
		return appendChatCall(dst, p.Call)
	case memkernel.PartToolResult:
		return appendChatResult(dst, p.Result, "")
	case memkernel.PartImage:
		if p.Media == nil || role == memkernel.RoleAssistant {
			return dst
		}
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		return append(appendURL(dst, p.Media), '}', '}')
	case memkernel.PartDocument:
		return appendChatFile(dst, p)
	}
	return dst
}

func appendURL(dst []byte, m *memkernel.Media) []byte {
	if m.Data == "" {
		return appendString(dst, m.URL)
	}
	return appendString(dst, "data:"+m.Type+";base64,"+m.Data)
}

func appendChatFile(dst []byte, p *memkernel.Part) []byte {
	switch {
	case p.Media == nil:
		return dst
	case p.Media.Data == "" && p.Media.URL == "":
		dst = append(dst, `{"type":"text","text":`...)
		return append(appendString(dst, p.Text), '}')
	case p.Media.Data == "":
		dst = append(dst, `{"type":"file","file":{"file_id":`...)
		return append(appendString(dst, p.Media.URL), '}', '}')
	}
	dst = append(dst, `{"type":"file","file":{"filename":`...)
	dst = append(appendString(dst, fileName(p)), `,"file_data":`...)
	return append(appendURL(dst, p.Media), '}', '}')
}

func fileName(p *memkernel.Part) string {
	if p.Text != "" {
		return p.Text
	}
	return "document"
}

// arguments is a call's input as the string that OpenAI wants: a JSON object.
func arguments(call *memkernel.ToolCall) string {
	if strings.TrimSpace(call.Input) == "" {
		return "{}"
	}
	return call.Input
}

func appendChatCall(dst []byte, call *memkernel.ToolCall) []byte {
	if call == nil || call.Server {
		return dst
	}
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, call.ID)
	if call.Custom {
		dst = append(dst, `,"type":"custom","custom":{"name":`...)
		dst = append(appendString(dst, call.Name), `,"input":`...)
		return append(appendString(dst, call.Input), '}', '}')
	}
	dst = append(dst, `,"type":"function","function":{"name":`...)
	dst = append(appendString(dst, call.Name), `,"arguments":`...)
	return append(appendString(dst, arguments(call)), '}', '}')
}

// appendChatResult appends a tool message. The format has no place for media
// in one, so a line stands in and the renderer sends the media behind. With a
// marker the content is a list, which can carry it.
func appendChatResult(dst []byte, r *memkernel.ToolResult, marker string) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	dst = append(dst, `{"role":"tool","tool_call_id":`...)
	dst = append(appendString(dst, r.CallID), `,"content":`...)
	text := resultText(r)
	if marker == "" {
		return append(appendString(dst, text), '}')
	}
	dst = append(dst, `[{"type":"text","text":`...)
	dst = insertMember(append(appendString(dst, text), '}'), marker)
	return append(dst, ']', '}')
}

func resultText(r *memkernel.ToolResult) string {
	if len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		return r.Content[0].Text
	}
	var b strings.Builder
	for i := range r.Content {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		switch p := &r.Content[i]; {
		case p.Kind == memkernel.PartText:
			b.WriteString(p.Text)
		case p.Media != nil:
			b.WriteString("[" + string(p.Kind) + " attached below]")
		default:
			b.WriteString(p.Raw)
		}
	}
	return b.String()
}

// breakpoint is OpenAI's marker; the lifetime is set for the whole request.
const breakpoint = `"prompt_cache_breakpoint":{"mode":"explicit"}`

// marked holds the messages with a marker and the part it asks for.
func marked(r *renderer) map[int]int {
	out := map[int]int{}
	for _, mk := range r.Markers {
		if mk.Message >= 0 && mk.Message < len(r.Messages) {
			out[mk.Message] = mk.Part
		} else if mk.Message == MarkerTools {
			r.note("marker-lost", -1, nil, "this format marks no tools; the breakpoint on the system prompt covers them")
		}
	}
	return out
}

// sentRole is the role under which OpenAI gets a message.
func sentRole(role memkernel.Role) memkernel.Role {
	switch role {
	case memkernel.RoleAssistant, memkernel.RoleSystem, memkernel.RoleDeveloper:
		return role
	}
	return memkernel.RoleUser
}

func renderChat(r *renderer) {
	marks := marked(r)
	if r.Model != "" {
		r.member("model")
		r.Dst = appendString(r.Dst, r.Model)
	}
	r.member("messages")
	r.Dst = append(r.Dst, '[')
	if len(r.System) > 0 {
		r.Dst = append(r.Dst, `{"role":"system","content":`...)
		mark := noMark
		if _, ok := r.TTLAt(MarkerSystem, len(r.System)-1, len(r.System)); ok {
			mark = len(r.System) - 1
		}
		sendContent(r, -1, memkernel.RoleSystem, r.System, mark)
		r.Dst = append(r.Dst, '}')
	}
	var media []memkernel.Part
	for i := 0; i < len(r.Messages); i++ {
		m := &r.Messages[i]
		if !HasResults(*m) {
			media = flushMedia(r, media)
		}
		if end := asking(r, i); end > i+1 {
			sendRun(r, i, end)
			i = end - 1
			continue
		}
		mark, ok := marks[i]
		if !ok {
			mark = noMark
		}
		media = sendMessage(r, i, m, mark, media)
	}
	flushMedia(r, media)
	r.Dst = append(r.Dst, ']')
	r.writeTools(nil)
	if r.MaxTokens > 0 {
		r.member("max_completion_tokens")
		r.Dst = strconv.AppendInt(r.Dst, int64(r.MaxTokens), 10)
	}
}

// rewriteChat writes a conversation in the place of a client's.
func rewriteChat(r *renderer, e *Envelope) (string, map[string]string) {
	return r.rewrite(e, func(i int, m *memkernel.Message) {
		if m.Raw != "" {
			r.comma()
			r.Dst = append(r.Dst, m.Raw...)
			return
		}
		flushMedia(r, sendMessage(r, i, m, noMark, nil))
	}), nil
}

const noMark = -2

// asking returns the end of a run of assistant messages that begins at i, if
// results for one of them stand behind a later one: calls must be answered by
// the next message, so such a run has to be one message.
func asking(r *renderer, i int) int {
	end, asks := i, false
	for ; end < len(r.Messages) && r.Messages[end].Role == memkernel.RoleAssistant; end++ {
		asks = asks || end > i && HasCalls(r.Messages[end-1])
	}
	if !asks {
		return i
	}
	return end
}

// sendRun writes a run of assistant messages as one.
func sendRun(r *renderer, i, end int) {
	var parts []memkernel.Part
	for ; i < end; i++ {
		for k := range r.Messages[i].Parts {
			p := &r.Messages[i].Parts[k]
			if why := r.refused(i, p); why != "" {
				r.note("not-sent", i, p, why)
				continue
			}
			parts = append(parts, *p)
		}
	}
	sendAssistant(r, end-1, parts)
}

// sendMessage writes one message and returns the media that wait to be sent
// behind the tool messages.
func sendMessage(r *renderer, i int, m *memkernel.Message, mark int, media []memkernel.Part) []memkernel.Part {
	if r.Own && m.Raw != "" && mark == noMark {
		r.comma()
		r.Dst = appendClean(r.Dst, m.Raw)
		return media
	}
	var parts []memkernel.Part
	for k := range m.Parts {
		p := &m.Parts[k]
		if why := r.refused(i, p); why != "" {
			r.note("not-sent", i, p, why)
			continue
		}
		if m.Role == memkernel.RoleAssistant || !isResult(p) {
			parts = append(parts, *p)
			continue
		}
		r.comma()
		if mark == k || mark == LastPart && k == len(m.Parts)-1 {
			r.Dst = appendChatResult(r.Dst, p.Result, breakpoint)
		} else {
			r.Dst = appendChat(r.Dst, m.Role, p)
		}
		for n := range p.Result.Content {
			if p.Result.Content[n].Media != nil {
				media = append(media, p.Result.Content[n])
			}
		}
	}
	switch {
	case len(parts) == 0:
	case m.Role == memkernel.RoleAssistant:
		sendAssistant(r, i, parts)
	default:
		media = flushMedia(r, media)
		role := sentRole(m.Role)
		r.comma()
		r.Dst = append(append(append(r.Dst, `{"role":"`...), role...), `","content":`...)
		if mark >= len(parts) || mark == LastPart {
			mark = len(parts) - 1
		}
		sendContent(r, i, role, parts, mark)
		r.Dst = append(r.Dst, '}')
	}
	return media
}

// flushMedia sends the media of tool results as a user message.
func flushMedia(r *renderer, media []memkernel.Part) []memkernel.Part {
	if len(media) == 0 {
		return nil
	}
	r.comma()
	r.Dst = append(r.Dst, `{"role":"user","content":[{"type":"text","text":"Attached to the tool results above:"}`...)
	for i := range media {
		r.Dst = append(r.Dst, ',')
		r.Dst = appendChat(r.Dst, memkernel.RoleUser, &media[i])
	}
	r.Dst = append(r.Dst, ']', '}')
	return nil
}

// sendContent writes content: a string if it is one unmarked text.
func sendContent(r *renderer, i int, role memkernel.Role, parts []memkernel.Part, mark int) {
	if len(parts) == 1 && parts[0].Kind == memkernel.PartText && mark < 0 {
		r.Dst = appendString(r.Dst, parts[0].Text)
		return
	}
	r.Dst = append(r.Dst, '[')
	for k := range parts {
		n := len(r.Dst)
		r.Dst = appendListed(r.Dst, func(dst []byte) []byte { return appendChat(dst, role, &parts[k]) })
		if len(r.Dst) == n {
			r.note("not-sent", i, &parts[k], "this format can't carry the block")
		} else if k == mark {
			r.Dst = insertMember(r.Dst, breakpoint)
		}
	}
	r.Dst = append(r.Dst, ']')
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
	r.Dst = append(r.Dst, `{"role":"assistant","content":`...)
	if len(said) == 0 {
		r.Dst = append(r.Dst, "null"...)
	} else {
		sendContent(r, i, memkernel.RoleAssistant, said, noMark)
	}
	for k := range reasoning {
		if k == 0 {
			r.Dst = append(r.Dst, ',')
			r.Dst = appendChat(r.Dst, memkernel.RoleAssistant, &reasoning[k])
		}
	}
	if len(calls) > 0 {
		r.Dst = append(r.Dst, `,"tool_calls":[`...)
		for k := range calls {
			r.Dst = appendListed(r.Dst, func(dst []byte) []byte { return appendChat(dst, memkernel.RoleAssistant, &calls[k]) })
		}
		r.Dst = append(r.Dst, ']')
	}
	r.Dst = append(r.Dst, '}')
}
