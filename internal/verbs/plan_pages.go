package verbs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// fate is the outcome for one page, or for several pages of one kind.
type fate struct {
	kind, id, level, reason string
	before, after, pages    int
}

// idInReason matches the ids of pages and spans. Without these ids, equal reasons form one group.
var idInReason = regexp.MustCompile(`\b[a-z]{2}-[0-9a-f]{16}\b`)

// fates lists the outcome for every page.
func fates(plan *api.ContextPlan) []fate {
	var out []fate
	for _, r := range plan.Debug.Included {
		f := fate{kind: r.Kind, id: r.ID, level: r.Level.String(), before: r.FullTokens, after: r.Tokens}
		if r.Level == pagevm.Full && !fromMemory(&r) { // the section Memory lists these
			f.reason = r.Note
		}
		out = append(out, f)
	}
	for _, r := range plan.Debug.Excluded {
		if r.Kind == cachelayout.RegionRetrieval {
			continue // a hit that was not recalled is no page
		}
		out = append(out, fate{kind: r.Kind, id: r.ID, level: pagevm.Gone.String(), before: r.Tokens, reason: r.Reason})
	}
	return out
}

// levels lists the levels of pages, from the one that shows most to the one that shows least. Groups
// are sorted in this order.
var levels = []string{"full", "compressed", "structured", "pointer", "gone"}

// groups counts fates by level, kind and reason.
func groups(all []fate) []fate {
	at := map[[3]string]int{}
	var out []fate
	for _, f := range all {
		reason := idInReason.ReplaceAllString(f.reason, "…")
		key := [3]string{f.kind, f.level, reason}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, fate{kind: f.kind, level: f.level, reason: reason})
		}
		out[i].pages++
		out[i].before += f.before
		out[i].after += f.after
	}
	slices.SortStableFunc(out, func(a, b fate) int {
		return cmp.Or(slices.Index(levels, a.level)-slices.Index(levels, b.level), b.before-a.before)
	})
	return out
}

// pages lists the kept, degraded and dropped pages.
func (s *explanation) pages() {
	all := fates(s.plan)
	s.Section("Pages", pagesLine(s.plan))
	row := s.Table(2, []int{12, 14, -6, -10, -10}, "shown as", "kind", "pages", "in full", "planned")
	for _, g := range groups(all) {
		row(level(g.level), g.kind, g.pages, g.before, g.after)
		s.Para(14, "gray", g.reason)
	}
	s.pageRows(all)
}

// level returns a page's level in its colour.
func level(name string) any {
	return display.Inked(map[string]string{"full": "green", "compressed": "cyan", "structured": "yellow", "pointer": "purple", "gone": "red"}[name], name)
}

// pageRows lists single pages: the pages that lost most, or all pages with --all.
func (s *explanation) pageRows(all []fate) {
	rows := slices.Clone(all)
	title := "every page"
	if !s.All {
		rows = slices.DeleteFunc(rows, func(f fate) bool { return f.before <= f.after })
		slices.SortStableFunc(rows, func(a, b fate) int { return (b.before - b.after) - (a.before - a.after) })
		title = "what lost most"
	}
	if len(rows) == 0 {
		return
	}
	s.Line("")
	row := s.Table(2, []int{27, 1, 14, 12, -10, -10}, title, "", "kind", "shown as", "in full", "planned")
	for _, f := range first(s.Sheet, rows) {
		row(f.id, "", f.kind, level(f.level), f.before, f.after)
	}
	more(s.Sheet, len(rows))
}

// pagesLine counts pages by outcome.
func pagesLine(plan *api.ContextPlan) string {
	full, less, gone := pageCounts(plan)
	return display.Say("{} in full, {} degraded, {} dropped", full, less, gone)
}

// fromMemory reports whether a row shows a file of the workspace.
func fromMemory(r *api.Included) bool {
	return slices.Contains([]pagevm.Type{pagevm.Bootstrap, pagevm.Preference, pagevm.Plan}, pagevm.Type(r.Kind))
}

// memoryRows returns the parts of the plan that come from the workspace's files.
func memoryRows(plan *api.ContextPlan) []api.Included {
	return slices.DeleteFunc(slices.Clone(plan.Debug.Included), func(r api.Included) bool { return !fromMemory(&r) })
}

// memoryLine sums up the parts that memory adds, or returns "" if memory adds no parts.
func memoryLine(plan *api.ContextPlan) string {
	var parts []string
	files, tokens := memoryRows(plan), 0
	for i := range files {
		tokens += files[i].Tokens
	}
	if len(files) > 0 {
		parts = append(parts, display.Say("{file} ({} tokens)", len(files), tokens))
	}
	if r := &plan.Retrieval; r.Items > 0 {
		parts = append(parts, display.Say("{item} recalled ({} tokens)", r.Items, r.Tokens))
	}
	return strings.Join(parts, ", ")
}

// leftOut returns the hits that were not recalled.
func leftOut(plan *api.ContextPlan) []api.Excluded {
	return slices.DeleteFunc(slices.Clone(plan.Debug.Excluded), func(r api.Excluded) bool { return r.Kind != cachelayout.RegionRetrieval })
}

// memory lists the parts that memory adds to the prompt, and the hits that were left out. Without
// memory it writes nothing.
func (s *explanation) memory() {
	plan := s.plan
	r := &plan.Retrieval
	files, left := memoryRows(plan), leftOut(plan)
	if len(files) == 0 && len(left) == 0 && r.Items == 0 && r.Reason == "DISABLED" {
		return
	}
	s.Section("Memory", fmt.Sprintf("%s, search %s", r.Reason, r.Mode))
	if r.Detail != "" {
		s.text("detail", r.Detail)
	}
	row := s.Table(2, []int{12, 41, 1, 12, -10})
	for _, f := range files {
		row(display.Inked("gray", f.Kind), f.Note, "", level(f.Level.String()), f.Tokens)
	}
	tokens := display.Thousands(r.Tokens)
	for i, c := range r.Citations {
		if i < len(r.Origins) && r.Origins[i] != "" {
			c += " " + r.Origins[i]
		}
		row(display.Inked("gray", "recalled"), c, "", level("full"), tokens)
		tokens = ""
	}
	row = s.Table(2, []int{12, 41, 1, s.Columns() - 56})
	for _, r := range first(s.Sheet, left) {
		row(display.Inked("gray", "left out"), r.ID, "", display.Inked("gray", r.Reason))
	}
	more(s.Sheet, len(left))
}
