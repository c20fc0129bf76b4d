package paging

import (
	"slices"

	"github.com/memkernel/memkernel/pagevm"
)

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

// AlertDuplicateSignature is the code of an alert: an equal call ran again although its result
// was resident. The alert describes the workload and is not a fault.
const AlertDuplicateSignature = "duplicate_signature"

// Cause is the event that took a page away.
type Cause string

// The causes of faults.
const (
	CauseSelection  Cause = "selection"           // the selector lowered or left it out
	CauseBudget     Cause = "budget_insufficient" // the minimum set did not fit
	CauseCompaction Cause = "compaction"
	CauseReset      Cause = "reset"
	CauseSessionEnd Cause = "session_end"
	CauseDenied     Cause = "DENIED"
	CauseBackend    Cause = "BACKEND_ERROR"
)

// Fault is one observed failure.
type Fault struct {
	Code    Code   `json:"code"`
	Turn    int    `json:"turn"`
	Session string `json:"session"`
	// Page is the page that was missing. It is "" for a silent recall, which has a Query instead.
	Page  string `json:"page,omitempty"`
	Query string `json:"query,omitempty"`
	Cause Cause  `json:"cause"`
	// Decision is the number of the decision or boundary that caused the fault.
	Decision uint64 `json:"decision"`
	// BudgetInsufficient marks a fault that no policy could have prevented: the
	// minimum set did not fit.
	BudgetInsufficient bool `json:"budget_insufficient,omitempty"`
}

// Change is one page's move in a decision or at a boundary.
type Change struct {
	Page string       `json:"page"`
	From pagevm.Level `json:"from"`
	To   pagevm.Level `json:"to"`
}

// Short is a pinned page or work in flight that did not fit.
type Short struct {
	Page   string `json:"page"`
	Tokens int    `json:"tokens"`
}

// Commit is a change that became durable, or was rejected.
type Commit struct {
	Page string `json:"page"`
	// At is the commit point: eviction, flush, compaction, reset, session_end.
	At      string `json:"at"`
	Version int    `json:"version"`
	// Rejected is the reason code of a change that was refused and kept.
	Rejected string `json:"rejected,omitempty"`
}

// DestructiveOp rejects a change made on a version that is no longer the last.
const DestructiveOp = "DESTRUCTIVE_OP"

// Outcome is the result of a turn. The next Step reuses its slices, so callers must copy those
// that they keep.
type Outcome struct {
	// Decision is the number of the assembly. The boundaries of the turn have the following
	// numbers.
	Decision uint64 `json:"decision"`
	// Tokens is the size of the prompt, including the fixed region.
	Tokens int `json:"tokens"`
	// Minimum is the sum of the floors of all pages.
	Minimum int `json:"minimum"`
	// Required is the sum of the floors of pinned pages and of work in flight.
	Required int `json:"required"`
	// Over is the number of tokens that Required exceeds the budget by, 0 if it fits.
	Over int `json:"over,omitempty"`
	// Short lists the pages of Required that were left out. It is empty if Required fits.
	Short   []Short  `json:"short,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	Hits    int      `json:"hits"`
	// Pointed are the hits of which the prompt holds only the handle. A model that needs their
	// content must fetch it. Traces leave Pointed out, since a replay computes it again.
	Pointed []string `json:"-"`
	// Alerts are the pages whose call ran again although they were resident.
	Alerts  []string `json:"alerts,omitempty"`
	Faults  []Fault  `json:"faults,omitempty"`
	Commits []Commit `json:"commits,omitempty"`
}

// Totals holds the counts of a run.
type Totals struct {
	Turns int `json:"turns"`
	// Faults are counted in the order of Codes.
	Faults [6]int `json:"faults"`
	// Insufficient counts the faults that no policy could have prevented.
	Insufficient int `json:"budget_insufficient"`
	Alerts       int `json:"alerts"`
	Hits         int `json:"hits"`
	// Cold counts demands for pages that were never in the prompt. They are neither hits nor
	// faults.
	Cold     int `json:"cold"`
	Commits  int `json:"commits"`
	Rejected int `json:"rejected"`
	// Tokens is the sum over all prompts.
	Tokens int64 `json:"tokens"`
}

// Of returns the count of one code.
func (t *Totals) Of(c Code) int {
	if i := slices.Index(codes[:], c); i >= 0 {
		return t.Faults[i]
	}
	return 0
}

// Explicit returns the number of explicit faults: all but pinned misses.
func (t *Totals) Explicit() int {
	n := -t.Of(PinnedInvariantMiss)
	for _, f := range t.Faults {
		n += f
	}
	return n
}

// Thrash returns the thrash index F/(H+1) of Appendix A: explicit faults and alerts
// over hits.
func (t *Totals) Thrash() float64 {
	return float64(t.Explicit()+t.Alerts) / float64(t.Hits+1)
}
