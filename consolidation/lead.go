package consolidation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// gone is the kind of a missing place that a reference leads to.
type gone int

const (
	goneFile gone = iota
	goneHeading
	goneLine
	// goneNote is a note that a wiki link names.
	goneNote
)

// lead is a reference that leads nowhere.
type lead struct {
	gone
	// what names the missing place in the same way for every reference to it. shown is the place
	// in the form of this reference.
	what, shown string
	// in is the file that lacks the heading or line.
	in   *file
	file *file
	reference
	// closed reports whether the reference is in a log of a past day, which should not be
	// changed.
	closed bool
}

// place returns the place of the reference.
func (l *lead) place() health.Place { return health.Lines(l.file.Path, l.line, l.line) }

// closed reports whether a file is the log, or a note, of a day before today.
func (f *file) closed(today string) bool {
	return (f.Kind == markdownstore.KindDaily || f.Kind == markdownstore.KindNote) && f.Date != "" && f.Date < today
}

// manyGone is the most missing places of one file that are reported one by one, our choice.
const manyGone = 4

// tellLeads reports references by the missing place, and the references of a file that misses many
// places together. Notes that nobody has written are no fault of theirs. If only closed logs refer
// to a place, nothing is to be done. The same goes for a place that only instructions mention,
// since instructions may speak of a file that is yet to be written.
func (a *auditor) tellLeads(found []*lead) {
	const unwritten = "\x00"
	mendable, linked := map[string]bool{}, map[string]bool{}
	var missing groups[*file, string]
	for _, l := range found {
		mendable[l.what] = mendable[l.what] || !l.closed
		// Instructions that mention a file, without a link to it, may speak of one that is yet to be written.
		linked[l.what] = linked[l.what] || !l.closed && !(l.mention && (l.file.Kind == markdownstore.KindInstructions || l.file.Kind == markdownstore.KindRoutine))
		if (l.gone != goneNote || l.embed) && !slices.Contains(missing.of[l.file], l.what) {
			missing.add(l.file, l.what)
		}
	}
	var byPlace groups[string, *lead]
	var closed, awaited []*lead
	for _, l := range found {
		key := fmt.Sprint(l.gone, l.what)
		switch {
		case !mendable[l.what]:
			closed = append(closed, l)
			continue
		case !linked[l.what]:
			awaited = append(awaited, l)
			continue
		case l.gone == goneNote && !l.embed:
			key = unwritten
		case len(missing.of[l.file]) > manyGone:
			key = l.file.Path
		}
		byPlace.add(key, l)
	}
	for _, key := range byPlace.keys {
		group := byPlace.of[key]
		slices.SortStableFunc(group, func(x, y *lead) int { return strings.Compare(fmt.Sprint(x.closed), fmt.Sprint(y.closed)) })
		f := health.Finding{Severity: health.Warning, Place: group[0].place(), Others: placesOf(group[1:]), Hint: "correct the reference, or restore what it led to"}
		names := spelt(group)
		switch {
		case key == unwritten:
			f.Severity, f.Hint = health.Note, "write it, or take the brackets away"
			f.What = fmt.Sprintf("refers to %s that nobody has written yet: %s", count(len(names), "note", "notes"), some(names))
		case key == group[0].file.Path:
			f.What = fmt.Sprintf("refers to %d places that do not exist: %s", len(names), some(names))
		default:
			f.What = "refers to " + group[0].one() + alsoLines(len(group)-1)
		}
		a.add(f)
	}
	well := func(leads []*lead, what string) {
		if len(leads) > 0 {
			a.tell(health.OK, leads[0].place(), what, "", placesOf(leads[1:])...)
		}
	}
	well(awaited, "instructions mention what is not there yet: "+some(spelt(awaited)))
	well(closed, fmt.Sprintf("%s of days that are over %s gone: logs stay as they were written", count(len(closed), "reference in a log", "references in logs"), isAre(len(closed), "leads to what is", "lead to what is")))
}

// spelt returns the names of the places that leads miss, each once.
func spelt(leads []*lead) (out []string) {
	for _, l := range leads {
		if s := l.spelt(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// spelt returns the name of the missing place among others.
func (l *lead) spelt() string {
	switch l.gone {
	case goneNote:
		return "[[" + clip(l.shown, 120) + "]]"
	case goneHeading:
		return "#" + clip(l.shown, 80)
	case goneLine:
		return "line " + l.shown
	}
	return clip(l.shown, 120)
}

// one returns the words for a single missing place.
func (l *lead) one() string {
	switch l.gone {
	case goneHeading:
		return fmt.Sprintf("#%s, a heading that %s does not have", clip(l.shown, 80), l.in.Path)
	case goneLine:
		return fmt.Sprintf("line %s of %s, which has %d", l.shown, l.in.Path, l.in.lineCount())
	}
	return l.spelt() + ", which does not exist"
}

func placesOf(leads []*lead) (out []health.Place) {
	for _, l := range leads {
		out = append(out, l.place())
	}
	return out
}

// alsoLines names further lines like the first.
func alsoLines(n int) string {
	if n == 0 {
		return ""
	}
	return "; so " + isAre(n, "does ", "do ") + count(n, "other line", "other lines")
}

// isAre is the form of a verb that n takes.
func isAre(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// someNamed is how many of several things a message names.
const someNamed = 3

// some names the first of several things.
func some(names []string) string {
	if more := len(names) - someNamed; more > 1 {
		return fmt.Sprintf("%s, and %d more", strings.Join(names[:someNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}
