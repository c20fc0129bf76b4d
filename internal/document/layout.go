package document

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// Layout is planned.Layout with lifetimes in seconds.
type Layout struct {
	// Breakpoints are the cache markers, in prompt order.
	Breakpoints []Breakpoint `json:"breakpoints"`
	// Change is how the request differs from the one before.
	Change Change `json:"change"`
	// Bill is what the call should read, write and cost.
	Bill cachelayout.Bill `json:"bill"`
	// Cold reports whether the cache holds nothing of the messages, Clock why.
	Cold  bool   `json:"cold"`
	Clock string `json:"clock"`
	// Cut is what the cut planner decided.
	Cut cachelayout.Cut `json:"cut"`
	// Made is the cut that was made now, null for none.
	Made *pagevm.CutPoint `json:"made"`
	// Refused are wishes that the rules did not allow.
	Refused []pagevm.Refusal `json:"refused"`
	// Cuts are all cuts so far.
	Cuts []pagevm.CutPoint `json:"cuts"`
	// Notes say what the model's cache will not do with this layout.
	Notes []string `json:"notes"`
	// Reasoning is the model's reasoning that this plan loses in messages that stay.
	Reasoning cachelayout.Reasoning `json:"reasoning"`
	// Reported is what the provider told of the last request that was billed.
	Reported *memkernel.Reported `json:"reported"`
	// Lifetimes are the cache lifetimes that the breakpoints ask for.
	Lifetimes Lifetimes `json:"lifetimes"`
	// Pace is how the calls of the session follow each other, this one counted.
	Pace Pace `json:"pace"`
	// Advice says what to do with the time until the next call; its costs are in base input
	// tokens.
	Advice Advice `json:"advice"`
}

// Lifetimes are how long cache entries live, and why.
type Lifetimes struct {
	// FixedSeconds is that of tools and system, MessagesSeconds that of all after them.
	FixedSeconds    int    `json:"fixed_seconds"`
	FixedWhy        string `json:"fixed_why"`
	MessagesSeconds int    `json:"messages_seconds"`
	MessagesWhy     string `json:"messages_why"`
}

// Pace is cachelayout.Pace with gaps in seconds.
type Pace struct {
	Calls int `json:"calls"`
	// IdleSeconds are the gaps of a minute and more between calls, oldest first.
	IdleSeconds []int `json:"idle_seconds"`
}

// Advice is cachelayout.Advice; a time that does not apply is null.
type Advice struct {
	// ExpiresAt is when the messages leave the cache if no request starts before.
	ExpiresAt *time.Time `json:"expires_at"`
	// SummariseBy is until when a model that writes a summary reads the prompt from the
	// cache; null if a cold cache would cut nothing.
	SummariseBy *time.Time `json:"summarise_by"`
	// SummaryWarm is what that model reads until then, SummaryCold afterwards.
	SummaryWarm float64 `json:"summary_warm"`
	SummaryCold float64 `json:"summary_cold"`
	// KeepAlive reports whether repeating the request without an answer is expected to cost
	// less than expiry, KeepAliveSeconds how often (0 for never), KeepAliveUntil until
	// when.
	KeepAlive        bool       `json:"keep_alive"`
	KeepAliveSeconds int        `json:"keep_alive_seconds"`
	KeepAliveUntil   *time.Time `json:"keep_alive_until"`
	// Ping is the price of one repetition, Expiry what it would save if the session goes
	// on.
	Ping   float64 `json:"ping"`
	Expiry float64 `json:"expiry"`
}

// Breakpoint is a cache marker and what stands before it.
type Breakpoint struct {
	// Block is the index of the block among all blocks of the prompt.
	Block int `json:"block"`
	// Message is the index of the message; -1 is the system prompt, -2 the tools.
	Message int    `json:"message"`
	Region  string `json:"region"`
	// Why is fixed, carry, previous_tail, guard or end.
	Why string `json:"why"`
	// TTLSeconds is the lifetime asked for.
	TTLSeconds int `json:"ttl_seconds"`
	// CumulativeTokens is the size of the prompt up to and including the marker.
	CumulativeTokens int `json:"cumulative_tokens"`
}

// Change adds the level from which on nothing can be read.
type Change struct {
	cachelayout.Change
	// Breaks is the level from which on nothing can be read: tools, system, messages or
	// none.
	Breaks string `json:"breaks"`
}

// OfLayout is how a plan lies before the provider's cache.
func OfLayout(plan *api.ContextPlan) *Layout {
	l := &plan.Layout
	out := &Layout{Breakpoints: []Breakpoint{}, Change: Change{l.Change, l.Change.Broken.String()}, Bill: l.Bill,
		Cold: l.Cold, Clock: l.Clock, Cut: l.Cut, Made: l.Made, Refused: List(l.Refused), Cuts: List(l.Cuts), Notes: List(l.Notes), Reasoning: l.Reasoning, Reported: l.Reported,
		Lifetimes: Lifetimes{int(l.Lifetimes.Fixed / time.Second), l.Lifetimes.FixedWhy, int(l.Lifetimes.Messages / time.Second), l.Lifetimes.MessagesWhy},
		Pace:      Pace{Calls: l.Pace.Calls, IdleSeconds: []int{}}, Advice: ofAdvice(l.Advice)}
	for _, g := range l.Pace.Idle {
		out.Pace.IdleSeconds = append(out.Pace.IdleSeconds, int(g/time.Second))
	}
	out.Bill.Notes = List(out.Bill.Notes)
	for i, b := range l.Breakpoints {
		row := Breakpoint{Block: b.Block, Message: transcript.MarkerSystem, Region: b.Region, Why: b.Why,
			TTLSeconds: int(b.TTL / time.Second), CumulativeTokens: b.CumulativeTokens}
		if i < len(plan.Markers) {
			row.Message = plan.Markers[i].Message
		}
		out.Breakpoints = append(out.Breakpoints, row)
	}
	return out
}

func ofAdvice(a cachelayout.Advice) Advice {
	return Advice{ExpiresAt: timeOrNull(a.ExpiresAt), SummariseBy: timeOrNull(a.SummariseBy), SummaryWarm: a.SummaryWarm, SummaryCold: a.SummaryCold,
		KeepAlive: a.KeepAlive, KeepAliveSeconds: int(a.KeepAliveEvery / time.Second), KeepAliveUntil: timeOrNull(a.KeepAliveUntil), Ping: a.Ping, Expiry: a.Expiry}
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
