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

	API   *API
	Dst   []byte
	Notes []Note
}

func (r *renderer) note(rule string, msg int, p *memkernel.Part, text string) {
	n := Note{Rule: rule, Message: msg, Text: text}
	if msg >= 0 {
		n.Key = r.Messages[msg].Key
	}
	if p != nil {
		n.Removed = []memkernel.Part{*p}
	}
	r.Notes = append(r.Notes, n)
}

// member begins a member of the body.
func (r *renderer) member(name string) {
	if len(r.Dst) == 0 {
		r.Dst = append(make([]byte, 0, 64<<10), '{')
	} else {
		r.Dst = append(r.Dst, ',')
	}
	r.Dst = appendString(r.Dst, name)
	r.Dst = append(r.Dst, ':')
}

// refused says why a part can't be sent in this format, "" if it can.
func (r *renderer) refused(msg int, p *memkernel.Part) string {
	switch {
	case isEmptyText(*p):
		return "empty text"
	case isThinking(p):
		return r.API.Refuses(r, msg, p)
	case p.Kind == memkernel.PartOther && (r.Foreign || !r.API.Takes(p)):
		return "a block of another provider"
	}
	return ""
}

// wireBlock points at a part of the request.
type wireBlock struct{ msg, part int }

// wireMessage is a message as the provider sees it: neighbours of one role
// merged, tool results first.
type wireMessage struct {
	role   string
	blocks []wireBlock
}

func (r *renderer) part(b wireBlock) *memkernel.Part { return &r.Messages[b.msg].Parts[b.part] }

// TTLAt returns the marker on an element of the tools or the system.
func (r *renderer) TTLAt(where, i, n int) (string, bool) {
	for _, mk := range r.Markers {
		if mk.Message == where && (mk.Part == i || mk.Part == LastPart && i == n-1) {
			return mk.TTL, true
		}
	}
	return "", false
}

func (r *renderer) comma() {
	if r.Dst[len(r.Dst)-1] != '[' {
		r.Dst = append(r.Dst, ',')
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
	r.Dst = append(make([]byte, 0, len(e.Raw)+4096), '[')
	r.Dst = append(r.Dst, strings.TrimSpace(e.Lead)...)
	for i := range r.Messages {
		write(i, &r.Messages[i])
	}
	return string(append(r.Dst, ']'))
}

// Written spells a message as a request has it. Where it is one of the host's results,
// raw, only its member of that name changes.
func Written(api *API, m memkernel.Message, raw, member string) []string {
	r := &renderer{API: api, Own: true, Model: m.Model, Messages: []memkernel.Message{m}}
	api.Render(r)
	list := memberOf(string(append(r.Dst, '}')), api.List)
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
