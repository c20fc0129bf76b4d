// Package replay runs a recorded session again, call by call, under a context
// policy, and says what the calls would have cost and how much of what the agent
// went on to refer to was in front of it.
//
// Three policies can be compared in one run, over the same token counts, the same
// clock and the same price book:
//
//	memkernel    the kernel: PlanContext before every call, nothing else
//	append-late  what harnesses commonly do: append until the prompt is over
//	             window − reserve, then compact to a summary and the newest atoms
//	fullest      everything ever said, whatever the window: the most that can be
//	             shown, and no real policy once the window is full
//
// What is replayed is what was recorded: agents could only use what their host's
// own compaction had left them, so a policy that keeps more is not credited for
// what the agent might have done with it. Only the input side is priced, and the
// summary call of append-late. Nothing is sent anywhere.
//
// Tokens are counted, not billed; costs are US dollars by the embedded price book
// at the time of each call.
package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/bench/recall"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// The policies, by name.
const (
	Memkernel  = "memkernel"
	AppendLate = "append-late"
	Fullest    = "fullest"
)

// Policies lists the names of all policies.
func Policies() []string { return []string{Memkernel, AppendLate, Fullest} }

// Options say how a session is replayed. Zero values mean the defaults.
type Options struct {
	// ContextWindow and Reserve are tokens; 0 takes the model's and the policy's
	// own default.
	ContextWindow, Reserve int
	// FixedTokens is tools and system prompt, which transcripts do not hold.
	FixedTokens int
	// Model overrides the recorded model.
	Model string
	// TTL is the cache lifetime; 0 takes the one that the recorded calls wrote
	// with, else the provider's default.
	TTL time.Duration
	// Resolver names the tool by which the model could follow pointers.
	Resolver string
	// View is what is replayed. Default: everything ever said.
	View transcript.View
	// Limit is the number of calls to replay, 0 for all.
	Limit int
	// Prices is the price book. Default: the embedded one.
	Prices *cachelayout.Book
	// Scratch is an empty folder for the kernel's state.
	Scratch string
	// Reopen closes and reopens the kernel between calls.
	Reopen bool
}

// Call is what one call of a replay would have held and cost.
type Call struct {
	Index      int       `json:"index"`
	Key        string    `json:"key"`
	Time       time.Time `json:"time,omitzero"`
	Input      int       `json:"input_tokens"`
	Read       int       `json:"cache_read_tokens"`
	Write      int       `json:"cache_write_tokens"`
	Uncached   int       `json:"uncached_tokens"`
	CostUSD    *float64  `json:"cost_usd"`
	Cold       bool      `json:"cold"`
	Cut        string    `json:"cut,omitempty"`
	Overflow   bool      `json:"overflow,omitempty"`
	Violations int       `json:"violations,omitempty"`
	Faults     int       `json:"faults,omitempty"`

	Recall recall.Score `json:"recall"`
}

