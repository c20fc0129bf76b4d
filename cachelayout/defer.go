package cachelayout

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// SearchesTools reports whether a provider lets definitions of tools wait until the model
// searches for them: Claude from 4.5 on. OpenAI's search leaves name and description of a
// function in the prompt, and its allowed_tools leave all: neither is made use of.
func SearchesTools(model string) bool {
	rest, ok := strings.CutPrefix(modelKey(model), "claude-")
	family, version, _ := strings.Cut(rest, "-")
	switch {
	case !ok:
		return false
	case family == "fable", family == "mythos", family == "opus", family == "sonnet", family == "haiku":
		return atLeast(version, 4, 5)
	}
	return false
}

// atLeast reports whether a version, such as 4-5, is one or a later one.
func atLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, "-")
	second, _, _ := strings.Cut(rest, "-")
	x, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	y, err := strconv.Atoi(second)
	if err != nil {
		y = 0 // a name of a snapshot, or nothing
	}
	return x > major || x == major && y >= minor
}

// DeferTool is a tool as [PlanDefer] sees it.
type DeferTool struct {
	Name string `json:"name"`
	// Tokens is its definition.
	Tokens int `json:"tokens"`
	// Keep says why it may not be deferred, "" if it may.
	Keep string `json:"keep,omitempty"`
	// Used: it was called in this session. Offered are the earlier sessions that had it,
	// Earlier those of them that called it.
	Used    bool `json:"used,omitempty"`
	Offered int  `json:"offered,omitempty"`
	Earlier int  `json:"earlier,omitempty"`
	// Deferred: it stands deferred now. New: the last request did not have it. Found: the
	// conversation holds a search that found it.
	Deferred bool `json:"deferred,omitempty"`
	New      bool `json:"new,omitempty"`
	Found    bool `json:"found,omitempty"`
}

// DeferInput is what [PlanDefer] goes by. All sizes are tokens, all costs are in tokens at
// the base input price.
type DeferInput struct {
	Tools []DeferTool `json:"tools"`
	// Search is the size of the search tool's definition.
	Search int `json:"search"`
	// Ratios are the prices of writing and reading the tools' part of the cache, Output
	// that of an output token in input tokens.
	Ratios Ratios  `json:"ratios"`
	Output float64 `json:"output"`
	// Calls are the calls that are expected, this one counted; Prompt is what a call reads
	// on average: a search has the model read it once more.
	Calls  float64 `json:"calls"`
	Prompt int     `json:"prompt"`
	// Cached is what is taken to stand in the cache, from the tools to the end.
	Cached int `json:"cached"`
	// Start: nothing of the conversation was sent yet. Cold: the cache has nothing of it,
	// or what stands in front of it is another one anyway.
	Start bool `json:"start,omitempty"`
	Cold  bool `json:"cold,omitempty"`
	// Bound: the conversation holds thinking that another prefix would make invalid.
	Bound bool `json:"bound,omitempty"`
}

// Deferral is which definitions wait for a search, and why.
type Deferral struct {
	// Names are the deferred tools in the request's order; nil is none.
	Names []string `json:"names,omitempty"`
	// Why is the decision in one line.
	Why string `json:"why"`
	// Tokens leave the prompt, the search tool's own taken off.
	Tokens int `json:"tokens,omitempty"`
	// Saved is what that is expected to save, Searches what searching is expected to cost,
	// Rewrite what the change costs at once, and Payback the calls after which it has paid
	// for itself.
	Saved    float64 `json:"saved,omitempty"`
	Searches float64 `json:"searches,omitempty"`
	Rewrite  float64 `json:"rewrite,omitempty"`
	Payback  float64 `json:"payback,omitempty"`
	// Kept says of the tools that were not deferred why, in the request's order.
	Kept []KeptTool `json:"kept,omitempty"`
}

// KeptTool is a tool that was not deferred.
type KeptTool struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

const (
	// DeferKeepShare is the share of the earlier sessions that had a tool and called it from
	// which on it is never deferred.
	DeferKeepShare = 0.25
	// DeferMinSessions is how many earlier sessions must have had a tool before it can be
	// told that it is not used.
	DeferMinSessions = 3
	// DeferMinTokens is the least that is worth a search tool in the prompt.
	DeferMinTokens = 1_000
	// DeferSearchTokens is what the search tool is taken to weigh; no provider says it.
	DeferSearchTokens = 600

	// A search answers with five tools where nothing else is asked for, and takes about so
	// much of an answer.
	searchFinds  = 5
	searchOutput = 120
)

