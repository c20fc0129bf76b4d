package replay

import (
	"cmp"
	"slices"
)

// Acted counts actions of one kind: by tool, or by how far back their input is.
type Acted struct {
	// Tool is the tool's name; "" in a row of a distance.
	Tool string `json:"tool,omitempty"`
	// FromTokens is the least distance, in tokens of three characters, of a row of a
	// distance; the next row's is its end.
	FromTokens   int     `json:"from_tokens"`
	Actions      int     `json:"actions"`
	ActionsReady float64 `json:"actions_ready"`
	Edits        int     `json:"edits"`
	BlindEdits   int     `json:"blind_edits"`
}

// distances begin the rows by distance: what a prompt just showed, what recall leaves
// out, and beyond it by fours.
var distances = [...]int{0, 2_000, 8_000, 32_000, 128_000}

// tally counts the actions of calls: a row for each distance that there is, in order,
// then one for each tool, the most used first.
func tally(calls []Call) []Acted {
	far := map[int]*Acted{}
	tools := map[string]*Acted{}
	ready := map[*Acted]int{}
	for i := range calls {
		for j := range calls[i].acted {
			a := &calls[i].acted[j]
			if a.Tokens == 0 && a.Edits == 0 {
				continue
			}
			at := 0
			for _, from := range distances {
				if a.Distance >= from {
					at = from
				}
			}
			if far[at] == nil {
				far[at] = &Acted{FromTokens: at}
			}
			if tools[a.Tool] == nil {
				tools[a.Tool] = &Acted{Tool: a.Tool}
			}
			for _, row := range []*Acted{far[at], tools[a.Tool]} {
				row.Actions += count(a.Tokens > 0)
				ready[row] += count(a.Tokens > 0 && a.Ready())
				row.Edits += a.Edits
				row.BlindEdits += a.Blind
			}
		}
	}
	out := []Acted{}
	add := func(row *Acted) {
		row.ActionsReady = shareOrAll(ready[row], row.Actions)
		out = append(out, *row)
	}
	for _, row := range far {
		add(row)
	}
	slices.SortFunc(out, func(a, b Acted) int { return cmp.Compare(a.FromTokens, b.FromTokens) })
	n := len(out)
	for _, row := range tools {
		add(row)
	}
	slices.SortFunc(out[n:], func(a, b Acted) int {
		return cmp.Or(cmp.Compare(b.Actions, a.Actions), cmp.Compare(a.Tool, b.Tool))
	})
	return out
}
