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

// settleMarkers chooses which of the markers there is room for: those nearest to the
// end first, since they are what the next request reads.
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

// single is each message by itself, in the form that markable reads.
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

// last reports whether a block is the request's last, which the provider marks itself.
func (w *bodyWriter) last(turns []wire.Turn, at wire.At) bool {
	end, ok := markable(w.r, turns, wire.Marker{Message: len(w.r.Messages), Part: wire.LastPart})
	return ok && end == at
}

// message writes a message of the Messages API without the client's markers and
// with ours.
func (w *bodyWriter) message(i int, m *memkernel.Message) {
	w.r.Comma()
	marked := false
	for k := range m.Parts {
		_, ok := w.marks[wire.At{Msg: i, Part: k}]
		marked = marked || ok
	}
	switch clean := !strings.Contains(m.Raw, "_control"); {
	case m.Raw != "" && !marked && clean:
		w.r.Dst = append(w.r.Dst, m.Raw...)
		return
	case m.Raw != "" && !marked:
		w.r.Dst = wire.AppendClean(w.r.Dst, m.Raw)
		return
	}
	if m.Raw != "" {
		w.r.Dst = w.markRaw(w.r.Dst, i, m.Raw)
		return
	}
	role := "user"
	if m.Role == memkernel.RoleAssistant || m.Role == memkernel.RoleSystem {
		role = string(m.Role)
	}
	w.r.Dst = append(append(append(w.r.Dst, `{"role":"`...), role...), `","content":[`...)
	for k := range m.Parts {
		if why := w.r.Refused(i, &m.Parts[k]); why != "" {
			w.r.Note("not-sent", i, &m.Parts[k], why)
			continue
		}
		w.r.Dst = wire.AppendListed(w.r.Dst, func(dst []byte) []byte { return w.mark(appendOwn(dst, &m.Parts[k]), wire.At{Msg: i, Part: k}) })
	}
	w.r.Dst = append(w.r.Dst, ']', '}')
}

// appendOwn is appendPart for a client's request: ids of calls that the Messages API does not
// have are those of the client's server, and stay in both halves of a pair.
func appendOwn(dst []byte, p *memkernel.Part) []byte {
	if p.Kind == memkernel.PartOther {
		return wire.AppendClean(dst, p.Raw)
	}
	id, n := wire.CallOf(p), len(dst)
	if wire.SafeID(id) == id {
		return appendPart(dst, p)
	}
	if p.Raw != "" && shaped(p) {
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

// markRaw writes a message with its own bytes and markers on some of its blocks. A
// content that is one string becomes one text block, which is the same to the model.
func (w *bodyWriter) markRaw(dst []byte, i int, raw string) []byte {
	clean := string(wire.AppendClean(nil, raw))
	content := wire.MemberOf(clean, "content")
	if content == "" {
		return append(dst, clean...)
	}
	return append(dst, wire.WithMember(clean, "content", string(w.markBlocks(i, asBlocks(content))))...)
}

// markBlocks puts the markers of a message on its content.
func (w *bodyWriter) markBlocks(i int, list string) []byte {
	var dst []byte
	n, at := 0, 0
	for _, s := range wire.Spans(list) {
		dst = append(dst, list[at:s.End]...)
		dst = w.mark(dst, wire.At{Msg: i, Part: n})
		n, at = n+1, s.End
	}
	return append(dst, list[at:]...)
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

// findMarkers looks for the client's markers. Most of what is searched has none, and few letters are
// as rare as the underscore.
func findMarkers(b *wire.Envelope) (out wire.Markers) {
	if !strings.Contains(b.Raw, "_control") {
		return out
	}
	hour := func(raw string) bool { return strings.Contains(raw, `"1h"`) }
	for _, name := range []string{"tools", "system"} {
		for _, s := range wire.Spans(b.Member(name)) {
			raw := wire.MemberOf(b.Member(name)[s.Start:s.End], "cache_control")
			if raw != "" && raw != "null" {
				out.Fixed++
				out.Short = out.Short || !hour(raw)
			}
		}
	}
	if raw := b.Member("cache_control"); raw != "" && raw != "null" {
		out.Automatic, out.Short, out.Long = true, out.Short || !hour(raw), hour(raw)
	}
	for i := range b.Messages {
		if !strings.Contains(b.Messages[i].Raw, "_control") {
			continue
		}
		content := wire.MemberOf(b.Messages[i].Raw, "content")
		for _, s := range wire.Spans(content) {
			if raw := wire.MemberOf(content[s.Start:s.End], "cache_control"); raw != "" && raw != "null" {
				out.Messages++
				out.Long = out.Long || hour(raw)
			}
		}
	}
	return out
}
