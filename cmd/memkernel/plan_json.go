package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/judge/predict"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// planJSON is the document of plan --json; doc/json.md is its contract.
type planJSON struct {
	Schema     string    `json:"schema"`
	PlanID     string    `json:"plan_id"`
	SessionKey string    `json:"session_key"`
	Branch     string    `json:"branch"`
	Model      string    `json:"model"`
	Dialect    string    `json:"dialect"`
	View       string    `json:"view"`
	Call       int       `json:"call"`
	Calls      int       `json:"calls"`
	Now        time.Time `json:"now,omitzero"`
	Committed  bool      `json:"committed"`
	Generation int       `json:"generation"`
	// FixedTokens is the size of a system prompt and tools that nobody handed in,
	// FixedFrom where it comes from: "given", "first_call", or "" without one.
	FixedTokens int             `json:"fixed_tokens"`
	FixedFrom   string          `json:"fixed_from"`
	Budgets     kernel.Budgets  `json:"budgets"`
	Regions     []kernel.Region `json:"regions"`
	Layout      layoutJSON      `json:"layout"`
	Params      kernel.Params   `json:"params"`

	Retrieval kernel.Retrieval  `json:"retrieval"`
	Debug     kernel.Debug      `json:"debug"`
	Reduced   []kernel.Reduced  `json:"reduced"`
	Faults    []kernel.Fault    `json:"faults"`
	Alerts    []kernel.Fault    `json:"alerts"`
	Deferred  []kernel.Deferred `json:"deferred"`
	Stats     kernel.Stats      `json:"stats"`
	Format    transcript.Format `json:"format"`
	Messages  json.RawMessage   `json:"messages"`
	Notes     []noteJSON        `json:"notes"`
	Recorded  *predict.Report   `json:"recorded"`
}

// layoutJSON is kernel.Layout with lifetimes in seconds.
type layoutJSON struct {
	Breakpoints []breakpointJSON  `json:"breakpoints"`
	Change      changeJSON        `json:"change"`
	Bill        cachelayout.Bill  `json:"bill"`
	Cold        bool              `json:"cold"`
	Clock       string            `json:"clock"`
	Cut         cachelayout.Cut   `json:"cut"`
	Made        *pagevm.CutPoint  `json:"made"`
	Refused     []pagevm.Refusal  `json:"refused"`
	Cuts        []pagevm.CutPoint `json:"cuts"`
	Notes       []string          `json:"notes"`
	Lifetimes   lifetimesJSON     `json:"lifetimes"`
	Pace        paceJSON          `json:"pace"`
	Advice      adviceJSON        `json:"advice"`
}

type lifetimesJSON struct {
	FixedSeconds    int    `json:"fixed_seconds"`
	FixedWhy        string `json:"fixed_why"`
	MessagesSeconds int    `json:"messages_seconds"`
	MessagesWhy     string `json:"messages_why"`
}

// paceJSON is cachelayout.Pace with gaps in seconds.
type paceJSON struct {
	Calls       int   `json:"calls"`
	IdleSeconds []int `json:"idle_seconds"`
}

// adviceJSON is cachelayout.Advice; a time that does not apply is null.
type adviceJSON struct {
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

type breakpointJSON struct {
	Block            int    `json:"block"`
	Message          int    `json:"message"`
	Region           string `json:"region"`
	Why              string `json:"why"`
	TTLSeconds       int    `json:"ttl_seconds"`
	CumulativeTokens int    `json:"cumulative_tokens"`
}

// changeJSON adds the level from which on nothing can be read.
type changeJSON struct {
	cachelayout.Change
	Breaks string `json:"breaks"`
}

type noteJSON struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
	Line int    `json:"line"`
}

