package fakemodel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Anthropic's search for tools, as its documentation has it: a definition with defer_loading is
// not part of the prompt. If a client's search found the definition, it is part of the search's
// result. The server makes no searches of its own.
const (
	// searchTokens is the token count of a search tool. No document gives it.
	searchTokens = 600
	maxMarkers   = 4
)

// toolDef holds the members of a definition that matter to the search.
type toolDef struct {
	Type     string          `json:"type"`
	Name     string          `json:"name"`
	Deferred bool            `json:"defer_loading"`
	Cache    json.RawMessage `json:"cache_control"`
	part     Segment
	tokens   int
}

func (d *toolDef) search() bool { return strings.HasPrefix(d.Type, "tool_search_tool_") }

func readDefs(tools []json.RawMessage) []toolDef {
	out := make([]toolDef, len(tools))
	for i, raw := range tools {
		_ = json.Unmarshal(raw, &out[i]) // an invalid definition has no name
		out[i].part = segment(fmt.Sprintf("tools[%d]", i), raw)
		out[i].tokens = out[i].part.tokens()
	}
	return out
}

// toolSegments returns the definitions that are in the prompt.
func toolSegments(defs []toolDef) (out []Segment) {
	for i := range defs {
		if defs[i].Deferred {
			continue
		}
		s := defs[i].part
		if defs[i].search() {
			s.extra = searchTokens - s.tokens()
		}
		out = append(out, s)
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

// ownSearch reports whether a definition is a client's own search for tools.
func (d *toolDef) ownSearch() bool {
	return !d.Deferred && strings.Contains(strings.ToLower(strings.ReplaceAll(d.Name, "_", "")), "toolsearch")
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

// breaksRule returns the text with which the API refuses the tools of a request, "" if the API
// accepts them.
func (r *Request) breaksRule(body []byte) string {
	deferred, searches, markers, own := 0, 0, 0, false
	for _, d := range r.defs {
		switch {
		case d.Deferred && d.search():
			return fmt.Sprintf("Tool '%s' cannot have defer_loading=true", d.Name)
		case d.Deferred && d.Cache != nil:
			return fmt.Sprintf("Tool '%s' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.", d.Name)
		case d.Deferred:
			deferred++
		case d.search():
			searches++
		default:
			own = own || d.ownSearch()
		}
	}
	if deferred > 0 && deferred == len(r.defs) {
		return "At least one tool must have defer_loading=false. All tools cannot be deferred."
	}
	if deferred > 0 && searches == 0 && !own {
		return "no tool_search tool: deferred tools cannot be found" // stricter than the API
	}
	var head struct {
		Choice struct {
			Name string `json:"name"`
		} `json:"tool_choice"`
	}
	_ = json.Unmarshal(body, &head) // a body that was read before
	for _, d := range r.defs {
		if d.Deferred && d.Name == head.Choice.Name {
			return fmt.Sprintf("tool_choice names '%s', which has defer_loading=true", d.Name)
		}
	}
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
