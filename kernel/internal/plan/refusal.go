package plan

import (
	"cmp"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// maxRefusedRatio is the ratio of real to counted tokens above which a refusal is attributed to
// content that the host did not show us rather than to our count.
const maxRefusedRatio = 2

// refusal holds the conclusions of a plan from the provider's refusal of the last request.
type refusal struct {
	// Refused reports that this plan answers a refusal of the prompt's size. Figures are the
	// refusal's figures.
	Refused bool
	Figures *budget.Overflow
	// Count is the counted size of the refused conversation, and Actual is its real size. Both
	// are 0 if they are unknown.
	Count, Actual int
	// prompt is the refused prompt.
	prompt *pagevm.Projection
	// thinking reports that this plan answers a refusal of thinking.
	thinking bool
	// limits are all limits that were learned from refusals so far.
	limits branch.Refusals
}

// learnRefusal learns the limits that a refusal implies, before the plan is measured by them.
func learnRefusal(c *call, l *limits) (refusal, error) {
	r := refusal{limits: c.Prev.Overflow}
	o := c.Request.Overflow
	if o == nil {
		r.limits.Tries = 0
		return r, nil
	}
	if budget.RefusesThinking(o.Text) {
		var err error
		r.thinking, err = refusesThinking(c)
		return r, err
	}
	figures, err := figuresOf(o)
	if err != nil {
		return r, err
	}
	r.Figures = figures
	if answered(c, figures) {
		return r, nil
	}
	r.Refused, r.prompt = true, c.Prev.Proj
	r.limits.Tries++
	if r.limits.Tries > overflowTries {
		return r, &api.OverflowError{Tries: r.limits.Tries - 1, Planned: l.Unanchored(r.prompt), Window: l.Window, Largest: largestItems(c, l, r.prompt.Carry, r.prompt.Items)}
	}
	return withSizes(c, l, r), nil
}

// refusesThinking reports whether the plan has to leave out all thinking of earlier turns.
func refusesThinking(c *call) (bool, error) {
	if answered(c, &budget.Overflow{}) {
		return false, nil
	}
	for _, s := range c.segments(0) {
		if s.Bare.Hash != "" {
			c.log.fault(fault.Fault{Code: "thinking_refused", Detail: "the provider refused thinking of earlier turns whose prefix had changed: this request holds none"})
			return true, nil
		}
	}
	return false, api.ErrNoThinking
}

// thinkingOut returns the candidate of a cut that removes only thinking. If the cut is refused, it
// returns from.
func thinkingOut(c *call, from candidate, cache pagevm.Cache) candidate {
	wishes := pagevm.Wishes{Cut: &pagevm.CutWish{Reason: pagevm.CutThinking}}
	for _, it := range from.Proj.Carry {
		wishes.Carry = append(wishes.Carry, pagevm.Block{Kind: it.Kind, Page: it.Page, Level: it.Level, Hash: it.Hash, Tokens: it.Tokens})
	}
	proj, dec := c.nextProjection(wishes, cache)
	if dec.Cut == nil {
		return from
	}
	from.Proj, from.Made, from.wishes, from.cache = proj, dec, wishes, cache
	return from
}

// figuresOf returns the figures of a refusal's text. The host's own figures take precedence.
func figuresOf(o *api.Overflow) (*budget.Overflow, error) {
	f, ok := budget.ParseOverflow(o.Text)
	if !ok && o.Text != "" {
		return nil, api.ErrNoOverflow
	}
	f.Input, f.Limit = cmp.Or(o.Input, f.Input), cmp.Or(o.Limit, f.Limit)
	return &f, nil
}

// answered reports whether the newest plan was already made for the refusal.
func answered(c *call, f *budget.Overflow) bool {
	switch o, past := c.Request.Overflow, &c.Prev.Overflow; {
	case c.Prev.Plan == "":
		return false
	case o.PlanID != "":
		return o.PlanID != c.Prev.Plan
	case f.Input > 0 && f.Input == past.Last:
		return true
	}
	return c.Prev.Unsent && c.Prev.Overflow.Tries > 0
}

// withSizes adds to a refusal the window, and the ratio of the refused prompt's real size to its
// counted size.
func withSizes(c *call, l *limits, r refusal) refusal {
	f := r.Figures
	r.limits.Last = f.Input
	if f.Limit > 0 && f.Limit < l.Window {
		r.limits.Window = f.Limit
	}
	r.limits.Reserve = max(r.limits.Reserve, f.Answer)
	if c.Prev.Unsent {
		return r // the refused request is from before the last compaction
	}
	fixed, counted := c.Prev.FixedTokens(), c.Prev.Proj.Tokens()
	if c.Prev.Plan == "" { // the refused request is the host's own prompt
		fixed, counted = l.Fixed, 0
		for i := range c.Hosts {
			counted += c.Hosts[i].Tokens()
		}
	}
	if f.Limit == 0 && l.From == api.WindowUnknown {
		r.limits.Window = fixed + counted // the window is smaller than the refused prompt
	}
	actual := cmp.Or(f.Input, max(f.Limit, min(l.Window, fixed+counted))+1)
	if counted <= 0 || actual <= fixed {
		return r
	}
	r.Count, r.Actual = counted, actual-fixed
	switch ratio := float64(actual-fixed) / float64(counted); {
	case ratio <= maxRefusedRatio:
		r.limits.Ratio = max(r.limits.Ratio, ratio)
	case f.Input > 0:
		r.limits.Hidden += actual - fixed - int(float64(counted)*max(1, l.Ratio))
	default:
		r.limits.Ratio = maxRefusedRatio // without figures the largest ratio is assumed
	}
	return r
}

// takenBack returns the last state without the results that only the refused request showed. The
// model has not seen these results, so they may be shown shorter. It returns nil if there are no
// such results.
func takenBack(c *call) *branch.State {
	at := len(c.Hosts)
	for at > 0 && transcript.HasResults(c.Msgs[at-1]) {
		at--
	}
	if at == len(c.Hosts) || at >= len(c.Prev.Proj.Seen) || c.Align.Rewrite != pagevm.RewriteNone {
		return nil
	}
	prev := *c.Prev
	prev.Proj = c.Prev.Proj.TakeBack(c.Hosts[:at])
	return &prev
}

// overflowCut returns the cut that a refusal needs. Only the floors can prevent this cut.
func overflowCut(l *limits, r *refusal, cut cachelayout.Cut) cachelayout.Cut {
	if !cut.Do || cut.Reason != cachelayout.ReasonCold {
		cut.Reason = cachelayout.ReasonForced
	}
	cut.Do, cut.Force = true, true
	cut.TargetTokens = min(cut.Figures.LowWater, l.Hard)
	if r.Figures.Input == 0 {
		cut.TargetTokens = min(cut.TargetTokens, l.Fixed+int(blindly*float64(l.Conversation(r.prompt))))
	}
	return cut
}

// blindly is the share of a refused conversation that is kept if the provider named no figures.
const blindly = 0.75

// stuck returns an error for a refused prompt that can't be made smaller. The provider would
// refuse the same prompt again.
func stuck(c *call, l *limits, r *refusal, p *pagevm.Projection) error {
	if !r.Refused || c.Prev.Unsent || len(r.prompt.Seen) == 0 || l.Conversation(p) < l.Conversation(r.prompt) {
		return nil
	}
	return &api.OverflowError{Tries: r.limits.Tries, Planned: l.Unanchored(p), Window: l.Window, Largest: largestItems(c, l, p.Carry, p.Items)}
}

// LearnedWindow returns the window to store for a model whose window is neither in the request
// nor in the price book, with the window's source. It returns 0 if nothing new was learned.
func (r *Result) LearnedWindow() (window int, from api.WindowFrom) {
	asked, _ := windowOf(r.prior, r.call.Request)
	kept := r.prior.Calibration.Window
	switch {
	case asked.from == api.WindowRequest || asked.from == api.WindowPrices:
	case r.Refusal.Refused && r.Refusal.Figures.Limit > 0 && r.Refusal.Figures.Limit != kept:
		return r.Refusal.Figures.Limit, api.WindowRefusal
	case asked.from == api.WindowServer && !r.Refusal.Refused && r.call.Request.ServerWindow > 0 && r.call.Request.ServerWindow != kept:
		return r.call.Request.ServerWindow, api.WindowServer
	}
	return 0, ""
}
