package budget

import (
	"fmt"
	"strings"
)

// Item is a named part of a prompt and its size in tokens.
type Item struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// TooSmallError means that the fixed part and the reserve do not fit into the window.
type TooSmallError struct {
	// Window, Reserve and Fixed are the figures that don't fit, in tokens.
	Window, Reserve, Fixed int
	// Over is the number of tokens by which they don't fit.
	Over int
	// Largest lists the largest items, the largest first.
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
		return u.String() + "; " + fitHint
	}
	names := make([]string, len(e.Largest))
	for i, it := range e.Largest {
		names[i] = fmt.Sprintf("%s %d", it.Name, it.Tokens)
	}
	return fmt.Sprintf("split window of %d tokens: the fixed part takes %d and the reserve %d, %d too many (largest: %s); use a larger window, a smaller reserve or less fixed text",
		e.Window, e.Fixed, e.Reserve, e.Over, strings.Join(names, ", "))
}

// fitHint tells the user what to do if system prompt and tools don't fit.
const fitHint = "use fewer tools, a shorter system prompt, a larger window (plan.context_window) or a smaller reserve (plan.reserve)"

// Hint tells the user what to do.
func (u Unfit) Hint() string { return fitHint }

func (u Unfit) String() string {
	return fmt.Sprintf("the fixed part does not fit: a system prompt of %d tokens and tools of %d in a window of %d with a reserve of %d", u.System, u.Tools, u.Window, u.Reserve)
}
