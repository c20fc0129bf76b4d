// Package turn makes the steps of a session: it plans a call, records the plan, observes a turn,
// passes a boundary, or cuts the prompt on demand. It locks and reads the session, ingests new
// messages, and writes in an order that survives a kill. Package plan decides the content of a
// prompt, and the caller decides how much of it to report to a host.
package turn

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/retrieval"
)

// Desk makes the steps of a kernel's sessions. It holds the parts that the sessions share.
type Desk struct {
	*session.Options
	Sessions *session.Table
	Counts   *budget.Cache
	// WholeResults shows every result whole at first sight.
	WholeResults bool
	Carry        plan.Memory  // the part of Memory that prompts show
	PlanLife     plan.Life    // the plans' view of the working state
	Notes        *notes.Taker // nil without a model
	Habits       *habits      // pauses of agents' sessions
	Edits        api.EditRule // the changes that agents may make to memory's files
	LowWater     int
	// Economy is the default for calls that name no economy.
	Economy cachelayout.Economy
	// Recalled is called for the searches that plans make. It may be nil.
	Recalled func(ctx context.Context, began time.Time, r *retrieval.Result)
}

// boundary is a boundary that the desk is processing.
type boundary struct {
	api.Boundary
	point   journal.CommitPoint
	pending bool       // the next plan must cut
	job     *notes.Job // the last delta before the boundary
}

// StartReason is the journal's reason for a flush at the start of a session. Such a flush removes
// nothing.
const StartReason = "session_start"

// turn returns the boundary as an observed turn.
func (b *boundary) turn() api.Turn {
	return api.Turn{SessionKey: b.SessionKey, Branch: b.Branch, Model: b.Model, Messages: b.Messages, Now: b.Now, Source: b.Source}
}
