package transcript

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// anthropicShape tells whether a block's JSON is what the Messages API takes:
// its type fits the kind and no member of another host's dialect is in it.
func anthropicShape(p *memkernel.Part) bool {
	c := scan(p.Raw)
	typ := ""
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
			continue
		case "textSignature", "thinkingSignature", "arguments", "mimeType", "call_id", "image_url", "function",
			"role", "annotations", "logprobs":
			return false
		}
		c.skip()
	}
	if c.err != nil {
		return false
	}
	switch p.Kind {
	case memkernel.PartToolUse:
		return strings.HasSuffix(typ, "tool_use")
	case memkernel.PartToolResult:
		return strings.HasSuffix(typ, "tool_result")
	case memkernel.PartOther:
		return formatTakes(FormatAnthropic, p)
	}
	return typ == string(p.Kind)
}

// appendAnthropic appends a content block of the Messages API.
func appendAnthropic(dst []byte, p *memkernel.Part) []byte {
	if isThinking(p) && (p.Signature == "" || isForeignThinking(p)) {
		return dst
	}
	if p.Kind == memkernel.PartText && p.Text == "" {
		return dst
	}
	if p.Raw != "" && anthropicShape(p) {
		return appendClean(dst, p.Raw)
	}
	switch p.Kind {
	case memkernel.PartText:
		dst = append(dst, `{"type":"text","text":`...)
		return append(appendString(dst, p.Text), '}')
	case memkernel.PartThinking:
		dst = append(dst, `{"type":"thinking","thinking":`...)
		dst = append(appendString(dst, p.Text), `,"signature":`...)
		return append(appendString(dst, p.Signature), '}')
	case memkernel.PartRedactedThinking:
		dst = append(dst, `{"type":"redacted_thinking","data":`...)
		return append(appendString(dst, p.Signature), '}')
	case memkernel.PartToolUse:
		return appendToolUse(dst, p.Call)
	case memkernel.PartToolResult:
		return appendToolResult(dst, p.Result)
	case memkernel.PartImage, memkernel.PartDocument:
		return appendAnthropicMedia(dst, p)
	}
	return dst
}

func appendToolUse(dst []byte, call *memkernel.ToolCall) []byte {
	if call == nil {
		return dst
	}
	dst = append(dst, `{"type":"`...)
	if call.Server {
		dst = append(dst, "server_"...)
	}
	dst = append(dst, `tool_use","id":`...)
	dst = append(appendString(dst, anthropicID(call.ID)), `,"name":`...)
	dst = append(appendString(dst, call.Name), `,"input":`...)
	return append(appendInput(dst, call), '}')
}

// appendInput appends a call's input as the JSON object that the API wants.
// Input that is none is wrapped: models do emit broken arguments.
func appendInput(dst []byte, call *memkernel.ToolCall) []byte {
	c := scan(call.Input)
	if !call.Custom && c.peek() == '{' {
		if c.skip(); c.end() == nil {
			return appendValid(dst, call.Input)
		}
	}
	if strings.TrimSpace(call.Input) == "" {
		return append(dst, '{', '}')
	}
	dst = append(dst, `{"input":`...)
	return append(appendString(dst, call.Input), '}')
}

// anthropicID makes an id of the characters that the API allows.
func anthropicID(id string) string {
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

func appendToolResult(dst []byte, r *memkernel.ToolResult) []byte {
	if r == nil {
		return dst
	}
	dst = append(dst, `{"type":"tool_result","tool_use_id":`...)
	dst = append(appendString(dst, anthropicID(r.CallID)), `,"content":`...)
	if r.Text && len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		dst = appendString(dst, r.Content[0].Text)
	} else {
		dst = append(dst, '[')
		for i := range r.Content {
			dst = appendListed(dst, func(dst []byte) []byte { return appendAnthropic(dst, shownAs(FormatAnthropic, &r.Content[i])) })
		}
		dst = append(dst, ']')
	}
	if r.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	return append(dst, '}')
}

// shownAs is a block of a result as a format can show it: one of another provider's is
// shown as the text that it is, since a result says nothing without what it holds.
func shownAs(f Format, p *memkernel.Part) *memkernel.Part {
	if p.Kind != memkernel.PartOther || f == FormatAnthropic && anthropicShape(p) {
		return p
	}
	return &memkernel.Part{Kind: memkernel.PartText, Text: p.Raw}
}

func appendAnthropicMedia(dst []byte, p *memkernel.Part) []byte {
	if p.Media == nil {
		return dst
	}
	dst = append(append(append(dst, `{"type":"`...), p.Kind...), `","source":{"type":`...)
	switch m := p.Media; {
	case m.Data != "":
		dst = append(dst, `"base64","media_type":`...)
		dst = append(appendString(dst, m.Type), `,"data":`...)
		dst = appendString(dst, m.Data)
	case m.URL != "":
		dst = append(dst, `"url","url":`...)
		dst = appendString(dst, m.URL)
	default:
		dst = append(dst, `"text","media_type":"text/plain","data":`...)
		dst = appendString(dst, p.Text)
	}
	return append(dst, '}', '}')
}

// wireBlock points at a part of the request.
type wireBlock struct{ msg, part int }

// wireMessage is a message as the provider sees it: neighbours of one role
// merged, tool results first.
type wireMessage struct {
	role   string
	blocks []wireBlock
}

func (r *renderer) part(b wireBlock) *memkernel.Part { return &r.req.Messages[b.msg].Parts[b.part] }

