package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// LivePolicies lists the policies that a conversation can be held under. It leaves out policies
// that must know how a session ends.
func LivePolicies() []string {
	return slices.DeleteFunc(Policies(), func(name string) bool { p, _ := policyNamed(name); return p.Ends })
}

// Live plans the calls of a running conversation, under one policy.
type Live struct {
	rec  *Recording
	by   policy
	plan string // id of the kernel's last plan
}

// Sent is the prompt that a policy sends for a call, and its cost.
type Sent struct {
	Messages []memkernel.Message
	Markers  []transcript.Marker
	// Call has the tokens and dollars of the input side.
	Call   Call
	output *float64
}

// CostUSD returns the whole price of the call with an answer of that many tokens, nil if the
// price is unknown.
func (s *Sent) CostUSD(answer int) *float64 {
	b := bill{}
	b.add(answer, s.output)
	return add(s.Call.CostUSD, b.usd())
}

// NewLive begins a conversation. It uses only Summary and the options that decide how a session
// is planned. Callers must give Model. FixedTokens is the size of the host's prompt without the
// messages.
func NewLive(ctx context.Context, name string, opt Options) (*Live, error) {
	base, _, err := ParsePolicy(name)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	if !slices.Contains(LivePolicies(), base) {
		return nil, fmt.Errorf("live: %s has to know the whole session: replay a recorded one under it", name)
	}
	rec, err := RecordMessages(nil, nil, opt)
	if err != nil {
		return nil, fmt.Errorf("live %s: %w", name, err)
	}
	by, err := newPolicy(ctx, name, rec, nil)
	if err != nil {
		return nil, fmt.Errorf("live %s: %w", name, err)
	}
	return &Live{rec: rec, by: by}, nil
}

// Plan returns the prompt to send. messages must be the whole conversation, which is the messages
// of the previous call and all newer messages. The last message must not be the model's.
func (l *Live) Plan(ctx context.Context, messages []memkernel.Message, now time.Time) (*Sent, error) {
	r := l.rec
	if len(messages) < len(r.Messages) {
		return nil, fmt.Errorf("live: %d messages, there were %d before: hand in the whole conversation", len(messages), len(r.Messages))
	}
	for i := len(r.Messages); i < len(messages); i++ {
		r.add(messages[i])
	}
	n := len(r.Calls)
	r.Calls = append(r.Calls, transcript.Call{Index: len(messages), Start: now, End: now})
	pr, err := l.by.plan(ctx, n)
	if err != nil {
		return nil, err
	}
	l.plan = pr.plan
	m := r.Model(now)
	out := &Sent{Messages: pr.messages, Markers: pr.markers, Call: pr.call, output: m.TierFor(pr.bill.Total()).Output}
	out.Call.price(pr.bill, m, r.Opt.FixedTokens, pr.extra)
	return out, nil
}

// add adds a message to the recording.
func (r *Recording) add(m memkernel.Message) {
	m.Usage = nil
	r.Items = append(r.Items, r.Item(fmt.Sprintf("m%d", len(r.Messages)), m))
	r.Messages = append(r.Messages, m)
}

// Observe tells the kernel the state of the conversation after a call. It does nothing under
// other policies.
func (l *Live) Observe(ctx context.Context, messages []memkernel.Message, usage *memkernel.Usage, now time.Time) error {
	p, ok := l.by.(*kernelPolicy)
	if !ok {
		return nil
	}
	_, err := p.k.ObserveTurn(ctx, api.Turn{SessionKey: Session, Model: l.rec.Opt.Model, Messages: messages, PlanID: l.plan, Usage: usage, Now: now})
	return err
}

// Restart replaces the host's process by another process with the same conversation. It closes
// the kernel and reopens it on its state. Other policies keep their state.
func (l *Live) Restart(ctx context.Context) error {
	if p, ok := l.by.(*kernelPolicy); ok {
		return errors.Join(p.k.Close(), p.open(ctx))
	}
	return nil
}

// Kernel returns the kernel that plans, nil under other policies.
func (l *Live) Kernel() *kernel.Kernel {
	if p, ok := l.by.(*kernelPolicy); ok {
		return p.k
	}
	return nil
}

// Close ends the conversation.
func (l *Live) Close() error { return l.by.close() }

// markers turns breakpoints into positions in a request of these blocks.
func markers(blocks []cachelayout.Block, bps []cachelayout.Breakpoint) []transcript.Marker {
	var out []transcript.Marker
	for _, b := range bps {
		m := transcript.Marker{Message: blocks[b.Block].Message, Part: transcript.LastPart, TTL: "5m"}
		if b.TTL >= time.Hour {
			m.TTL = "1h"
		}
		if m.Message == cachelayout.MessageSystem {
			m.Message = transcript.MarkerSystem
		}
		out = append(out, m)
	}
	return out
}
