package consolidation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// lead is a reference that leads nowhere.
type lead struct {
	// place names the missing place in the same way for every reference to it. name is the place
	// in the form of this reference, and fault says what is missing there.
	place, name, fault string
	// note marks a note that a wiki link names.
	note bool
	file *file
	reference
	// closed reports whether the reference is in a log of a past day, which should not be
	// changed.
	closed bool
}

// missingPlace returns a lead to something that does not exist.
func missingPlace(place, name string) *lead {
	return &lead{place: place, name: name, fault: name + ", which does not exist"}
}

// at returns where the reference is.
func (l *lead) at() health.Place { return health.Lines(l.file.Path, l.line, l.line) }

// closed reports whether a file is the log, or a note, of a day before today.
func (f *file) closed(today string) bool {
	return (f.Kind == markdownstore.KindDaily || f.Kind == markdownstore.KindNote) && f.Date != "" && f.Date < today
}

// manyGone is the most missing places of one file that are reported one by one, our choice.
const manyGone = 4

// tellLeads reports references by the missing place, and the references of a file that misses many
// places together. Wiki links to notes that do not exist are one note. A missing place to which only
// closed logs refer is not reported. The same goes for a place that only instructions mention, since
// instructions may speak of a file that is yet to be written.
func (a *auditor) tellLeads(found []*lead) {
	const unwritten, inFile = "\x00", "\x01" // of groups that are not of one place
	mendable := map[string]bool{}
	var missing groups[*file, string]
	for _, l := range found {
		// Instructions that mention a file, without a link to it, may speak of one that is yet to be written.
		mendable[l.place] = mendable[l.place] || !l.closed && !(l.mention && (l.file.Kind == markdownstore.KindInstructions || l.file.Kind == markdownstore.KindRoutine))
		if (!l.note || l.embed) && !slices.Contains(missing.of[l.file], l.place) {
			missing.add(l.file, l.place)
		}
	}
	var byPlace groups[string, *lead]
	for _, l := range found {
		key := l.place
		switch {
		case !mendable[l.place]:
			continue
		case l.note && !l.embed:
			key = unwritten
		case len(missing.of[l.file]) > manyGone:
			key = inFile + l.file.Path
		}
		byPlace.add(key, l)
	}
	for _, key := range byPlace.keys {
		group := byPlace.of[key]
		slices.SortStableFunc(group, func(x, y *lead) int { return strings.Compare(fmt.Sprint(x.closed), fmt.Sprint(y.closed)) })
		f := health.Finding{Severity: health.Warning, Place: group[0].at(), Others: placesOf(group[1:]), Hint: "correct the reference, or restore what it led to"}
		names := spelt(group)
		switch {
		case key == unwritten:
			f.Severity, f.Hint = health.Note, "write it, or take the brackets away"
			f.What = fmt.Sprintf("refers to %s that nobody has written yet: %s", count(len(names), "note", "notes"), some(names))
		case strings.HasPrefix(key, inFile):
			f.What = fmt.Sprintf("refers to %d places that do not exist: %s", len(names), some(names))
		default:
			f.What = "refers to " + group[0].fault + alsoLines(len(group)-1)
		}
		a.add(f)
	}
}

// spelt returns the names of the places that leads miss, each once.
func spelt(leads []*lead) (out []string) {
	for _, l := range leads {
		if !slices.Contains(out, l.name) {
			out = append(out, l.name)
		}
	}
	return out
}

func placesOf(leads []*lead) (out []health.Place) {
	for _, l := range leads {
		out = append(out, l.at())
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
