package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// Where a Marker stands if not in a message, and which part it means if not a
// certain one.
const (
	MarkerSystem = -1
	MarkerTools  = -2
	LastPart     = -1
)

// Marker asks for a cache breakpoint.
type Marker struct {
	// Message is an index into Request.Messages, MarkerSystem or MarkerTools.
	Message int
	// Part is an index into that message's parts, the system parts or the
	// tools; LastPart is the last. If the provider can't mark that block, the
	// nearest one before it in the request takes the marker.
	Part int
	// TTL is "5m", "1h" or "" for the provider's default.
	TTL string
}

// renderer holds the body while it grows.
type renderer struct {
	Model     string
	Tools     []memkernel.Tool
	System    []memkernel.Part
	Messages  []memkernel.Message
	MaxTokens int
	Thinking  string
	Markers   []Marker
	// Own: the messages were read in the very dialect that is written; Foreign: in one
	// whose blocks the API does not take.
	Own, Foreign bool

	api   *API
	dst   []byte
	notes []Note
}

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

// member begins a member of the body.
func (r *renderer) member(name string) {
	if len(r.dst) == 0 {
		r.dst = append(make([]byte, 0, 64<<10), '{')
	} else {
		r.dst = append(r.dst, ',')
	}
	r.dst = appendString(r.dst, name)
	r.dst = append(r.dst, ':')
}

// refused says why a part can't be sent in this format, "" if it can.
func (r *renderer) refused(msg int, p *memkernel.Part) string {
	switch {
	case isEmptyText(*p):
		return "empty text"
	case isThinking(p):
		return r.api.Refuses(r, msg, p)
	case p.Kind == memkernel.PartOther && (r.Foreign || !r.api.Takes(p)):
		return "a block of another provider"
	}
	return ""
}

// wireBlock points at a part of the request.
type wireBlock struct{ msg, part int }

func (r *renderer) part(b wireBlock) *memkernel.Part { return &r.Messages[b.msg].Parts[b.part] }

// ttlAt returns the marker on an element of the tools or the system.
func (r *renderer) ttlAt(where, i, n int) (string, bool) {
	for _, mk := range r.Markers {
		if mk.Message == where && (mk.Part == i || mk.Part == LastPart && i == n-1) {
			return mk.TTL, true
		}
	}
	return "", false
}

func (r *renderer) comma() {
	if r.dst[len(r.dst)-1] != '[' {
		r.dst = append(r.dst, ',')
	}
}

// AsText is a block of a result that a format has no place for, as the text that it is: a
// result says nothing without what it holds.
func AsText(p *memkernel.Part) *memkernel.Part {
	if p.Kind != memkernel.PartOther {
		return p
	}
	return &memkernel.Part{Kind: memkernel.PartText, Text: p.Raw}
}

func isSystemRole(role memkernel.Role) bool {
	return role == memkernel.RoleSystem || role == memkernel.RoleDeveloper
}

// rewrite is a list of messages in the place of a client's; write has what is to stand
// for one.
func (r *renderer) rewrite(e *Envelope, write func(i int, m *memkernel.Message)) string {
	r.dst = append(make([]byte, 0, len(e.Raw)+4096), '[')
	r.dst = append(r.dst, strings.TrimSpace(e.Lead)...)
	for i := range r.Messages {
		write(i, &r.Messages[i])
	}
	return string(append(r.dst, ']'))
}

// Written spells a message as a request has it. Where it is one of the host's results,
// raw, only its member of that name changes.
func Written(api *API, m memkernel.Message, raw, member string) []string {
	r := &renderer{api: api, Own: true, Model: m.Model, Messages: []memkernel.Message{m}}
	api.Render(r)
	list := memberOf(string(append(r.dst, '}')), api.List)
	var values []string
	for _, s := range spans(list) {
		values = append(values, list[s.start:s.end])
	}
	if raw != "" && len(values) == 1 && HasResults(m) {
		if v := memberOf(values[0], member); v != "" {
			values[0] = withMember(raw, member, v)
		}
	}
	return values
}
