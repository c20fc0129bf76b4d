package kernel

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// CompactWish says what a compaction on demand is to come to. The zero value takes
// the low-water mark, or half of the conversation if that is lower.
type CompactWish struct {
	// Tokens is the size that the whole prompt should come down to; Share is the same
	// as a share of the window. The smaller one counts, 0 says nothing.
	Tokens int
	Share  float64
	// Force cuts inside an open tool loop, too, whose closed calls may leave or be
	// shortened then. Without it a loop is only cut when the cache is cold.
	Force bool
	// Call is what the next call will be like, as for [Kernel.PlanContext]: window,
	// reserve, system, tools, resolver and settings. What it does not say is taken
	// from the last plan. Session, messages and time are not looked at.
	Call *PlanRequest
	// FixedTokens is the size of system prompt and tools, for a conversation that was
	// never planned; see [PlanRequest.FixedTokens].
	FixedTokens int
	// Overflow is a provider's refusal of the last call as too long, which the next
	// plan has to fit under; see [PlanRequest.Overflow].
	Overflow *Overflow
	// Provider is a compaction that the provider made. What it covers leaves whatever else
	// is wished; the prompt shows it first, then what the kernel knows of what left.
	Provider *ProviderCompaction
}

// ProviderCompaction is a compaction that the provider made of a conversation's first
// messages. It must be sent to that provider as it is.
type ProviderCompaction struct {
	// Blocks are the content blocks of the answer (Messages API) or the items of its output
	// (responses), each as JSON.
	Blocks []string
	// Covers counts the first messages of [Boundary.Messages], which it replaces.
	Covers int
}

// CompactReason says how a compaction on demand ended.
type CompactReason string

// The reasons. All but CompactOK reclaim nothing.
const (
	CompactOK CompactReason = turn.CompactOK
	// CompactNothing: no turn is closed, so nothing may leave or be shortened.
	CompactNothing CompactReason = plan.NothingToCut
	// CompactFloor: all that may be cut is at its floor already, or a cut would
	// put as much in its place.
	CompactFloor CompactReason = plan.AtFloor
	// CompactOpenLoop: a tool loop is open, the cache is warm, and Force was not set.
	CompactOpenLoop CompactReason = plan.OpenLoop
	// CompactNoProgress: the last compactions reclaimed next to nothing, and nothing
	// was said since that would change that.
	CompactNoProgress CompactReason = plan.NoProgress
	// CompactNextPlan: the conversation is not in memory and was not handed in. The
	// wish is in the journal; the next plan makes the cut.
	CompactNextPlan CompactReason = turn.CompactNextPlan
	// CompactUnplanned: no plan of the session was ever made here, or its window is
	// not known, so that there is no prompt to cut. Summary and restore text are given.
	CompactUnplanned CompactReason = turn.CompactUnplanned
	// CompactTooLarge: what must be shown is larger than the window.
	CompactTooLarge CompactReason = turn.CompactTooLarge
)

// Compaction is what a compaction on demand came to. Tokens are the plan's: of the
// whole prompt, calibrated, without what the provider's own count would add to
// either figure alike.
type Compaction struct {
	Reason CompactReason `json:"reason"`
	// Detail says the reason in words, and what can be done.
	Detail string `json:"detail,omitempty"`
	// TokensBefore and TokensAfter are the prompt as the next plan would have shown
	// it and as it does; Reclaimed is their difference.
	TokensBefore    int `json:"tokens_before"`
	TokensAfter     int `json:"tokens_after"`
	ReclaimedTokens int `json:"reclaimed_tokens"`
	TargetTokens    int `json:"target_tokens"`
	// FixedTokens is what of them was said to be system prompt and tools that were not
	// handed in.
	FixedTokens   int `json:"fixed_tokens"`
	ContextWindow int `json:"context_window"`
	// Atoms and Messages left with this compaction; Lowered results are shown shorter
	// than before.
	Atoms    int `json:"atoms"`
	Messages int `json:"messages"`
	Lowered  int `json:"lowered"`
	// Spans restore what left, by [Kernel.Get].
	Spans []string `json:"spans"`
	// FirstKept is the first message behind all that ever left: a host that replaces
	// its history by Summary keeps it from here on. Nil if none is known.
	FirstKept *KeptMessage `json:"first_kept"`
	// Summary is the past in the words of the carry block, SummaryVersion counts its
	// changes. Restore is the working state from which the model goes on. A host that
	// asks a summariser of its own hands it both.
	Summary        string `json:"summary"`
	SummaryVersion int    `json:"summary_version"`
	Restore        string `json:"restore"`
	Checkpoint     string `json:"checkpoint"`
	// Generation is the projection's after the cut.
	Generation int `json:"generation"`
	// Largest is what takes most of the prompt, PinnedTokens what pins and the
	// workspace's files do, where nothing could be reclaimed.
	Largest      []LargeItem `json:"largest"`
	PinnedTokens int         `json:"pinned_tokens"`
	// Warning names a session that is compacted again and again, "" if it isn't.
	Warning string `json:"warning,omitempty"`
	// Refusal is what was read out of a provider's refusal, nil if there was none.
	Refusal *budget.Overflow `json:"refusal,omitempty"`
}

// KeptMessage is a message of the host's, by its key and its index.
type KeptMessage struct {
	Key   string `json:"key"`
	Index int    `json:"index"`
}

// LargeItem is a part of a prompt and its size.
type LargeItem struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Compact makes room now. The conversation is taken in and committed
// first; then the prompt is cut, durably, so that the next plan begins with what
// [Passed.Compaction] says. It asks no model and needs no messages if the session
// was planned in this process: OpenClaw's compact hands none. A host that compacts
// its own history calls it before, and takes the texts. Without messages a session that
// is not there is a [NoSessionError].
func (k *Kernel) Compact(ctx context.Context, b Boundary) (*Passed, error) {
	if err := b.Compact.check(); err != nil {
		return nil, fmt.Errorf("%s of session %s: %w", journal.PointCompaction, b.SessionKey, err)
	}
	if err := b.begun(k); err != nil {
		return nil, fmt.Errorf("%s: %w", journal.PointCompaction, err)
	}
	done := k.watch.begin(OpCompact)
	p, err := passed(k.desk.Compact(ctx, b.room()))
	k.watch.end(ctx, done, err, func(d *Done) { d.Passed = p })
	return p, err
}

// compaction is what a compaction came to, as hosts get it; nil if there was none.
func compaction(c *turn.Compaction) *Compaction {
	if c == nil {
		return nil
	}
	return &Compaction{Reason: CompactReason(c.Reason), Detail: c.Detail, TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
		ReclaimedTokens: c.ReclaimedTokens, TargetTokens: c.TargetTokens, FixedTokens: c.FixedTokens, ContextWindow: c.ContextWindow,
		Atoms: c.Atoms, Messages: c.Messages, Lowered: c.Lowered, Spans: c.Spans, FirstKept: (*KeptMessage)(c.FirstKept),
		Summary: c.Summary, SummaryVersion: c.SummaryVersion, Restore: c.Restore, Checkpoint: c.Checkpoint, Generation: c.Generation,
		Largest: largeItems(c.Largest), PinnedTokens: c.PinnedTokens, Warning: c.Warning, Refusal: c.Refusal}
}

// largeItems are parts of a prompt, as hosts get them; never nil.
func largeItems(items []budget.Item) []LargeItem {
	out := []LargeItem{}
	for _, it := range items {
		out = append(out, LargeItem(it))
	}
	return out
}
