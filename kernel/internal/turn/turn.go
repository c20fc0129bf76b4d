// Package turn walks a session through its moments: a call is planned and the plan
// recorded, a turn is observed, a boundary passed, the prompt cut on demand. It has the
// session read and locked, takes in what is new, and has it written in the order that a
// kill survives. What is in a prompt is decided by package plan, and what of it is
// told a host by whoever asks.
package turn

import (
	"context"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/editing"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/habit"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/summary"
)

// Desk is where turns are taken in: what the sessions of a kernel have in common.
type Desk struct {
	Sessions  *session.Table
	State     store.Store // the state directory
	Prices    *cachelayout.Book
	Counts    *budget.Cache
	Counter   Counter // nil asks nobody
	Represent *represent.Options
	Memory    *memory.Memory    // nil if it is off
	Carry     plan.Memory       // what of it stands in prompts
	Life      plan.Life         // the working state, as plans look at it,
	Keeping   workstate.Options // and as it is kept
	Notes     *notes.Taker      // nil without a model
	// Facts asks that model for facts of the logs at a moment; it may take long. Nil asks
	// nobody.
	Facts    func(ctx context.Context, now time.Time)
	Habits   *habit.Book    // what agents' sessions did
	Upkeep   *upkeep.Keeper // keeps who wrote what into memory's files
	Edits    editing.Rule   // what agents may change of them
	Masker   *mask.Masker
	LowWater int
	// Economy is that of calls that name none.
	Economy cachelayout.Economy
	Now     func() time.Time
	// Recalled is told of the searches that plans make. It may be nil.
	Recalled func(ctx context.Context, began time.Time, r *retrieval.Result)
}

// Counter asks a provider how many tokens a request body would be.
type Counter interface {
	CountPrompt(ctx context.Context, model string, body []byte) (int, error)
}

// Call is a call that is planned, and where its conversation comes from.
type Call struct {
	plan.Request
	Source checkpoint.Source
	// Loaded are files that the host shows its model by itself: they are not recalled.
	Loaded []string

	peek bool // the index is not to be written
}

// Turn is what happened after a plan was sent, as a host tells it.
type Turn struct {
	SessionKey, Branch, Model string
	Messages                  []memkernel.Message
	Unchanged, Open           int
	Over                      bool
	PlanID, Sent              string
	Usage                     *memkernel.Usage
	Reported                  *memkernel.Reported
	Now                       time.Time
	AdvancementKey            string
	Updates                   []journal.Update
	Private                   bool
	Source                    checkpoint.Source
	More                      bool
}

// What became of a turn.
const (
	Committed = "committed"
	Duplicate = "duplicate"
	Conflict  = "conflict"
	OpenTurn  = "open_turn"
)

// Observation is the answer to a [Turn].
type Observation struct {
	Outcome, AdvancementKey string
	Ingested, Turns         int
	Rejected                []journal.Rejection
	Stats                   Stats
	Faults                  []fault.Fault
	// Bills are calls that were told of for the first time.
	Bills []billing.Call
}

// Boundary is a moment at which all that is known of a session has to be durable.
type Boundary struct {
	SessionKey, Branch, Model string
	Messages                  []memkernel.Message
	Updates                   []journal.Update
	Key, Reason               string
	Now                       time.Time
	Wish                      Wish // of a compaction
	Private                   bool
	Source                    checkpoint.Source

	pending bool                // the next plan is to cut
	ending  func(summary.State) // called when all is taken in, before it is committed
}

// StartReason is why the journal has a flush where a session began: nothing is destroyed
// by a beginning.
const StartReason = "session_start"

// turn is the boundary as a turn that is observed.
func (b *Boundary) turn() Turn {
	return Turn{SessionKey: b.SessionKey, Branch: b.Branch, Model: b.Model, Messages: b.Messages, Now: b.Now, Source: b.Source}
}

// Passed is the answer to a [Boundary].
type Passed struct {
	Outcome                string
	Ingested, Turns, Epoch int
	Checkpoint             string
	Pinned                 []string
	Rejected               []journal.Rejection
	Faults                 []fault.Fault
	Flushed                int
	Compaction             *Compaction
	Stats                  Stats
}

// Wish says what a compaction on demand is to come to.
type Wish struct {
	plan.Wish
	Call        *plan.Request // what the next call will be like; nil as the last one
	FixedTokens int
	Overflow    *plan.Overflow
}

// How a compaction ends that is not refused by the plan; the other reasons are those of
// package plan.
const (
	CompactOK        = "OK"
	CompactNextPlan  = "AT_NEXT_PLAN"
	CompactUnplanned = "NOT_PLANNED"
	CompactTooLarge  = "BUDGET_INSUFFICIENT"
)

// Compaction is what a compaction on demand came to.
type Compaction struct {
	Reason, Detail                             string
	TokensBefore, TokensAfter, ReclaimedTokens int
	TargetTokens, FixedTokens, ContextWindow   int
	Atoms, Messages, Lowered                   int
	Spans                                      []string
	FirstKept                                  *Kept
	Summary                                    string
	SummaryVersion                             int
	Restore, Checkpoint                        string
	Generation                                 int
	Largest                                    []budget.Item
	PinnedTokens                               int
	Warning                                    string
	Refusal                                    *budget.Overflow
}

// Kept is a message of the host's, by its key and its index.
type Kept struct {
	Key   string
	Index int
}

// Stats is the work that a plan or a turn took.
type Stats struct {
	Ingested, Counted, Examined int
	Blobs                       int
	BlobBytes                   int64
	JournalBytes, LogBytes      int64
	Files                       int
	StateBytes, LiftedBytes     int64
	Syncs                       int
	SyncTime                    time.Duration
}
