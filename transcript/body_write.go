package transcript

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// maxBodyMarkers is how many cache markers a request may have.
const maxBodyMarkers = maxAnthropicMarkers

// BodyEdit is what [Body.Write] changes of a body.
type BodyEdit struct {
	// Messages are what to send; one whose Raw stands goes out with those bytes.
	Messages []memkernel.Message
	// Markers are the cache breakpoints of the Messages API. The client's own in the
	// messages are taken out for them; those that it put on tools, system prompt and
	// the request as a whole stand, and count. Other formats have none of ours.
	Markers []Marker
	// Thinking is written in place of the member of that name, "" leaves it alone.
	Thinking string
}

// Same tells whether messages are the body's own, each of them and untouched, so that
// nothing has to be written.
func (b *Body) Same(messages []memkernel.Message) bool {
	return len(messages) == len(b.Messages) &&
		!slices.ContainsFunc(messages, func(m memkernel.Message) bool { return m.Raw == "" })
}

// Write is the body with another conversation. The notes say what could not be sent.
func (b *Body) Write(e BodyEdit) ([]byte, []Note) {
	w := bodyWriter{b: b, e: e, r: renderer{format: b.Format,
		req: &Request{Model: b.Model, Messages: e.Messages, Source: b.Source()}}}
	if b.Format == FormatAnthropic {
		w.settleMarkers()
	}
	list := w.list()
	dst := make([]byte, 0, len(b.raw)+len(list)-(b.list.end-b.list.start)+1024)
	at := 0
	replace := func(s span, with string) {
		dst = append(append(dst, b.raw[at:s.start]...), with...)
		at = s.end
	}
	thinking := false
	for _, m := range b.members {
		value := b.raw[m.value.start:m.value.end]
		switch {
		case m.name == b.listName():
			replace(m.value, list)
		case m.name == "thinking" && e.Thinking != "":
			replace(m.value, e.Thinking)
			thinking = true
		case m.name == "tools" && w.tools != nil:
			replace(m.value, markLast(value, *w.tools))
		case m.name == "system" && w.system != nil:
			replace(m.value, markLast(asBlocks(value), *w.system))
		}
	}
	dst = append(dst, b.raw[at:]...)
	if e.Thinking != "" && !thinking {
		end := strings.TrimRight(string(dst), " \t\r\n")
		dst = insertMember([]byte(end), `"thinking":`+e.Thinking)
	}
	return dst, w.r.notes
}

// bodyWriter writes the conversation.
type bodyWriter struct {
	b             *Body
	e             BodyEdit
	r             renderer
	marks         map[wireBlock]string
	tools, system *string // lifetimes of markers of ours, nil for none
}

// settleMarkers chooses which of the markers there is room for: those nearest to the
// end first, since they are what the next request reads.
func (w *bodyWriter) settleMarkers() {
	own := w.b.Markers()
	room := maxBodyMarkers - own.Fixed
	if own.Automatic {
		room--
	}
	wire := w.single()
	w.marks = map[wireBlock]string{}
	sorted := slices.Clone(w.e.Markers)
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
			at, ok := w.r.markable(wire, mk)
			if _, taken := w.marks[at]; !ok || taken || own.Automatic && w.last(wire, at) {
				continue
			}
			w.marks[at] = mk.TTL
		case own.Fixed > 0:
			continue
		case mk.Message == MarkerSystem && len(w.b.System) > 0 && w.system == nil:
			w.system = &mk.TTL
		case mk.Message == MarkerTools && len(w.b.Tools) > 0 && w.tools == nil:
			w.tools = &mk.TTL
		default:
			continue
		}
		room--
	}
}

// single is each message by itself, in the form that markable reads.
func (w *bodyWriter) single() []wireMessage {
	out := make([]wireMessage, len(w.e.Messages))
	for i := range w.e.Messages {
		for k := range w.e.Messages[i].Parts {
			if w.r.refused(i, &w.e.Messages[i].Parts[k]) == "" {
				out[i].blocks = append(out[i].blocks, wireBlock{i, k})
			}
		}
	}
	return out
}

