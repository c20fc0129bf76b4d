package transcript

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// The places of a marker outside the messages, and the part number of the last part.
const (
	MarkerSystem = -1
	MarkerTools  = -2
	LastPart     = -1
)

// Marker requests a cache breakpoint.
type Marker struct {
	// Message is an index into Request.Messages, MarkerSystem or MarkerTools.
	Message int
	// Part is an index into the message's parts, the system parts or the tools. LastPart means
	// the last of them. If the provider can't mark that block, the marker moves to the nearest
	// earlier block in the request that can be marked.
	Part int
	// TTL is "5m", "1h" or "" for the provider's default.
	TTL string
}

// renderer writes a request body.
type renderer struct {
	Request
	// own reports whether the messages were read in the dialect that is written. foreign reports
	// whether they were read in a dialect whose blocks the API does not accept.
	own, foreign bool
	api          *api
	dst          []byte // the body so far
	notes        []Note
}

// note reports an event at a message, or at a part of it that is not sent. msg is -1 for neither.
func (r *renderer) note(rule string, msg int, p *memkernel.Part, text string) {
	n := Note{Rule: rule, Message: msg, Text: text}
	if msg >= 0 {
		n.Key = r.Messages[msg].Key
	}
	if p != nil {
		n.Removed = []memkernel.Part{*p}
	}
	r.notes = append(r.notes, n)
}

// put appends JSON as [put] does.
func (r *renderer) put(parts ...string) { r.dst = put(r.dst, parts...) }

// member begins a member of the body.
func (r *renderer) member(name string) {
	if len(r.dst) == 0 {
		r.dst = append(make([]byte, 0, 64<<10), '{')
	} else {
		r.dst = append(r.dst, ',')
	}
	r.put("", name, ":")
}

// bound writes the limit on the answer's tokens as the named member, if there is a limit.
func (r *renderer) bound(member string) {
	if r.MaxTokens > 0 {
		r.member(member)
		r.dst = strconv.AppendInt(r.dst, int64(r.MaxTokens), 10)
	}
}

// think writes the member for thinking, if there is one.
func (r *renderer) think(member string) {
	if r.Thinking != "" {
		r.member(member)
		r.put(r.Thinking)
	}
}

// list appends an element to the list that ends the body. It reports whether write wrote something.
func (r *renderer) list(write func([]byte) []byte) bool {
	n := len(r.dst)
	r.dst = appendListed(r.dst, write)
	return len(r.dst) > n
}

// sends reports whether a part can be sent in this format, and notes a part that can't.
func (r *renderer) sends(msg int, p *memkernel.Part) bool {
	why := r.refused(msg, p)
	if why != "" {
		r.note("not-sent", msg, p, why)
	}
	return why == ""
}

// refused returns why a part can't be sent in this format, "" if it can.
func (r *renderer) refused(msg int, p *memkernel.Part) string {
	switch {
	case isEmptyText(*p):
		return "empty text"
	case isThinking(p):
		return r.api.Refuses(r, msg, p)
	case p.Kind == memkernel.PartOther && (r.foreign || !r.own && !r.api.Takes(p)):
		return "a block of another provider"
	}
	return ""
}

// partAt is the place of a part in the request.
type partAt struct{ Msg, Part int }

// wireTurn is a message as the provider sees it: neighbours of one role are merged, and tool results
// come first.
type wireTurn struct {
	Role   string
	Blocks []partAt
}

// part returns the part at a place.
func (r *Request) part(at partAt) *memkernel.Part { return &r.Messages[at.Msg].Parts[at.Part] }

// ttlAt returns the lifetime of the marker on element i of n of the tools or the system prompt.
func (r *renderer) ttlAt(where, i, n int) (string, bool) {
	for _, mk := range r.Markers {
		if mk.Message == where && (mk.Part == i || mk.Part == LastPart && i == n-1) {
			return mk.TTL, true
		}
	}
	return "", false
}

// comma separates the next element of the list that ends the body from the previous element.
func (r *renderer) comma() {
	if r.dst[len(r.dst)-1] != '[' {
		r.put(",")
	}
}

// asText returns a block of a result as text if the format can't represent the block, so that the
// result keeps its content.
func asText(p *memkernel.Part) *memkernel.Part {
	if p.Kind != memkernel.PartOther {
		return p
	}
	return &memkernel.Part{Kind: memkernel.PartText, Text: p.Raw}
}

// isSystemRole reports whether a role is that of the system prompt.
func isSystemRole(role memkernel.Role) bool {
	return role == memkernel.RoleSystem || role == memkernel.RoleDeveloper
}

// rewrite returns the list that replaces a client's messages. write writes a message.
func (r *renderer) rewrite(e *Body, write func(i int, m *memkernel.Message)) string {
	r.dst = append(make([]byte, 0, len(e.raw)+4096), '[')
	r.put(strings.TrimSpace(e.raw[e.list.Start:e.lead]))
	for i := range r.Messages {
		write(i, &r.Messages[i])
	}
	return string(append(r.dst, ']'))
}

// writtenItems returns a message as the elements of a request. If raw is the host's own element of
// a result, the return value is raw with a new value for member.
func writtenItems(api *api, m memkernel.Message, raw, member string) []string {
	r := &renderer{api: api, own: true, Request: Request{Model: m.Model, Messages: []memkernel.Message{m}}}
	api.Render(r)
	list := memberOf(string(append(r.dst, '}')), api.List)
	var values []string
	for _, s := range spansOf(list) {
		values = append(values, list[s.Start:s.End])
	}
	if raw != "" && len(values) == 1 && HasResults(m) {
		if v := memberOf(values[0], member); v != "" {
			values[0] = withMember(raw, member, v)
		}
	}
	return values
}
