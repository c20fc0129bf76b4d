package consolidation

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// gone is the kind of a missing place that a reference leads to.
type gone int

const (
	nothing gone = iota
	goneFile
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
	in *File

	file *File
	reference
	// closed reports whether the reference is in a log of a past day, which should not be
	// changed.
	closed bool
}

// rankOf ranks the leads that can be mended before the leads that can't.
func rankOf(l *lead) int {
	switch {
	case l.closed:
		return 2
	case l.instructs():
		return 1
	}
	return 0
}

// place returns the place of the reference.
func (l *lead) place() health.Place { return health.Lines(l.file.Path, l.line, l.line) }

// closed reports whether a file is the log, or a note, of a day before today.
func (f *File) closed(today string) bool {
	return (f.Kind == markdownstore.KindDaily || f.Kind == markdownstore.KindNote) && f.Date != "" && f.Date < today
}

// manyGone is the number of missing places in one folder or file from which they count as one
// cause.
const manyGone = 4

// tellLeads reports references by their cause. A cause has all references to one place, to one
// missing folder, to several places in one folder or file, or to notes that are not written yet.
// tellLeads also joins the remaining references of one file. If only closed logs refer to a
// place, nothing is to be done. The same goes for a place that only instructions mention, unless
// a file has nearly that name, since instructions may speak of a file that is yet to be written.
// Such references are reported together, and not as a fault.
func (a *auditor) tellLeads(found []lead, names *vault) {
	causes := a.causes(found, names)
	mendable, linked := map[string]bool{}, map[string]bool{}
	for i := range found {
		l := &found[i]
		mendable[l.what] = mendable[l.what] || !l.closed
		linked[l.what] = linked[l.what] || !l.closed && !l.instructs() || names.elsewhere(l.shown) != "" || names.near(l.shown) != ""
	}
	order := []string{}
	by := map[string][]*lead{}
	var closed, awaited []*lead
	for i := range found {
		switch l := &found[i]; {
		case !mendable[l.what]:
			closed = append(closed, l)
			continue
		case !linked[l.what]:
			awaited = append(awaited, l)
			continue
		}
		if by[causes[i]] == nil {
			order = append(order, causes[i])
		}
		by[causes[i]] = append(by[causes[i]], &found[i])
	}
	for _, cause := range order {
		group := by[cause]
		slices.SortStableFunc(group, func(x, y *lead) int { return rankOf(x) - rankOf(y) })
		a.tellLead(cause, group, names)
	}
	if len(awaited) > 0 {
		var shown []string
		for _, l := range awaited {
			if !slices.Contains(shown, l.spelt()) {
				shown = append(shown, l.spelt())
			}
		}
		a.add(health.Finding{Severity: health.OK, Place: awaited[0].place(), Others: placesOf(awaited[1:]),
			What: "instructions mention what is not there yet: " + some(shown)})
	}
	if len(closed) > 0 {
		a.add(health.Finding{Severity: health.OK, Place: closed[0].place(), Others: placesOf(closed[1:]),
			What: fmt.Sprintf("%s of days that are over %s gone: logs stay as they were written", count(len(closed), "reference in a log", "references in logs"), isAre(len(closed), "leads to what is", "lead to what is"))})
	}
}

