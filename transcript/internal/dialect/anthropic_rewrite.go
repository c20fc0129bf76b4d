package dialect

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// MaxAnthropicMarkers is how many cache markers a request may have.
const MaxAnthropicMarkers = 4

// anthropicWriter writes the conversation.
type anthropicWriter struct {
	r             *Renderer
	e             *Envelope
	marks         map[At]string
	tools, system *string // lifetimes of markers of ours, nil for none
}

// anthropicRewrite writes a conversation with markers of ours in place of the client's.
func anthropicRewrite(r *Renderer, e *Envelope) (list string, members map[string]string) {
	w := anthropicWriter{r: r, e: e}
	w.settleMarkers()
	members = map[string]string{}
	if w.tools != nil {
		members["tools"] = markLast(e.Member("tools"), *w.tools, deferred)
	}
	if w.system != nil {
		members["system"] = markLast(asBlocks(e.Member("system")), *w.system, nil)
	}
	return r.Rewrite(e, w.message), members
}

// settleMarkers chooses the markers for which there is room. Those nearest to the end come first,
// since the next request reads their prefixes.
func (w *anthropicWriter) settleMarkers() {
	own := w.e.Markers
	room := MaxAnthropicMarkers - own.Fixed
	if own.Automatic {
		room--
	}
	turns := w.single()
	w.marks = map[At]string{}
	sorted := slices.Clone(w.r.Markers)
	slices.SortStableFunc(sorted, func(a, b Marker) int { return b.Message - a.Message })
	for _, mk := range sorted {
		if room <= 0 {
			return
		}
		if own.Short {
			mk.TTL = "" // a longer lifetime may not follow a shorter one
		}
		switch {
		case mk.Message >= 0:
			at, ok := markable(w.r, turns, mk)
			if _, taken := w.marks[at]; !ok || taken || own.Automatic && w.last(turns, at) {
				continue
			}
			w.marks[at] = mk.TTL
		case own.Fixed > 0:
			continue
		case mk.Message == MarkerSystem && len(w.r.System) > 0 && w.system == nil:
			w.system = &mk.TTL
		case mk.Message == MarkerTools && len(w.r.Tools) > 0 && w.tools == nil:
			w.tools = &mk.TTL
		default:
			continue
		}
		room--
	}
}

// single returns each message as a turn of its own.
func (w *anthropicWriter) single() []Turn {
	out := make([]Turn, len(w.r.Messages))
	for i := range w.r.Messages {
		for k := range w.r.Messages[i].Parts {
			if w.r.Refused(i, &w.r.Messages[i].Parts[k]) == "" {
				out[i].Blocks = append(out[i].Blocks, At{Msg: i, Part: k})
			}
		}
	}
	return out
}

// last reports whether a block is the last of the request, which the provider marks itself.
func (w *anthropicWriter) last(turns []Turn, at At) bool {
	end, ok := markable(w.r, turns, Marker{Message: len(w.r.Messages), Part: LastPart})
	return ok && end == at
}

// message writes a message with our markers in place of the client's.
func (w *anthropicWriter) message(i int, m *memkernel.Message) {
	w.r.Comma()
	if m.Raw != "" {
		w.raw(i, m)
		return
	}
	role := "user"
	if m.Role == memkernel.RoleAssistant || m.Role == memkernel.RoleSystem {
		role = string(m.Role)
	}
	w.r.Put(`{"role":"` + role + `","content":[`)
	for k := range m.Parts {
		if w.r.Sends(i, &m.Parts[k]) && w.r.List(func(dst []byte) []byte { return appendAnthropicOwn(dst, &m.Parts[k]) }) {
			w.r.Dst = w.mark(w.r.Dst, At{Msg: i, Part: k})
		}
	}
	w.r.Put("]}")
}

// raw writes a message with its own bytes. A content that is one string becomes one text block if
// it needs a marker, which is the same to the model.
func (w *anthropicWriter) raw(i int, m *memkernel.Message) {
	marked, raw := false, m.Raw
	for k := range m.Parts {
		_, ok := w.marks[At{Msg: i, Part: k}]
		marked = marked || ok
	}
	if marked || strings.Contains(raw, "_control") {
		raw = string(appendClean(nil, raw))
	}
	if content := asBlocks(MemberOf(raw, "content")); marked && content != "" {
		var dst []byte
		at := 0
		for n, s := range spansOf(content) {
			dst = w.mark(append(dst, content[at:s.End]...), At{Msg: i, Part: n})
			at = s.End
		}
		raw = withMember(raw, "content", string(dst)+content[at:])
	}
	w.r.Put(raw)
}

// appendAnthropicOwn is appendAnthropicPart for a client's request. An id that the Messages API
// does not allow is one of the client's server: it stays in the call and in its result.
func appendAnthropicOwn(dst []byte, p *memkernel.Part) []byte {
	id, n := CallOf(p), len(dst)
	switch {
	case p.Kind == memkernel.PartOther:
		return appendClean(dst, p.Raw)
	case safeID(id) == id:
		return appendAnthropicPart(dst, p)
	case p.Raw != "" && anthropicShaped(p):
		return appendClean(dst, p.Raw)
	}
	member := "id"
	if IsResult(p) {
		member = "tool_use_id"
	}
	block := string(appendAnthropicPart(dst, p)[n:])
	return append(dst[:n], withMember(block, member, string(AppendString(nil, id)))...)
}

// mark adds the marker of a block that ends dst, if it has one.
func (w *anthropicWriter) mark(dst []byte, at At) []byte {
	if ttl, ok := w.marks[at]; ok {
		return InsertMember(dst, cacheControl(ttl))
	}
	return dst
}

// asBlocks returns a content as a list of blocks.
func asBlocks(content string) string {
	if strings.HasPrefix(content, `"`) {
		return `[{"type":"text","text":` + content + `}]`
	}
	return content
}

// markLast puts a marker on the last element of a list that may have one.
func markLast(list, ttl string, not func(raw string) bool) string {
	end := -1
	for _, s := range spansOf(list) {
		if not == nil || !not(list[s.Start:s.End]) {
			end = s.End
		}
	}
	if end < 0 {
		return list
	}
	return string(InsertMember([]byte(list[:end]), cacheControl(ttl))) + list[end:]
}

// anthropicFindMarkers finds the client's markers. Most bodies have none, which the search for a
// few letters shows.
func anthropicFindMarkers(b *Envelope) (out Markers) {
	if !strings.Contains(b.Raw, "_control") {
		return out
	}
	marker := func(object string) (found, hour bool) {
		raw := MemberOf(object, "cache_control")
		return raw != "" && raw != "null", strings.Contains(raw, `"1h"`)
	}
	for _, list := range []string{b.Member("tools"), b.Member("system")} {
		for _, s := range spansOf(list) {
			if found, hour := marker(list[s.Start:s.End]); found {
				out.Fixed++
				out.Short = out.Short || !hour
			}
		}
	}
	if found, hour := marker(b.Raw); found {
		out.Automatic, out.Short, out.Long = true, out.Short || !hour, hour
	}
	for i := range b.Messages {
		if !strings.Contains(b.Messages[i].Raw, "_control") {
			continue
		}
		content := MemberOf(b.Messages[i].Raw, "content")
		for _, s := range spansOf(content) {
			if found, hour := marker(content[s.Start:s.End]); found {
				out.Messages++
				out.Long = out.Long || hour
			}
		}
	}
	return out
}
