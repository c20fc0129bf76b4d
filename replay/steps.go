package replay

import (
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// A caller who opens a kernel with [Recording.Kernel] in a folder of its own, and plans every
// [Recording.Request] in order, gets the same figures as [Run]. The caller can look at each plan, or
// plan a call in another way.

// Kernel returns the options of the kernel that plans the calls.
func (r *Recording) Kernel() *kernel.Options {
	return &kernel.Options{Prices: r.Opt.Prices, Economy: r.Opt.Economy, WholeResults: r.Opt.Whole}
}

// Index returns the number of call n among all calls of the session, from 0.
func (r *Recording) Index(n int) int { return r.numbers[n] }

// AnswerUSD returns the cost of the answer to call n after a prompt of `prompt` tokens.
func (r *Recording) AnswerUSD(n, prompt int) *float64 {
	return priced(r.output[r.Calls[n].Index], r.Model(r.Calls[n].Start).TierFor(prompt).Output)
}

// AfterCompaction reports whether call n is the first call after a compaction by the host.
func (r *Recording) AfterCompaction(n int) bool { return r.after[n] == 1 }

// Refused returns call n as a call that the kernel refused with err. It returns false if the error
// is not about this call alone.
func (r *Recording) Refused(n int, err error) (Unplanned, bool) {
	why, one := refusal(err)
	return r.unplanned(n, why, err.Error()), one
}

// Request returns the plan request for call n.
func (r *Recording) Request(n int) api.PlanRequest {
	opt, end := &r.Opt, r.End(n)
	ttl := opt.TTL
	if opt.ownTTL {
		ttl = api.ChooseTTL
	}
	return api.PlanRequest{SessionKey: Session, Model: opt.Model, ContextWindow: opt.ContextWindow, Reserve: opt.Reserve, FixedTokens: opt.FixedTokens,
		Messages: r.Messages[:end:end], Now: r.Calls[n].Start, Resolver: opt.Resolver, TTL: ttl}
}
