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
	From []Source `json:"from"`
	// Supersedes has the names of the entries that the entry replaces.
	Supersedes []string `json:"supersedes"`
	// Replaced has the same entries with their texts, as far as they are still there.
	Replaced []Source `json:"replaced"`
	// SupersededBy is the place of the entry that replaces this one, "" if none does.
	SupersededBy string `json:"superseded_by"`
	// Days are the days whose logs say the same.
	Days []string `json:"days"`
	// Sessions counts the sessions whose captures say the same.
	Sessions int `json:"sessions"`
	// Calls is how many calls the dearest of them took.
	Calls int `json:"calls"`
}

// Source is a place that an entry comes from.
type Source struct {
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
	f, e, err := s.named(strings.TrimSpace(name))
	if err != nil {
		return nil, err
	}
	g := &Grounds{Path: f.Path, Line: e.StartLine, EndLine: e.EndLine, Text: e.Plain, Tags: append(Tags{}, e.Tags...), Date: e.Date, ID: e.ID, Raw: e.Text,
		From: []Source{}, Supersedes: append([]string{}, e.Supersedes...), Replaced: s.sources(e.Supersedes), SupersededBy: s.SuccessorOf(f.Path, e), Days: []string{}}
	if from, ok := markdownstore.ParseDate(e.Date, time.UTC); ok {
		if now, ok := markdownstore.ParseDate(day, time.UTC); ok {
			g.Age = max(int(now.Sub(from).Hours()/24), 0)
		}
	}
	said := map[string]bool{Key(e.Plain): true}
	signs, of := map[string]bool{}, map[string]bool{}
	note := func(e *Entry) {
		said[Key(e.Plain)] = true
		if fl, ok := failureOf(e.Plain); ok {
			signs[fl.sign()] = true
			g.Calls = max(g.Calls, fl.calls)
		}
	}
	note(e)
	g.From = s.sources(e.From)
	for _, ref := range e.From {
		if at := s.entryOf(ref); at != nil {
			note(at)
		}
	}
	days := map[string]bool{}
	for i := range s.Files {
		l := &s.Files[i]
		if l.Tier != markdownstore.TierDated || l.archived() {
			continue
		}
		sessions := sessionsOf(l.Entries)
		for j := range l.Entries {
			x := &l.Entries[j]
			same := said[Key(x.Plain)]
			if fl, ok := failureOf(x.Plain); ok && signs[fl.sign()] {
				same, g.Calls = true, max(g.Calls, fl.calls)
			}
			if !same {
				continue
			}
			days[l.Date] = true
			if sessions[j] != "" {
				of[sessions[j]] = true
			}
		}
	}
	for d := range days {
		g.Days = append(g.Days, d)
	}
	slices.Sort(g.Days)
	g.Sessions = len(of)
	return g, nil
}

// named finds the single entry with a name.
func (s *Snapshot) named(name string) (*File, *Entry, error) {
	if m := placeForm.FindStringSubmatch(name); m != nil && s.File(m[1]) != nil {
		if e := s.entryAt(m[1], m[2]); e != nil {
			return s.File(m[1]), e, nil
		}
		return nil, nil, &NoEntryError{Name: name}
	}
	id, key := strings.TrimPrefix(name, "mk:"), Key(name)
	for _, by := range [...]func(e *Entry) bool{
		func(e *Entry) bool { return e.ID != "" && e.ID == id || lineRef(e.Text) == id },
		func(e *Entry) bool { return key != "" && Key(e.Plain) == key },
		func(e *Entry) bool {
			return key != "" && strings.Contains(" "+Key(e.Plain)+" ", " "+key+" ")
		},
	} {
		for _, memory := range [...]bool{true, false} {
			var file *File
			var found *Entry
			var places []string
			for i := range s.Files {
				f := &s.Files[i]
				if f.Evergreen() != memory {
					continue
				}
				for j := range f.Entries {
					if e := &f.Entries[j]; by(e) {
						file, found, places = f, e, append(places, e.Place())
					}
				}
			}
			switch {
			case len(places) == 1:
				return file, found, nil
			case len(places) > 1:
				return nil, nil, &NoEntryError{Name: name, Places: places[:min(len(places), mostPlaces)]}
			}
		}
	}
	return nil, nil, &NoEntryError{Name: name}
}

// entryAt finds the entry on a line of a file, nil if there is none.
func (s *Snapshot) entryAt(path, line string) *Entry {
	f := s.File(path)
	n, err := strconv.Atoi(line)
	if f == nil || err != nil {
		return nil
	}
	for j := range f.Entries {
		if e := &f.Entries[j]; e.StartLine <= n && n <= e.EndLine {
			return e
		}
	}
	return nil
}

// Name returns the name by which superseding entries refer to the entry, which is a hash of its
// first line.
func (e *Entry) Name() string { return lineRef(e.Text) }

// Origin returns the author of a text in a file, above the marker of an entry. A marker of ""
// means that there is no marker.
func (r Record) Origin(path, marker, text string) Origin {
	c, _ := markdownstore.Classify(path)
	return r.originOf(&File{Path: path, Class: c}, marker, text)
}

// sources returns references with the texts of their entries.
func (s *Snapshot) sources(refs []string) []Source {
	out := []Source{}
	for _, ref := range refs {
		src := Source{Ref: ref}
		if at := s.entryOf(ref); at != nil {
			src.Text = at.Plain
		}
		out = append(out, src)
	}
	return out
}

// entryOf returns the entry that a reference names, nil if it is gone.
func (s *Snapshot) entryOf(ref string) (out *Entry) {
	if m := placeForm.FindStringSubmatch(ref); m != nil {
		return s.entryAt(m[1], m[2])
	}
	s.each(func(e *Entry) {
		if out == nil && (ref == e.Name() || ref == lineRef(e.Text)) {
			out = e
		}
	})
	return out
}

// PlaceOf reads a reference as a line of a file, "MEMORY.md:12" or "memory/2026-03-01.md#L3-L5".
// ok is false if the reference is not a line of a file.
func PlaceOf(ref string) (path string, line int, ok bool) {
	m := placeForm.FindStringSubmatch(ref)
	if m == nil {
		return "", 0, false
	}
	return m[1], number(m[2]), true
}

// SuccessorOf returns the place of the entry that declares itself the replacement of a file's
// entry, "" if none does.
func (s *Snapshot) SuccessorOf(path string, e *Entry) string {
	out := ""
	s.each(func(x *Entry) {
		if out != "" || x.Path == path && x.StartLine == e.StartLine {
			return
		}
		for _, ref := range x.Supersedes {
			if q, line, ok := PlaceOf(ref); ok && q == path && e.StartLine <= line && line <= e.EndLine || !ok && ref == e.Name() {
				out = x.Place()
			}
		}
	})
	return out
}
