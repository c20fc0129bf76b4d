package transcript

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// anthropicShaped reports whether the Messages API accepts a block's JSON: its type fits the part's
// kind, and it has no member of another dialect.
func anthropicShaped(p *memkernel.Part) bool {
	typ := rawType(p.Raw)
	switch {
	case hasMember(p.Raw, "textSignature", "thinkingSignature", "arguments", "mimeType", "call_id", "image_url", "function", "role", "annotations", "logprobs"):
		return false
	case p.Kind == memkernel.PartToolUse, p.Kind == memkernel.PartToolResult:
		return strings.HasSuffix(typ, string(p.Kind))
	case p.Kind == memkernel.PartOther:
		return anthropicTakes(p)
	}
	return typ == string(p.Kind)
}

// anthropicTakes reports whether a block of an unknown type may belong to the Messages API. It does
// unless another API has the type.
func anthropicTakes(p *memkernel.Part) bool {
	t := rawType(p.Raw)
	return p.Raw != "" && t != "" && !isResponsesItem(p.Raw) && !openAITakes(p) || isAnthropicCompaction(p.Raw)
}

// isAnthropicCompaction reports whether raw is a compaction block. An item of the Responses API may
// have the same type.
func isAnthropicCompaction(raw string) bool {
	return rawType(raw) == "compaction" && strings.Contains(raw, `"content"`)
}

// anthropicRefuses returns why thinking can't be sent.
func anthropicRefuses(r *renderer, msg int, p *memkernel.Part) string {
	model := r.Messages[msg].Model
	switch {
	case model != "" && model != r.Model && !strings.Contains(model, "claude") || isForeignThinking(p): // of another family
		return "reasoning of another model"
	case p.Signature == "":
		return "thinking without a signature"
	}
	return ""
}

// isForeignThinking reports whether p is reasoning that Anthropic did not sign: a Responses item,
// also inside a signature, or a field of a chat message.
func isForeignThinking(p *memkernel.Part) bool {
	return isReasoningItem(p) || isChatReasoning(p) || strings.HasPrefix(p.Signature, "{")
}

// appendAnthropicPart appends a content block of the Messages API.
func appendAnthropicPart(dst []byte, p *memkernel.Part) []byte {
	if isThinking(p) && (p.Signature == "" || isForeignThinking(p)) || p.Kind == memkernel.PartText && p.Text == "" {
		return dst
	}
	if id := callOf(p); p.Raw != "" && safeID(id) == id && anthropicShaped(p) {
		return AppendClean(dst, p.Raw)
	}
	switch {
	case p.Kind == memkernel.PartText:
		return put(dst, `{"type":"text","text":`, p.Text, `}`)
	case p.Kind == memkernel.PartThinking:
		return put(dst, `{"type":"thinking","thinking":`, p.Text, `,"signature":`, p.Signature, `}`)
	case p.Kind == memkernel.PartRedactedThinking:
		return put(dst, `{"type":"redacted_thinking","data":`, p.Signature, `}`)
	case p.Kind == memkernel.PartToolUse && p.Call != nil:
		typ := "tool_use"
		if p.Call.Server {
			typ = "server_tool_use"
		}
		dst = put(dst, `{"type":"`+typ+`","id":`, safeID(p.Call.ID), `,"name":`, p.Call.Name, `,"input":`)
		return append(appendInput(dst, p.Call), '}')
	case p.Kind == memkernel.PartToolResult && p.Result != nil:
		return appendAnthropicToolResult(dst, p.Result)
	case p.Media != nil && (p.Kind == memkernel.PartImage || p.Kind == memkernel.PartDocument):
		return appendAnthropicMedia(dst, p)
	}
	return dst
}

func appendAnthropicToolResult(dst []byte, r *memkernel.ToolResult) []byte {
	dst = put(dst, `{"type":"tool_result","tool_use_id":`, safeID(r.CallID), `,"content":`)
	if r.Text && len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		dst = appendString(dst, r.Content[0].Text)
	} else {
		dst = appendList(dst, r.Content, func(dst []byte, p *memkernel.Part) []byte {
			if p.Kind != memkernel.PartOther || !anthropicShaped(p) {
				p = asText(p)
			}
			return appendAnthropicPart(dst, p)
		})
	}
	if r.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	return append(dst, '}')
}

