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
// cause. Of a missing folder two are enough.
const manyGone = 4

// cause is what references that lead nowhere have in common.
type cause struct {
	kind causeKind
	// at is the missing folder, the folder or the file that lacks the places, the file with the
	// references, or the place itself.
	at string
}

type causeKind int

const (
	onePlace causeKind = iota
	goneFolder
	inFolder
	inFile
	byFile
	unwritten // notes that nobody has written
)

// tellLeads reports references by their cause. A cause has all references to one place, to one
// missing folder, to several places in one folder or file, or to notes that are not written yet.
// tellLeads also joins the remaining references of one file. If only closed logs refer to a
// place, nothing is to be done. The same goes for a place that only instructions mention, unless
// a file has nearly that name, since instructions may speak of a file that is yet to be written.
// Such references are reported together, and not as a fault.
func (a *auditor) tellLeads(found []*lead, names *vault) {
	causes := a.causes(found, names)
	mendable, linked := map[string]bool{}, map[string]bool{}
	for _, l := range found {
		mendable[l.what] = mendable[l.what] || !l.closed
		linked[l.what] = linked[l.what] || !l.closed && !l.instructs() || names.elsewhere(l.shown) != "" || names.near(l.shown) != ""
	}
	var order []cause
	by := map[cause][]*lead{}
	var closed, awaited []*lead
	for i, l := range found {
		switch c := causes[i]; {
		case !mendable[l.what]:
			closed = append(closed, l)
		case !linked[l.what]:
			awaited = append(awaited, l)
		default:
			if by[c] == nil {
				order = append(order, c)
			}
			by[c] = append(by[c], l)
		}
	}
	for _, c := range order {
		slices.SortStableFunc(by[c], func(x, y *lead) int { return rankOf(x) - rankOf(y) })
		a.tellLead(c, by[c], names)
	}
	well := func(leads []*lead, what string) {
		if len(leads) > 0 {
			a.add(health.Finding{Severity: health.OK, Place: leads[0].place(), Others: placesOf(leads[1:]), What: what})
		}
	}
	well(awaited, "instructions mention what is not there yet: "+some(spelt(awaited)))
	well(closed, fmt.Sprintf("%s of days that are over %s gone: logs stay as they were written", count(len(closed), "reference in a log", "references in logs"), isAre(len(closed), "leads to what is", "lead to what is")))
}

// causes returns for every lead the cause that it shares with other leads.
func (a *auditor) causes(found []*lead, names *vault) []cause {
	out := make([]cause, len(found))
	lacks := map[cause]map[string]bool{}
	set := func(i int, c cause) {
		if out[i] = c; lacks[c] == nil {
			lacks[c] = map[string]bool{}
		}
		lacks[c][found[i].what] = true
	}
	for i, l := range found {
		switch folder := a.goneFolder(l); {
		case l.gone == goneNote && names.near(l.shown) == "" && !l.embed:
			set(i, cause{kind: unwritten})
		case folder != "":
			set(i, cause{goneFolder, folder})
		case l.in != nil:
			set(i, cause{inFile, l.in.Path})
		default:
			set(i, cause{inFolder, path.Dir(l.what)})
		}
	}
	least := [...]int{goneFolder: 2, inFolder: manyGone, inFile: manyGone, unwritten: 1}
	for i, c := range slices.Clone(out) {
		if len(lacks[c]) < least[c.kind] {
			set(i, cause{byFile, found[i].file.Path})
		}
	}
	for i, c := range out {
		if c.kind == byFile && len(lacks[c]) <= manyGone {
			out[i] = cause{onePlace, fmt.Sprint(found[i].gone, found[i].what)}
		}
	}
	return out
}

// goneFolder returns the outermost missing folder of a missing file, with a slash. It returns "" if
// the file's folder exists.
func (a *auditor) goneFolder(l *lead) string {
	gone := ""
	for dir := path.Dir(l.what); l.gone == goneFile && dir != "." && !a.snap.exists(dir); dir = path.Dir(dir) {
		gone = dir + "/"
	}
	return gone
}

// tellLead reports the references of one cause. References to one place name it. References to
// several places name the first ones.
func (a *auditor) tellLead(c cause, group []*lead, names *vault) {
	first, shown := group[0], spelt(group)
	f := health.Finding{Severity: health.Warning, Place: first.place(), Others: placesOf(group[1:]), Hint: "correct the reference, or restore what it led to"}
	if c.kind == onePlace || len(shown) == 1 {
		f.What = "refers to " + first.one() + alsoLines(len(group)-1)
	} else {
		f.What = fmt.Sprintf("refers to %d %s: %s", len(shown), map[causeKind]string{
			goneFolder: "files in " + c.at + ", a folder that does not exist", inFolder: "files that " + folderName(c.at) + " does not have", inFile: "places that " + c.at + " does not have",
			byFile: "places that do not exist", unwritten: "notes that nobody has written yet"}[c.kind], some(shown))
	}
	switch near, other := names.near(first.shown), names.elsewhere(first.shown); {
	case c.kind == unwritten:
		f.Severity, f.Hint = health.Note, "write them, or take the brackets away"
	case (first.gone == goneNote || first.gone == goneFile) && len(shown) == 1 && other != "":
		f.Hint = other + " has this name; correct the reference"
	case first.gone == goneNote && near != "":
		f.Hint = near + " is nearly called so; correct the reference"
	case c.kind == goneFolder && len(shown) > 1:
		f.Hint = "restore the folder, or correct the references"
	}
	a.add(f)
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
