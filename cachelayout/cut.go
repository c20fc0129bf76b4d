package cachelayout

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// The constants of the marks. missWeight and holdShare were chosen on thirteen recorded sessions.
// Small changes to them hardly change cost or reference recall there. All other figures follow
// from prices and from the session's growth and gaps.
const (
	// missWeight is the worth of memory: the number of misses that a call would pay to have e
	// times as much conversation. It weighs the harm of a miss to the work and not only its cost,
	// and is therefore larger than the share of calls that miss.
	missWeight = 0.35
	// lowWaterFloor is the least conversation that the low-water mark keeps at any price. An
	// agent that is shown less lacks the content that it works on. In replays of 28 sessions in a
	// window of 200k (mkbench economics, 2026-12-01), 30,000 in place of 25,000 cost 1.6 to 3.4 %
	// more, and 0.6 to 0.7 points more of the actions were ready.
	lowWaterFloor = 30_000
	// wideShare is the additional share of a budget above WideBudget that the floor keeps if only
	// money asks for a cut: on 30 sessions of ten repositories with a window of a million
	// (2026-11-29) 0.9 % of the actions then lack something that an agent without any cut would
	// have, and no edit lacks a line.
	wideShare  = 0.2
	wideBudget = 200_000
	// needWeight is the worth of a single need of a call, as a share of a miss. Content above the
	// low-water mark must be worth its cost by this measure. extraShare bounds how far such
	// content may reach towards the high-water mark, since the prompt must grow again before the
	// next cut. needWeight was chosen on fourteen recorded sessions, extraShare on 28 sessions of
	// nine other repositories (2026-11-29): with 0.35 to 0.45 at least as many actions were ready, and
	// fewer edits blind, than under append-late, for 15 % less.
	needWeight = 0.45
	extraShare = 0.4
	// commonConversation is the size of the conversation in a prompt of common size.
	commonConversation = 40_000
	// workingSetShare bounds the conversation kept at a cut, as a share of
	// window − reserve.
	workingSetShare = 0.55
	// cliffRoom is the least room that a price cliff must leave above the fixed part. A nearer
	// cliff is ignored, since otherwise every call would be a cut.
	cliffRoom = 8_000
	// minSaved is the number of tokens that a cut must save unless it is forced. A smaller saving
	// is not worth the hidden content.
	minSaved = 4_000

	// growthCalls is the number of newest growths of which the largest and the median are taken.
	growthCalls = 10
	// priorGrowth is the growth per call, in tokens, that is assumed until a session shows its
	// own. It has the weight of priorGrowthCalls calls. 39 recorded sessions grew by 7.69 million
	// tokens in 7,087 calls.
	priorGrowth      = 1_085
	priorGrowthCalls = 10
)

// Reasons of a cut.
const (
	ReasonNone      = "none"
	ReasonHighWater = "high_water"
	ReasonCold      = "cold"
	ReasonForced    = "forced"
	ReasonPayback   = "payback"
)

// CutInput is the input of the decision about a cut, in tokens.
type CutInput struct {
	Model Model
	// Window is the context window. 0 means the model's context window.
	Window int
	// Reserve is the room that must stay free for the answer.
	Reserve int
	// Fixed is the size of tools and system. Conversation is the size of the rest of the request,
	// including the blocks that would be appended.
	Fixed, Conversation int
	// Planned is the size of the whole planned input. 0 means Fixed + Conversation.
	Planned int
	// Growth lists the growth of the last calls, newest last.
	Growth []int
	// ColdRate is the chance that a call finds the cache cold; see [Pace.Rate].
	ColdRate float64
	// Cold reports whether the cache holds nothing of the messages. ColdEventUsed reports whether
	// this cold event already had its cut.
	Cold, ColdEventUsed bool
	// Pending is the largest number of tokens that a cut could remove. 0 means that nothing may
	// leave.
	Pending int
	// OpenLoop reports whether a tool loop is open. Then only a forced cut is allowed, since the
	// agent will next work with the content that it has just read.
	OpenLoop bool
	// ExpectedTurns is the number of model calls that are still expected.
	ExpectedTurns float64
	// TTL is the lifetime of the written messages. 0 means the default.
	TTL time.Duration
	// LowWater, if above 0, overrides the size of the conversation that a cut keeps.
	LowWater int
	// Economy is the user's preference.
	Economy Economy `json:",omitempty"`
}

