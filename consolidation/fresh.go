package consolidation

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/markdownstore"
)

// The checks of neglected upkeep.

func (a *auditor) sessionState() {
	for f := range a.of(markdownstore.KindState) {
		if old := a.Now.Sub(f.ModTime); old > stateAge && f.Err == nil {
			a.tell(health.Warning, health.Place{Path: f.Path}, fmt.Sprintf("was last written %s ago, the limit is %s", age(old), age(stateAge)),
				"write it anew at the start of a session, or empty it if nothing is under way")
		}
	}
}

// of yields the files of a kind.
func (a *auditor) of(kind markdownstore.Kind) iter.Seq[*file] {
	return func(yield func(*file) bool) {
		for _, f := range a.snap.Files {
			if f.Kind == kind && !yield(f) {
				return
			}
		}
	}
}

// today is the day of the audit.
func (a *auditor) today() string { return a.Now.In(a.Timezone).Format(time.DateOnly) }

func (a *auditor) observations() {
	for f := range a.of(markdownstore.KindObservations) {
		if n := f.lineCount(); n > observationLines {
			a.tell(health.Warning, health.Lines(f.Path, observationLines+1, n), fmt.Sprintf("has %d lines, the limit is %d", n, observationLines),
				"drop entries without a tag that are older than a week")
		}
	}
}

// dailyLog reports a missing log of today. Until the grace is over yesterday's log is enough: an
// audit at night runs before the day's work.
func (a *auditor) dailyLog() {
	day := a.Now.Add(-logGrace).In(a.Timezone).Format(time.DateOnly)
	newest := ""
	for f := range a.of(markdownstore.KindDaily) {
		if f.Date <= a.today() {
			newest = max(newest, f.Date)
		}
	}
	switch {
	case newest == "":
		a.report.Skip("the workspace keeps no logs of days")
	case newest < day:
		a.tell(health.Warning, health.Place{Path: "memory/" + day + ".md"}, "there is no log of the day; the newest is of "+newest,
			"see that the agent writes down what it does; a flush before compaction writes by itself")
	}
}

// staleFiles reports files that were not kept up to date. Logs and notes of a day are closed when
// that day is over, and age by their date. Notes outside memory's own files belong to a person,
// who may leave them unchanged for years. Upkeep looks after the files whose entries all name a
// source.
func (a *auditor) staleFiles() {
	a.staleLines()
	var old []*file
	for _, f := range a.snap.Files {
		_, own := markdownstore.Classify(f.Path)
		sourced := len(f.Entries) > 0 && !slices.ContainsFunc(f.Entries, func(e *Entry) bool { return len(e.From) == 0 })
		if own && (f.Kind == markdownstore.KindTopic || f.Kind == markdownstore.KindObservations) && f.Err == nil && !sourced && a.Now.Sub(f.ModTime) > fileAge {
			old = append(old, f)
		}
	}
	if len(old) == 0 {
		return
	}
	slices.SortStableFunc(old, func(f, g *file) int { return f.ModTime.Compare(g.ModTime) })
	what := fmt.Sprintf("was last changed %s ago, the limit is %s", age(a.Now.Sub(old[0].ModTime)), age(fileAge))
	if more := len(old) - 1; more > 0 {
		what += fmt.Sprintf("; %s longer ago than that, too", count(more, "other file was changed", "other files were changed"))
	}
	var others []health.Place
	for _, f := range old[1:] {
		others = append(others, health.Place{Path: f.Path})
	}
	a.tell(health.Note, health.Place{Path: old[0].Path}, what, "see whether it still holds: correct it or archive it", others...)
}