func (r *renderer) anthropic() {
	lead := r.leading()
	wire := r.wire(lead)
	marks := r.marks(wire)
	if r.req.Model != "" {
		r.member("model")
		r.dst = appendString(r.dst, r.req.Model)
	}
	if r.req.MaxTokens > 0 {
		r.member("max_tokens")
		r.dst = strconv.AppendInt(r.dst, int64(r.req.MaxTokens), 10)
	}
	if r.req.Thinking != "" {
		r.member("thinking")
		r.dst = append(r.dst, r.req.Thinking...)
	}
	r.anthropicTools()
	r.anthropicSystem(lead)
	r.member("messages")
	r.dst = append(r.dst, '[')
	for i, m := range wire {
		if i > 0 {
			r.dst = append(r.dst, ',')
		}
		r.dst = append(append(append(r.dst, `{"role":"`...), m.role...), `","content":[`...)
		for k, b := range m.blocks {
			if k > 0 {
				r.dst = append(r.dst, ',')
			}
			r.dst = appendAnthropic(r.dst, r.part(b))
			if ttl, ok := marks[b]; ok {
				r.dst = insertMember(r.dst, cacheControl(ttl))
			}
		}
		r.dst = append(r.dst, ']', '}')
	}
	r.dst = append(r.dst, ']')
	r.params()
}

func cacheControl(ttl string) string {
	if ttl == "" {
		return `"cache_control":{"type":"ephemeral"}`
	}
	return `"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
}

// leading counts the system messages in front, which become system blocks.
func (r *renderer) leading() int {
	n := 0
	for n < len(r.req.Messages) && isSystemRole(r.req.Messages[n].Role) {
		n++
	}
	return n
}

func isSystemRole(role memkernel.Role) bool {
	return role == memkernel.RoleSystem || role == memkernel.RoleDeveloper
}

// wire merges the messages from lead on.
func (r *renderer) wire(lead int) []wireMessage {
	var out []wireMessage
	for i := lead; i < len(r.req.Messages); i++ {
		m := &r.req.Messages[i]
		role := "user"
		switch {
		case m.Role == memkernel.RoleAssistant:
			role = "assistant"
		case m.Role == memkernel.RoleSystem && r.req.Source == Anthropic:
			role = "system"
		case isSystemRole(m.Role):
			r.note("system-as-user", i, nil, "a system message inside the conversation is sent as a user's")
		}
		for k := range m.Parts {
			if why := r.refused(i, &m.Parts[k]); why != "" {
				r.note("not-sent", i, &m.Parts[k], why)
				continue
			}
			if n := len(out); n == 0 || out[n-1].role != role {
				out = append(out, wireMessage{role: role})
			}
			w := &out[len(out)-1]
			w.blocks = append(w.blocks, wireBlock{i, k})
		}
	}
	for i := range out {
		if out[i].role == "user" {
			r.resultsFirst(out[i].blocks)
		}
	}
	return out
}

// resultsFirst moves tool results to the front, keeping all else in order.
func (r *renderer) resultsFirst(blocks []wireBlock) {
	var rest []wireBlock
	n := 0
	for _, b := range blocks {
		if isResult(r.part(b)) {
			blocks[n] = b
			n++
		} else {
			rest = append(rest, b)
		}
	}
	copy(blocks[n:], rest)
}

// marks settles which blocks carry a marker.
func (r *renderer) marks(wire []wireMessage) map[wireBlock]string {
	out := map[wireBlock]string{}
	for _, mk := range r.req.Markers {
		if mk.Message < 0 {
			continue
		}
		if b, ok := r.markable(wire, mk); ok {
			out[b] = mk.TTL
		} else {
			r.note("marker-lost", min(mk.Message, len(r.req.Messages)-1), nil, "no block before the marker can carry it")
		}
	}
	return out
}

// markable finds the last block at or before a marker that may carry one.
func (r *renderer) markable(wire []wireMessage, mk Marker) (wireBlock, bool) {
	for i := len(wire) - 1; i >= 0; i-- {
		for k := len(wire[i].blocks) - 1; k >= 0; k-- {
			b := wire[i].blocks[k]
			if b.msg > mk.Message || b.msg == mk.Message && mk.Part >= 0 && b.part > mk.Part {
				continue
			}
			if p := r.part(b); !isThinking(p) && p.Kind != memkernel.PartOther {
				return b, true
			}
		}
	}
	return wireBlock{}, false
}

// ttlAt returns the marker on an element of the tools or the system.
func (r *renderer) ttlAt(where, i, n int) (string, bool) {
	for _, mk := range r.req.Markers {
		if mk.Message == where && (mk.Part == i || mk.Part == LastPart && i == n-1) {
			return mk.TTL, true
		}
	}
	return "", false
}

func (r *renderer) anthropicSystem(lead int) {
	parts := r.req.System
	for _, m := range r.req.Messages[:lead] {
		parts = append(parts[:len(parts):len(parts)], m.Parts...)
	}
	if len(parts) == 0 {
		return
	}
	r.member("system")
	r.dst = append(r.dst, '[')
	for i := range parts {
		r.dst = appendListed(r.dst, func(dst []byte) []byte {
			n := len(dst)
			dst = appendAnthropic(dst, &parts[i])
			if ttl, ok := r.ttlAt(MarkerSystem, i, len(parts)); ok && len(dst) > n {
				dst = insertMember(dst, cacheControl(ttl))
			}
			return dst
		})
	}
	r.dst = append(r.dst, ']')
}
