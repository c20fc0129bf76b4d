package upkeep

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// The history of an entry or a file is found by following it back through the versions of files:
// from line to line, from one file to another, to the log from which it was promoted, and to the
// entries that it replaced.

// state is the content of a file in one of its versions.
type state struct {
	// time is when the state was made. If nobody knows who made it, it is a time at which it
	// existed.
	time time.Time
	// by is the run that made the state, nil if that is unknown. now marks the present state.
	by  *logged
	now bool
	// text is the file's text. hash identifies the text if it is no longer kept (unkept). absent
	// reports that there was no file.
	text, hash     string
	unkept, absent bool
}

// is reports whether a run of a kind made the state.
func (s *state) is(k api.RunKind) bool { return s.by != nil && s.by.run.Kind == k }

// tracer follows one entry or file.
type tracer struct {
	// read returns the states of a file, oldest first and [merged]. It returns none if nothing is
	// known.
	read func(path string) ([]state, error)
	// origin returns the author of a text in a file. marker is the id in the text's marker. It is
	// used if a state doesn't name the author.
	origin func(path, marker, text string) consolidation.Origin
	// successor returns the entry that replaced an entry of a present file, "" if none did.
	successor func(path string, e *consolidation.Entry) string

	out []api.HistoryVersion
	// known has the states of files, and parsed has the entries of states. seen has the places that
	// were followed already.
	known  map[string][]state
	parsed map[place][]*consolidation.Entry
	seen   map[place]bool
	// err is the error that ended the search.
	err error
}

// place is a line of a state of a file, or the whole state with a line of 0.
type place struct {
	path        string
	state, line int
}

// states returns the states of a file, none if they can't be read.
func (t *tracer) states(path string) []state {
	s, ok := t.known[path]
	if !ok {
		var err error
		s, err = t.read(path)
		t.err = cmp.Or(t.err, err)
		if t.known == nil {
			t.known, t.parsed, t.seen = map[string][]state{}, map[place][]*consolidation.Entry{}, map[place]bool{}
		}
		t.known[path] = s
	}
	return s
}

// merged joins neighbouring states that differ only in blank lines, and makes times ascend. The
// states must be oldest first. The last state must be the present file.
func merged(states []state) []state {
	out := states[:0:0]
	for i, s := range states {
		n := len(out)
		if n > 0 && i < len(states)-1 && s.time.Before(out[n-1].time) {
			s.time = out[n-1].time
		}
		if n == 0 || !sameState(&out[n-1], &s) {
			out = append(out, s)
		} else if was := &out[n-1]; was.unkept && !s.unkept {
			was.text, was.unkept = s.text, false
		}
	}
	return out
}

func sameState(a, b *state) bool {
	switch {
	case a.absent || b.absent:
		return a.absent && b.absent
	case a.hash != "" && a.hash == b.hash:
		return true
	case a.unkept || b.unkept:
		return false
	}
	return slices.Equal(contentLines(a.text), contentLines(b.text))
}

// contentLines returns the lines of a text that are not blank.
func contentLines(text string) []string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// file returns the versions of a file, newest first.
func (t *tracer) file(path string) []api.HistoryVersion {
	states := t.states(path)
	var out []api.HistoryVersion
	for i := range slices.Backward(states) {
		s, j := &states[i], before(states, i)
		if s.unkept || s.absent && j < 0 {
			continue
		}
		v := t.version(path, s)
		switch {
		case s.absent:
			v.Event = api.EventRemoved
		case j < 0 && s.by == nil:
			v.Event = api.EventFirst
		case j < 0 || states[j].absent:
			v.Event = api.EventWritten
		default:
			v.Event = api.EventChanged
		}
		if v.After = s.text; j >= 0 {
			v.Before = states[j].text
		}
		had, has := contentLines(v.Before), contentLines(v.After)
		added := missingLines(has, had)
		v.Added, v.Removed = len(added), len(missingLines(had, has))
		v.Origin = cmp.Or(v.Origin, t.originOfLines(path, s.text, added))
		out = append(out, v)
	}
	return out
}

// missingLines returns the lines of one text that another one doesn't have.
func missingLines(a, b []string) (out []string) {
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
		if !slices.ContainsFunc(contentLines(e.Text), func(l string) bool { return slices.Contains(added, l) }) {
			continue
		}
		o := t.origin(path, e.ID, e.Text)
		if all != "" && all != o {
			return consolidation.OriginUnknown
		}
		all = o
	}
	return cmp.Or(all, consolidation.OriginUnknown)
}