func appendAnthropicMedia(dst []byte, p *memkernel.Part) []byte {
	dst = append(dst, `{"type":"`+string(p.Kind)+`","source":{"type":`...)
	switch m := p.Media; {
	case m.Data != "":
		return put(dst, `"base64","media_type":`, m.Type, `,"data":`, m.Data, `}}`)
	case m.URL != "":
		return put(dst, `"url","url":`, m.URL, `}}`)
	}
	return put(dst, `"text","media_type":"text/plain","data":`, p.Text, `}}`)
}

func anthropicRender(r *renderer) {
	lead := slices.IndexFunc(r.Messages, func(m memkernel.Message) bool { return !isSystemRole(m.Role) })
	if lead < 0 {
		lead = len(r.Messages)
	}
	turns := anthropicMerged(r, lead)
	marks := anthropicMarksOf(r, turns)
	r.bound("max_tokens")
	r.think("thinking")
	r.writeTools(cacheControl)
	renderAnthropicSystem(r, lead)
	r.member("messages")
	r.put("[")
	for _, m := range turns {
		r.comma()
		r.put(`{"role":"` + m.Role + `","content":[`)
		for _, b := range m.Blocks {
			written := r.list(func(dst []byte) []byte { return appendAnthropicPart(dst, r.part(b)) })
			if ttl, ok := marks[b]; ok && written {
				r.dst = insertMember(r.dst, cacheControl(ttl))
			}
		}
		r.put("]}")
	}
	r.put("]")
}

func cacheControl(ttl string) string {
	if ttl == "" {
		return `"cache_control":{"type":"ephemeral"}`
	}
	return `"cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}`
}

// anthropicMerged returns the messages from lead on as the provider sees them.
func anthropicMerged(r *renderer, lead int) (out []wireTurn) {
	for i := lead; i < len(r.Messages); i++ {
		m := &r.Messages[i]
		role := "user"
		switch {
		case m.Role == memkernel.RoleAssistant:
			role = "assistant"
		case m.Role == memkernel.RoleSystem && r.own:
			role = "system"
		case isSystemRole(m.Role):
			r.note("system-as-user", i, nil, "a system message inside the conversation is sent as a user's")
		}
		for k := range m.Parts {
			if !r.sends(i, &m.Parts[k]) {
				continue
			}
			if n := len(out); n == 0 || out[n-1].Role != role {
				out = append(out, wireTurn{Role: role})
			}
			t := &out[len(out)-1]
			t.Blocks = append(t.Blocks, partAt{Msg: i, Part: k})
		}
	}
	for i := range out {
		if out[i].Role == "user" { // results come first
			slices.SortStableFunc(out[i].Blocks, func(a, b partAt) int {
				return anthropicRank(r.part(a)) - anthropicRank(r.part(b))
			})
		}
	}
	return out
}

// anthropicRank puts tool results before other blocks.
func anthropicRank(p *memkernel.Part) int {
	if isResult(p) {
		return 0
	}
	return 1
}

// anthropicMarksOf returns the lifetimes of the markers by the blocks that carry them.
func anthropicMarksOf(r *renderer, turns []wireTurn) map[partAt]string {
	out := map[partAt]string{}
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
func markable(r *renderer, turns []wireTurn, mk Marker) (partAt, bool) {
	for i := len(turns) - 1; i >= 0; i-- {
		for k := len(turns[i].Blocks) - 1; k >= 0; k-- {
			b := turns[i].Blocks[k]
			if b.Msg > mk.Message || b.Msg == mk.Message && mk.Part >= 0 && b.Part > mk.Part {
				continue
			}
			if p := r.part(b); !isThinking(p) && p.Kind != memkernel.PartOther {
				return b, true
			}
		}
	}
	return partAt{}, false
}

func renderAnthropicSystem(r *renderer, lead int) {
	parts := r.System
	for _, m := range r.Messages[:lead] {
		parts = append(parts[:len(parts):len(parts)], m.Parts...)
	}
	if len(parts) == 0 {
		return
	}
	r.member("system")
	r.put("[")
	for i := range parts {
		written := r.list(func(dst []byte) []byte { return appendAnthropicPart(dst, &parts[i]) })
		if ttl, ok := r.ttlAt(MarkerSystem, i, len(parts)); ok && written {
			r.dst = insertMember(r.dst, cacheControl(ttl))
		}
	}
	r.put("]")
}
