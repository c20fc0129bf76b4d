package api

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// Turn is a conversation after a call, with the call's plan and bill.
type Turn struct {
	SessionKey string
	Branch     string
	Model      string
	// Messages is the host's whole conversation after the turn. Rules and memories are made only
	// of texts that are marked as typed by a person ([memkernel.Part]).
	Messages []memkernel.Message
	// Unchanged is the number of messages at the beginning that the host guarantees to be unchanged
	// since its previous turn of this session, branch and model. These messages are not compared
	// again. If this process no longer knows them, it reads them. 0 compares all messages.
	Unchanged int
	// Open is the number of messages at the end that belong to an unfinished turn, whatever their
	// form. They are stored, and the turn before them is committed.
	Open int
	// Over: no message will follow, as after the host's process died. The last turn is committed
	// whatever it ends with. A call without a result has no known outcome.
	Over bool
	// PlanID names the plan that was sent for the last call, "" if it is not known. A turn that
	// is still open may be delivered after each of its calls, so that the kernel records every
	// bill.
	PlanID string
	// Sent is SentExtended or SentWhole if Usage is the bill of a call without its own plan. It
	// names how that call was sent. It is "" for a planned call.
	Sent string
	// Usage is the provider's bill for the last call, nil if the bill is not known.
	Usage *memkernel.Usage
	// Reported is the answer's report about its request, nil if the answer has no report.
	Reported *memkernel.Reported
	Now      time.Time
	// AdvancementKey makes the delivery idempotent. Default: a hash of session
	// and key of the turn's last message.
	AdvancementKey string
	// Updates are the host's own writes in this turn; see Kernel.Write. The turn is committed
	// even if an update is rejected.
	Updates []journal.Update
	// Private: the session is private, and its working state may be written to the workspace's
	// Markdown. A conversation that was planned as private is private too. Sessions are shared by
	// default.
	Private bool
	// Source names the origin of the conversation.
	Source checkpoint.Source
	// More: another turn follows at once, as in the import of a past session. Writes to Markdown
	// wait for the last turn.
	More bool
}

// These values name the ways in which a call without its own plan is sent. SentExtended is the
// newest plan's prompt with the later messages. SentWhole is the conversation as the host wrote
// it.
const (
	SentExtended = "extended"
	SentWhole    = "whole"
)

// Outcome is the outcome of an observed turn.
type Outcome string

const (
	// Committed: the turn is in the journal now.
	Committed Outcome = "committed"
	// Duplicate: the turn was in the journal already, with the same content. Nothing was written.
	Duplicate Outcome = "duplicate"
	// Conflict: the same key was committed with other content. Nothing was written.
	Conflict Outcome = "conflict"
	// OpenTurn: the turn has not ended. Its messages were ingested, but it was not committed.
	OpenTurn Outcome = "open_turn"
)

// Observation is the answer to a [Turn].
type Observation struct {
	Outcome        Outcome `json:"outcome"`
	AdvancementKey string  `json:"advancement_key"`
	// Ingested counts the pages that were new.
	Ingested int `json:"ingested"`
	// Turns counts the committed turns of the session.
	Turns int `json:"turns"`
	// Rejected are the refused updates of the turn.
	Rejected []journal.Rejection `json:"rejected,omitempty"`
	// Stats counts the ingested messages and the bytes written.
	Stats Stats `json:"stats"`
	// Faults name the parts of the turn that were not learned. The turn is committed all the
	// same.
	Faults []fault.Fault `json:"faults,omitempty"`
	// Bills are the rows of the calls whose bills were recorded.
	Bills []billing.Call `json:"-"`
}

// Result is the result of a tool call that the host's model has not seen yet.
type Result struct {
	SessionKey string
	Call       memkernel.ToolCall
	Text       string
	// Shown is the number of bytes of the text that the host itself shows, 0 for all. A shaped
	// text is not longer.
	Shown int
	// Resolver is the command by which the model can read a page of the session.
	Resolver string
}

// MayShape reports whether a result has a size and a kind that the kernel shapes, unless it shows
// results whole. It opens no file.
func (r *Result) MayShape() bool {
	return represent.Door(represent.EvidenceInput{Tool: r.Call.Name, Input: r.Call.Input, Text: r.Text, PageID: r.Call.ID, Resolver: r.Resolver}) != ""
}

// DefaultSession is the key of a session without a key.
const DefaultSession = "default"