// Cut is the decision.
type Cut struct {
	Do bool `json:"do"`
	// Reason is one of the Reason constants.
	Reason string `json:"reason"`
	// Force reports whether the prompt exceeds its limit without a cut.
	Force bool `json:"force,omitempty"`
	// TargetTokens is the size to which the cut should bring the whole prompt.
	TargetTokens int `json:"target_tokens"`
	// MostTokens is the largest size that the prompt may keep if its content is worth the cost.
	MostTokens int `json:"most_tokens"`
	// Hurdle is how often, per token, a call must be expected to need the content above
	// TargetTokens.
	Hurdle float64 `json:"hurdle"`
	// Figures are the numbers that led to the decision, in tokens.
	Figures Figures `json:"figures"`
	// Economy is the user's preference, "" for [Balanced].
	Economy Economy `json:"economy,omitempty"`
}

// Figures are the numbers on which a decision rests, in tokens unless named otherwise.
type Figures struct {
	Planned int `json:"planned"`
	// Budget is window − reserve.
	Budget int `json:"budget"`
	// Cliff is the price cliff that limits the prompt, 0 if there is none.
	Cliff int `json:"cliff"`
	// Limit is the smaller of Budget and Cliff.
	Limit int `json:"limit"`
	// HighWater and LowWater are marks for the size of the whole prompt. HighWater is the smaller
	// of RoomMark and EOQHighWater. Above RoomMark the next call may not fit. Above EOQHighWater a
	// cut is cheaper than further reading.
	HighWater int `json:"high_water"`
	RoomMark  int `json:"room_mark"`
	LowWater  int `json:"low_water"`
	// MaxGrowth is the largest growth of the last ten calls.
	MaxGrowth    int `json:"max_growth"`
	MedianGrowth int `json:"median_growth"`
	// MeanGrowth is the mean growth per call, over the given growths and the prior.
	MeanGrowth int `json:"mean_growth"`
	// ColdRate is the chance that a call finds the cache cold.
	ColdRate float64 `json:"cold_rate"`
	// CallCost is the cost of an average call with these marks, in base input tokens.
	CallCost float64 `json:"call_cost"`
	// MemoryCost is the part of CallCost for keeping the low-water conversation.
	MemoryCost float64 `json:"memory_cost"`
	// MissCost is the cost of fetching hidden content again, in base input tokens.
	MissCost float64 `json:"miss_cost"`
	// Saved is the number of tokens that a warm cut to the low-water mark removes.
	Saved int `json:"saved"`
	// Rewritten is the number of tokens that such a cut causes to be written again.
	Rewritten int `json:"rewritten"`
	// BreakEvenTurns is the number of calls after which such a cut has paid for itself (−1:
	// never).
	BreakEvenTurns float64 `json:"break_even_turns"`
	ExpectedTurns  float64 `json:"expected_turns"`
	// EOQBatch is the number of tokens by which the prompt may grow above the low-water mark
	// before it is cheaper to cut than to keep reading.
	EOQBatch float64 `json:"eoq_batch"`
	// EOQHighWater is the low-water mark plus EOQBatch (−1: no limit).
	EOQHighWater float64 `json:"eoq_high_water"`
	// WriteRatio is the price of a cache write divided by the price of input.
	WriteRatio float64 `json:"write_ratio"`
	ReadRatio  float64 `json:"read_ratio"`
	// RatiosAssumed reports whether the model is unpriced.
	RatiosAssumed bool `json:"ratios_assumed,omitempty"`
}