// last tells whether a block is the request's last, which the provider marks itself.
func (w *bodyWriter) last(wire []wireMessage, at wireBlock) bool {
	end, ok := w.r.markable(wire, Marker{Message: len(w.e.Messages), Part: LastPart})
	return ok && end == at
}

// list is the conversation's new value.
func (w *bodyWriter) list() string {
	lead := w.b.raw[w.b.list.start:w.b.lead]
	w.r.dst = append(make([]byte, 0, len(w.b.raw)+4096), '[')
	w.r.dst = append(w.r.dst, strings.TrimSpace(lead)...)
	out := &outputs{custom: map[string]bool{}}
	if w.b.Format == FormatResponses {
		out = newOutputs(w.e.Messages)
	}
	for i := range w.e.Messages {
		switch m := &w.e.Messages[i]; {
		case w.b.Format == FormatAnthropic:
			w.r.comma()
			w.anthropic(i, m)
		case m.Raw != "" && out.stands(m):
			w.r.comma()
			w.r.dst = append(w.r.dst, m.Raw...)
		case w.b.Format == FormatResponses:
			w.r.responsesMessage(i, noMark, out)
		default:
			w.r.flushMedia(w.r.chatMessage(i, m, noMark, nil))
		}
	}
	return string(append(w.r.dst, ']'))
}

// anthropic writes a message of the Messages API without the client's markers and
// with ours.
func (w *bodyWriter) anthropic(i int, m *memkernel.Message) {
	marked := false
	for k := range m.Parts {
		_, ok := w.marks[wireBlock{i, k}]
		marked = marked || ok
	}
	switch clean := !strings.Contains(m.Raw, "_control"); {
	case m.Raw != "" && !marked && clean:
		w.r.dst = append(w.r.dst, m.Raw...)
		return
	case m.Raw != "" && !marked:
		w.r.dst = appendClean(w.r.dst, m.Raw)
		return
	}
	if m.Raw != "" {
		w.r.dst = w.markRaw(w.r.dst, i, m.Raw)
		return
	}
	role := "user"
	if m.Role == memkernel.RoleAssistant || m.Role == memkernel.RoleSystem {
		role = string(m.Role)
	}
	w.r.dst = append(append(append(w.r.dst, `{"role":"`...), role...), `","content":[`...)
	for k := range m.Parts {
		if why := w.r.refused(i, &m.Parts[k]); why != "" {
			w.r.note("not-sent", i, &m.Parts[k], why)
			continue
		}
		w.r.dst = appendListed(w.r.dst, func(dst []byte) []byte { return w.mark(appendAnthropic(dst, &m.Parts[k]), wireBlock{i, k}) })
	}
	w.r.dst = append(w.r.dst, ']', '}')
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
	c := scan(clean)
	for k := range c.fields {
		if k != "content" {
			c.skip()
			continue
		}
		c.peek()
		dst = append(dst, clean[:c.i]...)
		dst = append(dst, w.markBlocks(i, asBlocks(c.raw()))...)
		return append(dst, clean[c.i:]...)
	}
	return append(dst, clean...)
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

// BodyMarkers are the cache markers that the client set.
type BodyMarkers struct {
	// Fixed are those on tools and system prompt, Messages those in the conversation.
	Fixed, Messages int
	// Automatic says that the provider is asked to mark the last block itself.
	Automatic bool
	// Short says that one of the fixed or the automatic asks for the shorter
	// lifetime, Long that one in the messages or the automatic asks for an hour.
	Short, Long bool
}

// Any tells whether the client sets markers at all.
func (m BodyMarkers) Any() bool { return m.Automatic || m.Fixed+m.Messages > 0 }

// Markers are the cache markers of the body.
func (b *Body) Markers() BodyMarkers { return b.markers }

// findMarkers looks for them. Most of what is searched has none, and few letters are
// as rare as the underscore.
func (b *Body) findMarkers() BodyMarkers {
	var out BodyMarkers
	if b.Format != FormatAnthropic || !strings.Contains(b.raw, "_control") {
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

// Marked tells whether the body may hold breakpoints in OpenAI's form.
func (b *Body) Marked() bool { return strings.Contains(b.raw, "_cache_breakpoint\"") }
