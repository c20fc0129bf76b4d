package wire

import (
	"encoding/json"
	"strings"

	"github.com/memkernel/memkernel"
)

// Search is how an API lets definitions of tools wait until a model searches for them.
type Search struct {
	// Tool is the definition of the search, Type how the types of all its forms begin.
	Tool, Type string
	// Plain are the types of definitions that may wait; "" is one without a type.
	Plain []string
	// Result is the type of the block that says what was found.
	Result string
}

// deferMember marks a definition that waits.
const deferMember = "defer_loading"

// Definition is what deferral has to know of a tool's definition.
type Definition struct {
	Type, Name string
	// Marked: it carries a cache marker. Own: the client says itself whether it waits, or
	// who may call it.
	Marked, Own bool
}

// ReadDefinition reads one; ok is false for what is none.
func ReadDefinition(raw string) (d Definition, ok bool) {
	c, err := Object(raw)
	if err != nil {
		return d, false
	}
	for k := range c.Fields {
		switch {
		case k == "type":
			d.Type = c.Str()
		case k == "name":
			d.Name = c.Str()
		case IsMarkerKey(k):
			d.Marked = d.Marked || c.Raw() != "null"
		case k == deferMember || k == "allowed_callers":
			v := c.Raw()
			d.Own = d.Own || v != "null" && v != "false"
		default:
			c.Skip()
		}
	}
	return d, c.End() == nil
}

// Defer marks the definitions of a list that wait, and puts the search before them: so a
// marker on any that stands covers it. All other bytes stay.
func (s *Search) Defer(list string, names map[string]bool) string {
	var dst []byte
	at := 0
	for i, span := range Spans(list) {
		dst = append(dst, list[at:span.Start]...)
		if i == 0 {
			dst = append(append(dst, s.Tool...), ',')
		}
		at = span.End
		raw := list[span.Start:span.End]
		if d, ok := ReadDefinition(raw); !ok || !names[d.Name] {
			dst = append(dst, raw...)
			continue
		}
		dst = append(dst, string(InsertMember([]byte(WithoutMember(raw, deferMember)), `"`+deferMember+`":true`))...)
	}
	return string(append(dst, list[at:]...))
}

// WithoutMember returns an object without a member of its own.
func WithoutMember(raw, name string) string {
	if MemberOf(raw, name) == "" {
		return raw
	}
	return string(AppendWithout(nil, raw, func(k string) bool { return k == name }))
}

// Deferred reports whether a definition waits.
func Deferred(raw string) bool { return MemberOf(raw, deferMember) == "true" }

// Found returns the tools that the searches in a message found.
func (s *Search) Found(m *memkernel.Message) (names []string) {
	for i := range m.Parts {
		raw := m.Parts[i].Raw
		if !strings.Contains(raw, s.Result) || RawType(raw) != s.Result {
			continue
		}
		var b struct {
			Content struct {
				References []struct {
					Name string `json:"tool_name"`
				} `json:"tool_references"`
			} `json:"content"`
		}
		if json.Unmarshal([]byte(raw), &b) != nil {
			continue
		}
		for _, r := range b.Content.References {
			names = append(names, r.Name)
		}
	}
	return names
}
