package consolidation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// Grounds are the sources of an entry in the files, and the reasons for it.
type Grounds struct {
	// Path is the file of the entry.
	Path string `json:"path"`
	// Line is the first line of the entry and EndLine its last line, from 1 on.
	Line    int `json:"line"`
	EndLine int `json:"end_line"`
	// Text is the entry without its marks. Tags are the reasons why the entry matters.
	Text string `json:"text"`
	Tags Tags   `json:"tags"`
	// Date is the day of the entry, "" if the entry has none.
	Date string `json:"date"`
	// Age is how many days ago Date was.
	Age int `json:"age_days"`
	// ID is the id of the block that the entry was written in, "" if the block has none.
	ID string `json:"id"`
	// Raw is the text of the entry's lines.
	Raw string `json:"-"`
	// From has the sources of the entry.
	From []source `json:"from"`
	// Supersedes has the names of the entries that the entry replaces.
	Supersedes []string `json:"supersedes"`
	// Replaced has the same entries with their texts, as far as they are still there.
	Replaced []source `json:"replaced"`
	// SupersededBy is the place of the entry that replaces this one, "" if none does.
	SupersededBy string `json:"superseded_by"`
	// Days are the days whose logs say the same.
	Days []string `json:"days"`
	// Sessions counts the sessions whose captures say the same.
	Sessions int `json:"sessions"`
	// Calls is how many calls the dearest of them took.
	Calls int `json:"calls"`
}

// source is a place that an entry comes from.
type source struct {
	// Ref is a place of a file, or a checkpoint.
	Ref string `json:"ref"`
	// Text is the text at that place. It is "" if the text is gone, or if Ref is not a place of a
	// file.
	Text string `json:"text"`
}

// NoEntryError means that a name does not identify a single entry.
type NoEntryError struct {
	Name string
	// Places are the places of the entries that the name may mean. It is empty if no entry
	// matches.
	Places []string
}

func (e *NoEntryError) Error() string {
	if len(e.Places) == 0 {
		return fmt.Sprintf("%q is no entry of the workspace's memory", e.Name)
	}
	return fmt.Sprintf("%q is said by several entries: %s", e.Name, strings.Join(e.Places, ", "))
}

// placeForm matches a line of a file.
var placeForm = textutil.LazyRegexp(`^(.+\.md)(?::|#L)(\d{1,7})(?:-L?\d+)?$`)

// mostPlaces is how many places an error names.
const mostPlaces = 5

// Grounds finds an entry and returns the reasons for it on a day. name is the entry's place
// (FILE:LINE), its id or name, or words that only this entry holds. Entries of memory are looked
// through before entries of logs. The error is a [NoEntryError].
func (s *Snapshot) Grounds(name, day string) (*Grounds, error) {
	e, err := s.named(strings.TrimSpace(name))
	if err != nil {
		return nil, err
	}
	g := &Grounds{Path: e.Path, Line: e.StartLine, EndLine: e.EndLine, Text: e.Plain, Tags: append(Tags{}, e.Tags...), Date: e.Date, ID: e.ID, Raw: e.Text,
		From: s.sources(e.From), Supersedes: append([]string{}, e.Supersedes...), Replaced: s.sources(e.Supersedes), SupersededBy: s.SuccessorOf(e.Path, e), Days: []string{}}
	if from, ok := markdownstore.ParseDate(e.Date, time.UTC); ok {
		if now, ok := markdownstore.ParseDate(day, time.UTC); ok {
			g.Age = max(int(now.Sub(from).Hours()/24), 0)
		}
	}
	said, signs, of := map[string]bool{}, map[string]bool{}, map[string]bool{}
	note := func(e *Entry) {
		said[Key(e.Plain)] = true
		if fl, ok := failureOf(e.Plain); ok {
			signs[fl.sign()] = true
			g.Calls = max(g.Calls, fl.calls)
		}
	}
	note(e)
	for _, ref := range e.From {
		if at := s.entryOf(ref); at != nil {
			note(at)
		}
	}
	for _, l := range s.Files {
		if l.Date == "" || l.archived() {
			continue
		}
		sessions := sessionsOf(l.Entries)
		for j, x := range l.Entries {
			same := said[Key(x.Plain)]
			if fl, ok := failureOf(x.Plain); ok && signs[fl.sign()] {
				same, g.Calls = true, max(g.Calls, fl.calls)
			}
			if same {
				g.Days = append(g.Days, l.Date)
				of[sessions[j]] = true
			}
		}
	}
	delete(of, "") // of no session
	slices.Sort(g.Days)
	g.Days, g.Sessions = slices.Compact(g.Days), len(of)
	return g, nil
}

