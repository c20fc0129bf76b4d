package anthropic

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// MaxMarkers is how many cache markers a request may have.
const MaxMarkers = 4

// bodyWriter writes the conversation.
type bodyWriter struct {
	r             *wire.Renderer
	e             *wire.Envelope
	marks         map[wire.At]string
	tools, system *string // lifetimes of markers of ours, nil for none
}

// rewrite writes a conversation with markers of ours in place of the client's.
func rewrite(r *wire.Renderer, e *wire.Envelope) (list string, members map[string]string) {
	w := bodyWriter{r: r, e: e}
	w.settleMarkers()
	members = map[string]string{}
	if w.tools != nil {
		members["tools"] = markLast(e.Member("tools"), *w.tools, wire.Deferred)
	}
	if w.system != nil {
		members["system"] = markLast(asBlocks(e.Member("system")), *w.system, nil)
	}
	return r.Rewrite(e, w.message), members
}

// settleMarkers chooses the markers for which there is room. Those nearest to the end come first,
// since the next request reads their prefixes.
func (w *bodyWriter) settleMarkers() {
	own := w.e.Markers
	room := MaxMarkers - own.Fixed
	if own.Automatic {
		room--
	}
	turns := w.single()
	w.marks = map[wire.At]string{}
	sorted := slices.Clone(w.r.Markers)
	slices.SortStableFunc(sorted, func(a, b wire.Marker) int { return b.Message - a.Message })
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
		case mk.Message == wire.MarkerSystem && len(w.r.System) > 0 && w.system == nil:
			w.system = &mk.TTL
		case mk.Message == wire.MarkerTools && len(w.r.Tools) > 0 && w.tools == nil:
			w.tools = &mk.TTL
		default:
			continue
		}
		room--
	}
}

// single returns each message as a turn of its own.
func (w *bodyWriter) single() []wire.Turn {
	out := make([]wire.Turn, len(w.r.Messages))
	for i := range w.r.Messages {
		for k := range w.r.Messages[i].Parts {
			if w.r.Refused(i, &w.r.Messages[i].Parts[k]) == "" {
				out[i].Blocks = append(out[i].Blocks, wire.At{Msg: i, Part: k})
			}
		}
	}
	return out
}

// last reports whether a block is the last of the request, which the provider marks itself.
func (w *bodyWriter) last(turns []wire.Turn, at wire.At) bool {
	end, ok := markable(w.r, turns, wire.Marker{Message: len(w.r.Messages), Part: wire.LastPart})
	return ok && end == at
}

// message writes a message with our markers in place of the client's.
func (w *bodyWriter) message(i int, m *memkernel.Message) {
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
		if w.r.Sends(i, &m.Parts[k]) && w.r.List(func(dst []byte) []byte { return appendOwn(dst, &m.Parts[k]) }) {
			w.r.Dst = w.mark(w.r.Dst, wire.At{Msg: i, Part: k})
		}
	}
	w.r.Put("]}")
}

// raw writes a message with its own bytes. A content that is one string becomes one text block if
// it needs a marker, which is the same to the model.
func (w *bodyWriter) raw(i int, m *memkernel.Message) {
	marked, raw := false, m.Raw
	for k := range m.Parts {
		_, ok := w.marks[wire.At{Msg: i, Part: k}]
		marked = marked || ok
	}
	if marked || strings.Contains(raw, "_control") {
		raw = string(wire.AppendClean(nil, raw))
	}
	if content := asBlocks(wire.MemberOf(raw, "content")); marked && content != "" {
		var dst []byte
		at := 0
		for n, s := range wire.Spans(content) {
			dst = w.mark(append(dst, content[at:s.End]...), wire.At{Msg: i, Part: n})
			at = s.End
		}
		raw = wire.WithMember(raw, "content", string(dst)+content[at:])
	}
	w.r.Put(raw)
}

// appendOwn is appendPart for a client's request. An id that the Messages API does not allow is one
// of the client's server: it stays in the call and in its result.
func appendOwn(dst []byte, p *memkernel.Part) []byte {
	id, n := wire.CallOf(p), len(dst)
	switch {
	case p.Kind == memkernel.PartOther:
		return wire.AppendClean(dst, p.Raw)
	case wire.SafeID(id) == id:
		return appendPart(dst, p)
	case p.Raw != "" && shaped(p):
		return wire.AppendClean(dst, p.Raw)
	}
	member := "id"
	if wire.IsResult(p) {
		member = "tool_use_id"
	}
	block := string(appendPart(dst, p)[n:])
	return append(dst[:n], wire.WithMember(block, member, string(wire.AppendString(nil, id)))...)
}

// mark adds the marker of a block that ends dst, if it has one.
func (w *bodyWriter) mark(dst []byte, at wire.At) []byte {
	if ttl, ok := w.marks[at]; ok {
		return wire.InsertMember(dst, cacheControl(ttl))
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
	for _, s := range wire.Spans(list) {
		if not == nil || !not(list[s.Start:s.End]) {
			end = s.End
		}
	}
	if end < 0 {
		return list
	}
	return string(wire.InsertMember([]byte(list[:end]), cacheControl(ttl))) + list[end:]
}

// findMarkers finds the client's markers. Most bodies have none, which the search for a few letters
// shows.
func findMarkers(b *wire.Envelope) (out wire.Markers) {
	if !strings.Contains(b.Raw, "_control") {
		return out
	}
	marker := func(object string) (found, hour bool) {
		raw := wire.MemberOf(object, "cache_control")
		return raw != "" && raw != "null", strings.Contains(raw, `"1h"`)
	}
	for _, list := range []string{b.Member("tools"), b.Member("system")} {
		for _, s := range wire.Spans(list) {
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
		content := wire.MemberOf(b.Messages[i].Raw, "content")
		for _, s := range wire.Spans(content) {
			if found, hour := marker(content[s.Start:s.End]); found {
				out.Messages++
				out.Long = out.Long || hour
			}
		}
	}
	return out
}
