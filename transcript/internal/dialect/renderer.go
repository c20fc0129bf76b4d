package dialect

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

// Renderer writes a request body.
type Renderer struct {
	Model     string
	Tools     []memkernel.Tool
	System    []memkernel.Part
	Messages  []memkernel.Message
	MaxTokens int
	Thinking  string
	Markers   []Marker
	// Own reports whether the messages were read in the dialect that is written, Foreign whether
	// they were read in a dialect whose blocks the API does not take.
	Own, Foreign bool

	API   *API
	Dst   []byte // the body so far
	Notes []Note
}

// Note reports an event at a message, or at a part of it that is not sent. msg is -1 for neither.
func (r *Renderer) Note(rule string, msg int, p *memkernel.Part, text string) {
	n := Note{Rule: rule, Message: msg, Text: text}
	if msg >= 0 {
		n.Key = r.Messages[msg].Key
	}
	if p != nil {
		n.Removed = []memkernel.Part{*p}
	}
	r.Notes = append(r.Notes, n)
}

// put appends JSON as [Put] does.
func (r *Renderer) Put(parts ...string) { r.Dst = put(r.Dst, parts...) }

// Member begins a member of the body.
func (r *Renderer) Member(name string) {
	if len(r.Dst) == 0 {
		r.Dst = append(make([]byte, 0, 64<<10), '{')
	} else {
		r.Dst = append(r.Dst, ',')
	}
	r.Put("", name, ":")
}

// Bound writes the most tokens of the answer, if there is a bound.
func (r *Renderer) Bound(member string) {
	if r.MaxTokens > 0 {
		r.Member(member)
		r.Dst = strconv.AppendInt(r.Dst, int64(r.MaxTokens), 10)
	}
}

// Think writes the member for thinking, if there is one.
func (r *Renderer) Think(member string) {
	if r.Thinking != "" {
		r.Member(member)
		r.Put(r.Thinking)
	}
}

// List appends an element to the list that ends the body. It reports whether write wrote something.
func (r *Renderer) List(write func([]byte) []byte) bool {
	n := len(r.Dst)
	r.Dst = appendListed(r.Dst, write)
	return len(r.Dst) > n
}

// Sends reports whether a part can be sent in this format, and notes a part that can't.
func (r *Renderer) Sends(msg int, p *memkernel.Part) bool {
	why := r.Refused(msg, p)
	if why != "" {
		r.Note("not-sent", msg, p, why)
	}
	return why == ""
}

// Refused returns why a part can't be sent in this format, "" if it can.
func (r *Renderer) Refused(msg int, p *memkernel.Part) string {
	switch {
	case IsEmptyText(*p):
		return "empty text"
	case IsThinking(p):
		return r.API.Refuses(r, msg, p)
	case p.Kind == memkernel.PartOther && (r.Foreign || !r.Own && !r.API.Takes(p)):
		return "a block of another provider"
	}
	return ""
}

// At is the place of a part in the request.
type At struct{ Msg, Part int }

// Turn is a message as the provider sees it: neighbours of one role are merged, and tool results
// come first.
type Turn struct {
	Role   string
	Blocks []At
}

// Part returns the part at a place.
func (r *Renderer) Part(b At) *memkernel.Part { return &r.Messages[b.Msg].Parts[b.Part] }

// TTLAt returns the lifetime of the marker on element i of n of the tools or the system prompt.
func (r *Renderer) TTLAt(where, i, n int) (string, bool) {
	for _, mk := range r.Markers {
		if mk.Message == where && (mk.Part == i || mk.Part == LastPart && i == n-1) {
			return mk.TTL, true
		}
	}
	return "", false
}

// Comma separates the next element of the list that ends the body from the previous element.
func (r *Renderer) Comma() {
	if r.Dst[len(r.Dst)-1] != '[' {
		r.Put(",")
	}
}

// asText returns a block of a result that a format has no form for as text, so that the result
// keeps its content.
func asText(p *memkernel.Part) *memkernel.Part {
	if p.Kind != memkernel.PartOther {
		return p
	}
	return &memkernel.Part{Kind: memkernel.PartText, Text: p.Raw}
}

// IsSystemRole reports whether a role is that of the system prompt.
func IsSystemRole(role memkernel.Role) bool {
	return role == memkernel.RoleSystem || role == memkernel.RoleDeveloper
}

// Rewrite returns the list that replaces a client's messages. write writes a message.
func (r *Renderer) Rewrite(e *Envelope, write func(i int, m *memkernel.Message)) string {
	r.Dst = append(make([]byte, 0, len(e.Raw)+4096), '[')
	r.Put(strings.TrimSpace(e.Lead))
	for i := range r.Messages {
		write(i, &r.Messages[i])
	}
	return string(append(r.Dst, ']'))
}

// writtenItems returns a message as the elements of a request. If raw is the host's own element with
// a result, it is returned with another value for member.
func writtenItems(api *API, m memkernel.Message, raw, member string) []string {
	r := &Renderer{API: api, Own: true, Model: m.Model, Messages: []memkernel.Message{m}}
	api.Render(r)
	list := MemberOf(string(append(r.Dst, '}')), api.List)
	var values []string
	for _, s := range spansOf(list) {
		values = append(values, list[s.Start:s.End])
	}
	if raw != "" && len(values) == 1 && HasResults(m) {
		if v := MemberOf(values[0], member); v != "" {
			values[0] = withMember(raw, member, v)
		}
	}
	return values
}