// PlanCut decides whether this request is the one to cut:
//
//	cold        the cache is cold anyway, no tool loop is open, a cut saves enough
//	            and this cold event had none yet
//	forced      the planned input is over min(window − reserve, cliff)
//	high_water  the planned input is over the mark of the room, and no tool loop is open
//	payback     the planned input is over the cheapest mark, no tool loop is open, and a
//	            cut pays back before the expected end of the session or of the cache
//
// Otherwise the request only appends. Over the window a cut is forced even if nothing is known to
// be pending, since the provider would refuse the request. [Economy] describes how the user's
// preference changes this.
func PlanCut(in CutInput) Cut {
	t := in.Economy.thrift()
	f := in.figures(t)
	c := Cut{Reason: ReasonNone, TargetTokens: f.Planned, Figures: f, Force: f.Planned > f.Limit, Economy: in.Economy.Short()}
	saves := t.enough(min(in.Pending, f.Planned-f.LowWater))
	switch {
	case in.Cold && !in.ColdEventUsed && !in.OpenLoop && saves:
		c.Reason, c.TargetTokens = ReasonCold, f.LowWater
	case c.Force && (in.Pending > 0 || f.Planned > f.Budget):
		c.Reason, c.TargetTokens = ReasonForced, f.LowWater
	case in.OpenLoop || in.Pending <= 0:
	case f.Planned > f.RoomMark:
		c.Reason, c.TargetTokens = ReasonHighWater, f.LowWater
	case f.Planned > f.HighWater && !in.Cold && f.pays(t):
		c.Reason, c.TargetTokens = ReasonPayback, f.LowWater
	}
	c.Do = c.Reason != ReasonNone
	c.TargetTokens = min(c.TargetTokens, f.Planned)
	if c.MostTokens = c.TargetTokens; t.extra > 0 {
		c.MostTokens = max(c.TargetTokens, min(c.TargetTokens+int(t.extra*float64(f.HighWater-c.TargetTokens)), f.Planned-minSaved))
		c.Hurdle = f.MemoryCost / math.Max(1, float64(f.LowWater-in.Fixed)) / (needWeight * t.worth * math.Max(1, f.MissCost))
	}
	return c
}

// pays reports whether a warm cut saves enough, and pays for itself before the next cold cache
// and before the expected end of the session.
func (f *Figures) pays(t thrift) bool {
	turns := f.ExpectedTurns
	if f.ColdRate > 0 {
		turns = math.Min(turns, 1/f.ColdRate)
	}
	return t.enough(f.Saved) && f.BreakEvenTurns >= 0 && turns > f.BreakEvenTurns
}

// Next returns the size above which a growing prompt is cut next, outside a tool loop and in a
// warm cache. It is the cheapest mark if a cut there is expected to pay, and the mark of the room
// otherwise.
func (c Cut) Next() int {
	f := c.Figures
	f.Saved = f.HighWater - f.LowWater
	f.BreakEvenTurns = finite(breakEven(f.Saved, f.Rewritten, priceRatios{Write: f.WriteRatio, Read: f.ReadRatio}))
	if f.pays(c.Economy.thrift()) {
		return f.HighWater
	}
	return f.RoomMark
}

// figures computes the marks.
func (in *CutInput) figures(t thrift) Figures {
	f := Figures{Planned: in.Planned, ExpectedTurns: in.ExpectedTurns, ColdRate: in.ColdRate}
	if f.Planned <= 0 {
		f.Planned = in.Fixed + in.Conversation
	}
	f.MaxGrowth, f.MedianGrowth = growth(in.Growth)
	f.MeanGrowth = MeanGrowth(in.Growth)
	f.Budget = in.budget()
	if !math.IsInf(t.patience, 1) {
		f.Cliff = in.cliff(f.MedianGrowth)
	}
	f.Limit = f.Budget
	if f.Cliff > 0 {
		f.Limit = min(f.Limit, f.Cliff)
	}
	in.marks(&f, t)
	in.economics(&f)
	return f
}

