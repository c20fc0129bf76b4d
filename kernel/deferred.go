package kernel

import (
	"github.com/memkernel/memkernel/kernel/internal/report"
	"github.com/memkernel/memkernel/pagevm"
)

// Deferred is a change that would be right and has not been made, because making it
// now would rewrite what the provider has cached. It is made at the cut that comes
// first, but for a superseded result that names what nothing else shows: that one may
// be worth its room.
type Deferred struct {
	// Page is what changes, From and To how it is and would be shown.
	Page string       `json:"page"`
	From pagevm.Level `json:"from"`
	To   pagevm.Level `json:"to"`
	// SavedTokens is what the prompt would hold less.
	SavedTokens int `json:"saved_tokens"`
	// Why is superseded (a newer read, an edit or the same call made it stale) or
	// changed_in_workspace (a note tells what the carry block does not say yet).
	Why string `json:"why"`
	// Waits is what it waits for, a sentence's end.
	Waits string `json:"waits_for"`
}

// The reasons of [Deferred.Why].
const (
	WhySuperseded = report.WhySuperseded
	WhyChanged    = report.WhyChanged
)