// named finds the single entry with a name.
func (s *Snapshot) named(name string) (*Entry, error) {
	if path, line, ok := PlaceOf(name); ok && s.File(path) != nil {
		if e := s.entryAt(path, line); e != nil {
			return e, nil
		}
		return nil, &NoEntryError{Name: name}
	}
	id, key := strings.TrimPrefix(name, "mk:"), Key(name)
	for _, by := range [...]func(e *Entry) bool{
		func(e *Entry) bool { return e.ID != "" && e.ID == id || e.Name() == id },
		func(e *Entry) bool { return key != "" && Key(e.Plain) == key },
		func(e *Entry) bool {
			return key != "" && strings.Contains(" "+Key(e.Plain)+" ", " "+key+" ")
		},
	} {
		for _, memory := range [...]bool{true, false} {
			var found *Entry
			var places []string
			for e := range s.entries() {
				if s.File(e.Path).Evergreen() == memory && by(e) {
					found, places = e, append(places, e.Place())
				}
			}
			switch {
			case len(places) == 1:
				return found, nil
			case len(places) > 1:
				return nil, &NoEntryError{Name: name, Places: places[:min(len(places), mostPlaces)]}
			}
		}
	}
	return nil, &NoEntryError{Name: name}
}

// entryAt finds the entry on a line of a file, nil if there is none.
func (s *Snapshot) entryAt(path string, line int) *Entry {
	if f := s.File(path); f != nil {
		for _, e := range f.Entries {
			if e.On(line) {
				return e
			}
		}
	}
	return nil
}

// On reports whether a line belongs to the entry.
func (e *Entry) On(line int) bool { return e.StartLine <= line && line <= e.EndLine }

// Name returns the name by which superseding entries refer to the entry, which is a hash of its
// first line.
func (e *Entry) Name() string { return lineRef(e.Text) }

// Origin returns the author of a text in a file, above the marker of an entry. A marker of ""
// means that there is no marker.
func (r Record) Origin(path, marker, text string) Origin {
	c, _ := markdownstore.Classify(path)
	return r.originOf(&file{Path: path, Class: c}, marker, text)
}

// sources returns references with the texts of their entries.
func (s *Snapshot) sources(refs []string) []source {
	out := []source{}
	for _, ref := range refs {
		src := source{Ref: ref}
		if at := s.entryOf(ref); at != nil {
			src.Text = at.Plain
		}
		out = append(out, src)
	}
	return out
}

// entryOf returns the entry that a reference names, nil if it is gone.
func (s *Snapshot) entryOf(ref string) *Entry {
	if path, line, ok := PlaceOf(ref); ok {
		return s.entryAt(path, line)
	}
	for e := range s.entries() {
		if ref == e.Name() {
			return e
		}
	}
	return nil
}

// PlaceOf reads a reference as a line of a file, "MEMORY.md:12" or "memory/2026-03-01.md#L3-L5".
// ok is false if the reference is not a line of a file.
func PlaceOf(ref string) (path string, line int, ok bool) {
	m := placeForm.FindStringSubmatch(ref)
	if m == nil {
		return "", 0, false
	}
	line, err := strconv.Atoi(m[2])
	return m[1], line, err == nil
}

// SuccessorOf returns the place of the entry that declares itself the replacement of a file's
// entry, "" if none does.
func (s *Snapshot) SuccessorOf(path string, e *Entry) string {
	for x := range s.entries() {
		if x.Path == path && x.StartLine == e.StartLine {
			continue
		}
		for _, ref := range x.Supersedes {
			if q, line, ok := PlaceOf(ref); ok && q == path && e.On(line) || !ok && ref == e.Name() {
				return x.Place()
			}
		}
	}
	return ""
}
