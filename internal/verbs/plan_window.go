package verbs

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
)

// band is one part of the bar that shows the window.
type band struct {
	name   string
	tokens int
	sign   byte // the character to draw it with
	colour string
}

// signs holds the character of each region. No character is used twice, so that the bar can be
// read without colour.
var signs = map[string]band{
	cachelayout.RegionTools:      {sign: 'T', colour: "purple"},
	cachelayout.RegionSystem:     {sign: 'S', colour: "blue"},
	cachelayout.RegionCarry:      {sign: 'C', colour: "cyan"},
	cachelayout.RegionWorkingSet: {sign: '#', colour: "green"},
	cachelayout.RegionRetrieval:  {sign: 'R', colour: "yellow"},
	cachelayout.RegionNewest:     {sign: 'N', colour: "red"},
}

// bands returns the regions of the plan, then the free tokens, the margin and the reserve.
func bands(plan *api.ContextPlan) []band {
	b := plan.Budgets
	var out []band
	for _, r := range plan.Regions {
		look := cmp.Or(signs[r.Name], band{sign: '?', colour: "white"})
		out = append(out, band{r.Name, r.Tokens, look.sign, look.colour})
	}
	free := b.ContextWindow - b.ReserveTokens - b.MarginTokens - b.PlannedInputTokens
	return append(out, band{"free", max(free, 0), '.', "gray"}, band{"margin", b.MarginTokens, ':', "gray"}, band{"reserve", b.ReserveTokens, '/', "gray"})
}

// windowHint says how to set a model's window.
const windowHint = "name it with plan.context_window (--context-window), or add the model to a file of prices (--prices)"

// window draws the window as a bar and as a table.
func (s *explanation) window() {
	plan := s.plan
	all := bands(plan)
	if plan.Budgets.ContextWindow == 0 {
		s.Section("Window", "unknown: nothing is cut; "+windowHint)
		all = all[:len(plan.Regions)]
	} else {
		s.Section("Window", display.Thousands(plan.Budgets.ContextWindow)+" tokens")
	}
	cells := s.Columns() - 4
	bar := ""
	for i, n := range apportion(all, cells) {
		bar += s.Paint(all[i].colour, strings.Repeat(string(all[i].sign), n))
	}
	s.Raw("  [" + bar + "]\n")
	row := s.Table(2, []int{2, 14, -11, -12, 3, s.Columns() - 44}, "", "region", "tokens", "of window")
	for i, b := range all {
		if i == len(plan.Regions) {
			row("", "planned", plan.Budgets.PlannedInputTokens, percent(plan.Budgets.PlannedInputTokens, plan.Budgets.ContextWindow))
		}
		mini := strings.Repeat(string(b.sign), int(float64(b.tokens)/float64(max(plan.Budgets.ContextWindow, 1))*34+0.5))
		row(display.Inked(b.colour, string(b.sign)), b.name, b.tokens, percent(b.tokens, plan.Budgets.ContextWindow), "", display.Inked(b.colour, mini))
	}
}

// apportion divides the cells of the bar among the bands, by their tokens. A band with tokens gets at
// least one cell, and together the bands get all cells.
func apportion(all []band, cells int) []int {
	out := make([]int, len(all))
	total, used, largest := 0, 0, 0
	for i := range all {
		total += max(all[i].tokens, 0)
	}
	if total == 0 {
		return out
	}
	for i := range all {
		if all[i].tokens <= 0 {
			continue
		}
		out[i] = max(1, all[i].tokens*cells/total)
		used += out[i]
		if all[i].tokens > all[largest].tokens {
			largest = i
		}
	}
	out[largest] = max(1, out[largest]+cells-used)
	return out
}

// breakpoints lists the cache markers.
func (s *explanation) breakpoints() {
	l := &s.plan.Layout
	if len(l.Breakpoints) == 0 {
		s.Section("Breakpoints", "none")
	} else {
		s.Section("Breakpoints", display.Plural(len(l.Breakpoints), "marker"))
		row := s.Table(2, []int{2, 13, -8, -14, -7, 3, s.Columns() - 49}, "", "region", "message", "tokens up to", "lives", "", "why")
		for i, b := range l.Breakpoints {
			row(i+1, b.Region, s.place(i), b.CumulativeTokens, lifetime(b.TTLSeconds), "", cmp.Or(markers[b.Why], strings.ReplaceAll(b.Why, "_", " ")))
		}
	}
	for _, n := range l.Notes {
		s.text("note", n)
	}
}

// place returns the number of the message with a marker, from 1.
func (s *explanation) place(i int) string {
	if i < len(s.plan.Markers) {
		if m := s.plan.Markers[i].Message; m >= 0 {
			return display.Thousands(m + 1)
		}
	}
	return "-"
}
