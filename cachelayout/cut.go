package cachelayout

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The low-water mark starts from these. Keeping 25k to 30k tokens of
// conversation was the cheapest choice on real agent sessions that still
// showed nine of ten later references.
const (
	// WorkingSetShare bounds the conversation kept at a cut, as a share of
	// window − reserve.
	WorkingSetShare = 0.55
	// LowWaterConversation is the conversation kept by a warm or forced cut.
	LowWaterConversation = 30_000
	// ColdLowWaterConversation is the conversation kept by a cut of a cold
	// prompt, lower since what is kept must be written again.
	ColdLowWaterConversation = 25_000
	// CliffRoom is the least room that a price cliff must leave above the
	// fixed part to be respected; below it every call would be a cut.
	CliffRoom = 8_000
	// growthCalls is how many of the last calls' growths count.
	growthCalls = 10
)

// Reasons of a cut.
const (
	ReasonNone      = "none"
	ReasonHighWater = "high_water"
	ReasonCold      = "cold"
	ReasonForced    = "forced"
	ReasonPayback   = "payback"
)

// CutInput is what the decision about a cut depends on, in tokens.
type CutInput struct {
	Model Model
	// Window is the context window; 0 takes the model's.
	Window int
	// Reserve is what must stay free for the answer.
	Reserve int
	// Fixed is tools and system, Conversation all else that stands now,
	// including what would be appended.
	Fixed, Conversation int
	// Planned is the whole planned input; 0 means Fixed + Conversation.
	Planned int
	// Growth is by how much the last calls grew, newest last.
	Growth []int
	// Cold tells that the cache holds nothing of the messages; ColdEventUsed
	// that this cold event already had its cut.
	Cold, ColdEventUsed bool
	// Pending is what a cut would save; 0 means that nothing is pending.
	Pending int
	// OpenLoop tells that a tool loop is open: then only a cold or forced cut
	// is allowed.
	OpenLoop bool
	// Voluntary allows a warm cut below the high-water mark if it pays back.
	// Off by default: append-only up to the mark is the policy.
	Voluntary bool
	// ExpectedTurns is how many calls are still expected.
	ExpectedTurns float64
	// TTL is the lifetime that the messages are written with, 0 the default.
	TTL time.Duration
	// Extra is the extra cost of a cut in base input tokens.
	Extra float64
	// LowWater and ColdLowWater override the conversation kept, if above 0.
	LowWater, ColdLowWater int
}

// Cut is the decision.
type Cut struct {
	Do bool `json:"do"`
	// Reason is one of the Reason constants.
	Reason string `json:"reason"`
	// Force tells that without a cut the prompt is over its limit.
	Force bool `json:"force,omitempty"`
	// TargetTokens is what the whole prompt should come down to.
	TargetTokens int     `json:"target_tokens"`
	Figures      Figures `json:"figures"`
}

// Figures are the numbers behind a decision, in tokens unless named otherwise.
type Figures struct {
	Planned int `json:"planned"`
	// Budget is window − reserve, Cliff the price cliff that is respected (0:
	// none) and Limit the smaller of them.
	Budget int `json:"budget"`
	Cliff  int `json:"cliff"`
	Limit  int `json:"limit"`
	// HighWater, LowWater and ColdLowWater are whole-prompt marks.
	HighWater    int `json:"high_water"`
	LowWater     int `json:"low_water"`
	ColdLowWater int `json:"cold_low_water"`
	MaxGrowth    int `json:"max_growth"`
	MedianGrowth int `json:"median_growth"`
	// Saved and Rewritten are what a warm cut to the low-water mark removes
	// and makes be written again; BreakEvenTurns is when that has paid.
	// (−1: never).
	Saved          int     `json:"saved"`
	Rewritten      int     `json:"rewritten"`
	BreakEvenTurns float64 `json:"break_even_turns"`
	ExpectedTurns  float64 `json:"expected_turns"`
	// EOQBatch and EOQHighWater are the cheapest batch and mark if money were
	// all that counts (−1: no limit); reported, not obeyed.
	EOQBatch     float64 `json:"eoq_batch"`
	EOQHighWater float64 `json:"eoq_high_water"`
	WriteRatio   float64 `json:"write_ratio"`
	ReadRatio    float64 `json:"read_ratio"`
	// RatiosAssumed tells that the model is unpriced.
	RatiosAssumed bool `json:"ratios_assumed,omitempty"`
}

