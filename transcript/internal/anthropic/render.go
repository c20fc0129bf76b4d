package anthropic

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/codex"
	"github.com/memkernel/memkernel/transcript/internal/openai"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// shaped reports whether a block's JSON is what the Messages API takes:
// its type fits the kind and no member of another host's dialect is in it.
func shaped(p *memkernel.Part) bool {
	c := wire.Scan(p.Raw)
	typ := ""
	for k := range c.Fields {
		switch k {
		case "type":
			typ = c.Str()
			continue
		case "textSignature", "thinkingSignature", "arguments", "mimeType", "call_id", "image_url", "function",
			"role", "annotations", "logprobs":
			return false
		}
	}
	if c.Err != nil {
		return false
	}
	switch p.Kind {
	case memkernel.PartToolUse:
		return strings.HasSuffix(typ, "tool_use")
	case memkernel.PartToolResult:
		return strings.HasSuffix(typ, "tool_result")
	case memkernel.PartOther:
		return takes(p)
	}
	return typ == string(p.Kind)
}

// takes reports whether a block of an unknown type may be one of the Messages API:
// it is if it is of none that others have.
func takes(p *memkernel.Part) bool {
	t := wire.RawType(p.Raw)
	return p.Raw != "" && t != "" && !codex.IsItem(p.Raw) && !openai.Takes(p) || IsCompaction(p.Raw)
}

// IsCompaction reports whether raw is a compaction block, whose type an item has, too.
func IsCompaction(raw string) bool {
	return wire.RawType(raw) == "compaction" && strings.Contains(raw, `"content"`)
}

// refuses returns why thinking can't be sent.
func refuses(r *wire.Renderer, msg int, p *memkernel.Part) string {
	switch {
	case otherModel(r, msg) || isForeignThinking(p):
		return "reasoning of another model"
	case p.Signature == "":
		return "thinking without a signature"
	}
	return ""
}

// otherModel reports whether another family of models wrote the message.
func otherModel(r *wire.Renderer, msg int) bool {
	m := r.Messages[msg].Model
	return m != "" && m != r.Model && !strings.Contains(m, "claude")
}

// isForeignThinking reports whether p is reasoning that Anthropic did not sign: Responses
// items, also inside a signature, and fields of chat messages.
func isForeignThinking(p *memkernel.Part) bool {
	return codex.IsReasoning(p) || openai.IsReasoning(p) || strings.HasPrefix(p.Signature, "{")
}

// appendBlock is appendAnthropic: a block has no role of its own.
func appendBlock(dst []byte, _ memkernel.Role, p *memkernel.Part) []byte {
	return appendPart(dst, p)
}

// appendPart appends a content block of the Messages API.
func appendPart(dst []byte, p *memkernel.Part) []byte {
	if wire.IsThinking(p) && (p.Signature == "" || isForeignThinking(p)) {
		return dst
	}
	if p.Kind == memkernel.PartText && p.Text == "" {
		return dst
	}
	if id := wire.CallOf(p); p.Raw != "" && wire.SafeID(id) == id && shaped(p) {
		return wire.AppendClean(dst, p.Raw)
	}
	switch p.Kind {
	case memkernel.PartText:
		return wire.Put(dst, `{"type":"text","text":`, p.Text, `}`)
	case memkernel.PartThinking:
		return wire.Put(dst, `{"type":"thinking","thinking":`, p.Text, `,"signature":`, p.Signature, `}`)
	case memkernel.PartRedactedThinking:
		return wire.Put(dst, `{"type":"redacted_thinking","data":`, p.Signature, `}`)
	case memkernel.PartToolUse:
		return appendToolUse(dst, p.Call)
	case memkernel.PartToolResult:
		return appendToolResult(dst, p.Result)
	case memkernel.PartImage, memkernel.PartDocument:
		return appendMedia(dst, p)
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
	dst = wire.Put(dst, `tool_use","id":`, wire.SafeID(call.ID), `,"name":`)
	dst = append(wire.AppendString(dst, call.Name), `,"input":`...)
	return append(wire.AppendInput(dst, call), '}')
}

func appendToolResult(dst []byte, r *memkernel.ToolResult) []byte {
	if r == nil {
		return dst
	}
	dst = wire.Put(dst, `{"type":"tool_result","tool_use_id":`, wire.SafeID(r.CallID), `,"content":`)
	if r.Text && len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		dst = wire.AppendString(dst, r.Content[0].Text)
	} else {
		dst = append(dst, '[')
		for i := range r.Content {
			dst = wire.AppendListed(dst, func(dst []byte) []byte { return appendPart(dst, shown(&r.Content[i])) })
		}
		dst = append(dst, ']')
	}
	if r.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	return append(dst, '}')
}

// shown returns a block of a result as the API can show it.
func shown(p *memkernel.Part) *memkernel.Part {
	if p.Kind == memkernel.PartOther && shaped(p) {
		return p
	}
	return wire.AsText(p)
}

