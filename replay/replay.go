// Package replay runs a recorded session again, call by call, under a context policy. It reports
// the cost of the calls, and how many of the agent's later references were in its prompt.
//
// All policies of a run work on the same messages, token counts, clock and price
// book, and place their markers alike:
//
//	memkernel        the kernel: PlanContext before every call, nothing else
//	append-late      the common way of harnesses: append until the prompt is over
//	                 window − reserve, then compact to a summary and the newest atoms
//	recorded         the host's own way: its compactions and summaries, and the
//	                 results that it cleared
//	fullest          everything ever said, whatever the window: the most that can
//	                 be shown, and no real policy once the window is full
//
// Other packages add policies with [Register].
//
// [Result.Bound] is a lower limit of the cost of all policies.
//
// The agent's recorded actions are replayed. The agent could only use text that its host's own
// compaction had left, so a policy that keeps more text is not credited for better actions. A
// replay prices the input side and the summary calls of policies that compact. It prices the
// recorded output separately, which is the same under every policy. Nothing is sent anywhere.
//
// A call that can't be planned (see [Unplanned]) is left out for every policy. It is in no
// figure, but its messages are in the prompts of later calls.
//
// Token figures are counts and not billed numbers. Costs are US dollars by the embedded price
// book at the time of each call.
package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// Options set how a session is replayed. Zero values mean the defaults.
type Options struct {
	// ContextWindow and Reserve are in tokens. A ContextWindow of 0 means the model's window. A
	// Reserve of 0 means the policy's own default.
	ContextWindow, Reserve int
	// RoomTokens is the window above the fixed part, instead of ContextWindow.
	RoomTokens int
	// FixedTokens is the size of tools and system prompt, which transcripts do not hold.
	FixedTokens int
	// FixedAuto takes FixedTokens from the usage of the first call that has any usage.
	FixedAuto bool
	// Model overrides the recorded model.
	Model string
	// TTL is the cache lifetime of messages. 0 means the lifetime with which the recorded calls
	// wrote, or else the provider's default. With a TTL of 0 the kernel chooses its own lifetime.
	TTL time.Duration
	// ownTTL reports that no TTL was given.
	ownTTL bool
	// Economy is memkernel's choice between memory and money.
	Economy cachelayout.Economy
	// Resolver names the tool by which the model could follow pointers.
	Resolver string
	// Whole makes memkernel show every result whole when the model sees it for the first time.
	Whole bool
	// View is the replayed view of the session, either the messages as the host would see them or
	// every message.
	View transcript.View
	// Limit is the number of calls to replay. 0 means all calls.
	Limit int
	// Prices is the price book. Default: the embedded one.
	Prices *cachelayout.Book
	// Rival is the result under memkernel of the same session with the same options, for policies
	// with Rivals. If it is nil and such a policy needs it, memkernel is replayed first.
	Rival *Result
	// Scratch is an empty folder for the kernel's state.
	Scratch string
	// Progress is called with the number of replayed calls and the number of all calls. It may be
	// nil.
	Progress func(done, all int)
}

// Result is the result of replaying one session under one policy.
type Result struct {
	// Policy is the policy's name, with its figure if one was given.
	Policy        string `json:"policy"`
	Model         string `json:"model"`
	ContextWindow int    `json:"context_window"`
	// FixedTokens is the size of tools and system prompt.
	FixedTokens int `json:"fixed_tokens"`
	// Calls are the planned calls.
	Calls []Call `json:"calls"`
	// Unplanned are the calls that are in no figure, because this policy or a policy that it is
	// compared with could not plan them.
	Unplanned []Unplanned `json:"unplanned"`
	Totals    Totals      `json:"totals"`
	// Bound is the same for all policies.
	Bound bound `json:"bound"`

	// Shown counts the references that were shown.
	Shown int `json:"-"`
}

// Run replays a session under one policy.
func Run(ctx context.Context, s *transcript.Session, name string, opt Options) (*Result, error) {
	base, figures, err := ParsePolicy(name)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if p, _ := policyNamed(base); !p.Rivals {
		opt.Rival = nil
	} else if opt.Rival == nil && len(figures) == 0 {
		if opt.Rival, err = Run(ctx, s, Memkernel, opt); err != nil {
			return nil, err
		}
	}
	rec, err := Record(s, opt)
	if err != nil {
		return nil, fmt.Errorf("replay %s: %w", name, err)
	}
	return rec.Run(ctx, name, opt.Rival)
}

// Run plans every call in turn and scores the prompt against the agent's answer.
func (r *Recording) Run(ctx context.Context, name string, rival *Result) (*Result, error) {
	out := &Result{Policy: name, Model: r.Opt.Model, ContextWindow: r.window(), FixedTokens: r.Opt.FixedTokens,
		Calls: make([]Call, 0, len(r.Calls)), Unplanned: append([]Unplanned{}, r.left...)}
	switch {
	case len(r.Calls)+len(r.left) == 0:
		return nil, errors.New("replay: the transcript holds no model call")
	case len(r.Calls) == 0:
		out.sum()
		return out, nil
	}
	if rival != nil {
		r.others = rival.Unplanned
	}
	p, err := newPolicy(ctx, name, r, rival)
	if err != nil {
		return nil, fmt.Errorf("replay %s: %w", name, err)
	}
	defer p.close()
	j := &judge{rec: r, tracker: recall.New()}
	for n := range r.Calls {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.Opt.Progress != nil {
			r.Opt.Progress(n, len(r.Calls))
		}
		pr, err := p.plan(ctx, n)
		if err != nil {
			u, one := r.Refused(n, err)
			if !one {
				return nil, fmt.Errorf("replay %s: call %d: %w", name, r.numbers[n]+1, err)
			}
			out.Unplanned = append(out.Unplanned, u)
			continue
		}
		call := j.call(n, pr)
		if u, ok := r.Uncounted(n); ok {
			out.Unplanned = append(out.Unplanned, u)
			continue
		}
		out.Calls = append(out.Calls, call)
	}
	slices.SortFunc(out.Unplanned, func(a, b Unplanned) int { return a.Index - b.Index })
	out.sum()
	return out, nil
}

// window returns the window of the last call.
func (r *Recording) window() int {
	var at time.Time
	if n := len(r.Calls); n > 0 {
		at = r.Calls[n-1].Start
	}
	return orElse(r.Opt.ContextWindow, r.Model(at).ContextWindow)
}

// judge scores the calls of one policy. Its history grows only after a score is
// taken.
type judge struct {
	rec     *Recording
	tracker *recall.Tracker
	told    int
	shown   recall.Prompt
}

// call finishes a call: its identity, its cost, and the references that it lacked.
func (j *judge) call(n int, pr *prompt) Call {
	at := j.rec.Calls[n]
	for ; j.told < at.Index; j.told++ {
		j.tracker.Append(j.rec.Messages[j.told])
	}
	c := pr.call
	c.Index, c.bound = j.rec.numbers[n], j.rec.bound(n)
	c.Key, c.Time = j.rec.Messages[at.Index].Key, at.Start
	m := j.rec.Model(at.Start)
	c.Output = j.rec.output[at.Index]
	c.price(pr.bill, m, j.rec.Opt.FixedTokens, pr.extra)
	j.shown.Set(pr.texts)
	c.Recall = j.tracker.Judge(&j.shown, j.rec.Messages[at.Index], pr.behind)
	c.act(j.tracker.Actions(&j.shown, j.rec.Messages[at.Index]))
	if c.Cut != "" {
		c.Held.hold(j, pr.messages, at.Index)
	}
	return c
}
