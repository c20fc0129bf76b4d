package api

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/represent"
	"time"
)

// Turn is the outcome of a call that was planned.
type Turn struct {
	SessionKey string
	Branch     string
	Model      string
	// Messages is the host's whole conversation after the turn. Rules and memories are made only
	// of texts that are marked as typed by a person ([memkernel.Part]).
	Messages []memkernel.Message
	// Unchanged is the number of messages at the beginning that the host guarantees to be those
	// of the turn that it handed in before for this session, branch and model. They are not
	// compared again. If this process no longer knows them they are read. 0 compares all.
	Unchanged int
	// Open is the number of messages at the end that belong to an unfinished turn, whatever their
	// form. They are stored, and the turn before them is committed.
	Open int
	// Over: no message will follow, as after the host's process died. The last turn is committed
	// whatever it ends with. A call without a result has no known outcome.
	Over bool
	// PlanID names the plan that was sent for the last call. Usage is the provider's bill for it.
	// Both may be missing. A turn that is still open may be delivered after each of its calls, so
	// that every bill is kept.
	PlanID string
	// Sent is how a call without a plan of its own was sent, if Usage is its bill: SentExtended
	// or SentWhole. "" for a planned one.
	Sent  string
	Usage *memkernel.Usage
	// Reported is the answer's report about its request, nil if it had none.
	Reported *memkernel.Reported
	Now      time.Time
	// AdvancementKey makes the delivery idempotent. Default: a hash of session
	// and key of the turn's last message.
	AdvancementKey string
	// Updates are the host's own writes in this turn; see Kernel.Write. A rejected update does
	// not keep the turn from being committed.
	Updates []journal.Update
	// Private: the session is private, so its working state may be in the workspace's Markdown. A
	// conversation that was planned as private is private too. Sessions are shared by default.
	Private bool
	// Source names the origin of the conversation.
	Source checkpoint.Source
	// More: another turn follows at once, as in the import of a past session. Writes to Markdown
	// wait for the last turn.
	More bool
}

// The ways in which a call without a plan of its own was sent: as the newest plan's prompt with
// the later messages, or as the host wrote it.
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
	// Faults name the parts of the turn that were not learned. It is committed all the same.
	Faults []fault.Fault `json:"faults,omitempty"`
	// Bills are the rows of the calls whose bills were taken.
	Bills []billing.Call `json:"-"`
}

// Result is the result of a tool's call that the host's model has not seen yet.
type Result struct {
	SessionKey string
	Call       memkernel.ToolCall
	Text       string
	// Shown is the number of bytes of the text that the host itself shows, 0 for all. A shaped
	// text shows no more.
	Shown int
	// Resolver is the command by which the model can read a page of the session.
	Resolver string
}

// MayShape reports whether a result is of a size and a kind that [ShapeResult] shapes unless
// [represent.Options] have Whole. It opens nothing.
func (r *Result) MayShape() bool {
	return represent.Door(represent.EvidenceInput{Tool: r.Call.Name, Input: r.Call.Input, Text: r.Text, PageID: r.Call.ID, Resolver: r.Resolver}) != ""
}

// DefaultSession is the key of a session that has none.
const DefaultSession = "default"