// causes returns for every lead the cause that it shares with other leads. The cause is the
// missing folder, the folder or file that lacks many places, or the place itself.
func (a *auditor) causes(found []lead, names *vault) []string {
	out := make([]string, len(found))
	lacks := map[string]map[string]bool{}
	for i := range found {
		l := &found[i]
		switch {
		case l.gone == goneNote && names.near(l.shown) == "" && !l.embed:
			out[i] = "notes"
			continue
		case l.gone == goneFile:
			out[i] = a.goneFolder(l.what)
		case l.in != nil:
			out[i] = l.in.Path + "#"
		}
		if out[i] == "" {
			out[i] = path.Dir(l.what) + "/?"
		}
		if lacks[out[i]] == nil {
			lacks[out[i]] = map[string]bool{}
		}
		lacks[out[i]][l.what] = true
	}
	for i := range found {
		l := &found[i]
		most := manyGone
		if l.gone == goneFile && !strings.HasSuffix(out[i], "/?") {
			most = 2
		}
		if out[i] != "notes" && len(lacks[out[i]]) < most {
			out[i] = fmt.Sprint(l.gone, l.what)
			if at := l.file.Path + "/*"; lacks[at] == nil {
				lacks[at] = map[string]bool{l.what: true}
			} else {
				lacks[at][l.what] = true
			}
		}
	}
	for i := range found {
		if l := &found[i]; out[i] == fmt.Sprint(l.gone, l.what) && len(lacks[l.file.Path+"/*"]) > manyGone {
			out[i] = l.file.Path + "/*"
		}
	}
	return out
}

// goneFolder returns the outermost missing folder of a path, with a slash. It returns "" if the
// path's folder exists.
func (a *auditor) goneFolder(p string) string {
	dir := path.Dir(p)
	if dir == "." || a.snap.exists(dir) {
		return ""
	}
	for up := path.Dir(dir); up != "." && !a.snap.exists(up); up = path.Dir(up) {
		dir = up
	}
	return dir + "/"
}

// tellLead reports the references of one cause. References to one place name it. References to
// several places name the first ones.
func (a *auditor) tellLead(cause string, group []*lead, names *vault) {
	first := group[0]
	f := health.Finding{Severity: health.Warning, Place: first.place(), Others: placesOf(group[1:]), Hint: "correct the reference, or restore what it led to"}
	var shown []string
	for _, l := range group {
		if s := l.spelt(); !slices.Contains(shown, s) {
			shown = append(shown, s)
		}
	}
	switch {
	case len(shown) == 1 || !strings.HasSuffix(cause, "/") && !strings.HasSuffix(cause, "/?") && !strings.HasSuffix(cause, "/*") && !strings.HasSuffix(cause, "#") && cause != "notes":
		f.What = "refers to " + first.one() + alsoLines(len(group)-1)
	case strings.HasSuffix(cause, "#"):
		f.What = fmt.Sprintf("refers to %d places that %s does not have: %s", len(shown), first.in.Path, some(shown))
	case cause == "notes":
		f.What = fmt.Sprintf("refers to %d notes that nobody has written yet: %s", len(shown), some(shown))
	case strings.HasSuffix(cause, "/*"):
		f.What = fmt.Sprintf("refers to %d places that do not exist: %s", len(shown), some(shown))
	case strings.HasSuffix(cause, "/?"):
		f.What = fmt.Sprintf("refers to %d files that %s does not have: %s", len(shown), folderName(strings.TrimSuffix(cause, "/?")), some(shown))
	default:
		f.What = fmt.Sprintf("refers to %d files in %s, a folder that does not exist: %s", len(shown), cause, some(shown))
		f.Hint = "restore the folder, or correct the references"
	}
	switch near := names.near(first.shown); {
	case cause == "notes":
		f.Severity, f.Hint = health.Note, "write them, or take the brackets away"
	case (first.gone == goneNote || first.gone == goneFile) && len(shown) == 1 && names.elsewhere(first.shown) != "":
		f.Hint = names.elsewhere(first.shown) + " has this name; correct the reference"
	case first.gone == goneNote && near != "":
		f.Hint = near + " is nearly called so; correct the reference"
	}
	a.add(f)
}

// instructs reports whether instructions mention a file without a link to the file. Such
// instructions may speak of a file that is yet to be written.
func (l *lead) instructs() bool {
	return l.mention && (l.file.Kind == markdownstore.KindInstructions || l.file.Kind == markdownstore.KindRoutine)
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

func folderName(dir string) string {
	if dir == "." {
		return "the workspace"
	}
	return dir + "/"
}