// staleLines reports lines that are out of date by their own words. Logs, and sections about the
// past, tell what was so.
func (a *auditor) staleLines() {
	left := map[string]*Entry{} // the newest entry by which each person left
	for e := range a.snap.entries() {
		if m := leaving.FindStringSubmatch(e.Plain); m != nil && e.State == stateNone && (left[m[1]] == nil || newer(e, left[m[1]])) {
			left[m[1]] = e
		}
	}
	for _, f := range a.snap.Files {
		if past, _ := ledger.Heading(f.Path); past || f.Date != "" || f.archived() || f.Shadowed || datedName.MatchString(f.Path) {
			continue
		}
		for _, e := range f.Entries {
			if past, _ := ledger.Heading(strings.Join(e.Trail, " ")); past || e.State != stateNone || e.Kind == markdownstore.UnitQuote || firstDate(strings.Join(e.Trail, " ")) != "" {
				continue
			}
			n := e.StartLine
			for l := range textutil.Lines(e.Text) {
				who := keeping.FindStringSubmatch(l)
				tell := func(what, hint string) { a.tell(health.Note, health.Lines(f.Path, n, n), what, hint) }
				switch day, ahead := ledger.Stale(l, a.Now); {
				case who != nil && left[who[1]] != nil && left[who[1]].Date >= e.Date:
					tell(fmt.Sprintf("says what %s does: %q, but %s says that %s left", who[1], a.excerpt(l), left[who[1]].Place(), who[1]), "name who does it now")
				case ahead:
					tell(fmt.Sprintf("calls %s yet to come, which was %s ago: %q", day, a.since(day), a.excerpt(l)), "say what came of it")
				case day != "":
					tell(fmt.Sprintf("says how things were on %s, %s ago: %q", day, a.since(day), a.excerpt(l)), "see whether it still holds")
				}
				n++
			}
		}
	}
}

var (
	// leaving matches a line by which a person left, and keeping one by which a person has a task.
	leaving = textutil.LazyRegexp(`\b(\p{Lu}\p{L}{2,})(?: has)? left(?: (?:us|the (?:team|company|project|firm))\b| (?:on|in) (?:\d|\p{Lu}))`)
	keeping = textutil.LazyRegexp(`\b(\p{Lu}\p{L}{2,}) (?:currently |still |now )*(?:maintains|owns|leads|manages|runs|reviews|approves|is (?:responsible|in charge|our|the (?:owner|lead|maintainer|contact)))\b`)
)

// datedName matches the path of a note of a day.
var datedName = textutil.LazyRegexp(`\d{4}[-_.]\d{2}[-_.]\d{2}`)

// since returns how long ago a day was.
func (a *auditor) since(day string) string {
	at, _ := markdownstore.ParseDate(day, a.Timezone)
	return age(a.Now.Sub(at))
}

// memoryAge looks at the newest date that MEMORY.md itself holds. If it holds none, the file's
// modification time counts.
func (a *auditor) memoryAge() {
	f := a.snap.Memory()
	if f == nil || f.Err != nil {
		return
	}
	newest, line, n := "", 0, f.Doc.BodyLine // the latest date that is not after today
	for l := range textutil.Lines(f.Doc.Body) {
		for _, m := range isoDate.FindAllStringSubmatch(l, -1) {
			if d := m[1] + "-" + m[2] + "-" + m[3]; d > newest && d <= a.today() && validDay(d) {
				newest, line = d, n
			}
		}
		n++
	}
	at, said := f.ModTime, "holds no date and was last changed"
	if newest != "" {
		at, _ = markdownstore.ParseDate(newest, a.Timezone)
		said = "has its newest entry of " + newest + ","
	}
	if old := a.Now.Sub(at); old > memoryAge+24*time.Hour || newest == "" && old > memoryAge {
		a.tell(health.Warning, health.Lines(f.Path, line, line), fmt.Sprintf("%s %s ago; the limit is %s", said, age(old), age(memoryAge)),
			"bring what the logs of the last days came to into it")
	}
}

// workingBuffer reports a buffer that has more than headings and comments.
func (a *auditor) workingBuffer() {
	for f := range a.of(markdownstore.KindBuffer) {
		n, first := 0, 0
		for _, u := range markdownstore.Units(f.Doc) {
			switch u.Kind {
			case markdownstore.UnitHeading, markdownstore.UnitHTML, markdownstore.UnitMarker, markdownstore.UnitRule:
			default:
				n, first = n+1, cmp.Or(first, u.StartLine)
			}
		}
		if n > 0 {
			a.tell(health.Warning, health.Lines(f.Path, first, f.lineCount()), fmt.Sprintf("holds %s that nothing has processed", count(n, "entry", "entries")),
				"bring what matters into the day's log or MEMORY.md, then empty it; sessions may be ending before they can")
		}
	}
}

func count(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, isAre(n, one, many))
}
