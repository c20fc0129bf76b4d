// Package history follows an entry, or a file, back through the versions of its files: line to
// line, from one file to another, from the log that it was promoted from, past the entries that
// it replaced. It is pure: callers pass in the versions. It never judges the worth of an entry,
// and shows nothing.
package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
)

// Kind is the source of a version of a file.
type Kind string

// The kinds. A curation, a pruning, an agent's edit and an undo made the file's version. A run
// that only saw the file, and the file as it is now, hold versions that others made.
const (
	curated Kind = "curate"
	pruned  Kind = "prune"
	edited  Kind = "edit"
	Undone  Kind = "undo"
	Seen    Kind = "seen"
	Now     Kind = "now"
)

// made reports whether a source of this kind made its version of the file.
func (k Kind) made() bool { return k == curated || k == pruned || k == edited || k == Undone }

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
	// ID names the run, How its kind if a state's kind does not tell it. Undoes names the run that
	// this run takes back.
	ID, How, Undoes string
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
	t := newTracer(src)
	var out []Version
	for i := range slices.Backward(states) {
		s, j := &states[i], before(states, i)
		if s.Unkept || s.Absent && j < 0 {
			continue
		}
		v := t.version(path, s)
		switch {
		case s.Absent:
			v.Event = EventRemoved
		case j < 0 && !s.Kind.made():
			v.Event = EventFirst
		case j < 0 || states[j].Absent:
			v.Event = EventWritten
		default:
			v.Event = EventChanged
		}
		if v.After = s.Text; j >= 0 {
			v.Before = states[j].Text
		}
		had, has := lines(v.Before), lines(v.After)
		added := without(has, had)
		v.Added, v.Removed = len(added), len(without(had, has))
		v.Origin = cmp.Or(v.Origin, t.originOfLines(path, s.Text, added))
		out = append(out, v)
	}
	return out, nil
}

// without returns the lines of one text that another one doesn't have.
func without(a, b []string) (out []string) {
	n := countsOf(b)
	for _, l := range a {
		if n[l]--; n[l] < 0 {
			out = append(out, l)
		}
	}
	return out
}

func countsOf(texts []string) map[string]int {
	n := map[string]int{}
	for _, t := range texts {
		n[t]++
	}
	return n
}

// originOfLines returns the author of some lines of a file, OriginUnknown if no author or more
// than one is known.
func (t *tracer) originOfLines(path, text string, added []string) (all consolidation.Origin) {
	for _, e := range consolidation.Entries(path, text) {
		if !slices.ContainsFunc(lines(e.Text), func(l string) bool { return slices.Contains(added, l) }) {
			continue
		}
		o := t.Origin(path, e.ID, e.Text)
		if all != "" && all != o {
			return consolidation.OriginUnknown
		}
		all = o
	}
	return cmp.Or(all, consolidation.OriginUnknown)
}

// before returns the index of the newest state before state i whose text is known, -1 if there is
// none.
func before(states []State, i int) int {
	for i--; i >= 0 && states[i].Unkept; i-- {
	}
	return i
}

// OfEntry returns the versions of the entry on a line of a file as it is now, newest first. The
// versions of its sources and of the entries that it replaced are included. entry is nil if the
// line has no entry.
func OfEntry(src Source, path string, line int) (versions []Version, entry *consolidation.Entry, err error) {
	t := newTracer(src)
	states, err := src.States(path)
	if err != nil || len(states) == 0 {
		return nil, nil, err
	}
	now := place{path, len(states) - 1, line}
	if entry = t.on(now); entry == nil {
		return nil, nil, nil
	}
	by := ""
	if src.Successor != nil {
		by = src.Successor(path, entry)
	}
	t.back(now, entry, by)
	slices.SortStableFunc(t.out, func(a, b Version) int { return b.Time.Compare(a.Time) })
	return t.out, entry, t.err
}

// tracer is one entry that is followed.
type tracer struct {
	Source
	out []Version
	// read has the entries of the states that were read. seen are the places that were followed.
	read map[place][]*consolidation.Entry
	seen map[place]bool
	err  error
}

func newTracer(src Source) *tracer {
	return &tracer{Source: src, read: map[place][]*consolidation.Entry{}, seen: map[place]bool{}}
}

// place is a line of a state of a file, or the whole state with a line of 0.
type place struct {
	path        string
	state, line int
}

// states returns the states of a file. If they can't be read, the tracing ends there.
func (t *tracer) states(path string) []State {
	s, err := t.States(path)
	if t.err == nil {
		t.err = err
	}
	return s
}

