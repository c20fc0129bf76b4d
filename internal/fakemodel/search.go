package fakemodel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Anthropic's search for tools, as its documentation has it: a definition with
// defer_loading is no part of the prompt; where a search found it, it stands in the
// conversation behind the search's result. The search runs within one request, in which
// the model reads its prompt once more.
const (
	// searchTokens is what a search tool weighs. No document says it.
	searchTokens = 600
	// searchFinds is how many tools a search answers with at most.
	searchFinds = 5
	maxMarkers  = 4
)

// toolDef is a definition as the search sees it.
type toolDef struct {
	Type     string          `json:"type"`
	Name     string          `json:"name"`
	Deferred bool            `json:"defer_loading"`
	Cache    json.RawMessage `json:"cache_control"`
	raw      json.RawMessage
	part     Segment
	tokens   int
}

func (d *toolDef) search() bool { return strings.HasPrefix(d.Type, "tool_search_tool_") }

// Search is a search for tools that an answer held.
type Search struct {
	Query string
	Found []string
	// Read and Written are what it cost beside the request itself.
	Read, Written int
}

func readDefs(tools []json.RawMessage) []toolDef {
	out := make([]toolDef, len(tools))
	for i, raw := range tools {
		_ = json.Unmarshal(raw, &out[i]) // what is no definition has no name
		out[i].raw, out[i].part = raw, segment(fmt.Sprintf("tools[%d]", i), raw)
		out[i].tokens = out[i].part.tokens()
	}
	return out
}

// toolSegments are the definitions that stand in the prompt.
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

// referenced are the tools that a search's result names.
func referenced(raw json.RawMessage) []string {
	var b struct {
		Content struct {
			References []struct {
				Name string `json:"tool_name"`
			} `json:"tool_references"`
		} `json:"content"`
	}
	if json.Unmarshal(raw, &b) != nil {
		return nil
	}
	var out []string
	for _, r := range b.Content.References {
		out = append(out, r.Name)
	}
	return out
}

// referencedByClient are the tools that the result of a client's own search names.
func referencedByClient(raw json.RawMessage) (out []string) {
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
func (r *Request) Waits(name string) bool { return r.waits(name) }

// expand puts the definitions behind the results that found them, and notes what was found.
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

// breaksRule returns the words in which the API refuses the tools of a request, "" if it
// takes them.
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
		if s.searched && searches == 0 {
			return "the conversation holds a tool_search that no tool of the request makes" // stricter than the API
		}
	}
	if markers > maxMarkers {
		return fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarkers, markers)
	}
	return ""
}

// waits reports whether a tool has to be searched for before it is called.
func (r *Request) waits(name string) bool {
	return !slices.Contains(r.found, name) && slices.ContainsFunc(r.defs, func(d toolDef) bool { return d.Deferred && d.Name == name })
}

// searchFor searches for what a reply calls and the model does not have, and bills it. What
// a search does not find is not called.
func (r *Request) searchFor(reply *Reply) {
	var calls []Call
	for _, c := range reply.Calls {
		if r.waits(c.Name) && slices.ContainsFunc(r.defs, func(d toolDef) bool { return d.search() }) {
			r.search(c.Name)
		}
		if !r.waits(c.Name) {
			calls = append(calls, c)
		}
	}
	reply.Calls = calls
}

// search makes one search, by the words of a tool's name.
func (r *Request) search(name string) {
	s := Search{Query: strings.Join(strings.FieldsFunc(name, func(c rune) bool { return c == '_' || c == '-' }), " ")}
	type hit struct{ score, at int }
	var hits []hit
	for i, d := range r.defs {
		score := 0
		for _, w := range strings.Fields(strings.ToLower(s.Query)) {
			if strings.Contains(strings.ToLower(d.Name), w) {
				score += 3
			} else if strings.Contains(strings.ToLower(string(d.raw)), w) {
				score++
			}
		}
		if d.Deferred && score > 0 {
			hits = append(hits, hit{score, i})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	for _, h := range hits[:min(len(hits), searchFinds)] {
		s.Found = append(s.Found, r.defs[h.at].Name)
		s.Written += r.defs[h.at].tokens
		r.found = append(r.found, r.defs[h.at].Name)
	}
	r.Searches = append(r.Searches, s)
}

// billSearches adds what searching cost: for each search all of the prompt is read once more,
// from the cache as far as a marker reaches, and what it says and finds is written.
func (r *Request) billSearches() {
	for i := range r.Searches {
		s := &r.Searches[i]
		for _, b := range searchBlocks(*r, i) {
			s.Written += (len(mustJSON(b)) + 3) / 4
		}
		cached, marked := 0, false
		for j := range r.Segments {
			if r.Segments[j].Marked {
				cached, marked = tokensOf(r.Segments, j+1), true
			}
		}
		s.Read = r.Tokens()
		r.Usage.Read += cached
		r.Usage.Uncached += r.Tokens() - cached
		if marked {
			r.Usage.Written += s.Written
		} else {
			r.Usage.Uncached += s.Written
		}
		r.Usage.Output += len(s.Query)/4 + 30
	}
}

// searchBlocks are the blocks of a search in an answer.
func searchBlocks(r Request, i int) []map[string]any {
	s, id := r.Searches[i], fmt.Sprintf("srvtoolu_%d_%d", r.N, i)
	refs := []any{}
	for _, name := range s.Found {
		refs = append(refs, map[string]any{"type": "tool_reference", "tool_name": name})
	}
	return []map[string]any{
		{"type": "server_tool_use", "id": id, "name": "tool_search_tool_bm25", "input": json.RawMessage(mustJSON(map[string]any{"query": s.Query}))},
		{"type": "tool_search_tool_result", "tool_use_id": id, "content": map[string]any{"type": "tool_search_tool_search_result", "tool_references": refs}},
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own maps of strings
	}
	return b
}

// Deferred counts the definitions that wait for a search.
func (r Request) Deferred() (n int) {
	for _, d := range r.defs {
		if d.Deferred {
			n++
		}
	}
	return n
}

// ToolPrefix is what stands of the tools in front of the prompt, and ToolTokens its size.
func (r Request) ToolPrefix() string {
	var b strings.Builder
	for _, s := range toolSegments(r.defs) {
		b.Write(s.Bytes)
	}
	return b.String()
}

// ToolTokens is the size of what stands of the tools in front of the prompt.
func (r Request) ToolTokens() int {
	list := toolSegments(r.defs)
	return tokensOf(list, len(list))
}