// The reasons why a tool is not deferred, beside those of its definition.
const (
	keepUsed    = "used in this session"
	keepShare   = "used in %d of %d earlier sessions"
	keepUnknown = "%d earlier sessions had it, %d are asked for"
	keepCost    = "searching for it is expected to cost %.0f tokens, its absence saves %.0f"
	keepOne     = "one tool has to stand"
	keepAsIs    = "it stands, and the cached prefix is not changed for it"
)

// PlanDefer decides which tool definitions a request leaves to the provider's search. What
// stands in front of a cached prompt changes only where nothing is cached yet, where the
// cache is cold anyway, or where the calls that are expected pay for writing all of it once
// more; at all other times the answer is what stood, and only rules of the API take a tool
// out of it. A tool that a search found stays deferred for as long as the conversation holds
// that search: its definition stands there.
func PlanDefer(in DeferInput) Deferral {
	stood, added, touched := in.standing()
	switch {
	case !stood || in.Start:
		if in.Bound && !in.found() {
			return in.keepStanding(false)
		}
	case in.Bound:
		return in.keepStanding(false)
	case in.Cold:
	case touched || added && !in.addable():
		in.Cold = true // the prefix breaks anyway
	default:
		return in.keepStanding(true)
	}
	return in.anew()
}

// found reports whether the conversation holds a search that found a tool.
func (in *DeferInput) found() bool {
	return slices.ContainsFunc(in.Tools, func(t DeferTool) bool { return t.Found && t.Keep == "" })
}

// standing reports whether a deferral stands, whether the client added tools, and whether
// a rule of the API takes a tool out of what stands.
func (in *DeferInput) standing() (stood, added, touched bool) {
	for i := range in.Tools {
		t := &in.Tools[i]
		stood = stood || t.Deferred
		added = added || t.New
		touched = touched || t.Deferred && t.Keep != ""
	}
	return stood, added, touched
}

// addable reports whether all that is new may wait for a search: then the prefix stays.
func (in *DeferInput) addable() bool {
	return !slices.ContainsFunc(in.Tools, func(t DeferTool) bool { return t.New && in.keep(&t) != "" })
}

// keepStanding is what stood, and with fresh what is new beside it.
func (in *DeferInput) keepStanding(fresh bool) Deferral {
	var d Deferral
	for i := range in.Tools {
		t := &in.Tools[i]
		switch {
		case t.Keep != "":
			d.keep(t, t.Keep)
		case t.Deferred || fresh && t.New:
			d.add(t)
		default:
			d.keep(t, keepAsIs)
		}
	}
	if len(d.Names) == 0 {
		return d.none("the conversation holds thinking that another prefix would make invalid")
	}
	d.Tokens -= in.Search
	d.Why = fmt.Sprintf("%d of %d tools stay deferred: the cached prefix keeps its bytes", len(d.Names), len(in.Tools))
	return d
}

// keep says why a tool has to stand by what is known of it, "" if it may be deferred.
func (in *DeferInput) keep(t *DeferTool) string {
	switch {
	case t.Keep != "":
		return t.Keep
	case t.Found:
		return ""
	case t.Used:
		return keepUsed
	case t.Offered < DeferMinSessions:
		return fmt.Sprintf(keepUnknown, t.Offered, DeferMinSessions)
	case t.Earlier > 0 && float64(t.Earlier) >= DeferKeepShare*float64(t.Offered):
		return fmt.Sprintf(keepShare, t.Earlier, t.Offered)
	}
	if saved, cost := in.saves(t), in.searching(t); saved <= cost {
		return fmt.Sprintf(keepCost, cost, saved)
	}
	return ""
}

// saves is what leaving a definition out is expected to save. Where nothing is cached it
// would have been written once.
func (in *DeferInput) saves(t *DeferTool) float64 {
	return float64(t.Tokens) * in.perToken()
}

// perToken is what a token in front of the prompt costs over the calls that are expected.
func (in *DeferInput) perToken() float64 {
	calls := math.Max(in.Calls, 1)
	if in.Start || in.Cold {
		return in.Ratios.Write + in.Ratios.Read*(calls-1)
	}
	return in.Ratios.Read * calls
}

