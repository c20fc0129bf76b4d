package consolidation

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// state is the state of an entry. It tells whether the entry still holds.
type state string

// The states. Most entries have no state.
const (
	stateNone state = ""
	// stateOpen and stateDone are the states of a task, which is an item with a box.
	stateOpen state = "open"
	stateDone state = "done"
	// stateSuperseded is the state of an entry that is struck through, marked as no longer valid,
	// or replaced by a newer entry.
	stateSuperseded state = "superseded"
)

// Entry is one entry of a memory file.
type Entry struct {
	Path string
	// StartLine and EndLine are 1-based and inclusive. Start and End are byte offsets in the
	// file, End exclusive. Blank lines after the entry don't count.
	StartLine, EndLine int
	Start, End         int
	Kind               markdownstore.UnitKind
	// Text has the lines of the entry as they are written. Plain is the content of the entry on
	// one line, without bullet, box, time, tags and comments.
	Text, Plain string
	// Trail has the headings above the entry, outermost first.
	Trail []string
	// Date is YYYY-MM-DD or "".
	Date string
	// Dated reports whether the entry or a heading has the date. It is false if only the file's
	// name has it.
	Dated bool
	Tags  Tags
	// ID is the id in the marker after the entry's block, "" if there is no marker.
	ID string
	// From and Supersedes are the references in the entry's comments.
	From, Supersedes []string
	State            state
	// replacement is the replacement of a value that the entry states, nil if it states none.
	replacement *markdownstore.Replacement
}

// Place returns the place of the entry, as in "MEMORY.md:12".
func (e *Entry) Place() string { return fmt.Sprintf("%s:%d", e.Path, e.StartLine) }

// Words returns the content of the entry without the mark that an agent says it.
func (e *Entry) Words() string { return strings.TrimPrefix(e.Plain, agentMark) }

// Entries reads the entries of a file's text.
func Entries(path, text string) []*Entry { return entriesOf(markdownstore.Parse(path, text)) }

func entriesOf(d markdownstore.Document) []*Entry {
	r := reader{doc: d}
	for _, u := range markdownstore.Units(d) {
		r.unit(u)
	}
	return r.out
}

// reader makes entries from units.
type reader struct {
	doc  markdownstore.Document
	open []heading
	out  []*Entry
}

// heading is a heading that the current unit is under.
type heading struct {
	level int
	text  string
	date  string
	tags  Tags
}

func (r *reader) unit(u markdownstore.Unit) {
	switch u.Kind {
	case markdownstore.UnitHeading:
		for len(r.open) > 0 && r.open[len(r.open)-1].level >= u.Level {
			r.open = r.open[:len(r.open)-1]
		}
		text, tags := CutTags(u.Label)
		r.open = append(r.open, heading{u.Level, text, firstDate(text), tags})
	case markdownstore.UnitMarker: // the id of the block above it, which ends at a blank line
		line := u.StartLine
		for i := len(r.out) - 1; i >= 0 && r.out[i].ID == "" && r.out[i].EndLine == line-1; i-- {
			r.out[i].ID = u.Label
			line = r.out[i].StartLine
		}
	case markdownstore.UnitParagraph, markdownstore.UnitItem, markdownstore.UnitTurn, markdownstore.UnitQuote, markdownstore.UnitTable:
		r.entry(u)
	}
}