// planDocument makes the document.
func planDocument(out *planned) (*planJSON, error) {
	plan := out.plan
	format := nativeFormat(out)
	messages, notes, err := nativeMessages(out, format)
	if err != nil {
		return nil, err
	}
	doc := &planJSON{
		Schema: "memkernel/plan/v1", PlanID: plan.ID, SessionKey: plan.SessionKey, Branch: plan.Branch, Model: plan.Model,
		Dialect: string(out.session.Dialect), View: out.view.String(), Call: out.target.call, Calls: out.target.of,
		Now: out.request.Now, Committed: !out.peek, Generation: plan.Generation, FixedTokens: out.request.FixedTokens,
		Budgets: plan.Budgets, Regions: list(plan.Regions), Layout: layoutDocument(plan), Params: plan.Params,
		Retrieval: plan.Retrieval, Debug: kernel.Debug{Included: list(plan.Debug.Included), Excluded: list(plan.Debug.Excluded)},
		Reduced: list(plan.Reduced), Faults: list(plan.Faults), Alerts: list(plan.Alerts), Deferred: list(plan.Deferred), Stats: plan.Stats,
		Format: format, Messages: messages, Notes: []noteJSON{}, Recorded: out.recorded,
	}
	switch {
	case out.implied:
		doc.FixedFrom = predict.FixedFirstCall
	case doc.FixedTokens > 0:
		doc.FixedFrom = predict.FixedGiven
	}
	doc.Params.Betas = list(doc.Params.Betas)
	for _, n := range append(out.session.Notes, notes...) {
		doc.Notes = append(doc.Notes, noteJSON{Rule: n.Rule, Text: n.Text, Line: n.Line})
	}
	if doc.Recorded == nil {
		doc.Recorded = predict.Run(nil, nil)
	}
	return doc, nil
}

func layoutDocument(plan *kernel.ContextPlan) layoutJSON {
	l := &plan.Layout
	out := layoutJSON{Breakpoints: []breakpointJSON{}, Change: changeJSON{l.Change, l.Change.Broken.String()}, Bill: l.Bill,
		Cold: l.Cold, Clock: l.Clock, Cut: l.Cut, Made: l.Made, Refused: list(l.Refused), Cuts: list(l.Cuts), Notes: list(l.Notes),
		Lifetimes: lifetimesJSON{int(l.Lifetimes.Fixed / time.Second), l.Lifetimes.FixedWhy, int(l.Lifetimes.Messages / time.Second), l.Lifetimes.MessagesWhy},
		Pace:      paceJSON{Calls: l.Pace.Calls, IdleSeconds: []int{}}, Advice: adviceDocument(l.Advice)}
	for _, g := range l.Pace.Idle {
		out.Pace.IdleSeconds = append(out.Pace.IdleSeconds, int(g/time.Second))
	}
	out.Bill.Notes = list(out.Bill.Notes)
	for i, b := range l.Breakpoints {
		row := breakpointJSON{Block: b.Block, Message: transcript.MarkerSystem, Region: b.Region, Why: b.Why,
			TTLSeconds: int(b.TTL / time.Second), CumulativeTokens: b.CumulativeTokens}
		if i < len(plan.Markers) {
			row.Message = plan.Markers[i].Message
		}
		out.Breakpoints = append(out.Breakpoints, row)
	}
	return out
}

func adviceDocument(a cachelayout.Advice) adviceJSON {
	return adviceJSON{ExpiresAt: timeOrNull(a.ExpiresAt), SummariseBy: timeOrNull(a.SummariseBy), SummaryWarm: a.SummaryWarm, SummaryCold: a.SummaryCold,
		KeepAlive: a.KeepAlive, KeepAliveSeconds: int(a.KeepAliveEvery / time.Second), KeepAliveUntil: timeOrNull(a.KeepAliveUntil), Ping: a.Ping, Expiry: a.Expiry}
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// nativeMessages are the plan's messages as the model's provider takes them.
func nativeMessages(out *planned, f transcript.Format) (json.RawMessage, []transcript.Note, error) {
	body, notes, err := renderBody(out, f)
	if err != nil {
		return nil, nil, err
	}
	var b struct{ Messages, Input json.RawMessage }
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, nil, fmt.Errorf("render messages: %w", err)
	}
	switch {
	case b.Messages != nil:
		return b.Messages, notes, nil
	case b.Input != nil:
		return b.Input, notes, nil
	}
	return json.RawMessage("[]"), notes, nil
}
