package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// The reasons of [ContextPlan.FlushDue].
const (
	FlushTokens = plan.FlushTokens
	FlushBytes  = plan.FlushBytes
)

// FlushTurn is a silent turn for the host's model, to write down what should outlive
// a compaction.
type FlushTurn struct {
	System string `json:"system"`
	Prompt string `json:"prompt"`
	// Path is the file that the answer will be appended to.
	Path string `json:"path"`
}

// NoReply is what a model answers that has nothing to write down.
const NoReply = workstate.NoReply

// FlushTurn makes the prompts. Own ones may be handed in; the hints are appended to
// them. The date is that of the user's time zone.
func (k *Kernel) FlushTurn(now time.Time, system, prompt string) (*FlushTurn, error) {
	f, err := k.desk.FlushTurn(now, system, prompt)
	return (*FlushTurn)(f), err
}

// FlushReply is what a model answered to a [FlushTurn].
type FlushReply struct {
	SessionKey string
	Text       string
	Now        time.Time
}

// Flushed is what was made of it.
type Flushed struct {
	// Reason is OK, NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE.
	Reason string `json:"reason"`
	// Items counts the memories that were new.
	Items int    `json:"items"`
	Path  string `json:"path,omitempty"`
	// Unwritten says why the file does not have them yet, "" if it has; see [Remembered].
	Unwritten string `json:"unwritten,omitempty"`
}

// ObserveFlush appends what a model wrote down to the day's log, by the rules of the
// journal: secrets masked, every item once, nothing that is there changed.
func (k *Kernel) ObserveFlush(ctx context.Context, r FlushReply) (*Flushed, error) {
	out, err := k.desk.Flushed(ctx, turn.FlushReply(r))
	return (*Flushed)(out), err
}