func appendMedia(dst []byte, p *memkernel.Part) []byte {
	if p.Media == nil {
		return dst
	}
	dst = append(append(append(dst, `{"type":"`...), p.Kind...), `","source":{"type":`...)
	switch m := p.Media; {
	case m.Data != "":
		dst = wire.Put(dst, `"base64","media_type":`, m.Type, `,"data":`, m.Data)
	case m.URL != "":
		dst = wire.Put(dst, `"url","url":`, m.URL)
	default:
		dst = wire.Put(dst, `"text","media_type":"text/plain","data":`, p.Text)
	}
	return append(dst, '}', '}')
}

func render(r *wire.Renderer) {
	lead := leading(r)
	turns := merged(r, lead)
	marks := marksOf(r, turns)
	r.Bound("max_tokens")
	r.Think("thinking")
	r.WriteTools(cacheControl)
	renderSystem(r, lead)
	r.Member("messages")
	r.Dst = append(r.Dst, '[')
	for i, m := range turns {
		if i > 0 {
			r.Dst = append(r.Dst, ',')
		}
		r.Dst = append(append(append(r.Dst, `{"role":"`...), m.Role...), `","content":[`...)
		for k, b := range m.Blocks {
			if k > 0 {
				r.Dst = append(r.Dst, ',')
			}
			r.Dst = appendPart(r.Dst, r.Part(b))
			if ttl, ok := marks[b]; ok {
				r.Dst = wire.InsertMember(r.Dst, cacheControl(ttl))
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
func leading(r *wire.Renderer) int {
	n := 0
	for n < len(r.Messages) && wire.IsSystemRole(r.Messages[n].Role) {
		n++
	}
	return n
}

// merged returns the messages from lead on as the provider sees them.
func merged(r *wire.Renderer, lead int) []wire.Turn {
	var out []wire.Turn
	for i := lead; i < len(r.Messages); i++ {
		m := &r.Messages[i]
		role := "user"
		switch {
		case m.Role == memkernel.RoleAssistant:
			role = "assistant"
		case m.Role == memkernel.RoleSystem && r.Own:
			role = "system"
		case wire.IsSystemRole(m.Role):
			r.Note("system-as-user", i, nil, "a system message inside the conversation is sent as a user's")
		}
		for k := range m.Parts {
			if why := r.Refused(i, &m.Parts[k]); why != "" {
				r.Note("not-sent", i, &m.Parts[k], why)
				continue
			}
			if n := len(out); n == 0 || out[n-1].Role != role {
				out = append(out, wire.Turn{Role: role})
			}
			w := &out[len(out)-1]
			w.Blocks = append(w.Blocks, wire.At{Msg: i, Part: k})
		}
	}
	for i := range out {
		if out[i].Role == "user" {
			resultsFirst(r, out[i].Blocks)
		}
	}
	return out
}

// resultsFirst moves tool results to the front, keeping all else in order.
func resultsFirst(r *wire.Renderer, blocks []wire.At) {
	var rest []wire.At
	n := 0
	for _, b := range blocks {
		if wire.IsResult(r.Part(b)) {
			blocks[n] = b
			n++
		} else {
			rest = append(rest, b)
		}
	}
	copy(blocks[n:], rest)
}

// marksOf settles which blocks carry a marker.
func marksOf(r *wire.Renderer, turns []wire.Turn) map[wire.At]string {
	out := map[wire.At]string{}
	for _, mk := range r.Markers {
		if mk.Message < 0 {
			continue
		}
		if b, ok := markable(r, turns, mk); ok {
			out[b] = mk.TTL
		} else {
			r.Note("marker-lost", min(mk.Message, len(r.Messages)-1), nil, "no block before the marker can carry it")
		}
	}
	return out
}

// markable finds the last block at or before a marker that may carry one.
func markable(r *wire.Renderer, turns []wire.Turn, mk wire.Marker) (wire.At, bool) {
	for i := len(turns) - 1; i >= 0; i-- {
		for k := len(turns[i].Blocks) - 1; k >= 0; k-- {
			b := turns[i].Blocks[k]
			if b.Msg > mk.Message || b.Msg == mk.Message && mk.Part >= 0 && b.Part > mk.Part {
				continue
			}
			if p := r.Part(b); !wire.IsThinking(p) && p.Kind != memkernel.PartOther {
				return b, true
			}
		}
	}
	return wire.At{}, false
}

func renderSystem(r *wire.Renderer, lead int) {
	parts := r.System
	for _, m := range r.Messages[:lead] {
		parts = append(parts[:len(parts):len(parts)], m.Parts...)
	}
	if len(parts) == 0 {
		return
	}
	r.Member("system")
	r.Dst = append(r.Dst, '[')
	for i := range parts {
		r.Dst = wire.AppendListed(r.Dst, func(dst []byte) []byte {
			n := len(dst)
			dst = appendPart(dst, &parts[i])
			if ttl, ok := r.TTLAt(wire.MarkerSystem, i, len(parts)); ok && len(dst) > n {
				dst = wire.InsertMember(dst, cacheControl(ttl))
			}
			return dst
		})
	}
	r.Dst = append(r.Dst, ']')
}