func (r *reader) entry(u markdownstore.Unit) {
	raw := r.doc.Raw[u.Start:u.End]
	lead := len(raw) - len(strings.TrimLeft(raw, " \t\r\n"))
	lead = strings.LastIndexByte(raw[:lead], '\n') + 1
	text := strings.TrimRight(raw[lead:], " \t\r\n")
	if text == "" {
		return
	}
	first := u.StartLine + strings.Count(raw[:lead], "\n")
	e := &Entry{Path: r.doc.Path, Kind: u.Kind, Text: text, StartLine: first, EndLine: first + strings.Count(text, "\n"),
		Start: u.Start + lead, End: u.Start + lead + len(text)}
	r.out = append(r.out, e)
	for i := range r.open {
		h := &r.open[i]
		e.Trail, e.Tags = append(e.Trail, h.text), e.Tags.with(h.tags...)
		if h.date != "" {
			e.Date, e.Dated = h.date, true
		}
	}
	for _, m := range comment.FindAllStringSubmatch(e.Text, -1) {
		switch refs := strings.FieldsFunc(m[2], func(c rune) bool { return c == ',' || c == ' ' }); m[1] {
		case "from":
			e.From = append(e.From, refs...)
		case "supersedes":
			e.Supersedes = append(e.Supersedes, refs...)
		}
	}
	switch box := strings.TrimSpace(bullet.FindString(uncommented(e.Text))); {
	case strings.HasSuffix(box, "[ ]"):
		e.State = stateOpen
	case strings.HasSuffix(strings.ToLower(box), "[x]"):
		e.State = stateDone
	}
	body, tags := content(e.Text)
	if strings.HasSuffix(body, "Z)") {
		body = trailingTime.ReplaceAllString(body, "")
	}
	e.Plain, e.Tags = body, e.Tags.with(tags...)
	if at := isoDate.FindStringIndex(body); at != nil && strings.ContainsAny(body[:min(len(body), 8)], "12") && strings.Trim(body[:at[0]], "*_[(~ ") == "" && firstDate(body[:at[1]]) != "" {
		e.Date, e.Dated = firstDate(body[:at[1]]), true
		_, tags := CutTags(strings.TrimLeft(body[at[1]:], "*_])~ :,–—-"))
		e.Tags = e.Tags.with(tags...)
	}
	if e.Date == "" {
		e.Date = r.doc.Class.Date
	}
	if struck(body) || markdownstore.SaysSuperseded(firstLine(e.Text)) && e.StartLine == e.EndLine {
		e.State = stateSuperseded
	}
}

// comment matches an HTML comment. The kernel's own comments begin with a known word.
var comment = textutil.LazyRegexp(`<!--\s*(?:(from|supersedes)\s+)?((?s:.*?))\s*-->`)

// marked returns the comment that names an entry's source (from), or the entries that it replaces
// (supersedes). Callers should write the comments at the end of the entry's first line. A
// reference is a place, memory/2026-03-01.md#L3-L5, or an entry's id.
func marked(word string, refs ...string) string {
	return "<!-- " + word + " " + strings.Join(refs, ", ") + " -->"
}

// leadingTime matches the time with which an item of a log begins, with its zone.
var leadingTime = textutil.LazyRegexp(`^[*_]{0,3}\[?(\d{1,2}:\d{2}(?::\d{2})?)(?:\s*[AaPp][Mm])?(?:\s*(?:UTC|GMT|Z|[PMCE]T|[CEWM]ES?T|[A-Z]{1,2}[SD]T)\b)?\]?[*_]{0,3}(?:\s*[-–—:|·]\s*|\s+|$)`)

// trailingTime matches the time that the working buffer puts after a message.
var trailingTime = textutil.LazyRegexp(`\s*\(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z\)$`)

// uncommented returns a text without its comments.
func uncommented(s string) string {
	if !strings.Contains(s, "<!--") {
		return s
	}
	return comment.ReplaceAllString(s, "")
}

// untimed returns a text without the time at its beginning.
func untimed(s string) string {
	if !strings.ContainsRune(s[:min(len(s), 9)], ':') {
		return s
	}
	return s[len(leadingTime.FindString(s)):]
}

// content returns the content of an entry on one line, without bullet, box, time and comments, and
// its tags. The time may come before or after the tags.
func content(text string) (string, Tags) {
	body := uncommented(text)
	body, tags := CutTags(untimed(oneLine(body[len(bullet.FindString(body)):])))
	return untimed(body), tags
}

// struck reports whether a text is struck through as a whole.
func struck(s string) bool {
	rest, ok := strings.CutPrefix(strings.Trim(s, "*_ "), "~~")
	if !ok {
		return false
	}
	at := strings.Index(rest, "~~")
	return at > 0 && len(strings.TrimLeft(rest[at+2:], "*_ .")) <= len(rest)/4+len(" (superseded)")
}

// isoDate matches a date as the files write it.
var isoDate = textutil.LazyRegexp(`\b(\d{4})[-/.](\d{2})[-/.](\d{2})\b`)

// firstDate returns the first valid date in a text, "" if there is none.
func firstDate(s string) string {
	for _, m := range isoDate.FindAllStringSubmatch(s, -1) {
		if d := m[1] + "-" + m[2] + "-" + m[3]; validDay(d) {
			return d
		}
	}
	return ""
}

func validDay(d string) bool {
	_, ok := markdownstore.ParseDate(d, time.UTC)
	return ok && d >= "1970" && d < "2200"
}

func placeOf(e *Entry) health.Place {
	return health.Lines(e.Path, e.StartLine, e.EndLine)
}
