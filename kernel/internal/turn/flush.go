package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// Flush is a silent turn for the host's model, to write down what should outlive a
// compaction.
type Flush struct{ System, Prompt, Path string }

// FlushReply is what a model answered to a [Flush].
type FlushReply struct {
	SessionKey, Text string
	Now              time.Time
}

// FlushAnswer tells what was made of it.
type FlushAnswer struct {
	Reason          string
	Items           int
	Path, Unwritten string
}

// The safety hints stand below a host's own prompts, too.
const flushHints = `Answer with a Markdown list, one memory a line; it is appended to %s for you.
Begin each with why it matters, in brackets: [decision] a decision or plan changed, [surprise] it was not
expected, [human] the user cares about it, [lesson] it can be used again, [identity] it changed who you are.
Do not rewrite or repeat what stands there. MEMORY.md, SOUL.md, TOOLS.md and AGENTS.md are read-only now.
If there is nothing to keep, answer ` + workstate.NoReply + ` and nothing else.`

// FlushTurn makes the prompts. The hints are appended to a host's own.
func (d *Desk) FlushTurn(now time.Time, system, prompt string) (*Flush, error) {
	if d.Memory == nil {
		return nil, errors.New("flush: memory is switched off")
	}
	if now.IsZero() {
		now = d.Now()
	}
	f := &Flush{System: system, Prompt: prompt, Path: d.Memory.Shared.DailyPath(now)}
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

// Flushed appends what a model wrote down to the day's log.
func (d *Desk) Flushed(ctx context.Context, r FlushReply) (*FlushAnswer, error) {
	if d.Memory == nil {
		return nil, errors.New("flush: memory is switched off")
	}
	s, unlock, err := d.Sessions.UseKey(ctx, r.SessionKey, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r.Now.IsZero() {
		r.Now = d.Now()
	}
	out, err := observeFlush(ctx, s, r)
	if err != nil {
		s.Invalidate()
		return nil, fmt.Errorf("flush session %s: %w", s.Key, err)
	}
	d.stateFacts(out.Items, r.Now)
	return out, nil
}

func observeFlush(ctx context.Context, s *session.Session, r FlushReply) (*FlushAnswer, error) {
	reason, n, path, err := s.Life.Log().Reply(ctx, r.Text, r.Now)
	out := &FlushAnswer{Reason: reason, Items: n, Path: path}
	if kept := (*session.UnwrittenError)(nil); errors.As(err, &kept) {
		out.Unwritten, err = kept.Error(), nil
	}
	return out, err
}
