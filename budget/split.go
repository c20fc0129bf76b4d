package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Item is a named part of a prompt and its size in tokens.
type Item struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Request is a window to split.
type Request struct {
	// Window is the model's context window in tokens.
	Window int
	// Reserve is kept free for the answer. 0 means [DefaultReserve], a negative
	// number none.
	Reserve int
	// Fixed is never dropped: tools, system prompt, the newest message, and
	// whatever else the caller forces.
	Fixed []Item
}

// Plan is a window split among the regions of a prompt, in tokens. Fixed,
// WorkingSet, Summary and Retrieval add up to Budget.
type Plan struct {
	Window  int `json:"window"`
	Reserve int `json:"reserve"`
	// Budget is Window − Reserve, the most that the prompt may hold.
	Budget int `json:"budget"`
	// Fixed is the sum of the request's fixed items.
	Fixed int `json:"fixed"`
	// WorkingSet is the most the working set may grow to between cuts.
	WorkingSet int `json:"working_set"`
	// LowWater is the most of it that a cut leaves.
	LowWater int `json:"low_water"`
	// Summary and Retrieval are caps, 0 if nothing is left for them.
	Summary   int `json:"summary"`
	Retrieval int `json:"retrieval"`
}

// largestItems is how many items a TooSmallError names.
const largestItems = 5

// TooSmallError means that the fixed part and the reserve do not fit into the window.
type TooSmallError struct {
	// Window, Reserve and Fixed are the figures that don't fit, in tokens.
	Window, Reserve, Fixed int
	// Over is by how many tokens.
	Over int
	// Largest are the largest fixed items, largest first, at most five.
	Largest []Item
	// System and Tools are the system prompt and the definitions of tools in Fixed, where
	// they are known.
	System, Tools int
}

// Always reports whether system prompt and tools alone don't fit, so that no conversation
// does.
func (e *TooSmallError) Always() bool {
	return e.Reserve < e.Window && e.System+e.Tools > e.Window-e.Reserve
}

func (e *TooSmallError) Error() string {
	if e.Always() {
		u := Unfit{System: e.System, Tools: e.Tools, Window: e.Window, Reserve: e.Reserve}
		return u.String() + "; " + FitHint
	}
	names := make([]string, len(e.Largest))
	for i, it := range e.Largest {
		names[i] = fmt.Sprintf("%s %d", it.Name, it.Tokens)
	}
	return fmt.Sprintf("split window of %d tokens: the fixed part takes %d and the reserve %d, %d too many (largest: %s); use a larger window, a smaller reserve or less fixed text",
		e.Window, e.Fixed, e.Reserve, e.Over, strings.Join(names, ", "))
}

// FitHint is the way out where system prompt and tools don't fit.
const FitHint = "use fewer tools, a shorter system prompt, a larger window (plan.context_window) or a smaller reserve (plan.reserve)"

func (u Unfit) String() string {
	return fmt.Sprintf("the fixed part does not fit: a system prompt of %d tokens and tools of %d in a window of %d with a reserve of %d", u.System, u.Tools, u.Window, u.Reserve)
}

// Split divides a window in the order of importance: the fixed part, the working set after a cut,
// the summary, retrieval. The rest goes to the working set, to grow into. It returns a
// *[TooSmallError] if the fixed part alone does not fit.
func Split(r Request) (Plan, error) {
	if r.Window <= 0 {
		return Plan{}, fmt.Errorf("split window: its size is %d tokens; give the model's context window", r.Window)
	}
	p := Plan{Window: r.Window, Reserve: max(r.Reserve, 0)}
	if r.Reserve == 0 {
		p.Reserve = DefaultReserve(r.Window)
	}
	for _, it := range r.Fixed {
		if it.Tokens < 0 {
			return Plan{}, fmt.Errorf("split window: fixed item %q has %d tokens; sizes can't be negative", it.Name, it.Tokens)
		}
		p.Fixed += it.Tokens
	}
	p.Budget = max(p.Window-p.Reserve, 0)
	if over := p.Fixed + p.Reserve - p.Window; over > 0 {
		return Plan{}, &TooSmallError{Window: p.Window, Reserve: p.Reserve, Fixed: p.Fixed, Over: over, Largest: largest(r.Fixed)}
	}
	rest := p.Budget - p.Fixed
	p.LowWater = min(lowWater(p.Budget), rest)
	p.Summary = min(summaryCap(p.Budget), rest-p.LowWater)
	p.Retrieval = retrievalCap(rest - p.LowWater - p.Summary)
	p.WorkingSet = rest - p.Summary - p.Retrieval
	return p, nil
}

// largest returns the largest items, largest first, equal ones in their order.
func largest(items []Item) []Item {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b Item) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return sorted[:min(len(sorted), largestItems)]
}
