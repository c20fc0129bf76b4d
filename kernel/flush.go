package kernel

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/kernel/status"
)

// The reasons of [ContextPlan.FlushDue].
const (
	FlushTokens = plan.FlushTokens
	FlushBytes  = plan.FlushBytes
)

// FlushTurn is a silent turn for the host's model, to write down what should outlive
// a compaction. It needs one completion without tools, of System and Prompt alone, whose
// answer nobody but [Kernel.ObserveFlush] gets to see.
type FlushTurn struct {
	System string `json:"system"`
	// Prompt is what a user would say. It is "" where a session was named in which nothing
	// is new, or whose conversation this process was not shown: there is nothing to ask. Where
	// flushes are switched off, Section is "" as well.
	Prompt string `json:"prompt"`
	// Section asks for the same in something that a model writes anyway, such as the host's
	// own summary; see [FlushReply.Section].
	Section string `json:"section"`
	// Path is the file that the answer will be appended to.
	Path string `json:"path"`
	// MaxTokens is what the answer may take, in tokens.
	MaxTokens int `json:"max_tokens"`
}

// NoReply is what a model answers that has nothing to write down.
const NoReply = workstate.NoReply

// FlushRequest asks for a flush turn.
type FlushRequest struct {
	// SessionKey names the session whose words Prompt is to show, secrets masked, from
	// where the last flush turn stopped; the newest 20,000 tokens or so. With "" the prompt
	// is for a model that has the conversation before it.
	SessionKey string
	// Messages is the host's whole conversation now. Without it, what the last plan of this
	// process was made of counts. Model is the one that they are planned for.
	Messages []memkernel.Message
	Model    string
	// System and Prompt are the host's own; the safety hints are appended to them.
	System, Prompt string
	// Now is the time whose day, in the user's time zone, names the file.
	Now time.Time
}

// FlushTurn makes the prompts of a flush turn.
func (k *Kernel) FlushTurn(ctx context.Context, r FlushRequest) (*FlushTurn, error) {
	if r.SessionKey != "" && len(r.Messages) == 0 {
		if err := known(k.state, k.sessions, r.SessionKey); err != nil {
			return nil, fmt.Errorf("flush turn: %w", err)
		}
	}
	f, err := k.desk.FlushTurn(ctx, turn.FlushRequest{SessionKey: r.SessionKey, Model: r.Model, Messages: r.Messages, System: r.System, Prompt: r.Prompt, Now: r.Now})
	return (*FlushTurn)(f), err
}

// FlushReply is what a model answered to a [FlushTurn].
type FlushReply struct {
	SessionKey string
	Text       string
	// Section: Text is something longer, in which the memories stand between a line
	// <memory> and a line </memory>. Without them nothing is written.
	Section bool
	// Usage is what the provider billed the answer, nil if that is not known; Model answered.
	Model string
	Usage *memkernel.Usage
	Now   time.Time
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
	// Line tells it to people, in one line: flush: 4 entries to memory/2026-11-23.md.
	Line string `json:"line"`
	// Bill is the row of the answer's bill, nil if there was none.
	Bill *billing.Call `json:"-"`
}

// ObserveFlush appends what a model wrote down to the day's log, by the rules of the
// journal: secrets masked, every item once, nothing that is there changed. The entry's mark
// says that it is the agent's. A bill is recorded with those of the session's calls: without
// memkernel there would be no such call, so it would have cost nothing.
func (k *Kernel) ObserveFlush(ctx context.Context, r FlushReply) (*Flushed, error) {
	out, err := k.desk.Flushed(ctx, turn.FlushReply(r))
	if err != nil {
		return nil, err
	}
	f := &Flushed{Reason: out.Reason, Items: out.Items, Path: out.Path, Unwritten: out.Unwritten, Bill: out.Bill}
	f.Line = f.line()
	return f, nil
}

func (f *Flushed) line() string {
	switch {
	case f.Unwritten != "":
		return "flush: " + f.Unwritten
	case f.Items > 0:
		return status.FlushLine(f.Items, f.Path)
	case f.Reason == "EMPTY":
		return "flush: the model wrote down nothing"
	case f.Reason == "TOO_LARGE":
		return "flush: the model's answer is too long to be a list of memories; nothing was written"
	}
	return "flush: nothing new to keep"
}