// chance is how likely a session uses a tool: by the earlier ones, and half a use in one
// session more.
func (t *DeferTool) chance() float64 { return (float64(t.Earlier) + 0.5) / (float64(t.Offered) + 1) }

// searching is what it is expected to cost that a tool has to be searched for: the prompt is
// read once more, the query is written, and what is found stands in the conversation for
// half of the calls on average.
func (in *DeferInput) searching(t *DeferTool) float64 {
	return t.chance() * in.oneSearch()
}

func (in *DeferInput) oneSearch() float64 {
	found := float64(searchFinds * in.meanTokens())
	return in.Ratios.Read*float64(in.Prompt) + in.Output*searchOutput + found*(in.Ratios.Write+in.Ratios.Read*in.Calls/2)
}

// meanTokens is the size of a definition that a search may find.
func (in *DeferInput) meanTokens() int {
	sum, n := 0, 0
	for i := range in.Tools {
		if in.Tools[i].Keep == "" {
			sum, n = sum+in.Tools[i].Tokens, n+1
		}
	}
	return sum / max(n, 1)
}

// anew decides without regard to what stands, and then whether the change pays.
func (in *DeferInput) anew() Deferral {
	var d Deferral
	for i := range in.Tools {
		t := &in.Tools[i]
		if why := in.keep(t); why != "" {
			d.keep(t, why)
			continue
		}
		d.add(t)
		d.Saved += in.saves(t)
		if !t.Found {
			d.Searches += in.searching(t)
		}
	}
	if len(d.Names) > 0 && len(d.Names) == len(in.Tools) {
		in.keepOne(&d)
	}
	if len(d.Names) == 0 {
		return d.none("no tool may wait for a search")
	}
	d.Tokens -= in.Search
	d.Saved -= float64(in.Search) * in.perToken()
	if in.found() {
		d.Why = fmt.Sprintf("%d of %d tools are deferred: the conversation holds searches that found tools", len(d.Names), len(in.Tools))
		return d
	}
	if d.Tokens < DeferMinTokens {
		return d.none(fmt.Sprintf("%d tokens could wait for a search, %d are worth one", max(d.Tokens, 0), DeferMinTokens))
	}
	when := "nothing is cached yet"
	switch rewritten := max(in.Cached-d.Tokens, 0); {
	case in.Start:
	case in.Cold:
		when = "the cache is cold"
	default:
		d.Rewrite = (in.Ratios.Write - in.Ratios.Read) * float64(rewritten)
		when = fmt.Sprintf("%d cached tokens are written anew", rewritten)
	}
	d.Payback = (d.Rewrite + d.Searches) / math.Max(in.Ratios.Read*float64(d.Tokens), 1e-9)
	if d.Saved <= d.Searches+d.Rewrite {
		return d.none(fmt.Sprintf("deferring %d tokens pays after %.0f calls, %.0f are expected", d.Tokens, d.Payback, in.Calls))
	}
	d.Why = fmt.Sprintf("%d of %d tools are deferred, %d tokens: earlier sessions hardly used them, %s, and %.0f of %.0f calls pay for it",
		len(d.Names), len(in.Tools), d.Tokens, when, d.Payback, in.Calls)
	return d
}

// keepOne takes the tool out that is likeliest to be used: the API refuses a request that
// defers all it has.
func (in *DeferInput) keepOne(d *Deferral) {
	best := -1
	for i := range in.Tools {
		if t := &in.Tools[i]; !t.Found && (best < 0 || t.chance() > in.Tools[best].chance()) {
			best = i
		}
	}
	if best < 0 {
		return // the search tool stands
	}
	t := &in.Tools[best]
	d.Names = slices.DeleteFunc(d.Names, func(n string) bool { return n == t.Name })
	d.Tokens -= t.Tokens
	d.Saved -= in.saves(t)
	d.Searches -= in.searching(t)
	d.keep(t, keepOne)
}

func (d *Deferral) add(t *DeferTool) {
	d.Names = append(d.Names, t.Name)
	d.Tokens += t.Tokens
}

func (d *Deferral) keep(t *DeferTool, why string) {
	d.Kept = append(d.Kept, KeptTool{t.Name, why})
}

// none is a decision that leaves all tools in the prompt, with the figures of what was
// thought of.
func (d *Deferral) none(why string) Deferral {
	d.Names, d.Tokens, d.Why = nil, 0, "nothing is deferred: "+why
	return *d
}
