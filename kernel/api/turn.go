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
	// Messages is the host's whole conversation after the turn. Rules and memories are
	// made of texts that are marked as typed by a person alone ([memkernel.Part]).
	Messages []memkernel.Message
	// Unchanged is the number of messages at the beginning that the host guarantees to be those
	// of the turn that it handed in before for this session, branch and model. They are not
	// compared again. If this process no longer knows them they are read. 0 compares all.
	Unchanged int
	// Open is how many messages at the end belong to a turn that may go on, whatever they
	// look like: they are kept, and the turn before them is the one that is committed.
	Open int
	// Over: nothing follows, as where the host's process died. The last turn is committed
	// whatever it ends with; a call without a result has no known outcome.
	Over bool
	// PlanID names the plan that was sent for the last call. Usage is the provider's bill for it.
	// Both may be missing. A turn that is still open may be delivered after each of its calls, so
	// that every bill is kept.
	PlanID string
	// Sent says how a call went out that had no plan of its own and that Usage is the bill
	// of: SentExtended or SentWhole. "" for a planned one.
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
	// Private: the session is private, so its working state may be in the
	// workspace's Markdown. A conversation that was planned as private counts as such; a
	// door that doesn't say is shared.
	Private bool
	// Source says where the conversation comes from.
	Source checkpoint.Source
	// More: another turn follows at once, as in the import of a past session. Writes to Markdown
	// wait for the last turn.
	More bool
}

// The ways in which a call without a plan of its own went out: as the newest plan's prompt
// with the messages that came since, or as the host wrote it.
const (
	SentExtended = "extended"
	SentWhole    = "whole"
)

// Outcome is the outcome of an observed turn.
type Outcome string

const (
	// Committed: the turn is in the journal now.
	Committed Outcome = "committed"
	// Duplicate: it was there already, with the same content. Nothing was written.
	Duplicate Outcome = "duplicate"
	// Conflict: the same key was committed with other content. Nothing was written.
	Conflict Outcome = "conflict"
	// OpenTurn: the turn has not ended; its messages were ingested, the turn was
	// not committed.
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
	// Rejected are those of the turn's updates that were refused.
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
	// Shown is how many bytes of the text the host shows by itself, 0 for all. No more are
	// shown instead.
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
