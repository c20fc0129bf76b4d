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
	Breakpoints []Breakpoint          `json:"breakpoints"`
	Change      Change                `json:"change"`
	Bill        cachelayout.Bill      `json:"bill"`
	Cold        bool                  `json:"cold"`
	Clock       string                `json:"clock"`
	Cut         cachelayout.Cut       `json:"cut"`
	Made        *pagevm.CutPoint      `json:"made"`
	Refused     []pagevm.Refusal      `json:"refused"`
	Cuts        []pagevm.CutPoint     `json:"cuts"`
	Notes       []string              `json:"notes"`
	Reasoning   cachelayout.Reasoning `json:"reasoning"`
	Reported    *memkernel.Reported   `json:"reported"`
	Lifetimes   Lifetimes             `json:"lifetimes"`
	Pace        Pace                  `json:"pace"`
	Advice      Advice                `json:"advice"`
}

// Lifetimes are how long cache entries live, and why.
type Lifetimes struct {
	FixedSeconds    int    `json:"fixed_seconds"`
	FixedWhy        string `json:"fixed_why"`
	MessagesSeconds int    `json:"messages_seconds"`
	MessagesWhy     string `json:"messages_why"`
}

// Pace is cachelayout.Pace with gaps in seconds.
type Pace struct {
	Calls       int   `json:"calls"`
	IdleSeconds []int `json:"idle_seconds"`
}

// Advice is cachelayout.Advice; a time that does not apply is null.
type Advice struct {
	ExpiresAt        *time.Time `json:"expires_at"`
	SummariseBy      *time.Time `json:"summarise_by"`
	SummaryWarm      float64    `json:"summary_warm"`
	SummaryCold      float64    `json:"summary_cold"`
	KeepAlive        bool       `json:"keep_alive"`
	KeepAliveSeconds int        `json:"keep_alive_seconds"`
	KeepAliveUntil   *time.Time `json:"keep_alive_until"`
	Ping             float64    `json:"ping"`
	Expiry           float64    `json:"expiry"`
}

// Breakpoint is a cache marker and what stands before it.
type Breakpoint struct {
	Block            int    `json:"block"`
	Message          int    `json:"message"`
	Region           string `json:"region"`
	Why              string `json:"why"`
	TTLSeconds       int    `json:"ttl_seconds"`
	CumulativeTokens int    `json:"cumulative_tokens"`
}

// Change adds the level from which on nothing can be read.
type Change struct {
	cachelayout.Change
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
