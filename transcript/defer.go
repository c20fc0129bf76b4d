package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// Waiting is what an API allows of the definitions of a request: which may wait until the
// model searches for them.
type Waiting struct {
	// Refused is why none may; "" if some may.
	Refused string
	// Keep says of each tool why it has to stand, "" if it may wait.
	Keep []string
}

// The reasons for which a definition has to stand, or all have to.
const (
	keepProviders = "the provider's own"
	keepMarked    = "it carries a cache marker"
	keepOwn       = "the client says itself how it is loaded"
	keepChosen    = "tool_choice names it"
	keepUnnamed   = "no name of its own"

	noSearch     = "the API has no search for tools"
	clientDefers = "the client defers tools itself"
)

// WaitingIn judges the definitions of a request in a format. choice is its tool_choice, as
// JSON.
func WaitingIn(f Format, tools []memkernel.Tool, choice string) Waiting {
	s := searchOf(f)
	if s == nil {
		return Waiting{Refused: noSearch}
	}
	w := Waiting{Keep: make([]string, len(tools))}
	chosen, seen := chosenBy(choice), map[string]int{}
	for i := range tools {
		seen[tools[i].Name]++
	}
	for i := range tools {
		d, ok := wire.ReadDefinition(tools[i].Raw)
		switch {
		case strings.HasPrefix(d.Type, s.Type) || strings.HasPrefix(d.Name, s.Type) || wire.Deferred(tools[i].Raw) || d.Type == "mcp_toolset":
			return Waiting{Refused: clientDefers}
		case !ok || d.Name == "" || seen[d.Name] > 1:
			w.Keep[i] = keepUnnamed
		case !slices.Contains(s.Plain, d.Type):
			w.Keep[i] = keepProviders
		case d.Marked:
			w.Keep[i] = keepMarked
		case d.Own:
			w.Keep[i] = keepOwn
		case chosen == d.Name:
			w.Keep[i] = keepChosen
		}
	}
	return w
}

// FoundTools returns the tools that searches in a conversation found.
func FoundTools(f Format, msgs []memkernel.Message) map[string]bool {
	s, out := searchOf(f), map[string]bool{}
	if s == nil {
		return out
	}
	for i := range msgs {
		for _, name := range s.Found(&msgs[i]) {
			out[name] = true
		}
	}
	return out
}

func searchOf(f Format) *wire.Search {
	if r := rowOf(f.Dialect()); r != nil && r.API != nil {
		return r.API.Search
	}
	return nil
}

// chosenBy returns the tool that a tool_choice names, "" if it names none.
func chosenBy(choice string) string {
	var c struct {
		Name string `json:"name"`
	}
	if json.Unmarshal([]byte(choice), &c) != nil {
		return "" // none, or a word
	}
	return c.Name
}

// deferred returns the definitions with those of some names waiting, "" if none is. What
// the API does not take is left as it is.
func (b *Body) deferred(names []string) string {
	if len(names) == 0 {
		return ""
	}
	w := WaitingIn(b.Format, b.Tools, b.Member("tool_choice"))
	if w.Refused != "" {
		return ""
	}
	set := map[string]bool{}
	for i := range b.Tools {
		if w.Keep[i] == "" && slices.Contains(names, b.Tools[i].Name) {
			set[b.Tools[i].Name] = true
		}
	}
	if len(set) == 0 {
		return ""
	}
	return b.api.Search.Defer(b.Member("tools"), set)
}