// Totals sums a replay.
type Totals struct {
	Calls            int      `json:"calls"`
	InputTokens      int      `json:"input_tokens"`
	CacheReadTokens  int      `json:"cache_read_tokens"`
	CacheWriteTokens int      `json:"cache_write_tokens"`
	UncachedTokens   int      `json:"uncached_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
	Cuts             int      `json:"cuts"`
	ColdEvents       int      `json:"cold_events"`
	Overflows        int      `json:"overflows"`
	Violations       int      `json:"violations"`
	Faults           int      `json:"faults"`
	// ReferenceRecall is the share of references whose line was shown; Named and
	// Pointer are the shares that were only named, or only behind a pointer.
	ReferenceRecall float64 `json:"reference_recall"`
	Named           float64 `json:"named"`
	Pointer         float64 `json:"behind_pointer"`
	References      int     `json:"references"`
	// AnchorRecall is the share of earlier seen edit anchors that were shown.
	AnchorRecall float64 `json:"anchor_recall"`
	// HitRatio is cache reads over all input.
	HitRatio float64 `json:"hit_ratio"`
}

// Result is one session under one policy.
type Result struct {
	Policy string `json:"policy"`
	Model  string `json:"model"`
	Calls  []Call `json:"calls"`
	Totals Totals `json:"totals"`
}

// prompt is what a policy shows for one call.
type prompt struct {
	texts  []string
	behind func(recall.Place) bool
	call   Call
}

// policy plans one call: the messages before it, and when it started.
type policy interface {
	plan(ctx context.Context, msgs []memkernel.Message, start time.Time) (*prompt, error)
	close() error
}

// Run replays a session under one policy.
func Run(ctx context.Context, s *transcript.Session, name string, opt Options) (*Result, error) {
	msgs, calls := prepare(s, &opt)
	if len(calls) == 0 {
		return nil, fmt.Errorf("replay: the transcript holds no model call")
	}
	p, err := newPolicy(ctx, name, opt, msgs)
	if err != nil {
		return nil, fmt.Errorf("replay %s: %w", name, err)
	}
	defer p.close()
	r := &Result{Policy: name, Model: opt.Model, Calls: make([]Call, 0, len(calls))}
	if err := r.run(ctx, p, msgs, calls, opt); err != nil {
		return nil, fmt.Errorf("replay %s: %w", name, err)
	}
	r.sum()
	return r, nil
}

// run plans every call in turn and scores what it shows against what the agent
// went on to say. The history grows only after the score is taken.
func (r *Result) run(ctx context.Context, p policy, msgs []memkernel.Message, calls []transcript.Call, opt Options) error {
	tracker := recall.New()
	var shown recall.Prompt
	told := 0
	for n, c := range calls {
		if opt.Limit > 0 && n >= opt.Limit {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for ; told < c.Index; told++ {
			tracker.Append(msgs[told])
		}
		pr, err := p.plan(ctx, msgs[:c.Index:c.Index], c.Start)
		if err != nil {
			return fmt.Errorf("call %d: %w", n+1, err)
		}
		shown.Set(pr.texts)
		pr.call.Index, pr.call.Key, pr.call.Time = n, msgs[c.Index].Key, c.Start
		pr.call.Recall = tracker.Call(&shown, msgs[c.Index], pr.behind)
		r.Calls = append(r.Calls, pr.call)
	}
	return nil
}

// prepare takes the view apart into messages and calls, and forgets what the
// provider billed: a replay knows messages and times, nothing else.
func prepare(s *transcript.Session, opt *Options) ([]memkernel.Message, []transcript.Call) {
	if opt.Prices == nil {
		opt.Prices = cachelayout.DefaultBook()
	}
	msgs, _ := transcript.Heal(s.View(opt.View), false)
	out := make([]memkernel.Message, len(msgs))
	var ttl time.Duration
	for i := range msgs {
		out[i] = msgs[i]
		if u := msgs[i].Usage; u != nil {
			if u.CacheWrite1hTokens > 0 {
				ttl = time.Hour
			} else if u.CacheWrite5mTokens > 0 && ttl == 0 {
				ttl = 5 * time.Minute
			}
		}
		if opt.Model == "" && msgs[i].Model != "" && msgs[i].Origin == memkernel.OriginHost {
			opt.Model = msgs[i].Model
		}
		out[i].Usage = nil
	}
	if opt.TTL == 0 {
		opt.TTL = ttl
	}
	return out, transcript.Calls(msgs)
}

func newPolicy(ctx context.Context, name string, opt Options, msgs []memkernel.Message) (policy, error) {
	switch name {
	case Memkernel:
		return newKernelPolicy(ctx, opt)
	case AppendLate:
		return newAppendPolicy(opt, msgs, false)
	case Fullest:
		return newAppendPolicy(opt, msgs, true)
	}
	return nil, fmt.Errorf("unknown policy %q: use one of %v", name, Policies())
}

// sum adds the calls up.
func (r *Result) sum() {
	t := Totals{Calls: len(r.Calls)}
	cost, priced := 0.0, true
	var score recall.Score
	for i := range r.Calls {
		c := &r.Calls[i]
		t.InputTokens += c.Input
		t.CacheReadTokens += c.Read
		t.CacheWriteTokens += c.Write
		t.UncachedTokens += c.Uncached
		t.Violations += c.Violations
		t.Faults += c.Faults
		if c.CostUSD == nil {
			priced = false
		} else {
			cost += *c.CostUSD
		}
		if c.Cut != "" {
			t.Cuts++
		}
		if c.Cold && i > 0 {
			t.ColdEvents++
		}
		if c.Overflow {
			t.Overflows++
		}
		score.Add(c.Recall)
	}
	if priced {
		t.CostUSD = &cost
	}
	t.References = score.References
	t.ReferenceRecall, t.Named, t.Pointer = share(score.Shown, score.References), share(score.Named, score.References), share(score.Pointer, score.References)
	t.AnchorRecall = share(score.EditsShown, score.Edits)
	t.HitRatio = share(t.CacheReadTokens, t.InputTokens)
	r.Totals = t
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
