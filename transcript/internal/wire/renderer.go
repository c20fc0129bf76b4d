package wire

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// Where a Marker is if not in a message, and which part it means if not a
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

// Renderer holds the body while it grows.
type Renderer struct {
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

// Member begins a member of the body.
func (r *Renderer) Member(name string) {
	if len(r.Dst) == 0 {
		r.Dst = append(make([]byte, 0, 64<<10), '{')
	} else {
		r.Dst = append(r.Dst, ',')
	}
	r.Dst = AppendString(r.Dst, name)
	r.Dst = append(r.Dst, ':')
}

// Bound writes how long the answer may get, if it is said.
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
		r.Dst = append(r.Dst, r.Thinking...)
	}
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

// At points at a part of the request.
type At struct{ Msg, Part int }

// Turn is a message as the provider sees it: neighbours of one role
// merged, tool results first.
type Turn struct {
	Role   string
	Blocks []At
}

func (r *Renderer) Part(b At) *memkernel.Part { return &r.Messages[b.Msg].Parts[b.Part] }

// TTLAt returns the marker on an element of the tools or the system.
func (r *Renderer) TTLAt(where, i, n int) (string, bool) {
	for _, mk := range r.Markers {
		if mk.Message == where && (mk.Part == i || mk.Part == LastPart && i == n-1) {
			return mk.TTL, true
		}
	}
	return "", false
}

func (r *Renderer) Comma() {
	if r.Dst[len(r.Dst)-1] != '[' {
		r.Dst = append(r.Dst, ',')
	}
}

// AsText returns a block of a result that a format has no place for, as the text that it is: a
// result is worth nothing without what it holds.
func AsText(p *memkernel.Part) *memkernel.Part {
	if p.Kind != memkernel.PartOther {
		return p
	}
	return &memkernel.Part{Kind: memkernel.PartText, Text: p.Raw}
}

func IsSystemRole(role memkernel.Role) bool {
	return role == memkernel.RoleSystem || role == memkernel.RoleDeveloper
}

// Rewrite returns a list of messages in the place of a client's; write writes what
// replaces one.
func (r *Renderer) Rewrite(e *Envelope, write func(i int, m *memkernel.Message)) string {
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
	r := &Renderer{API: api, Own: true, Model: m.Model, Messages: []memkernel.Message{m}}
	api.Render(r)
	list := MemberOf(string(append(r.Dst, '}')), api.List)
	var values []string
	for _, s := range Spans(list) {
		values = append(values, list[s.Start:s.End])
	}
	if raw != "" && len(values) == 1 && HasResults(m) {
		if v := MemberOf(values[0], member); v != "" {
			values[0] = WithMember(raw, member, v)
		}
	}
	return values
}