// before returns the index of the newest state before state i, among those whose text is known. It
// returns -1 if there is none.
func before(states []state, i int) int {
	for i--; i >= 0 && states[i].unkept; i-- {
	}
	return i
}

// entry returns the versions of the entry on a line of a present file, newest first. It includes
// the versions of the entry's sources and of the entries that it replaced. The returned entry is
// nil if the line has no entry.
func (t *tracer) entry(path string, line int) ([]api.HistoryVersion, *consolidation.Entry) {
	now := place{path, len(t.states(path)) - 1, line}
	e := t.on(now)
	if e == nil {
		return nil, nil
	}
	t.back(now, e, t.successor(path, e))
	slices.SortStableFunc(t.out, func(a, b api.HistoryVersion) int { return b.Time.Compare(a.Time) })
	return t.out, e
}

// entries returns the entries of a state of a file.
func (t *tracer) entries(path string, i int) []*consolidation.Entry {
	states, at := t.states(path), place{path: path, state: i}
	if i < 0 || i >= len(states) || states[i].absent || states[i].unkept {
		return nil
	}
	if t.parsed[at] == nil {
		t.parsed[at] = consolidation.Entries(path, states[i].text)
	}
	return t.parsed[at]
}

// on returns the entry at a place, nil if there is none.
func (t *tracer) on(at place) *consolidation.Entry {
	return first(t.entries(at.path, at.state), func(e *consolidation.Entry) bool { return e.On(at.line) })
}

// first returns the first element that is a given one, nil if none is.
func first[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// withKey returns the entry with a key, nil if no entry has it.
func withKey(es []*consolidation.Entry, key string) *consolidation.Entry {
	return first(es, func(e *consolidation.Entry) bool { return key != "" && keyOf(e) == key })
}

func keyOf(e *consolidation.Entry) string { return consolidation.Key(e.Plain) }

func (t *tracer) version(path string, s *state) api.HistoryVersion {
	v := api.HistoryVersion{Time: s.time, By: s.by == nil, Kind: api.RunSeen, Path: path, From: []string{}, To: []string{}}
	if s.now {
		v.Kind = api.RunNow
	}
	if s.by != nil {
		run := s.by.run
		v.Kind, v.Run, v.Undoes = run.what(), s.by.id, run.Undoes
		switch {
		case run.Person:
			v.Origin = consolidation.OriginHand
		case run.Kind == api.RunEdit:
			v.Origin = consolidation.OriginAgent
		default:
			v.Origin = consolidation.OriginUpkeep
		}
	}
	return v
}

// note adds a version of an entry.
func (t *tracer) note(path string, i int, e *consolidation.Entry, event api.HistoryEvent, was, by string, from ...string) {
	v := t.version(path, &t.states(path)[i])
	v.Event, v.Line, v.EndLine, v.Text, v.After, v.Before, v.SupersededBy = event, e.StartLine, e.EndLine, e.Text, e.Text, was, by
	v.From = append(v.From, from...)
	v.Origin = cmp.Or(v.Origin, t.origin(path, e.ID, e.Text))
	t.out = append(t.out, v)
}

// back follows an entry of a state back through the older states. by is the entry that replaced it,
// "" if there is none.
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
		m := match(t.entries(path, j), t.entries(path, i), e, states[i].is(api.RunEdit))
		if m == nil {
			t.began(path, i, j, e, by)
			return
		}
		if strings.ReplaceAll(m.Text, "\r\n", "\n") != strings.ReplaceAll(e.Text, "\r\n", "\n") {
			t.note(path, i, e, api.EventChanged, m.Text, by)
			by = ""
			t.replaced(path, i, j, e)
		}
		i, e = j, m
	}
}

