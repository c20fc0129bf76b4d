package transcript

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// BodyEdit is the change that [Body.Write] makes to a body.
type BodyEdit struct {
	// Messages is the new conversation. A message with Raw goes out with these bytes.
	Messages []memkernel.Message
	// Markers are the cache breakpoints of the Messages API. Other formats ignore them. They
	// replace the client's markers in the messages. The client's markers on tools, system prompt
	// and the whole request stay, and count against the provider's limit.
	Markers []Marker
	// Thinking replaces the body's thinking member, or is added as one. "" leaves the member
	// unchanged.
	Thinking string
}

// Same reports whether messages are exactly the body's own messages. If so, the caller need not
// write the body.
func (b *Body) Same(messages []memkernel.Message) bool {
	return len(messages) == len(b.Messages) &&
		!slices.ContainsFunc(messages, func(m memkernel.Message) bool { return m.Raw == "" })
}

// Write returns the body with the conversation of e. The notes name the parts that could not be
// sent.
func (b *Body) Write(e BodyEdit) ([]byte, []Note) {
	r := &renderer{api: b.api, own: true, Request: Request{Model: b.Model, Tools: b.Tools, System: b.System, Messages: e.Messages, Markers: e.Markers}}
	list, members := b.api.Rewrite(r, b)
	dst := make([]byte, 0, len(b.raw)+len(list)-(b.list.End-b.list.Start)+1024)
	at := 0
	replace := func(s span, with string) {
		dst = append(append(dst, b.raw[at:s.Start]...), with...)
		at = s.End
	}
	thinking := false
	for _, m := range b.members {
		with, ok := members[m.name]
		switch {
		case m.name == b.api.List:
			replace(m.value, list)
		case m.name == "thinking" && e.Thinking != "":
			replace(m.value, e.Thinking)
			thinking = true
		case ok:
			replace(m.value, with)
		}
	}
	dst = append(dst, b.raw[at:]...)
	if e.Thinking != "" && !thinking {
		end := strings.TrimRight(string(dst), " \t\r\n")
		dst = insertMember([]byte(end), `"thinking":`+e.Thinking)
	}
	return dst, r.notes
}

// Markers returns the number, places and lifetimes of the cache markers that a client set.
func (b *Body) Markers() markers { return b.markers }

// Marked reports whether the body may hold breakpoints in OpenAI's form.
func (b *Body) Marked() bool { return strings.Contains(b.raw, "_cache_breakpoint\"") }