// entries returns the entries of a state of a file.
func (t *tracer) entries(path string, i int) []*consolidation.Entry {
	states, at := t.states(path), place{path: path, state: i}
	if i < 0 || i >= len(states) || states[i].Absent || states[i].Unkept {
		return nil
	}
	if t.read[at] == nil {
		t.read[at] = consolidation.Entries(path, states[i].Text)
	}
	return t.read[at]
}

// on returns the entry at a place, nil if there is none.
func (t *tracer) on(at place) *consolidation.Entry {
	return first(t.entries(at.path, at.state), func(e *consolidation.Entry) bool { return e.On(at.line) })
}

func first(es []*consolidation.Entry, is func(e *consolidation.Entry) bool) *consolidation.Entry {
	if i := slices.IndexFunc(es, is); i >= 0 {
		return es[i]
	}
	return nil
}

// find returns the entry with a key, nil if no entry has it.
func find(es []*consolidation.Entry, key string) *consolidation.Entry {
	return first(es, func(e *consolidation.Entry) bool { return key != "" && keyOf(e) == key })
}

func keyOf(e *consolidation.Entry) string { return consolidation.Key(e.Plain) }

func (t *tracer) version(path string, s *State) Version {
	v := Version{Time: s.Time, By: !s.Kind.made(), Kind: cmp.Or(Kind(s.How), s.Kind), Path: path, From: []string{}, To: []string{}, Run: s.ID, Undoes: s.Undoes}
	switch {
	case s.Person:
		v.Origin = consolidation.OriginHand
	case s.Kind == edited:
		v.Origin = consolidation.OriginAgent
	case s.Kind.made():
		v.Origin = consolidation.OriginUpkeep
	}
	return v
}

// note adds a version of an entry.
func (t *tracer) note(path string, i int, e *consolidation.Entry, event Event, was, by string, from ...string) {
	v := t.version(path, &t.states(path)[i])
	v.Event, v.Line, v.EndLine, v.Text, v.After, v.Before, v.SupersededBy = event, e.StartLine, e.EndLine, e.Text, e.Text, was, by
	v.From = append(v.From, from...)
	v.Origin = cmp.Or(v.Origin, t.Origin(path, e.ID, e.Text))
	t.out = append(t.out, v)
}

// back follows an entry of a state into older ones.
func (t *tracer) back(at place, e *consolidation.Entry, by string) {
	path, i := at.path, at.state
	for {
		at = place{path, i, e.StartLine}
		if t.seen[at] {
			return
		}
		t.seen[at] = true
		states := t.states(path)
		j := before(states, i)
		m := match(t.entries(path, j), t.entries(path, i), e, states[i].Kind == edited)
		if m == nil {
			t.began(path, i, j, e, by)
			return
		}
		if strings.ReplaceAll(m.Text, "\r\n", "\n") != strings.ReplaceAll(e.Text, "\r\n", "\n") {
			t.note(path, i, e, EventChanged, m.Text, by)
			by = ""
			t.replaced(path, i, j, e)
		}
		i, e = j, m
	}
}

// began notes the origin of an entry that a state has and the previous state doesn't have.
func (t *tracer) began(path string, i, j int, e *consolidation.Entry, by string) {
	s := &t.states(path)[i]
	defer t.replaced(path, i, j, e)
	if from := t.moved(path, s, e, false); len(from) > 0 && s.Kind != Undone {
		was := t.on(from[0])
		t.note(path, i, e, EventMoved, was.Text, by, was.Place())
		t.back(from[0], was, "")
		return
	}
	k := before(t.states(path), max(j, 0)) // the newest state before j that had it
	for k >= 0 && find(t.entries(path, k), keyOf(e)) == nil {
		k = before(t.states(path), k)
	}
	if was := find(t.entries(path, k), keyOf(e)); was != nil {
		t.note(path, i, e, EventRestored, "", by)
		t.gone(path, k, i, was)
		t.back(place{path: path, state: k}, was, "")
		return
	}
	event := EventWritten
	if j < 0 && i == 0 && !s.Kind.made() {
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
		if q, line, ok := consolidation.PlaceOf(ref); ok {
			at := place{q, asOf(t.states(q), s.Time), line}
			if source := t.on(at); source != nil {
				t.back(at, source, "")
			}
		}
	}
}

// asOf returns the newest state at or before a time whose text is known. If there is none, it
// returns the oldest state whose text is known.
func asOf(states []State, at time.Time) int {
	out := -1
	for i := range states {
		if !states[i].Unkept && !states[i].Absent && (out < 0 || !states[i].Time.After(at)) {
			out = i
		}
	}
	return out
}

