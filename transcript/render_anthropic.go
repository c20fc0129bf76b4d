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
		return takesAnthropic(p)
	}
	return typ == string(p.Kind)
}

// takesAnthropic tells whether a block of an unknown type may be one of the Messages API:
// it is if it is of none that others have.
func takesAnthropic(p *memkernel.Part) bool {
	t := rawType(p.Raw)
	return p.Raw != "" && t != "" && !isItemJSON(p.Raw) && !takesChat(p) || isAnthropicCompaction(p.Raw)
}

// isAnthropicCompaction tells a compaction block, whose type an item has, too.
func isAnthropicCompaction(raw string) bool {
	return rawType(raw) == "compaction" && strings.Contains(raw, `"content"`)
}

// refusesAnthropic says why thinking can't be sent.
func refusesAnthropic(r *renderer, msg int, p *memkernel.Part) string {
	switch {
	case otherModel(r, msg) || isForeignThinking(p):
		return "reasoning of another model"
	case p.Signature == "":
		return "thinking without a signature"
	}
	return ""
}

// otherModel tells whether another family of models wrote the message.
func otherModel(r *renderer, msg int) bool {
	m := r.Messages[msg].Model
	return m != "" && m != r.Model && !strings.Contains(m, "claude")
}

// isForeignThinking tells reasoning that Anthropic did not sign: Responses
// items, also inside a signature, and fields of chat messages.
func isForeignThinking(p *memkernel.Part) bool {
	return isReasoningItem(p) || isChatReasoning(p) || strings.HasPrefix(p.Signature, "{")
}

// appendBlock is appendAnthropic: a block has no role of its own.
func appendBlock(dst []byte, _ memkernel.Role, p *memkernel.Part) []byte {
	return appendAnthropic(dst, p)
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
	dst = append(appendString(dst, safeID(call.ID)), `,"name":`...)
	dst = append(appendString(dst, call.Name), `,"input":`...)
	return append(appendInput(dst, call), '}')
}

func appendToolResult(dst []byte, r *memkernel.ToolResult) []byte {
	if r == nil {
		return dst
	}
	dst = append(dst, `{"type":"tool_result","tool_use_id":`...)
	dst = append(appendString(dst, safeID(r.CallID)), `,"content":`...)
	if r.Text && len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		dst = appendString(dst, r.Content[0].Text)
	} else {
		dst = append(dst, '[')
		for i := range r.Content {
			dst = appendListed(dst, func(dst []byte) []byte { return appendAnthropic(dst, shown(&r.Content[i])) })
		}
		dst = append(dst, ']')
	}
	if r.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	return append(dst, '}')
}

// shown is a block of a result as the API can show it.
func shown(p *memkernel.Part) *memkernel.Part {
	if p.Kind == memkernel.PartOther && anthropicShape(p) {
		return p
	}
	return AsText(p)
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

func renderAnthropic(r *renderer) {
	lead := leading(r)
	turns := merged(r, lead)
	marks := marksOf(r, turns)
	if r.Model != "" {
		r.member("model")
		r.Dst = appendString(r.Dst, r.Model)
	}
	if r.MaxTokens > 0 {
		r.member("max_tokens")
		r.Dst = strconv.AppendInt(r.Dst, int64(r.MaxTokens), 10)
	}
	if r.Thinking != "" {
		r.member("thinking")
		r.Dst = append(r.Dst, r.Thinking...)
	}
	r.writeTools(cacheControl)
	anthropicSystem(r, lead)
	r.member("messages")
	r.Dst = append(r.Dst, '[')
	for i, m := range turns {
		if i > 0 {
			r.Dst = append(r.Dst, ',')
		}
		r.Dst = append(append(append(r.Dst, `{"role":"`...), m.role...), `","content":[`...)
		for k, b := range m.blocks {
			if k > 0 {
				r.Dst = append(r.Dst, ',')
			}
			r.Dst = appendAnthropic(r.Dst, r.part(b))
			if ttl, ok := marks[b]; ok {
				r.Dst = insertMember(r.Dst, cacheControl(ttl))
			}
		}
		r.Dst = append(r.Dst, ']', '}')
	}
	r.Dst = append(r.Dst, ']')
}

func cacheControl(ttl string) string {
	if ttl == "" {
		return `"cache_control":{"type":"ephemeral"}`
	}
	return `"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
}

// leading counts the system messages in front, which become system blocks.
func leading(r *renderer) int {
	n := 0
	for n < len(r.Messages) && isSystemRole(r.Messages[n].Role) {
		n++
	}
	return n
}

// merged are the messages from lead on as the provider sees them.
func merged(r *renderer, lead int) []wireMessage {
	var out []wireMessage
	for i := lead; i < len(r.Messages); i++ {
		m := &r.Messages[i]
		role := "user"
		switch {
		case m.Role == memkernel.RoleAssistant:
			role = "assistant"
		case m.Role == memkernel.RoleSystem && r.Own:
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
			resultsFirst(r, out[i].blocks)
		}
	}
	return out
}

// resultsFirst moves tool results to the front, keeping all else in order.
func resultsFirst(r *renderer, blocks []wireBlock) {
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

// marksOf settles which blocks carry a marker.
func marksOf(r *renderer, turns []wireMessage) map[wireBlock]string {
	out := map[wireBlock]string{}
	for _, mk := range r.Markers {
		if mk.Message < 0 {
			continue
		}
		if b, ok := markable(r, turns, mk); ok {
			out[b] = mk.TTL
		} else {
			r.note("marker-lost", min(mk.Message, len(r.Messages)-1), nil, "no block before the marker can carry it")
		}
	}
	return out
}

// markable finds the last block at or before a marker that may carry one.
func markable(r *renderer, turns []wireMessage, mk Marker) (wireBlock, bool) {
	for i := len(turns) - 1; i >= 0; i-- {
		for k := len(turns[i].blocks) - 1; k >= 0; k-- {
			b := turns[i].blocks[k]
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

func anthropicSystem(r *renderer, lead int) {
	parts := r.System
	for _, m := range r.Messages[:lead] {
		parts = append(parts[:len(parts):len(parts)], m.Parts...)
	}
	if len(parts) == 0 {
		return
	}
	r.member("system")
	r.Dst = append(r.Dst, '[')
	for i := range parts {
		r.Dst = appendListed(r.Dst, func(dst []byte) []byte {
			n := len(dst)
			dst = appendAnthropic(dst, &parts[i])
			if ttl, ok := r.TTLAt(MarkerSystem, i, len(parts)); ok && len(dst) > n {
				dst = insertMember(dst, cacheControl(ttl))
			}
			return dst
		})
	}
	r.Dst = append(r.Dst, ']')
}
