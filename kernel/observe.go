package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// Turn is what happened after a plan was sent.
type Turn struct {
	SessionKey string
	Branch     string
	Model      string
	// Messages is the host's whole conversation after the turn. Rules and memories are
	// made of texts that are marked as typed by a person alone ([memkernel.Part]).
	Messages []memkernel.Message
	// Unchanged is how many messages at the beginning the host vouches for: they are
	// those of the turn that it handed in before of this session, branch and model, and
	// are not compared again. Where this process does not know them any more they are
	// read. 0 compares all.
	Unchanged int
	// Open is how many messages at the end belong to a turn that may go on, whatever they
	// look like: they are kept, and the turn before them is the one that is committed.
	Open int
	// Over: nothing follows, as where the host's process died. The last turn is committed
	// whatever it ends with; a call without a result has no known outcome.
	Over bool
	// PlanID names the plan that was sent for the last call, Usage what the provider
	// billed for it. Both may be missing. A turn that is still open may be delivered
	// after each of its calls, so that every bill is kept.
	PlanID string
	// Sent says how a call went out that had no plan of its own and that Usage is the bill
	// of: SentExtended or SentWhole. "" for a planned one.
	Sent  string
	Usage *memkernel.Usage
	// Reported is what the same answer told of its request, nil for nothing.
	Reported *memkernel.Reported
	Now      time.Time
	// AdvancementKey makes the delivery idempotent. Default: a hash of session
	// and key of the turn's last message.
	AdvancementKey string
	// Updates are what the host writes beside the turn; see [Kernel.Write]. What is
	// rejected does not keep the turn from being committed.
	Updates []journal.Update
	// Private: the session is private, so its working state may be in the
	// workspace's Markdown. A conversation that was planned as private counts as such; a
	// door that doesn't say is shared.
	Private bool
	// Source says where the conversation comes from.
	Source Source
	// More: another turn follows at once, as where a past session is taken in. What
	// is written to Markdown waits for the last.
	More bool
}

// The ways in which a call without a plan of its own went out: as the newest plan's prompt
// with the messages that came since, or as the host wrote it.
const (
	SentExtended = turn.SentExtended
	SentWhole    = turn.SentWhole
)

// Outcome says what became of an observed turn.
type Outcome string

const (
	// Committed: the turn is in the journal now.
	Committed Outcome = turn.Committed
	// Duplicate: it was there already, with the same content. Nothing was written.
	Duplicate Outcome = turn.Duplicate
	// Conflict: the same key was committed with other content. Nothing was written.
	Conflict Outcome = turn.Conflict
	// OpenTurn: the turn has not ended; its messages were ingested, the turn was
	// not committed.
	OpenTurn Outcome = turn.OpenTurn
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
	// Stats is what was written.
	Stats Stats `json:"stats"`
	// Faults name what was not learned from the turn. It is committed all the same.
	Faults []fault.Fault `json:"faults,omitempty"`
	// Bills are the rows of the calls whose bills were taken.
	Bills []billing.Call `json:"-"`
}

// ObserveTurn commits a turn: its pages, its usage, and the summary brought up to
// date. It is atomic (the journal line is the commit) and idempotent per
// AdvancementKey.
func (k *Kernel) ObserveTurn(ctx context.Context, t Turn) (*Observation, error) {
	return observed(ctx, k, OpTurn, t, k.desk.Observe)
}

// ObserveToolResult ingests what a host has so far, in the middle of a turn, so
// that a kill loses at most the running call. Nothing that is shown changes.
func (k *Kernel) ObserveToolResult(ctx context.Context, t Turn) (*Observation, error) {
	return observed(ctx, k, OpToolResult, t, k.desk.Ingest)
}

// observed takes a turn in, and tells who watches of it.
func observed(ctx context.Context, k *Kernel, op Op, t Turn, observe func(context.Context, turn.Turn) (*turn.Observation, error)) (*Observation, error) {
	done := k.watch.begin(op)
	o, err := observe(ctx, turn.Turn(t))
	out, err := observation(o, err)
	k.watch.end(ctx, done, err, func(d *Done) { d.Model, d.Observation = t.Model, out })
	return out, err
}

// observation is what became of a turn, as hosts get it.
func observation(o *turn.Observation, err error) (*Observation, error) {
	if o == nil {
		return nil, err
	}
	return &Observation{Outcome: Outcome(o.Outcome), AdvancementKey: o.AdvancementKey, Ingested: o.Ingested, Turns: o.Turns,
		Rejected: o.Rejected, Stats: Stats(o.Stats), Faults: append([]fault.Fault(nil), o.Faults...), Bills: o.Bills}, err
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

// ShapeResult stores a large result and returns the text that the model may be shown instead,
// which names the page that holds all of it. It returns "" if the model is to see the result
// as it is. The page is durable when ShapeResult returns: a turn that is observed
// later, with the text in the place of the result, is learned from as if it held the result.
func ShapeResult(ctx context.Context, k *Kernel, r Result) (string, error) {
	part := memkernel.Part{Kind: memkernel.PartText, Text: r.Text}
	return turn.Shape(ctx, k.desk, r.SessionKey, r.Resolver, &r.Call, &memkernel.ToolResult{CallID: r.Call.ID, Name: r.Call.Name, Text: true, Content: []memkernel.Part{part}}, r.Shown)
}
