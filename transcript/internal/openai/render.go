package openai

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// shaped reports whether a block's JSON is what chat completions take.
func shaped(p *memkernel.Part) bool {
	c := wire.Scan(p.Raw)
	typ, role, fn := "", "", false
	for k := range c.Fields {
		switch k {
		case "type":
			typ = c.Str()
			continue
		case "role":
			role = c.Str()
			continue
		case "function", "custom":
			fn = true
		case "textSignature", "citations", "source", "mimeType":
			return false
		}
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
	return Takes(p)
}

// Takes reports whether a block is of another type that chat completions have.
func Takes(p *memkernel.Part) bool {
	t := wire.RawType(p.Raw)
	return t == "input_audio" || t == "refusal"
}

// refuses returns why thinking can't be sent.
func refuses(_ *wire.Renderer, _ int, p *memkernel.Part) string {
	if !IsReasoning(p) {
		return "thinking that this format has no place for"
	}
	return ""
}

// IsReasoning reports whether p is thinking that came from a field of a chat message.
func IsReasoning(p *memkernel.Part) bool {
	switch p.Signature {
	case "reasoning_content", "reasoning", "reasoning_text":
		return p.Kind == memkernel.PartThinking
	}
	return false
}

// appendPart appends a content part, a tool call, a tool message or a
// reasoning member of chat completions.
func appendPart(dst []byte, role memkernel.Role, p *memkernel.Part) []byte {
	if wire.IsThinking(p) {
		if IsReasoning(p) {
			dst = append(append(append(dst, '"'), p.Signature...), `":`...)
			dst = wire.AppendString(dst, p.Text)
		}
		return dst
	}
	if p.Raw != "" && shaped(p) {
		return wire.AppendClean(dst, p.Raw)
	}
	switch p.Kind {
	case memkernel.PartText:
		return wire.Put(dst, `{"type":"text","text":`, p.Text, `}`)
	case memkernel.PartToolUse:
		return appendCall(dst, p.Call)
	case memkernel.PartToolResult:
		return appendResult(dst, p.Result, "")
	case memkernel.PartImage:
		if p.Media == nil || role == memkernel.RoleAssistant {
			return dst
		}
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		return append(AppendURL(dst, p.Media), '}', '}')
	case memkernel.PartDocument:
		return appendFile(dst, p)
	}
	return dst
}

func AppendURL(dst []byte, m *memkernel.Media) []byte {
	if m.Data == "" {
		return wire.AppendString(dst, m.URL)
	}
	return wire.AppendString(dst, "data:"+m.Type+";base64,"+m.Data)
}

func appendFile(dst []byte, p *memkernel.Part) []byte {
	switch {
	case p.Media == nil:
		return dst
	case p.Media.Data == "" && p.Media.URL == "":
		return wire.Put(dst, `{"type":"text","text":`, p.Text, `}`)
	case p.Media.Data == "":
		return wire.Put(dst, `{"type":"file","file":{"file_id":`, p.Media.URL, `}}`)
	}
	dst = wire.Put(dst, `{"type":"file","file":{"filename":`, FileName(p), `,"file_data":`)
	return append(AppendURL(dst, p.Media), '}', '}')
}

func FileName(p *memkernel.Part) string {
	if p.Text != "" {
		return p.Text
	}
	return "document"
}

// Arguments returns a call's input as the string that OpenAI wants: a JSON object.
func Arguments(call *memkernel.ToolCall) string {
	if strings.TrimSpace(call.Input) == "" {
		return "{}"
	}
	return call.Input
}

func appendCall(dst []byte, call *memkernel.ToolCall) []byte {
	if call == nil || call.Server {
		return dst
	}
	dst = wire.Put(dst, `{"id":`, call.ID)
	if call.Custom {
		return wire.Put(dst, `,"type":"custom","custom":{"name":`, call.Name, `,"input":`, call.Input, `}}`)
	}
	return wire.Put(dst, `,"type":"function","function":{"name":`, call.Name, `,"arguments":`, Arguments(call), `}}`)
}

// appendResult appends a tool message. The format has no place for media
// in one, so a line replaces it and the renderer sends the media behind. With a
// marker the content is a list, which can carry it.
func appendResult(dst []byte, r *memkernel.ToolResult, marker string) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	dst = wire.Put(dst, `{"role":"tool","tool_call_id":`, r.CallID, `,"content":`)
	text := ResultText(r)
	if marker == "" {
		return append(wire.AppendString(dst, text), '}')
	}
	dst = append(dst, `[{"type":"text","text":`...)
	dst = wire.InsertMember(append(wire.AppendString(dst, text), '}'), marker)
	return append(dst, ']', '}')
}

