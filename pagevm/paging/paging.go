// Package paging has the page table of a running conversation as readers see it ([PageTable]), and
// the names of the faults that show that a needed page was missing ([Code], [Counts]). The faults
// and the thrash index are those of the ClawVM paper (EuroMLSys 2026).
//
// The kernel fills the table and finds the faults. Module bench judges the paper's policies by the
// same names. Sizes are tokens.
package paging

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// PageTable is the page table of a running conversation, as of one plan, with the pages that its
// plans have shown so far.
type PageTable struct {
	Report
	// Pages lists the pages of the prompt in its order, followed by the pages that are not in the
	// prompt but can be fetched.
	Pages []PageRow `json:"pages"`
}

// PageRow is a page of a running conversation. Sizes are calibrated tokens.
type PageRow struct {
	// ID is the id by which a caller gets the page.
	ID    string          `json:"id"`
	Type  pagevm.Type     `json:"type"`
	Scope memkernel.Scope `json:"scope"`
	// Tool is the name of the tool that made the page.
	Tool string `json:"tool,omitempty"`
	// Path is the path that the tool call names.
	Path string `json:"path,omitempty"`
	// Key is the key of the host message that holds the page, or that the page follows.
	Key string `json:"key,omitempty"`
	// CallID is the id of the tool call.
	CallID string `json:"call_id,omitempty"`
	// Refs are the places that the content was taken from.
	Refs []memkernel.Ref `json:"refs,omitempty"`
	// Tokens is the cost of each level that the page has.
	Tokens Tokens `json:"tokens"`
	// Level is the level that the prompt shows.
	Level pagevm.Level `json:"level"`
	// ShownTokens is the cost of the shown level.
	ShownTokens int `json:"shown_tokens"`
	// Floor is the lowest level at which the page may ever be shown.
	Floor pagevm.Level `json:"floor"`
	// Bare: the page is shown without its thinking, which a cut made invalid.
	Bare bool `json:"without_thinking,omitempty"`
	// Pin is hard or soft for a page that a host pinned.
	Pin Pin `json:"pin"`
	// Dirty: nothing durable holds the content yet.
	Dirty bool `json:"dirty"`
	// Place is the place of the page.
	Place Place `json:"place"`
	// Span is the span that the page left the prompt with, "" if it did not leave.
	Span string `json:"span,omitempty"`
	// Last is the newest use of the page.
	Last Access `json:"last_access"`
	// RecomputeCost is the number of tool calls that would make the content again. It is 1 for a
	// result whose call only looks. It is 0 for content that the kernel makes again from files,
	// memory and journal. It is nil for words, and for the result of a call that acts or may act,
	// since such a call must not run again to get its result back.
	RecomputeCost *float64 `json:"recompute_cost"`
}

// Place is the place of a page.
type Place string

// The places of pages.
const (
	InCarry        Place = "carry"        // in front of the messages
	InConversation Place = "conversation" // in a message of the host
	InNote         Place = "note"         // in a note after a message of the host
	InRetrieval    Place = "retrieval"    // in recalled memory after a message of the host
	InSpan         Place = "span"         // in a span of messages that left the prompt
	Nowhere        Place = "gone"         // not in the prompt; only its id leads to it
)

// Access is the newest use of a page.
type Access struct {
	// Turn is the number of the user's turn, counted from 1. It is 0 before the first turn.
	Turn int `json:"turn"`
	// Call is the number of the conversation's model call, counted from 1. It is 0 for a page
	// that was never in a prompt.
	Call int `json:"call"`
	// How says how the page was used.
	How Use `json:"how"`
}

// Use is how a page was used.
type Use string

// The uses of pages.
const (
	UseShown    Use = "shown"    // the page was new in the prompt
	UseRepeated Use = "repeated" // an equal call, which changes nothing, ran again
	UseFetched  Use = "fetched"  // the model asked for it by its id
	UseNamed    Use = "named"    // the model named its id, or a call its path
)

// Pin is how firmly a page is held in the prompt.
type Pin string

// The three pin classes. A soft pin only raises the score; a hard pin is an
// invariant.
const (
	PinNone Pin = "none"
	PinSoft Pin = "soft"
	PinHard Pin = "hard"
)