// PlanCut decides whether this request is the one to cut:
//
//	cold        the cache is cold anyway, something is pending and this cold
//	            event had no cut yet
//	forced      the planned input is over min(window − reserve, cliff)
//	high_water  it is over the high-water mark and no tool loop is open
//	payback     a warm cut pays back, and voluntary cuts are allowed
//
// Otherwise the request is append-only. Over the window a cut is forced even
// if nothing is known to be pending, since sending would fail.
func PlanCut(in CutInput) Cut {
	f := in.figures()
	c := Cut{Reason: ReasonNone, TargetTokens: f.Planned, Figures: f, Force: f.Planned > f.Limit}
	pending := in.Pending > 0
	switch {
	case in.Cold && !in.ColdEventUsed && pending:
		c.Reason, c.TargetTokens = ReasonCold, f.ColdLowWater
	case c.Force && (pending || f.Planned > f.Budget):
		c.Reason, c.TargetTokens = ReasonForced, f.LowWater
	case in.OpenLoop || !pending:
	case f.Planned > f.HighWater:
		c.Reason, c.TargetTokens = ReasonHighWater, f.LowWater
	case in.Voluntary && !in.Cold && f.BreakEvenTurns >= 0 && in.ExpectedTurns > f.BreakEvenTurns:
		c.Reason, c.TargetTokens = ReasonPayback, f.LowWater
	}
	c.Do = c.Reason != ReasonNone
	c.TargetTokens = min(c.TargetTokens, f.Planned)
	return c
}

// figures computes the marks.
func (in *CutInput) figures() Figures {
	f := Figures{Planned: in.Planned, ExpectedTurns: in.ExpectedTurns}
	if f.Planned <= 0 {
		f.Planned = in.Fixed + in.Conversation
	}
	f.MaxGrowth, f.MedianGrowth = growth(in.Growth)
	f.Budget = in.budget()
	f.Cliff = in.cliff(f.MedianGrowth)
	f.Limit = f.Budget
	if f.Cliff > 0 {
		f.Limit = min(f.Limit, f.Cliff)
	}
	in.marks(&f)
	in.economics(&f)
	return f
}

// budget is window − reserve; of an unknown window it is the model's, and
// without that there is no limit.
func (in *CutInput) budget() int {
	window := orDefault(in.Window, in.Model.ContextWindow)
	if window <= 0 {
		return math.MaxInt32
	}
	return max(0, window-in.Reserve)
}

// cliff is the first price cliff that leaves room above the fixed part.
func (in *CutInput) cliff(median int) int {
	room := max(CliffRoom, 4*median)
	for _, t := range in.Model.Tiers {
		if t.AboveTokens >= in.Fixed+room {
			return t.AboveTokens
		}
	}
	return 0
}

// marks sets the three marks. The high-water mark keeps the largest growth of
// the last calls below the limit and stays at least two median growths above
// the low-water mark; where the limit is too near for that, the low-water mark
// gives way.
func (in *CutInput) marks(f *Figures) {
	share := int(WorkingSetShare * float64(f.Budget))
	warm := min(share, orDefault(in.LowWater, LowWaterConversation))
	cold := min(share, orDefault(in.ColdLowWater, ColdLowWaterConversation))
	ceiling := max(in.Fixed, f.Limit-2*f.MedianGrowth)
	f.LowWater = min(in.Fixed+warm, ceiling)
	f.ColdLowWater = min(in.Fixed+cold, f.LowWater)
	f.HighWater = min(f.Limit, max(f.Limit-f.MaxGrowth, f.LowWater+2*f.MedianGrowth))
}

// economics sets what the explanation prints.
func (in *CutInput) economics(f *Figures) {
	ratios := in.Model.Ratios(f.Planned, in.TTL)
	f.WriteRatio, f.ReadRatio, f.RatiosAssumed = ratios.Write, ratios.Read, ratios.Assumed
	f.Saved = max(0, min(in.Pending, f.Planned-f.LowWater))
	f.Rewritten = max(0, min(f.LowWater, f.Planned)-in.Fixed)
	f.BreakEvenTurns = finite(BreakEven(f.Saved, f.Rewritten, ratios, in.Extra))
	batch, high := OptimalBatch(float64(f.MedianGrowth), float64(in.Fixed), float64(f.LowWater), ratios, in.Extra)
	f.EOQBatch, f.EOQHighWater = finite(batch), finite(high)
}

// finite turns "never" into a number that JSON can hold.
func finite(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return -1
	}
	return v
}

// growth is the largest and the median of the last calls' growths; a call that
// shrank counts as none.
func growth(all []int) (largest, median int) {
	g := slices.Clone(all[max(0, len(all)-growthCalls):])
	if len(g) == 0 {
		return 0, 0
	}
	for i := range g {
		g[i] = max(0, g[i])
	}
	slices.Sort(g)
	return g[len(g)-1], g[len(g)/2]
}

func orDefault(v, def int) int {
	if v > 0 {
		return v
	}
	return def
}

// String is the decision in one line.
func (c Cut) String() string {
	f := c.Figures
	if !c.Do {
		return fmt.Sprintf("append: %d of %d tokens, high-water mark %d", f.Planned, f.Limit, f.HighWater)
	}
	pays := "would never pay back warm"
	if f.BreakEvenTurns >= 0 {
		pays = fmt.Sprintf("warm it would pay after %.1f calls", f.BreakEvenTurns)
	}
	return fmt.Sprintf("cut (%s): from %d to %d tokens, limit %d; %s", c.Reason, f.Planned, c.TargetTokens, f.Limit, pays)
}
