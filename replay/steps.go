package replay

import (
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// Steps gives access to the calls of a recorded session one by one, as the policy memkernel plans
// them. Callers can look at each plan, or plan a call in another way. A caller who plans all
// their requests in order on one kernel gets the same figures as [Run].
type Steps struct{ rec *Recording }

// NewSteps splits a session into its calls. It uses only the options that decide how the kernel
// plans.
func NewSteps(s *transcript.Session, opt Options) (*Steps, error) {
	rec, err := record(s, opt)
	if err != nil {
		return nil, fmt.Errorf("take the session apart: %w", err)
	}
	return &Steps{rec}, nil
}

// Options returns the options of the kernel that plans the calls. The kernel has its own folder.
func (s *Steps) Options() *kernel.Options {
	return &kernel.Options{Prices: s.rec.Opt.Prices, Economy: s.rec.Opt.Economy, WholeResults: s.rec.Opt.Whole}
}

// Len returns how many calls can be planned.
func (s *Steps) Len() int { return len(s.rec.Calls) }

// Left returns the calls that can't be planned.
func (s *Steps) Left() []Unplanned { return s.rec.left }

// Index returns the number of call n among all calls of the session, from 0.
func (s *Steps) Index(n int) int { return s.rec.numbers[n] }

// Time returns the time at which call n began.
func (s *Steps) Time(n int) time.Time { return s.rec.Calls[n].Start }

// End returns how many messages are before call n. The next message is the call's answer.
func (s *Steps) End(n int) int { return s.rec.End(n) }

// Messages returns all messages of the session.
func (s *Steps) Messages() []memkernel.Message { return s.rec.Messages }

// Model returns the model for which the calls are planned.
func (s *Steps) Model() string { return s.rec.Opt.Model }

// FixedTokens returns the size of tools and system prompt, which the session does not hold.
func (s *Steps) FixedTokens() int { return s.rec.Opt.FixedTokens }

// Price returns the model's entry in the price book at the time of call n.
func (s *Steps) Price(n int) cachelayout.Model { return s.rec.Model(s.rec.Calls[n].Start) }

// Answer returns the size of the answer to call n, in tokens, and its cost after a prompt of
// `prompt` tokens.
func (s *Steps) Answer(n, prompt int) (tokens int, usd *float64) {
	tokens = s.rec.output[s.rec.Calls[n].Index]
	return tokens, outputCost(s.Price(n).TierFor(prompt), tokens)
}

// AfterCompaction reports whether call n is the first call after a compaction by the host.
func (s *Steps) AfterCompaction(n int) bool { return s.rec.after[n] == 1 }

// Unplanned returns call n as a call that the kernel refused with err. It returns false if the
// error is not about this call alone.
func (s *Steps) Unplanned(n int, err error) (Unplanned, bool) {
	why, one := refusal(err)
	return s.rec.unplanned(n, why, err.Error()), one
}

// Request returns the plan request for call n.
func (s *Steps) Request(n int) api.PlanRequest { return s.rec.request(n) }

// request returns the plan request for call n.
func (r *Recording) request(n int) api.PlanRequest {
	opt, end := &r.Opt, r.End(n)
	ttl := opt.TTL
	if opt.ownTTL {
		ttl = api.ChooseTTL
	}
	return api.PlanRequest{SessionKey: Session, Model: opt.Model, ContextWindow: opt.ContextWindow, Reserve: opt.Reserve, FixedTokens: opt.FixedTokens,
		Messages: r.Messages[:end:end], Now: r.Calls[n].Start, Resolver: opt.Resolver, TTL: ttl}
}