// mostAlso is how many files of one run are searched for moved entries.
const mostAlso = 20

// moved returns the places in the other files of a run that got an entry (got), or lost it.
func (t *tracer) moved(path string, s *State, e *consolidation.Entry, got bool) (out []place) {
	for _, q := range s.Also[:min(len(s.Also), mostAlso)] {
		states := t.states(q)
		k := slices.IndexFunc(states, func(x State) bool { return x.ID == s.ID && x.Kind == s.Kind })
		if k < 0 || q == path {
			continue
		}
		has, lacks := k, before(states, k)
		if !got {
			has, lacks = lacks, has
		}
		if x := find(t.entries(q, has), keyOf(e)); x != nil && find(t.entries(q, lacks), keyOf(e)) == nil {
			out = append(out, place{q, has, x.StartLine})
		}
	}
	return out
}

// gone notes that an entry was removed after state from and came back in state to, and its places
// in between.
func (t *tracer) gone(path string, from, to int, was *consolidation.Entry) {
	states := t.states(path)
	i := from + 1
	for i < to && states[i].Unkept {
		i++
	}
	if i == to {
		return
	}
	v := t.version(path, &states[i])
	v.Event, v.Line, v.EndLine, v.Text, v.Before = EventRemoved, was.StartLine, was.EndLine, was.Text, was.Text
	for _, at := range t.moved(path, &states[i], was, true) {
		v.To = append(v.To, t.on(at).Place())
	}
	v.Origin = cmp.Or(v.Origin, consolidation.OriginUnknown)
	t.out = append(t.out, v)
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
		old := t.on(place{q, k, line})
		if !isPlace {
			old = first(t.entries(q, k), func(x *consolidation.Entry) bool { return x.Name() == ref && !slices.Contains(x.Supersedes, ref) })
		}
		if old != nil {
			t.back(place{path: q, state: k}, old, e.Place())
		}
	}
}

// leastAlike is the least similarity of two versions of one entry, between 0 and 1. Similarity is
// the share of common words, plus a bonus for the same neighbours.
const leastAlike = .5

// match finds the earlier form of a state's entry in the previous state, nil if there is none. An
// edit may have put other words in the place of an entry.
func match(older, newer []*consolidation.Entry, e *consolidation.Entry, edited bool) *consolidation.Entry {
	was, is := keysOf(older), keysOf(newer)
	at := slices.IndexFunc(newer, func(x *consolidation.Entry) bool { return x.StartLine == e.StartLine })
	nth := countsOf(is[:at])[is[at]]
	left := countsOf(is)
	best, how := -1, 0.0
	var free []int // of the older: those that the newer lacks
	for i, k := range was {
		if k == is[at] {
			if nth == 0 {
				return older[i]
			}
			nth--
		}
		if left[k]--; left[k] < 0 {
			free = append(free, i)
			if a := alike(older, newer, was, is, i, at); a >= leastAlike && a > how {
				best, how = i, a
			}
		}
	}
	if best < 0 && edited && len(free) == 1 && free[0] == at && len(was) == len(is) && slices.Equal(was[:at], is[:at]) && slices.Equal(was[at+1:], is[at+1:]) {
		best = at // all else stayed
	}
	if best < 0 {
		return nil
	}
	for i, k := range is { // another new one may be more like it
		if i != at && !slices.Contains(was, k) && alike(older, newer, was, is, best, i) > max(how, leastAlike) {
			return nil
		}
	}
	return older[best]
}

func keysOf(es []*consolidation.Entry) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = keyOf(e)
	}
	return out
}

// alike returns the similarity of entry i of one state and entry j of the next state. was and is
// are the keys of their entries.
func alike(older, newer []*consolidation.Entry, was, is []string, i, j int) float64 {
	a, b := slices.Compact(slices.Sorted(strings.FieldsSeq(was[i]))), slices.Compact(slices.Sorted(strings.FieldsSeq(is[j])))
	both := len(a) + len(b) - len(slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b)))))
	if both == 0 {
		return 0
	}
	out := 2 * float64(both) / float64(len(a)+len(b))
	beside := func(keys []string, at int) string {
		if at < 0 || at >= len(keys) {
			return ""
		}
		return keys[at]
	}
	if slices.Equal(older[i].Trail, newer[j].Trail) && (beside(was, i-1) == beside(is, j-1) || beside(was, i+1) == beside(is, j+1)) {
		out += .2
	}
	return out
}
