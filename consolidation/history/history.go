// Package history follows an entry, or a file, back through the versions of its files: line to
// line, from one file to another, from the log that it was promoted from, past the entries that
// it replaced. It is pure: callers pass in the versions. It never judges the worth of an entry,
// and shows nothing.
package history

import (
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// Kind is the source of a version of a file.
type Kind string

// The kinds. A curation, a pruning, an agent's edit and an undo made the file's version. A run
// that only saw the file, and the file as it is now, hold versions that others made.
const (
	Curated Kind = "curate"
	Pruned  Kind = "prune"
	Edited  Kind = "edit"
	Undone  Kind = "undo"
	Seen    Kind = "seen"
	Now     Kind = "now"
)

// Made reports whether a source of this kind made its version of the file.
func (k Kind) Made() bool { return k == Curated || k == Pruned || k == Edited || k == Undone }

// State is a file's contents since some moment.
type State struct {
	// Time is the time at which the state was made, or by which it existed.
	Time time.Time
	Kind Kind
	// Text is the file's text. Hash identifies the text if it is no longer kept (Unkept). Absent
	// reports that there was no file.
	Text, Hash     string
	Unkept, Absent bool
	// Person reports that a person made the state by hand.
	Person bool
	// ID names the run. Undoes names the run that this run takes back.
	ID, Undoes string
	// Also lists the files that the run changed.
	Also []string
}

// Event is a change of an entry or a file.
type Event string

// The events. EventFirst marks the oldest known version. The entry itself may be older.
const (
	EventFirst    Event = "first_known"
	EventWritten  Event = "written"
	EventChanged  Event = "changed"
	EventPromoted Event = "promoted"
	EventMoved    Event = "moved"
	EventRemoved  Event = "removed"
	EventRestored Event = "restored"
)

// Version is the text of an entry or a file since some moment.
type Version struct {
	Time time.Time `json:"time"`
	// By reports that the version existed by Time and may be older.
	By    bool  `json:"by"`
	Event Event `json:"event"`
	// Origin is the author of this version.
	Origin consolidation.Origin `json:"origin"`
	// Path, Line and EndLine are the place of the entry at that time. For a whole file the lines
	// are 0.
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	// Text is the entry as it was written, "" for a whole file.
	Text string `json:"text"`
	// Run is the run that made the version. Kind is the run's kind. Undoes is the run that the
	// run took back.
	Kind   Kind   `json:"kind"`
	Run    string `json:"run"`
	Undoes string `json:"undoes"`
	// From has the places that the entry was promoted or moved from.
	From []string `json:"from"`
	// To has the places that the entry was moved to.
	To []string `json:"to"`
	// SupersededBy is the entry that replaced this one.
	SupersededBy string `json:"superseded_by"`
	// Added and Removed count the lines of a file that are not blank.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Diff is the difference from the previous version, "" unless it was requested.
	Diff string `json:"diff,omitempty"`
	// Before is the text of the previous version.
	Before string `json:"-"`
	After  string `json:"-"`
}

// Source gives access to the known versions of files.
type Source struct {
	// States returns the versions of a file, oldest first, in the form that [Merge] returns. It
	// returns no states if nothing is known.
	States func(path string) ([]State, error)
	// Origin returns the author of a text in a file, above a marker, if a state doesn't name it.
	Origin func(path, marker, text string) consolidation.Origin
	// Successor returns the entry that replaced an entry of today's file, "" if no entry did.
	Successor func(path string, e *consolidation.Entry) string
}

// Merge joins neighbouring states that differ in blank lines only, and makes times ascend. The
// states must be oldest first. The last state must be the file as it is now.
func Merge(states []State) []State {
	out := states[:0:0]
	for i, s := range states {
		n := len(out)
		if n > 0 && i < len(states)-1 && s.Time.Before(out[n-1].Time) {
			s.Time = out[n-1].Time
		}
		if n == 0 || !same(&out[n-1], &s) {
			out = append(out, s)
		} else if was := &out[n-1]; was.Unkept && !s.Unkept {
			was.Text, was.Unkept = s.Text, false
		}
	}
	return out
}

func same(a, b *State) bool {
	switch {
	case a.Absent || b.Absent:
		return a.Absent && b.Absent
	case a.Hash != "" && a.Hash == b.Hash:
		return true
	case a.Unkept || b.Unkept:
		return false
	}
	return slices.Equal(lines(a.Text), lines(b.Text))
}

// lines returns the lines of a text that are not blank.
func lines(text string) []string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// OfFile returns the versions of a file, newest first.
func OfFile(src Source, path string) ([]Version, error) {
	states, err := src.States(path)
	if err != nil {
		return nil, err
	}
	t := &tracer{Source: src, read: map[string][]page{}}
	var out []Version
	for i := len(states) - 1; i >= 0; i-- {
		s := &states[i]
		if s.Unkept {
			continue
		}
		v := t.version(path, s)
		j := before(states, i)
		switch {
		case s.Absent:
			v.Event = EventRemoved
		case j < 0 && s.Kind.Made():
			v.Event = EventWritten
		case j < 0:
			v.Event = EventFirst
		case states[j].Absent:
			v.Event = EventWritten
		default:
			v.Event = EventChanged
		}
		if s.Absent && j < 0 {
			continue // it was not there yet
		}
		if v.After = s.Text; j >= 0 {
			v.Before = states[j].Text
		}
		had, has := lines(v.Before), lines(v.After)
		new := without(has, had)
		v.Added, v.Removed = len(new), len(without(had, has))
		if v.Origin == "" {
			v.Origin = t.originOfLines(path, s.Text, new)
		}
		out = append(out, v)
	}
	return out, nil
}

// without returns the lines of one text that another one doesn't have.
func without(a, b []string) []string {
	n := map[string]int{}
	for _, l := range b {
		n[l]++
	}
	var out []string
	for _, l := range a {
		if n[l]--; n[l] < 0 {
			out = append(out, l)
		}
	}
	return out
}

// originOfLines returns the author of some lines of a file, OriginUnknown if no author or more
// than one is known.
func (t *tracer) originOfLines(path, text string, new []string) consolidation.Origin {
	var all consolidation.Origin
	for _, e := range consolidation.Entries(markdownstore.Parse(path, text)) {
		if !slices.ContainsFunc(lines(e.Text), func(l string) bool { return slices.Contains(new, l) }) {
			continue
		}
		o := t.Origin(path, e.ID, e.Text)
		if all != "" && all != o {
			return consolidation.OriginUnknown
		}
		all = o
	}
	if all == "" {
		return consolidation.OriginUnknown
	}
	return all
}

// before returns the index of the newest state before state i whose text is known, -1 if there is
// none.
func before(states []State, i int) int {
	for i--; i >= 0 && states[i].Unkept; i-- {
	}
	return i
}

// OfEntry returns the versions of the entry on a line of a file as it is now, newest first. The
// versions of its sources and of the entries that it replaced are included. On a line that names
// the new places of its section's entries, OfEntry returns the versions of these entries. entry
// is nil if the line has no entry.
func OfEntry(src Source, path string, line int) (versions []Version, entry *consolidation.Entry, err error) {
	t := &tracer{Source: src, read: map[string][]page{}, seen: map[place]bool{}}
	states, err := src.States(path)
	if err != nil || len(states) == 0 {
		return nil, nil, err
	}
	last := len(states) - 1
	now := t.entries(path, last)
	if i := slices.IndexFunc(now, func(e consolidation.Entry) bool { return e.StartLine <= line && line <= e.EndLine }); i >= 0 {
		entry = &now[i]
		by := ""
		if src.Successor != nil {
			by = src.Successor(path, entry)
		}
		t.back(path, last, *entry, by)
	} else if t.left(path, line) {
		entry = &consolidation.Entry{Path: path, StartLine: line, EndLine: line}
	}
	slices.SortStableFunc(t.out, func(a, b Version) int { return b.Time.Compare(a.Time) })
	return t.out, entry, t.err
}

// tracer is one entry that is followed.
type tracer struct {
	Source
	out  []Version
	read map[string][]page
	seen map[place]bool
	err  error
}

// page is a state that was read.
type page struct {
	read    bool
	entries []consolidation.Entry
}

type place struct {
	path        string
	state, line int
}

// states returns the states of a file. If they can't be read, the tracing ends there.
func (t *tracer) states(path string) []State {
	s, err := t.States(path)
	if err != nil && t.err == nil {
		t.err = err
	}
	return s
}

// entries returns the entries of a state of a file.
func (t *tracer) entries(path string, i int) []consolidation.Entry {
	states := t.states(path)
	if i < 0 || i >= len(states) || states[i].Absent || states[i].Unkept {
		return nil
	}
	if t.read[path] == nil {
		t.read[path] = make([]page, len(states))
	}
	p := &t.read[path][i]
	if !p.read {
		*p = page{true, consolidation.Entries(markdownstore.Parse(path, states[i].Text))}
	}
	return p.entries
}

func (t *tracer) version(path string, s *State) Version {
	v := Version{Time: s.Time, By: !s.Kind.Made(), Kind: s.Kind, Path: path, From: []string{}, To: []string{}, Run: s.ID, Undoes: s.Undoes}
	switch {
	case s.Person:
		v.Origin = consolidation.OriginHand
	case s.Kind == Edited:
		v.Origin = consolidation.OriginAgent
	case s.Kind.Made():
		v.Origin = consolidation.OriginUpkeep
	}
	return v
}

// note adds a version of an entry.
func (t *tracer) note(path string, i int, e *consolidation.Entry, event Event, was, by string, from ...string) {
	v := t.version(path, &t.states(path)[i])
	v.Event, v.Line, v.EndLine, v.Text, v.After, v.Before, v.SupersededBy = event, e.StartLine, e.EndLine, e.Text, e.Text, was, by
	v.From = append(v.From, from...)
	if v.Origin == "" {
		v.Origin = t.Origin(path, e.ID, e.Text)
	}
	t.out = append(t.out, v)
}

// back follows an entry of a state into older ones.
func (t *tracer) back(path string, i int, e consolidation.Entry, by string) {
	for {
		at := place{path, i, e.StartLine}
		if t.seen[at] {
			return
		}
		t.seen[at] = true
		j := before(t.states(path), i)
		older := t.entries(path, j)
		m := match(older, t.entries(path, i), &e, t.states(path)[i].Kind == Edited)
		if m == nil {
			t.began(path, i, j, &e, by)
			return
		}
		if plainText(m.Text) != plainText(e.Text) {
			t.note(path, i, &e, EventChanged, m.Text, by)
			by = ""
			t.replaced(path, i, j, &e)
		}
		i, e = j, *m
	}
}

// plainText returns an entry's text with plain line ends.
func plainText(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// began notes the origin of an entry that a state has and the previous state doesn't have.
func (t *tracer) began(path string, i, j int, e *consolidation.Entry, by string) {
	states := t.states(path)
	s := &states[i]
	defer t.replaced(path, i, j, e)
	if q, k, was := t.movedFrom(path, s, e); was != nil && s.Kind != Undone {
		t.note(path, i, e, EventMoved, was.Text, by, was.Place())
		t.back(q, k, *was, "")
		return
	}
	if k, was := t.earlier(path, j, e); was != nil {
		t.note(path, i, e, EventRestored, "", by)
		t.gone(path, k, i, was)
		t.back(path, k, *was, "")
		return
	}
	event := EventWritten
	if j < 0 && i == 0 && !s.Kind.Made() {
		event = EventFirst
	}
	if len(e.From) > 0 {
		event = EventPromoted
		if _, _, ok := consolidation.PlaceOf(e.From[0]); !ok && strings.HasSuffix(e.From[0], ".md") {
			event = EventMoved // a pruning names the file alone
		}
	}
	t.note(path, i, e, event, "", by, e.From...)
	for _, ref := range e.From {
		q, line, ok := consolidation.PlaceOf(ref)
		if !ok {
			continue
		}
		k := asOf(t.states(q), s.Time)
		es := t.entries(q, k)
		if n := slices.IndexFunc(es, func(x consolidation.Entry) bool { return x.StartLine <= line && line <= x.EndLine }); n >= 0 {
			t.back(q, k, es[n], "")
		}
	}
}

// asOf returns the newest state at or before a time whose text is known. If there is none, it
// returns the oldest state whose text is known.
func asOf(states []State, at time.Time) int {
	out := -1
	for i := range states {
		if states[i].Unkept || states[i].Absent {
			continue
		}
		if out < 0 || !states[i].Time.After(at) {
			out = i
		}
	}
	return out
}

// mostAlso is how many files of one run are searched for moved entries.
const mostAlso = 20

// movedFrom finds the file that lost an entry when another one got it.
func (t *tracer) movedFrom(path string, s *State, e *consolidation.Entry) (q string, k int, was *consolidation.Entry) {
	key := consolidation.Key(e.Plain)
	for _, q := range s.Also[:min(len(s.Also), mostAlso)] {
		if q == path || key == "" {
			continue
		}
		states := t.states(q)
		k := slices.IndexFunc(states, func(x State) bool { return x.ID == s.ID && x.Kind == s.Kind })
		if k < 0 {
			continue
		}
		if j := before(states, k); find(t.entries(q, k), key) == nil {
			if was := find(t.entries(q, j), key); was != nil {
				return q, j, was
			}
		}
	}
	return "", 0, nil
}

// find returns the entry with a key, nil if no entry has it.
func find(es []consolidation.Entry, key string) *consolidation.Entry {
	for i := range es {
		if consolidation.Key(es[i].Plain) == key {
			return &es[i]
		}
	}
	return nil
}

// earlier finds the newest state before state j that had an entry, and the state in which the
// entry was gone.
func (t *tracer) earlier(path string, j int, e *consolidation.Entry) (int, *consolidation.Entry) {
	key := consolidation.Key(e.Plain)
	for k := before(t.states(path), max(j, 0)); j >= 0 && k >= 0 && key != ""; k = before(t.states(path), k) {
		if was := find(t.entries(path, k), key); was != nil {
			return k, was
		}
	}
	return 0, nil
}

// gone notes that an entry was removed after state from, and came back in state to.
func (t *tracer) gone(path string, from, to int, was *consolidation.Entry) {
	states := t.states(path)
	for i := from + 1; i < to; i++ {
		if states[i].Unkept {
			continue
		}
		t.took(path, i, was, t.movedTo(path, &states[i], was))
		return
	}
}

// took notes that a state lost an entry, and the new places of the entry.
func (t *tracer) took(path string, i int, was *consolidation.Entry, to []string) {
	v := t.version(path, &t.states(path)[i])
	v.Event, v.Line, v.EndLine, v.Text, v.Before = EventRemoved, was.StartLine, was.EndLine, was.Text, was.Text
	if v.To = append(v.To, to...); v.Origin == "" {
		v.Origin = consolidation.OriginUnknown
	}
	t.out = append(t.out, v)
}

// movedLine is the line that a pruning leaves in a section that entries left.
var movedLine = textutil.LazyRegexp(`^<!-- moved to \S+(?:, \S+)* -->$`)

// left notes the entries that left the section of a moved line, if the newest state of the file
// has such a line there. It omits entries that came back.
func (t *tracer) left(path string, line int) bool {
	states := t.states(path)
	last := len(states) - 1
	ls := strings.Split(states[last].Text, "\n")
	if line < 1 || line > len(ls) || !movedLine.MatchString(strings.TrimSpace(ls[line-1])) {
		return false
	}
	ls[line-1] = "- here"
	var trail []string
	for _, e := range consolidation.Entries(markdownstore.Parse(path, strings.Join(ls, "\n"))) {
		if e.StartLine <= line && line <= e.EndLine {
			trail = e.Trail
		}
	}
	came := map[string]bool{}
	for i := last; i > 0; i-- {
		has := t.entries(path, i)
		for n := range has {
			came[consolidation.Key(has[n].Plain)] = true
		}
		j := before(states, i)
		if states[i].Kind != Pruned || j < 0 {
			continue
		}
		older := t.entries(path, j)
		for n := range older {
			was := &older[n]
			if key := consolidation.Key(was.Plain); slices.Equal(was.Trail, trail) && !came[key] {
				if to := t.movedTo(path, &states[i], was); len(to) > 0 {
					t.took(path, i, was, to)
				}
			}
		}
	}
	return true
}

// movedTo returns the places that got an entry when a file lost it.
func (t *tracer) movedTo(path string, s *State, was *consolidation.Entry) []string {
	out := []string{}
	key := consolidation.Key(was.Plain)
	for _, q := range s.Also[:min(len(s.Also), mostAlso)] {
		states := t.states(q)
		k := slices.IndexFunc(states, func(x State) bool { return x.ID == s.ID && x.Kind == s.Kind })
		if k < 0 || q == path {
			continue
		}
		if got := find(t.entries(q, k), key); got != nil && find(t.entries(q, before(states, k)), key) == nil {
			out = append(out, got.Place())
		}
	}
	return out
}

// replaced follows the entries that an entry of a state declares superseded.
func (t *tracer) replaced(path string, i, j int, e *consolidation.Entry) {
	for _, ref := range e.Supersedes {
		q, line, isPlace := consolidation.PlaceOf(ref)
		k := j
		if isPlace && q != path {
			k = asOf(t.states(q), t.states(path)[i].Time)
		} else {
			q = path
		}
		if k < 0 {
			k = i
		}
		es := t.entries(q, k)
		for n := range es {
			if x := &es[n]; !isPlace && x.Name() == ref && !slices.Contains(x.Supersedes, ref) || isPlace && x.StartLine <= line && line <= x.EndLine {
				t.back(q, k, *x, e.Place())
				break
			}
		}
	}
}

// leastAlike is the least similarity of two versions of one entry, between 0 and 1. Similarity is
// the share of common words, plus a bonus for the same neighbours.
const leastAlike = .5

// match finds the earlier form of a state's entry in the previous state, nil if there is none. An
// edit may have put other words in the place of an entry.
func match(older, newer []consolidation.Entry, e *consolidation.Entry, edited bool) *consolidation.Entry {
	key := consolidation.Key(e.Plain)
	nth, others := 0, map[string]int{}
	for i := range newer {
		k := consolidation.Key(newer[i].Plain)
		if others[k]++; k == key && newer[i].StartLine < e.StartLine {
			nth++
		}
	}
	left := map[string]int{} // of the older: how many the newer has as well
	var free []int
	for i := range older {
		k := consolidation.Key(older[i].Plain)
		if k == key {
			if left[k] == nth {
				return &older[i]
			}
		}
		if left[k]++; left[k] > others[k] {
			free = append(free, i)
		}
	}
	at := slices.IndexFunc(newer, func(x consolidation.Entry) bool { return x.StartLine == e.StartLine })
	best, how := -1, 0.0
	for _, i := range free {
		if a := alike(older, newer, i, at); a >= leastAlike && a > how {
			best, how = i, a
		}
	}
	if best < 0 && edited && len(free) == 1 && replaces(older, newer, free[0], at) {
		return &older[free[0]]
	}
	if best < 0 {
		return nil
	}
	had := map[string]int{}
	for i := range older {
		had[consolidation.Key(older[i].Plain)]++
	}
	for i := range newer { // another new one may be more like it
		if k := consolidation.Key(newer[i].Plain); i != at && had[k] == 0 && alike(older, newer, best, i) > how {
			return nil
		}
	}
	return &older[best]
}

// replaces reports whether an entry took the place of one in the previous state, in other words,
// while all else stayed.
func replaces(older, newer []consolidation.Entry, i, j int) bool {
	if len(older) != len(newer) || i != j {
		return false
	}
	for n := range older {
		if n != i && consolidation.Key(older[n].Plain) != consolidation.Key(newer[n].Plain) {
			return false
		}
	}
	return true
}

// alike returns the similarity of an entry of one state and an entry of the next state.
func alike(older, newer []consolidation.Entry, i, j int) float64 {
	a, b := &older[i], &newer[j]
	in := map[string]bool{}
	for w := range strings.FieldsSeq(consolidation.Key(a.Plain)) {
		in[w] = true
	}
	n, both := len(in), 0
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(consolidation.Key(b.Plain)) {
		if seen[w] {
			continue
		}
		seen[w] = true
		if n++; in[w] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	out := 2 * float64(both) / float64(n)
	beside := func(x []consolidation.Entry, at int) string {
		if at < 0 || at >= len(x) {
			return ""
		}
		return consolidation.Key(x[at].Plain)
	}
	if slices.Equal(a.Trail, b.Trail) && (beside(older, i-1) == beside(newer, j-1) || beside(older, i+1) == beside(newer, j+1)) {
		out += .2
	}
	return out
}