// began adds the version in which an entry first appears, in state i, and follows the entry's
// sources. State j, the previous one, does not have the entry.
func (t *tracer) began(path string, i, j int, e *consolidation.Entry, by string) {
	s := &t.states(path)[i]
	defer t.replaced(path, i, j, e)
	if from := t.moved(path, s, e, false); len(from) > 0 && !s.is(api.RunUndo) {
		was := t.on(from[0])
		t.note(path, i, e, api.EventMoved, was.Text, by, was.Place())
		t.back(from[0], was, "")
		return
	}
	k := before(t.states(path), max(j, 0)) // the newest state before j that has the entry
	for k >= 0 && withKey(t.entries(path, k), keyOf(e)) == nil {
		k = before(t.states(path), k)
	}
	if was := withKey(t.entries(path, k), keyOf(e)); was != nil {
		t.note(path, i, e, api.EventRestored, "", by)
		t.gone(path, k, i, was)
		t.back(place{path: path, state: k}, was, "")
		return
	}
	event := api.EventWritten
	if j < 0 && i == 0 && s.by == nil {
		event = api.EventFirst
	}
	if len(e.From) > 0 {
		event = api.EventPromoted
		if _, _, ok := consolidation.PlaceOf(e.From[0]); !ok && strings.HasSuffix(e.From[0], ".md") {
			event = api.EventMoved // for a move, a pruning names only the file
		}
	}
	t.note(path, i, e, event, "", by, e.From...)
	for _, ref := range e.From {
		if q, line, ok := consolidation.PlaceOf(ref); ok {
			at := place{q, asOf(t.states(q), s.time), line}
			if source := t.on(at); source != nil {
				t.back(at, source, "")
			}
		}
	}
}

// asOf returns the index of the newest state at or before a time, among the states whose text is
// known. If all of them are later, it returns the oldest.
func asOf(states []state, at time.Time) int {
	out := -1
	for i := range states {
		if !states[i].unkept && !states[i].absent && (out < 0 || !states[i].time.After(at)) {
			out = i
		}
	}
	return out
}

// mostAlso is the number of files of a run that are searched for moved entries.
const mostAlso = 20

// moved returns the places in the other files of a run that received an entry (if got is true), or
// lost it.
func (t *tracer) moved(path string, s *state, e *consolidation.Entry, got bool) (out []place) {
	if s.by == nil {
		return nil
	}
	steps := s.by.run.Steps
	for _, st := range steps[:min(len(steps), mostAlso)] {
		q := st.Path
		states := t.states(q)
		k := slices.IndexFunc(states, func(x state) bool { return x.by != nil && x.by.id == s.by.id })
		if k < 0 || q == path {
			continue
		}
		has, lacks := k, before(states, k)
		if !got {
			has, lacks = lacks, has
		}
		if x := withKey(t.entries(q, has), keyOf(e)); x != nil && withKey(t.entries(q, lacks), keyOf(e)) == nil {
			out = append(out, place{q, has, x.StartLine})
		}
	}
	return out
}

// gone adds the version in which an entry is missing: it was removed after state from and restored
// in state to. The version lists the places that the entry was moved to.
func (t *tracer) gone(path string, from, to int, was *consolidation.Entry) {
	states := t.states(path)
	i := from + 1
	for i < to && states[i].unkept {
		i++
	}
	if i == to {
		return
	}
	v := t.version(path, &states[i])
	v.Event, v.Line, v.EndLine, v.Text, v.Before = api.EventRemoved, was.StartLine, was.EndLine, was.Text, was.Text
	for _, at := range t.moved(path, &states[i], was, true) {
		v.To = append(v.To, t.on(at).Place())
	}
	v.Origin = cmp.Or(v.Origin, consolidation.OriginUnknown)
	t.out = append(t.out, v)
}

// replaced follows the entries that an entry declares as superseded.
func (t *tracer) replaced(path string, i, j int, e *consolidation.Entry) {
	for _, ref := range e.Supersedes {
		q, line, isPlace := consolidation.PlaceOf(ref)
		k := j
		if isPlace && q != path {
			k = asOf(t.states(q), t.states(path)[i].time)
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

// match returns the form that an entry e had in the previous state, nil if there is none. If edited
// is true, an edit made the newer state and may have replaced all words of the entry.
func match(older, newer []*consolidation.Entry, e *consolidation.Entry, edited bool) *consolidation.Entry {
	was, is := keysOf(older), keysOf(newer)
	at := slices.IndexFunc(newer, func(x *consolidation.Entry) bool { return x.StartLine == e.StartLine })
	nth := countsOf(is[:at])[is[at]]
	left := countsOf(is)
	best, how := -1, 0.0
	var free []int // the entries of older that newer lacks
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
		best = at // all other entries are the same
	}
	if best < 0 {
		return nil
	}
	for i, k := range is { // another new entry may be more like it
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
