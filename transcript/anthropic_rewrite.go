package transcript

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// maxAnthropicMarkers is how many cache markers a request may have.
const maxAnthropicMarkers = 4

// anthropicWriter writes the conversation.
type anthropicWriter struct {
	r             *renderer
	e             *Body
	marks         map[partAt]string
	tools, system *string // lifetimes of markers of ours, nil for none
}

// anthropicRewrite writes a conversation with markers of ours in place of the client's.
func anthropicRewrite(r *renderer, e *Body) (list string, members map[string]string) {
	w := anthropicWriter{r: r, e: e}
	w.settleMarkers()
	members = map[string]string{}
	if w.tools != nil {
		members["tools"] = markLast(e.Member("tools"), *w.tools, deferred)
	}
	if w.system != nil {
		members["system"] = markLast(asBlocks(e.Member("system")), *w.system, nil)
	}
	return r.rewrite(e, w.message), members
}

// settleMarkers chooses the markers for which there is room. Those nearest to the end come first,
// since the next request reads their prefixes.
func (w *anthropicWriter) settleMarkers() {
	own := w.e.markers
	room := maxAnthropicMarkers - own.Fixed
	if own.Automatic {
		room--
	}
	turns := w.single()
	w.marks = map[partAt]string{}
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
func (w *anthropicWriter) single() []wireTurn {
	out := make([]wireTurn, len(w.r.Messages))
	for i := range w.r.Messages {
		for k := range w.r.Messages[i].Parts {
			if w.r.refused(i, &w.r.Messages[i].Parts[k]) == "" {
				out[i].Blocks = append(out[i].Blocks, partAt{Msg: i, Part: k})
			}
		}
	}
	return out
}

// last reports whether a block is the last of the request, which the provider marks itself.
func (w *anthropicWriter) last(turns []wireTurn, at partAt) bool {
	end, ok := markable(w.r, turns, Marker{Message: len(w.r.Messages), Part: LastPart})
	return ok && end == at
}

// message writes a message with our markers in place of the client's.
func (w *anthropicWriter) message(i int, m *memkernel.Message) {
	w.r.comma()
	if m.Raw != "" {
		w.raw(i, m)
		return
	}
	role := "user"
	if m.Role == memkernel.RoleAssistant || m.Role == memkernel.RoleSystem {
		role = string(m.Role)
	}
	w.r.put(`{"role":"` + role + `","content":[`)
	for k := range m.Parts {
		if w.r.sends(i, &m.Parts[k]) && w.r.list(func(dst []byte) []byte { return appendAnthropicOwn(dst, &m.Parts[k]) }) {
			w.r.dst = w.mark(w.r.dst, partAt{Msg: i, Part: k})
		}
	}
	w.r.put("]}")
}

// raw writes a message with its own bytes. A content that is one string becomes one text block if
// it needs a marker, which is the same to the model.
func (w *anthropicWriter) raw(i int, m *memkernel.Message) {
	marked, raw := false, m.Raw
	for k := range m.Parts {
		_, ok := w.marks[partAt{Msg: i, Part: k}]
		marked = marked || ok
	}
	if marked || strings.Contains(raw, "_control") {
		raw = string(appendClean(nil, raw))
	}
	if content := asBlocks(memberOf(raw, "content")); marked && content != "" {
		var dst []byte
		at := 0
		for n, s := range spansOf(content) {
			dst = w.mark(append(dst, content[at:s.End]...), partAt{Msg: i, Part: n})
			at = s.End
		}
		raw = withMember(raw, "content", string(dst)+content[at:])
	}
	w.r.put(raw)
}

// appendAnthropicOwn is appendAnthropicPart for a client's request. An id that the Messages API
// does not allow is one of the client's server: it stays in the call and in its result.
func appendAnthropicOwn(dst []byte, p *memkernel.Part) []byte {
	id, n := callOf(p), len(dst)
	switch {
	case p.Kind == memkernel.PartOther:
		return appendClean(dst, p.Raw)
	case safeID(id) == id:
		return appendAnthropicPart(dst, p)
	case p.Raw != "" && anthropicShaped(p):
		return appendClean(dst, p.Raw)
	}
	member := "id"
	if isResult(p) {
		member = "tool_use_id"
	}
	block := string(appendAnthropicPart(dst, p)[n:])
	return append(dst[:n], withMember(block, member, string(appendString(nil, id)))...)
}

// mark adds the marker of a block that ends dst, if it has one.
func (w *anthropicWriter) mark(dst []byte, at partAt) []byte {
	if ttl, ok := w.marks[at]; ok {
		return insertMember(dst, cacheControl(ttl))
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
	return string(insertMember([]byte(list[:end]), cacheControl(ttl))) + list[end:]
}

// anthropicFindMarkers finds the client's markers. Most bodies have none, which the search for a
// few letters shows.
func anthropicFindMarkers(b *Body) (out Markers) {
	if !strings.Contains(b.raw, "_control") {
		return out
	}
	marker := func(object string) (found, hour bool) {
		raw := memberOf(object, "cache_control")
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
	if found, hour := marker(b.raw); found {
		out.Automatic, out.Short, out.Long = true, out.Short || !hour, hour
	}
	for i := range b.Messages {
		if !strings.Contains(b.Messages[i].Raw, "_control") {
			continue
		}
		content := memberOf(b.Messages[i].Raw, "content")
		for _, s := range spansOf(content) {
			if found, hour := marker(content[s.Start:s.End]); found {
				out.Messages++
				out.Long = out.Long || hour
			}
		}
	}
	return out
}
