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
	// Reserve is kept free for the answer. 0 means the [Reserve] of a session without
	// answers. A negative number means no reserve.
	Reserve int
	// Fixed lists the items that are never dropped: tools, system prompt, the newest message, and
	// any other item that the caller requires.
	Fixed []Item
}

// Plan is a window split among the regions of a prompt, in tokens. Fixed,
// WorkingSet, Summary and Retrieval add up to Budget.
type Plan struct {
	Window  int `json:"window"`
	Reserve int `json:"reserve"`
	// Budget is Window − Reserve, the largest size of the prompt.
	Budget int `json:"budget"`
	// Fixed is the sum of the request's fixed items.
	Fixed int `json:"fixed"`
	// WorkingSet is the largest size of the working set between cuts.
	WorkingSet int `json:"working_set"`
	// LowWater is the largest size of the working set after a cut.
	LowWater int `json:"low_water"`
	// Summary is the largest size of the summary, 0 if nothing is left for it.
	Summary int `json:"summary"`
	// Retrieval is the largest size of the retrieved content, 0 if nothing is left for it.
	Retrieval int `json:"retrieval"`
}

// largestItems is the number of items that a TooSmallError names.
const largestItems = 5

// TooSmallError means that the fixed part and the reserve do not fit into the window.
type TooSmallError struct {
	// Window, Reserve and Fixed are the figures that don't fit, in tokens.
	Window, Reserve, Fixed int
	// Over is the number of tokens by which they don't fit.
	Over int
	// Largest lists up to five fixed items, the largest first.
	Largest []Item
	// System is the size of the system prompt in Fixed. Tools is the size of the tool definitions
	// in Fixed. Each is 0 if unknown.
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

// FitHint tells the user what to do if system prompt and tools don't fit.
const FitHint = "use fewer tools, a shorter system prompt, a larger window (plan.context_window) or a smaller reserve (plan.reserve)"

func (u Unfit) String() string {
	return fmt.Sprintf("the fixed part does not fit: a system prompt of %d tokens and tools of %d in a window of %d with a reserve of %d", u.System, u.Tools, u.Window, u.Reserve)
}

// Split divides a window in the order of importance: the fixed part, the working set after a cut,
// the summary, retrieval. The working set gets the remaining tokens to grow into. Split returns a
// *[TooSmallError] if the fixed part alone does not fit.
func Split(r Request) (Plan, error) {
	if r.Window <= 0 {
		return Plan{}, fmt.Errorf("split window: its size is %d tokens; give the model's context window", r.Window)
	}
	p := Plan{Window: r.Window, Reserve: max(r.Reserve, 0)}
	if r.Reserve == 0 {
		p.Reserve = Reserve(r.Window, 0, 0)
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

// largest returns the largest items, the largest first. Equal items keep their order.
func largest(items []Item) []Item {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b Item) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return sorted[:min(len(sorted), largestItems)]
}