// budget returns window − reserve. If the window is unknown, it uses the model's window. If that
// is unknown too, there is no limit.
func (in *CutInput) budget() int {
	window := cmp.Or(in.Window, in.Model.ContextWindow)
	if window <= 0 {
		return math.MaxInt32
	}
	return max(0, window-in.Reserve)
}

// cliff returns the first price cliff that leaves room above the fixed part.
func (in *CutInput) cliff(median int) int {
	room := max(cliffRoom, 4*median)
	for _, t := range in.Model.Tiers {
		if t.AboveTokens >= in.Fixed+room {
			return t.AboveTokens
		}
	}
	return 0
}

// marks sets the marks. The low-water mark keeps as much conversation as is worth the cost of
// keeping it. The mark of the room leaves space for the largest growth of the last calls below
// the limit. It is at least two median growths above the low-water mark. If the limit is too near
// for that, the low-water mark is lowered. The high-water mark is the mark of the room, or the
// size at which cutting becomes cheaper than reading if that is smaller.
func (in *CutInput) marks(f *Figures, t thrift) {
	room := f.Limit - max(f.MaxGrowth, 2*f.MedianGrowth)
	c := in.cycle(f, room)
	most := int(workingSetShare * float64(f.Budget))
	kept := c.LowWater(min(t.least(f.Budget), most), most)
	// A prompt below the provider's minimum would not be cached at all.
	kept = max(kept, in.Model.MinCacheTokens-in.Fixed)
	ceiling := max(in.Fixed, f.Limit-2*f.MedianGrowth)
	f.LowWater = min(in.Fixed+min(most, cmp.Or(in.LowWater, kept)), ceiling)
	f.RoomMark = min(f.Limit, max(f.Limit-f.MaxGrowth, f.LowWater+2*f.MedianGrowth))
	low := float64(f.LowWater - in.Fixed)
	f.CallCost, f.MemoryCost = c.Cost(low)
	f.MissCost = c.Miss()
	c.Room = 0
	f.EOQBatch = finite(c.Batch(low))
	f.EOQHighWater, f.HighWater = -1, f.RoomMark
	if f.EOQBatch >= 0 {
		f.EOQHighWater = float64(f.LowWater) + f.EOQBatch
		f.HighWater = min(f.RoomMark, max(int(f.EOQHighWater), f.LowWater+2*f.MedianGrowth))
	}
}

// cycle returns the session as a Cycle for computing the marks.
func (in *CutInput) cycle(f *Figures, room int) Cycle {
	return Cycle{Growth: float64(f.MeanGrowth), Fixed: float64(in.Fixed), Room: math.Max(1, float64(room-in.Fixed)),
		ColdRate: in.ColdRate, Ratios: in.Model.Ratios(f.Planned, in.TTL), Economy: in.Economy}
}

// economics sets the savings, the cost and the payback of a warm cut.
func (in *CutInput) economics(f *Figures) {
	ratios := in.Model.Ratios(f.Planned, in.TTL)
	f.WriteRatio, f.ReadRatio, f.RatiosAssumed = ratios.Write, ratios.Read, ratios.Assumed
	f.Saved = max(0, min(in.Pending, f.Planned-f.LowWater))
	f.Rewritten = max(0, min(f.LowWater, f.Planned)-in.Fixed)
	f.BreakEvenTurns = finite(breakEven(f.Saved, f.Rewritten, ratios))
}

// finite turns "never" into a number that JSON can hold.
func finite(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return -1
	}
	return v
}

// growth returns the largest and the median of the last calls' growths. A call that shrank counts
// as no growth.
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

// MeanGrowth returns the mean growth of the calls. While the calls are few, a common growth is
// averaged in. A call that shrank counts as no growth.
func MeanGrowth(all []int) int {
	sum := priorGrowth * priorGrowthCalls
	for _, g := range all {
		sum += max(0, g)
	}
	return sum / (len(all) + priorGrowthCalls)
}
