package fakemodel

import (
	"encoding/json"
	"fmt"
	"slices"
)

// This file follows Anthropic's documentation of the search for tools. A definition with
// defer_loading is not part of the prompt. Once a client's search has found the definition, it is
// part of the search's result. The server makes no searches of its own.

// maxMarkers is the largest number of markers that the API accepts in a request.
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

// Waits reports whether a search must find the tool before the model may call it.
func (r *Request) Waits(name string) bool {
	return !slices.Contains(r.found, name) && slices.ContainsFunc(r.defs, func(d toolDef) bool { return d.Deferred && d.Name == name })
}

// expand adds the sizes of found definitions to the results that found them, and keeps the names of
// these definitions.
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

// callable returns calls without the calls of tools that a search must find first.
func (r *Request) callable(calls []Call) []Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c Call) bool { return r.Waits(c.Name) })
}
