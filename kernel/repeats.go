package kernel

import "fmt"

// Repeats says how a new result is shown that has lines of an earlier result.
type Repeats string

// The ways. Once has it name the first and the last of the lines that stand whole in the same
// prompt, and show what is new; as soon as a cut is made it is shown whole, or at a level of
// its own, again. Whole, the default, shows all of it.
const (
	RepeatsWhole Repeats = "whole"
	RepeatsOnce  Repeats = "once"
)

func (r Repeats) check() error {
	switch r {
	case "", RepeatsWhole, RepeatsOnce:
		return nil
	}
	return fmt.Errorf("repeats: want %s or %s, got %q", RepeatsWhole, RepeatsOnce, string(r))
}