// Tokens is the cost of each representation of a page; 0 means that the page does not have it.
// Levels outside the type's degradation path are not used.
type Tokens struct {
	Full       int `json:"full"`
	Compressed int `json:"compressed"`
	Structured int `json:"structured"`
	Pointer    int `json:"pointer"`
}

// At returns the cost of one level, 0 for Gone.
func (t Tokens) At(l pagevm.Level) int { return *t.Of(l) }

// Of returns a pointer to the cost of one level. For Gone it points to a new 0.
func (t *Tokens) Of(l pagevm.Level) *int {
	return [...]*int{pagevm.Gone: new(int), pagevm.Pointer: &t.Pointer, pagevm.Structured: &t.Structured, pagevm.Compressed: &t.Compressed, pagevm.Full: &t.Full}[l]
}

// Code names a fault.
type Code string

// The fault codes. All codes but the pinned miss count as explicit faults.
const (
	// Refetch: a page was fetched again by its handle.
	Refetch Code = "refetch"
	// DuplicateTool: an equal canonical call ran again because its result was not
	// resident.
	DuplicateTool Code = "duplicate_tool"
	// PinnedInvariantMiss: a hard-pinned page was below its floor at assembly.
	PinnedInvariantMiss Code = "pinned_invariant_miss"
	// PostCompactionBootstrap: a bootstrap page was below its floor at the first
	// assembly after a compaction.
	PostCompactionBootstrap Code = "post_compaction_bootstrap"
	// SilentRecall: a lookup came back empty because it was denied or failed.
	SilentRecall Code = "silent_recall"
	// FlushMiss: a dirty page was lost because the context was destroyed before it
	// was committed.
	FlushMiss Code = "flush_miss"
)

var codes = [6]Code{Refetch, DuplicateTool, PinnedInvariantMiss, PostCompactionBootstrap, SilentRecall, FlushMiss}

// Codes lists all fault codes.
func Codes() []Code { return slices.Clone(codes[:]) }

// Cause is the event that took a page away.
type Cause string

// The causes of faults.
const (
	CauseSelection  Cause = "selection"           // the selector lowered the page or left it out
	CauseBudget     Cause = "budget_insufficient" // the minimum set did not fit
	CauseCompaction Cause = "compaction"
)

// Counts are the paging events of a conversation.
type Counts struct {
	// Faults counts the faults by code.
	Faults map[Code]int `json:"faults,omitempty"`
	// Alerts counts the duplicate_signature alerts.
	Alerts int `json:"alerts,omitempty"`
	Hits   int `json:"hits,omitempty"`
}

// Plus returns the sum of c and o. It does not share memory with them.
func (c Counts) Plus(o Counts) Counts {
	sum := Counts{Faults: c.Faults, Alerts: c.Alerts + o.Alerts, Hits: c.Hits + o.Hits}
	if len(o.Faults) > 0 {
		sum.Faults = maps.Clone(c.Faults)
		if sum.Faults == nil {
			sum.Faults = map[Code]int{}
		}
		for code, n := range o.Faults {
			sum.Faults[code] += n
		}
	}
	return sum
}

// Report is the summary of counts.
type Report struct {
	// ExplicitFaults is the number of all faults except pinned misses.
	ExplicitFaults int `json:"explicit_faults"`
	// Faults counts all faults by code.
	Faults map[Code]int `json:"fault_codes"`
	// Alerts is the number of duplicate_signature alerts.
	Alerts int `json:"alerts"`
	Hits   int `json:"hits"`
	// Thrash is the thrash index of the paper's Appendix A: explicit faults and alerts over hits
	// plus one.
	Thrash float64 `json:"thrash"`
}

// Report sums the counts up.
func (c Counts) Report() Report {
	r := Report{Faults: map[Code]int{}, Alerts: c.Alerts, Hits: c.Hits}
	for _, code := range codes {
		if n := c.Faults[code]; n > 0 {
			r.Faults[code] = n
			if code != PinnedInvariantMiss {
				r.ExplicitFaults += n
			}
		}
	}
	r.Thrash = float64(r.ExplicitFaults+r.Alerts) / float64(r.Hits+1)
	return r
}
