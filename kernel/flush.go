package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
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

// The safety hints stand below a host's own prompts, too.
const flushHints = `Answer with a Markdown list, one memory a line; it is appended to %s for you.
Begin each with why it matters, in brackets: [decision] a decision or plan changed, [surprise] it was not
expected, [human] the user cares about it, [lesson] it can be used again, [identity] it changed who you are.
Do not rewrite or repeat what stands there. MEMORY.md, SOUL.md, TOOLS.md and AGENTS.md are read-only now.
If there is nothing to keep, answer ` + NoReply + ` and nothing else.`

// FlushTurn makes the prompts. Own ones may be handed in; the hints are appended to
// them. The date is that of the user's time zone.
func (k *Kernel) FlushTurn(now time.Time, system, prompt string) (*FlushTurn, error) {
	if k.memory == nil {
		return nil, errors.New("flush: memory is switched off")
	}
	if now.IsZero() {
		now = k.now()
	}
	f := &FlushTurn{System: system, Prompt: prompt, Path: k.memory.Shared.DailyPath(now)}
	if f.System == "" {
		f.System = "The session will be compacted soon. Write down what has to outlive it: decisions with their reasons, what was learned, what the user asked to be remembered."
	}
	if f.Prompt == "" {
		f.Prompt = "What of this session should be remembered?"
	}
	hints := fmt.Sprintf(flushHints, f.Path)
	f.System, f.Prompt = f.System+"\n"+hints, f.Prompt+"\n"+hints
	return f, nil
}

// FlushReply is what a model answered to a [FlushTurn].
type FlushReply struct {
	SessionKey string
	Text       string
	Now        time.Time
}

// Flushed tells what was made of it.
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
// journal: secrets masked, every item once, nothing that stands changed.
func (k *Kernel) ObserveFlush(ctx context.Context, r FlushReply) (*Flushed, error) {
	if k.memory == nil {
		return nil, errors.New("flush: memory is switched off")
	}
	s, unlock, err := k.open(ctx, r.SessionKey, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r.Now.IsZero() {
		r.Now = k.now()
	}
	out, err := observeFlush(ctx, s, r)
	if err != nil {
		s.Invalidate()
		return nil, fmt.Errorf("flush session %s: %w", s.Key, err)
	}
	return out, nil
}

func observeFlush(ctx context.Context, s *session.Session, r FlushReply) (*Flushed, error) {
	reason, n, path, err := s.Life.Log().Reply(ctx, r.Text, r.Now)
	out := &Flushed{Reason: reason, Items: n, Path: path}
	if kept := (*session.UnwrittenError)(nil); errors.As(err, &kept) {
		out.Unwritten, err = kept.Error(), nil
	}
	return out, err
}
