package display

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// fate is the outcome for one page.
type fate struct {
	kind, id      string
	level         string
	before, after int
	reason        string
}

// idInReason finds page and span ids, which would split groups.
var idInReason = regexp.MustCompile(`\b[a-z]{2}-[0-9a-f]{16}\b`)

// fates lists the outcome for every page.
func fates(plan *api.ContextPlan) []fate {
	var out []fate
	for _, r := range plan.Debug.Included {
		f := fate{kind: r.Kind, id: r.ID, level: r.Level.String(), before: r.FullTokens, after: r.Tokens}
		if r.Level == pagevm.Full && !fromMemory(&r) { // memory lists these by file
			f.reason = r.Note
		}
		out = append(out, f)
	}
	for _, r := range plan.Debug.Excluded {
		if r.Kind == api.RegionRetrieval {
			continue // it was no page yet
		}
		out = append(out, fate{kind: r.Kind, id: r.ID, level: pagevm.Gone.String(), before: r.Tokens, reason: r.Reason})
	}
	return out
}

// group is a set of pages of one kind with the same fate.
type group struct {
	kind, level, reason string
	pages               int
	before, after       int
}

// levels orders groups from the most shown to the least.
var levels = []string{"full", "compressed", "structured", "pointer", "gone"}

// groups counts fates by level, kind and reason.
func groups(all []fate) []group {
	at := map[[3]string]int{}
	var out []group
	for _, f := range all {
		reason := idInReason.ReplaceAllString(f.reason, "…")
		key := [3]string{f.kind, f.level, reason}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, group{kind: f.kind, level: f.level, reason: reason})
		}
		out[i].pages++
		out[i].before += f.before
		out[i].after += f.after
	}
	slices.SortStableFunc(out, func(a, b group) int {
		if c := slices.Index(levels, a.level) - slices.Index(levels, b.level); c != 0 {
			return c
		}
		return b.before - a.before
	})
	return out
}

// pages lists the kept, degraded and dropped pages.
func (s *sheet) pages() {
	all := fates(s.out.Plan)
	s.section("Pages", pagesLine(s.out.Plan))
	s.line("  ", s.Paint(Gray, Left("shown as", 12)), s.Paint(Gray, Left("kind", 14)), s.Paint(Gray, Right("pages", 6)), s.Paint(Gray, Right("in full", 10)), s.Paint(Gray, Right("planned", 10)))
	for _, g := range groups(all) {
		s.line("  ", s.level(g.level, 12), Left(g.kind, 14), Right(Thousands(g.pages), 6), Right(Thousands(g.before), 10), Right(Thousands(g.after), 10))
		for _, l := range Wrap(g.reason, s.Columns()-16) {
			s.line(strings.Repeat(" ", 14), s.Paint(Gray, l))
		}
	}
	s.pageRows(all)
}

// level returns a page's level in its colour.
func (s *sheet) level(name string, n int) string {
	colour := map[string]Ink{"full": green, "compressed": cyan, "structured": yellow, "pointer": purple, "gone": red}[name]
	return s.Paint(colour, Left(name, n))
}

// pageRows lists single pages: the pages that lost most, or all pages with --all.
func (s *sheet) pageRows(all []fate) {
	rows := slices.Clone(all)
	title := "every page"
	if !s.all {
		rows = slices.DeleteFunc(rows, func(f fate) bool { return f.before <= f.after })
		slices.SortStableFunc(rows, func(a, b fate) int { return (b.before - b.after) - (a.before - a.after) })
		title = "what lost most"
	}
	if len(rows) == 0 {
		return
	}
	of := len(rows)
	if !s.all {
		rows = rows[:min(of, maxRows)]
	}
	s.line()
	s.line("  ", s.Paint(Gray, Left(title, 28)), s.Paint(Gray, Left("kind", 14)), s.Paint(Gray, Left("shown as", 12)), s.Paint(Gray, Right("in full", 10)), s.Paint(Gray, Right("planned", 10)))
	for _, f := range rows {
		s.line("  ", Left(Clip(f.id, 27), 28), Left(f.kind, 14), s.level(f.level, 12), Right(Thousands(f.before), 10), Right(Thousands(f.after), 10))
	}
	s.more(of, len(rows))
}

// paging writes the paging statistics of the conversation so far, and the page table.
func (s *sheet) paging() {
	t := s.out.Plan.Table
	if t == nil {
		return
	}
	s.section("Paging", "this conversation, this plan counted")
	s.text("thrash index", thrashText(&t.Report), "")
	for _, code := range paging.Codes() {
		if n := t.Faults[code]; n > 0 {
			s.text("", fmt.Sprintf("%s %d", code, n), yellow)
		}
	}
	if !s.all {
		return
	}
	s.line()
	s.line("  ", s.Paint(Gray, Left("page", 21)), s.Paint(Gray, Left("type", 13)), s.Paint(Gray, Left("shown as", 11)), s.Paint(Gray, Left("is in", 13)), s.Paint(Gray, Left("pin", 5)), s.Paint(Gray, Right("call", 5)), "  ", s.Paint(Gray, "last use"))
	for i := range t.Pages {
		r := &t.Pages[i]
		pin, last := "", "-"
		if r.Pin != paging.PinNone {
			pin = string(r.Pin)
		}
		if r.Last.Call > 0 {
			last = strconv.Itoa(r.Last.Call)
		}
		s.line("  ", Left(Clip(r.ID, 20), 21), Left(string(r.Type), 13), s.level(r.Level.String(), 11), Left(string(r.Place), 13), Left(pin, 5), Right(last, 5), "  ", string(r.Last.How))
		for _, l := range Wrap(pageFacts(r), s.Columns()-4) {
			s.line("    ", s.Paint(Gray, l))
		}
	}
}

// thrashText formats a thrash index and its parts.
func thrashText(r *paging.Report) string {
	return fmt.Sprintf("%.2f: %s and %s over %s + 1", r.Thrash, Plural(r.ExplicitFaults, "fault"), Plural(r.Alerts, "alert"), Plural(r.Hits, "hit"))
}

// pageFacts returns the sizes and the origin of a page.
func pageFacts(r *paging.PageRow) string {
	var sizes []string
	for _, l := range [...]pagevm.Level{pagevm.Full, pagevm.Compressed, pagevm.Structured, pagevm.Pointer} {
		if n := r.Tokens.At(l); n > 0 {
			sizes = append(sizes, fmt.Sprintf("%s %s", l, Thousands(n)))
		}
	}
	facts := []string{strings.Join(sizes, ", "), "floor " + r.Floor.String()}
	switch c := r.RecomputeCost; {
	case c == nil:
		facts = append(facts, "not made again")
	case *c > 0:
		facts = append(facts, Plural(int(*c), "call")+" to make")
	}
	if r.Dirty {
		facts = append(facts, "dirty")
	}
	from := cmp.Or(strings.TrimSpace(r.Tool+" "+r.Path), r.Key)
	if from == "" && len(r.Refs) > 0 {
		from = r.Refs[0].Path
	}
	if from != "" {
		facts = append(facts, from)
	}
	return strings.Join(facts, "; ")
}

// pagesLine counts pages by outcome.
func pagesLine(plan *api.ContextPlan) string {
	full, less, gone := pageCounts(plan)
	return fmt.Sprintf("%s in full, %s degraded, %s dropped", Thousands(full), Thousands(less), Thousands(gone))
}