func ResultText(r *memkernel.ToolResult) string {
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

// Breakpoint is OpenAI's marker; the lifetime is set for the whole request.
const Breakpoint = `"prompt_cache_breakpoint":{"mode":"explicit"}`

// Marked holds the messages with a marker and the part it asks for.
func Marked(r *wire.Renderer) map[int]int {
	out := map[int]int{}
	for _, mk := range r.Markers {
		if mk.Message >= 0 && mk.Message < len(r.Messages) {
			out[mk.Message] = mk.Part
		} else if mk.Message == wire.MarkerTools {
			r.Note("marker-lost", -1, nil, "this format marks no tools; the breakpoint on the system prompt covers them")
		}
	}
	return out
}

// SentRole returns the role under which OpenAI gets a message.
func SentRole(role memkernel.Role) memkernel.Role {
	switch role {
	case memkernel.RoleAssistant, memkernel.RoleSystem, memkernel.RoleDeveloper:
		return role
	}
	return memkernel.RoleUser
}

func render(r *wire.Renderer) {
	marks := Marked(r)
	r.Member("messages")
	r.Dst = append(r.Dst, '[')
	if len(r.System) > 0 {
		r.Dst = append(r.Dst, `{"role":"system","content":`...)
		mark := NoMark
		if _, ok := r.TTLAt(wire.MarkerSystem, len(r.System)-1, len(r.System)); ok {
			mark = len(r.System) - 1
		}
		sendContent(r, -1, memkernel.RoleSystem, r.System, mark)
		r.Dst = append(r.Dst, '}')
	}
	var media []memkernel.Part
	for i := 0; i < len(r.Messages); i++ {
		m := &r.Messages[i]
		if !wire.HasResults(*m) {
			media = flushMedia(r, media)
		}
		if end := callRunEnd(r, i); end > i+1 {
			sendRun(r, i, end)
			i = end - 1
			continue
		}
		mark, ok := marks[i]
		if !ok {
			mark = NoMark
		}
		media = sendMessage(r, i, m, mark, media)
	}
	flushMedia(r, media)
	r.Dst = append(r.Dst, ']')
	r.WriteTools(nil)
	r.Bound("max_completion_tokens")
}

// rewrite writes a conversation in the place of a client's.
func rewrite(r *wire.Renderer, e *wire.Envelope) (string, map[string]string) {
	return r.Rewrite(e, func(i int, m *memkernel.Message) {
		if m.Raw != "" {
			r.Comma()
			r.Dst = append(r.Dst, m.Raw...)
			return
		}
		flushMedia(r, sendMessage(r, i, m, NoMark, nil))
	}), nil
}

const NoMark = -2

// callRunEnd returns the end of a run of assistant messages that begins at i, if
// results for one of them follow a later one: calls must be answered by
// the next message, so such a run has to be one message.
func callRunEnd(r *wire.Renderer, i int) int {
	end, asks := i, false
	for ; end < len(r.Messages) && r.Messages[end].Role == memkernel.RoleAssistant; end++ {
		asks = asks || end > i && wire.HasCalls(r.Messages[end-1])
	}
	if !asks {
		return i
	}
	return end
}

// sendRun writes a run of assistant messages as one.
func sendRun(r *wire.Renderer, i, end int) {
	var parts []memkernel.Part
	for ; i < end; i++ {
		for k := range r.Messages[i].Parts {
			p := &r.Messages[i].Parts[k]
			if why := r.Refused(i, p); why != "" {
				r.Note("not-sent", i, p, why)
				continue
			}
			parts = append(parts, *p)
		}
	}
	sendAssistant(r, end-1, parts)
}

// sendMessage writes one message and returns the media that wait to be sent
// behind the tool messages.
func sendMessage(r *wire.Renderer, i int, m *memkernel.Message, mark int, media []memkernel.Part) []memkernel.Part {
	if r.Own && m.Raw != "" && mark == NoMark {
		r.Comma()
		r.Dst = wire.AppendClean(r.Dst, m.Raw)
		return media
	}
	var parts []memkernel.Part
	for k := range m.Parts {
		p := &m.Parts[k]
		if why := r.Refused(i, p); why != "" {
			r.Note("not-sent", i, p, why)
			continue
		}
		if m.Role == memkernel.RoleAssistant || !wire.IsResult(p) {
			parts = append(parts, *p)
			continue
		}
		r.Comma()
		if mark == k || mark == wire.LastPart && k == len(m.Parts)-1 {
			r.Dst = appendResult(r.Dst, p.Result, Breakpoint)
		} else {
			r.Dst = appendPart(r.Dst, m.Role, p)
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
		role := SentRole(m.Role)
		r.Comma()
		r.Dst = append(append(append(r.Dst, `{"role":"`...), role...), `","content":`...)
		if mark >= len(parts) || mark == wire.LastPart {
			mark = len(parts) - 1
		}
		sendContent(r, i, role, parts, mark)
		r.Dst = append(r.Dst, '}')
	}
	return media
}

// flushMedia sends the media of tool results as a user message.
func flushMedia(r *wire.Renderer, media []memkernel.Part) []memkernel.Part {
	if len(media) == 0 {
		return nil
	}
	r.Comma()
	r.Dst = append(r.Dst, `{"role":"user","content":[{"type":"text","text":"Attached to the tool results above:"}`...)
	for i := range media {
		r.Dst = append(r.Dst, ',')
		r.Dst = appendPart(r.Dst, memkernel.RoleUser, &media[i])
	}
	r.Dst = append(r.Dst, ']', '}')
	return nil
}

// sendContent writes content: a string if it is one unmarked text.
func sendContent(r *wire.Renderer, i int, role memkernel.Role, parts []memkernel.Part, mark int) {
	if len(parts) == 1 && parts[0].Kind == memkernel.PartText && mark < 0 {
		r.Dst = wire.AppendString(r.Dst, parts[0].Text)
		return
	}
	r.Dst = append(r.Dst, '[')
	for k := range parts {
		n := len(r.Dst)
		r.Dst = wire.AppendListed(r.Dst, func(dst []byte) []byte { return appendPart(dst, role, &parts[k]) })
		if len(r.Dst) == n {
			r.Note("not-sent", i, &parts[k], "this format can't carry the block")
		} else if k == mark {
			r.Dst = wire.InsertMember(r.Dst, Breakpoint)
		}
	}
	r.Dst = append(r.Dst, ']')
}

func sendAssistant(r *wire.Renderer, i int, parts []memkernel.Part) {
	var said, calls, reasoning []memkernel.Part
	for k, p := range parts {
		switch {
		case wire.IsCall(&p):
			calls = append(calls, p)
		case wire.IsThinking(&p):
			reasoning = append(reasoning, p)
		case p.Kind == memkernel.PartText || p.Kind == memkernel.PartOther:
			said = append(said, p)
		default:
			r.Note("not-sent", i, &parts[k], "this format can't carry the block in an assistant message")
		}
	}
	if len(said)+len(calls)+len(reasoning) == 0 {
		return
	}
	r.Comma()
	r.Dst = append(r.Dst, `{"role":"assistant","content":`...)
	if len(said) == 0 {
		r.Dst = append(r.Dst, "null"...)
	} else {
		sendContent(r, i, memkernel.RoleAssistant, said, NoMark)
	}
	for k := range reasoning {
		if k == 0 {
			r.Dst = append(r.Dst, ',')
			r.Dst = appendPart(r.Dst, memkernel.RoleAssistant, &reasoning[k])
		}
	}
	if len(calls) > 0 {
		r.Dst = append(r.Dst, `,"tool_calls":[`...)
		for k := range calls {
			r.Dst = wire.AppendListed(r.Dst, func(dst []byte) []byte { return appendPart(dst, memkernel.RoleAssistant, &calls[k]) })
		}
		r.Dst = append(r.Dst, ']')
	}
	r.Dst = append(r.Dst, '}')
}
