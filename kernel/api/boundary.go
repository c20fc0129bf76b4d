package api

import (
	"cmp"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// CompactWish is the goal of a compaction on demand. The zero value takes the low-water mark, or
// half of the conversation if that is lower.
type CompactWish struct {
	// Tokens is the target size of the whole prompt; 0 sets no target.
	Tokens int
	// Share is the target size as a share of the window; 0 sets no target. If both targets are
	// set, the smaller size counts.
	Share float64
	// Force also cuts inside an open tool loop. The closed calls of the loop may then leave or be
	// shortened. Without Force a loop is only cut when the cache is cold.
	Force bool
	// Call describes the next call, as for Kernel.PlanContext: window, reserve, system, tools,
	// resolver and settings. Unset fields are taken from the last plan. Session, messages and
	// time are ignored.
	Call *PlanRequest
	// FixedTokens is the size of system prompt and tools, for a conversation that was
	// never planned; see [PlanRequest.FixedTokens].
	FixedTokens int
	// Overflow is a provider's refusal of the last call as too long. The next plan must fit under
	// its limit; see [PlanRequest.Overflow].
	Overflow *Overflow
	// Provider is a compaction that the provider made. The covered messages leave the prompt,
	// whatever the other fields are. The prompt shows the provider's compaction first, then the
	// kernel's own text about the messages that left.
	Provider *ProviderCompaction
}

// ProviderCompaction is a compaction that the provider made of a conversation's first
// messages. It must be sent to that provider as it is.
type ProviderCompaction struct {
	// Blocks are the content blocks of the answer (Messages API) or the items of its output
	// (responses), each as JSON.
	Blocks []string
	// Covers is the number of messages at the beginning of [Boundary.Messages] that the compaction
	// replaces.
	Covers int
}

// CompactReason is the outcome of a compaction on demand.
type CompactReason string

// The reasons. Only a compaction with CompactOK reclaims tokens.
const (
	CompactOK CompactReason = "OK"
	// CompactNothing: no turn is closed, so nothing may leave or be shortened.
	CompactNothing CompactReason = "NOTHING_TO_CUT"
	// CompactFloor: every message that may be cut is at its floor already, or the text that
	// replaces the messages would be as large as they are.
	CompactFloor CompactReason = "ALREADY_AT_FLOOR"
	// CompactOpenLoop: a tool loop is open, the cache is warm, and Force was not set.
	CompactOpenLoop CompactReason = "OPEN_LOOP"
	// CompactNoProgress: the last compactions reclaimed next to nothing, and no message since
	// then changes that.
	CompactNoProgress CompactReason = "NO_PROGRESS"
	// CompactNextPlan: the conversation is not in memory and was not handed in. The journal has
	// the wish, and the next plan makes the cut.
	CompactNextPlan CompactReason = "AT_NEXT_PLAN"
	// CompactUnplanned: no plan of the session was ever made here, or its window is not known, so
	// that there is no prompt to cut. The answer still has Summary and Restore.
	CompactUnplanned CompactReason = "NOT_PLANNED"
	// CompactTooLarge: the messages and blocks that must be shown are larger than the window.
	CompactTooLarge CompactReason = "BUDGET_INSUFFICIENT"
)

// Compaction is the outcome of a compaction on demand. Token counts are calibrated and cover the
// whole prompt, as a plan counts them. They leave out the constant by which the provider's own
// count is higher.
type Compaction struct {
	Reason CompactReason `json:"reason"`
	// Detail gives the reason in words, and what can be done.
	Detail string `json:"detail,omitempty"`
	// TokensBefore is the size that the next plan's prompt would have had without the compaction.
	TokensBefore int `json:"tokens_before"`
	// TokensAfter is the size that the next plan's prompt will have.
	TokensAfter     int `json:"tokens_after"`
	ReclaimedTokens int `json:"reclaimed_tokens"`
	// TargetTokens is the size that the prompt should have been reduced to.
	TargetTokens int `json:"target_tokens"`
	// FixedTokens is the size of system prompt and tools that the host declared without handing
	// in their texts. The other counts include it.
	FixedTokens int `json:"fixed_tokens"`
	// ContextWindow is 0 if it is not known.
	ContextWindow int `json:"context_window"`
	// Atoms is the number of atoms that left with this compaction.
	Atoms int `json:"atoms"`
	// Messages is the number of messages that left with this compaction.
	Messages int `json:"messages"`
	// Lowered is the number of results that are shown shorter than before.
	Lowered int `json:"lowered"`
	// Spans are the ids by which Kernel.Get restores the messages that left.
	Spans []string `json:"spans"`
	// FirstKept is the first message after all messages that ever left, nil if it is not known. A
	// host that replaces its history by Summary keeps this message and all later messages.
	FirstKept *KeptMessage `json:"first_kept"`
	// Summary is the past in the words of the carry block. A host that calls a summariser of its
	// own should hand it Summary and Restore.
	Summary string `json:"summary"`
	// SummaryVersion counts the changes of the summary.
	SummaryVersion int `json:"summary_version"`
	// Restore is the working state from which the model continues.
	Restore string `json:"restore"`
	// Checkpoint is the id of the newest checkpoint, "" if there is none.
	Checkpoint string `json:"checkpoint"`
	// Generation is the generation of the projection after the cut.
	Generation int `json:"generation"`
	// Largest lists the largest items of the prompt if nothing could be reclaimed.
	Largest []budget.Item `json:"largest"`
	// PinnedTokens is the size of pins and the workspace's files if nothing could be reclaimed.
	PinnedTokens int `json:"pinned_tokens"`
	// Warning is a text for a session that is compacted again and again, "" for any other.
	Warning string `json:"warning,omitempty"`
	// Refusal is the parsed refusal of a provider, nil if there was none.
	Refusal *budget.Overflow `json:"refusal,omitempty"`
}

// KeptMessage names a message of the host by its key and its index.
type KeptMessage struct {
	Key string `json:"key"`
	// Index counts from 0.
	Index int `json:"index"`
}

// Boundary is a moment at which the known state of a session must become durable.
type Boundary struct {
	SessionKey, Branch, Model string
	// Messages is the host's whole conversation now. Without it, the messages of the last plan
	// are used.
	Messages []memkernel.Message
	// Updates are the host's own writes at this moment; see Kernel.Write.
	Updates []journal.Update
	// Key makes the delivery idempotent. Default: a hash of session, epoch, kind and
	// newest message.
	Key string
	// Reason is the reason of the boundary, for the record.
	Reason string
	Now    time.Time
	// Compact is the goal of Kernel.Compact.
	Compact *CompactWish
	// Private: see [Turn.Private].
	Private bool
	// Source names the origin of the conversation.
	Source checkpoint.Source
}

// Passed is the answer to a [Boundary].
type Passed struct {
	// Outcome is committed, or duplicate if nothing was new.
	Outcome Outcome `json:"outcome"`
	// Ingested counts the new pages.
	Ingested int `json:"ingested"`
	// Turns counts the session's committed turns.
	Turns int `json:"turns"`
	// Epoch counts the resets of the session.
	Epoch int `json:"epoch"`
	// Checkpoint is the newest checkpoint, "" if there is none.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Pinned are the pages that hosts wrote and that every prompt shows.
	Pinned []string `json:"pinned"`
	// Rejected are updates that were refused, with their codes. The journal keeps
	// them.
	Rejected []journal.Rejection `json:"rejected,omitempty"`
	Faults   []fault.Fault       `json:"faults,omitempty"`
	// Flushed counts the entries that were appended to the day's log.
	Flushed int `json:"flushed"`
	// Compaction is the outcome of Kernel.Compact, nil at every other boundary.
	Compaction *Compaction `json:"compaction,omitempty"`
	// Stats counts the ingested messages and the bytes written.
	Stats Stats `json:"stats"`
}

// Restored is the text from which a session continues.
type Restored struct {
	// Checkpoint is the id of the newest checkpoint, "" if there is none.
	Checkpoint string `json:"checkpoint"`
	// Net is the record from which the text was made, "" if there is no record. Text is then empty.
	Net  Net    `json:"net"`
	Text string `json:"text"`
	// Damaged are checkpoints and state files that could not be used.
	Damaged []string `json:"damaged"`
}

// RestoreRequest is a request for the text from which a session continues.
type RestoreRequest struct {
	SessionKey string
	// Occasion is the place where the text will be shown. The first line of the text depends on
	// it.
	Occasion checkpoint.Occasion
	// Resolver is the tool or command by which the text's reader gets the content of an id, as in
	// [PlanRequest]. Without it no id is named.
	Resolver string
	// Shown is text that the reader also sees. The restore text does not repeat its rules.
	Shown string
	// Neighbour requests the state of another session than SessionKey: the session that
	// SESSION-STATE.md shows as the latest. Set Neighbour for a new session whose user wants to
	// continue that one.
	Neighbour bool
}

// Check returns a *[NumberError] for a number that is out of range. A nil wish is valid.
func (c *CompactWish) Check() error {
	if c == nil {
		return nil
	}
	err := cmp.Or(notBelow("Compact.Tokens", c.Tokens, 0, wantTokens), c.Overflow.Check())
	if err == nil && !(c.Share >= 0 && c.Share <= 1) {
		err = &NumberError{"Compact.Share", fmt.Sprint(c.Share), wantShare}
	}
	if p := c.Provider; err == nil && p != nil {
		err = notBelow("Compact.Provider.Covers", p.Covers, 1, "a number of messages")
	}
	if err == nil && c.Call != nil {
		err = c.Call.Check()
	}
	return err
}

// Net names a record from which a session can continue.
type Net string

// The records that a session falls back on, in the order in which they are tried.
const (
	NetCheckpoint   = Net("checkpoint")
	NetSessionState = Net("session_state")
	NetBuffer       = Net("working_buffer")
	// NetJournal is the summary of the observed turns. It is used if none of the other records
	// can be read.
	NetJournal Net = "journal"
)
