package fakemodel

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Anthropic's search for tools, as its documentation has it: a definition with defer_loading is
// not part of the prompt. If a client's search found the definition, it is part of the search's
// result. The server makes no searches of its own.

// maxMarkers is the most markers that the API takes.
const maxMarkers = 4

// toolDef holds the members of a definition that matter to the search.
type toolDef struct {
	Name     string `json:"name"`
	Deferred bool   `json:"defer_loading"`
	part     segment
	tokens   int
}

func readDefs(tools []json.RawMessage) []toolDef {
	out := make([]toolDef, len(tools))
	for i, raw := range tools {
		_ = json.Unmarshal(raw, &out[i]) // an invalid definition has no name
		out[i].part = segmentOf(fmt.Sprintf("tools[%d]", i), raw)
		out[i].tokens = out[i].part.tokens()
	}
	return out
}

// toolSegments returns the definitions that are in the prompt.
func toolSegments(defs []toolDef) (out []segment) {
	for i := range defs {
		if !defs[i].Deferred {
			out = append(out, defs[i].part)
		}
	}
	return out
}

// referenced returns the tools that the result of a client's own search names.
func referenced(raw json.RawMessage) (out []string) {
	var b struct {
		Content []struct {
			Type string `json:"type"`
			Name string `json:"tool_name"`
		} `json:"content"`
	}
	if json.Unmarshal(raw, &b) != nil {
		return nil // a text
	}
	for _, c := range b.Content {
		if c.Type == "tool_reference" {
			out = append(out, c.Name)
		}
	}
	return out
}

// Waits reports whether a tool has to be searched for before it is called.
func (r *Request) Waits(name string) bool {
	return !slices.Contains(r.found, name) && slices.ContainsFunc(r.defs, func(d toolDef) bool { return d.Deferred && d.Name == name })
}

// expand puts the definitions after the results that found them, and notes their names.
func (r *Request) expand() {
	for i := range r.Segments {
		s := &r.Segments[i]
		for _, name := range s.found {
			if at := slices.IndexFunc(r.defs, func(d toolDef) bool { return d.Name == name }); at >= 0 {
				s.extra += r.defs[at].tokens
				r.found = append(r.found, name)
			}
		}
	}
}

// breaksRule returns the text with which the API refuses the markers or the found tools of a
// request, "" if the API accepts them.
func (r *Request) breaksRule() string {
	markers := 0
	for _, s := range r.Segments {
		if s.Marked {
			markers++
		}
		for _, name := range s.found {
			if !slices.ContainsFunc(r.defs, func(d toolDef) bool { return d.Name == name }) {
				return fmt.Sprintf("Tool reference '%s' not found in available tools", name)
			}
		}
	}
	if markers > maxMarkers {
		return fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarkers, markers)
	}
	return ""
}

// callable leaves out the calls of a reply whose tools have to be searched for first.
func (r *Request) callable(calls []Call) []Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c Call) bool { return r.Waits(c.Name) })
}
