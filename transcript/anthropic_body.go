package transcript

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// maxAnthropicMarkers is how many cache markers a request may have.
const maxAnthropicMarkers = 4

// bodyWriter writes the conversation.
type bodyWriter struct {
	r             *renderer
	e             *Envelope
	marks         map[wireBlock]string
	tools, system *string // lifetimes of markers of ours, nil for none
}

// rewriteAnthropic writes a conversation with markers of ours in place of the client's.
func rewriteAnthropic(r *renderer, e *Envelope) (list string, members map[string]string) {
	w := bodyWriter{r: r, e: e}
	w.settleMarkers()
	members = map[string]string{}
	if w.tools != nil {
		members["tools"] = markLast(e.Member("tools"), *w.tools)
	}
	if w.system != nil {
		members["system"] = markLast(asBlocks(e.Member("system")), *w.system)
	}
	return r.rewrite(e, w.message), members
}

// settleMarkers chooses which of the markers there is room for: those nearest to the
// end first, since they are what the next request reads.
func (w *bodyWriter) settleMarkers() {
	own := w.e.Markers
	room := maxAnthropicMarkers - own.Fixed
	if own.Automatic {
		room--
	}
	turns := w.single()
	w.marks = map[wireBlock]string{}
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

// single is each message by itself, in the form that markable reads.
func (w *bodyWriter) single() []wireMessage {
	out := make([]wireMessage, len(w.r.Messages))
	for i := range w.r.Messages {
		for k := range w.r.Messages[i].Parts {
			if w.r.refused(i, &w.r.Messages[i].Parts[k]) == "" {
				out[i].blocks = append(out[i].blocks, wireBlock{i, k})
			}
		}
	}
	return out
}

// last tells whether a block is the request's last, which the provider marks itself.
func (w *bodyWriter) last(turns []wireMessage, at wireBlock) bool {
	end, ok := markable(w.r, turns, Marker{Message: len(w.r.Messages), Part: LastPart})
	return ok && end == at
}

// message writes a message of the Messages API without the client's markers and
// with ours.
func (w *bodyWriter) message(i int, m *memkernel.Message) {
	w.r.comma()
	marked := false
	for k := range m.Parts {
		_, ok := w.marks[wireBlock{i, k}]
		marked = marked || ok
	}
	switch clean := !strings.Contains(m.Raw, "_control"); {
	case m.Raw != "" && !marked && clean:
		w.r.Dst = append(w.r.Dst, m.Raw...)
		return
	case m.Raw != "" && !marked:
		w.r.Dst = appendClean(w.r.Dst, m.Raw)
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
		if why := w.r.refused(i, &m.Parts[k]); why != "" {
			w.r.note("not-sent", i, &m.Parts[k], why)
			continue
		}
		w.r.Dst = appendListed(w.r.Dst, func(dst []byte) []byte { return w.mark(appendAnthropic(dst, &m.Parts[k]), wireBlock{i, k}) })
	}
	w.r.Dst = append(w.r.Dst, ']', '}')
}

// mark adds the marker of a block that ends dst, if it has one.
func (w *bodyWriter) mark(dst []byte, at wireBlock) []byte {
	if ttl, ok := w.marks[at]; ok {
		return insertMember(dst, cacheControl(ttl))
	}
	return dst
}

// markRaw writes a message with its own bytes and markers on some of its blocks. A
// content that is one string becomes one text block, which is the same to the model.
func (w *bodyWriter) markRaw(dst []byte, i int, raw string) []byte {
	clean := string(appendClean(nil, raw))
	content := memberOf(clean, "content")
	if content == "" {
		return append(dst, clean...)
	}
	return append(dst, withMember(clean, "content", string(w.markBlocks(i, asBlocks(content))))...)
}

// markBlocks puts the markers of a message on its content.
func (w *bodyWriter) markBlocks(i int, list string) []byte {
	var dst []byte
	n, at := 0, 0
	for _, s := range spans(list) {
		dst = append(dst, list[at:s.end]...)
		dst = w.mark(dst, wireBlock{i, n})
		n, at = n+1, s.end
	}
	return append(dst, list[at:]...)
}

// asBlocks is a content as a list of blocks.
func asBlocks(content string) string {
	if strings.HasPrefix(content, `"`) {
		return `[{"type":"text","text":` + content + `}]`
	}
	return content
}

// markLast puts a marker on the last element of a list.
func markLast(list, ttl string) string {
	end := -1
	for _, s := range spans(list) {
		end = s.end
	}
	if end < 0 {
		return list
	}
	return string(insertMember([]byte(list[:end]), cacheControl(ttl))) + list[end:]
}

// findMarkers looks for the client's markers. Most of what is searched has none, and few letters are
// as rare as the underscore.
func findMarkers(b *Envelope) (out Markers) {
	if !strings.Contains(b.Raw, "_control") {
		return out
	}
	hour := func(raw string) bool { return strings.Contains(raw, `"1h"`) }
	for _, name := range []string{"tools", "system"} {
		for _, s := range spans(b.Member(name)) {
			raw := memberOf(b.Member(name)[s.start:s.end], "cache_control")
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
		content := memberOf(b.Messages[i].Raw, "content")
		for _, s := range spans(content) {
			if raw := memberOf(content[s.start:s.end], "cache_control"); raw != "" && raw != "null" {
				out.Messages++
				out.Long = out.Long || hour(raw)
			}
		}
	}
	return out
}
