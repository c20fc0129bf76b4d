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
	*renderer
	marks map[partAt]string
}

// anthropicRewrite writes a conversation with our cache markers in place of the client's. If the
// provider's limit does not allow all of them, it keeps those nearest to the end, since the next
// request reads their prefixes.
func anthropicRewrite(r *renderer, b *Body) (list string, members map[string]string) {
	own, members := b.markers, map[string]string{}
	room := maxAnthropicMarkers - own.Fixed
	if own.Automatic {
		room--
	}
	turns := make([]wireTurn, len(r.Messages)) // each message is one of its own
	for at, p := range allParts(r.Messages) {
		if r.refused(at.Msg, p) == "" {
			turns[at.Msg].Blocks = append(turns[at.Msg].Blocks, at)
		}
	}
	last, _ := markable(r, turns, Marker{Message: len(turns), Part: LastPart})
	w := anthropicWriter{r, map[partAt]string{}}
	for _, mk := range slices.SortedStableFunc(slices.Values(r.Markers), func(a, b Marker) int { return b.Message - a.Message }) {
		if room <= 0 {
			break
		}
		if own.Short {
			mk.TTL = "" // a longer lifetime may not follow a shorter one
		}
		switch {
		case mk.Message >= 0:
			at, ok := markable(r, turns, mk)
			if _, taken := w.marks[at]; !ok || taken || own.Automatic && at == last {
				continue // the provider marks the last block itself
			}
			w.marks[at] = mk.TTL
		case own.Fixed > 0:
			continue
		case mk.Message == MarkerSystem && len(r.System) > 0 && members["system"] == "":
			members["system"] = markLast(asBlocks(b.Member("system")), mk.TTL, nil)
		case mk.Message == MarkerTools && len(r.Tools) > 0 && members["tools"] == "":
			members["tools"] = markLast(b.Member("tools"), mk.TTL, deferred)
		default:
			continue
		}
		room--
	}
	return r.rewrite(b, w.message), members
}

// message writes a message with our markers in place of the client's.
func (w *anthropicWriter) message(i int, m *memkernel.Message) {
	w.comma()
	if m.Raw != "" {
		w.raw(i, m)
		return
	}
	role := "user"
	if m.Role == memkernel.RoleAssistant || m.Role == memkernel.RoleSystem {
		role = string(m.Role)
	}
	w.put(`{"role":"` + role + `","content":[`)
	for k := range m.Parts {
		if w.sends(i, &m.Parts[k]) && w.list(func(dst []byte) []byte { return appendAnthropicOwn(dst, &m.Parts[k]) }) {
			w.dst = w.mark(w.dst, partAt{Msg: i, Part: k})
		}
	}
	w.put("]}")
}

// raw writes a message with its own bytes. If the content is one string and needs a marker, it
// becomes one text block, which the model reads the same way.
func (w *anthropicWriter) raw(i int, m *memkernel.Message) {
	marked, raw := false, m.Raw
	for k := range m.Parts {
		_, ok := w.marks[partAt{Msg: i, Part: k}]
		marked = marked || ok
	}
	if marked || strings.Contains(raw, "_control") {
		raw = string(AppendClean(nil, raw))
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
	w.put(raw)
}

// appendAnthropicOwn is appendAnthropicPart for a client's request. An id that the Messages API
// does not allow was accepted by the client's server, so it stays in the call and in its result.
func appendAnthropicOwn(dst []byte, p *memkernel.Part) []byte {
	id, n := callOf(p), len(dst)
	switch {
	case p.Kind == memkernel.PartOther:
		return AppendClean(dst, p.Raw)
	case safeID(id) == id:
		return appendAnthropicPart(dst, p)
	case p.Raw != "" && anthropicShaped(p):
		return AppendClean(dst, p.Raw)
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

// anthropicFindMarkers finds the client's cache markers. Most bodies have none, so a text search
// decides first.
func anthropicFindMarkers(b *Body) (out markers) {
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
