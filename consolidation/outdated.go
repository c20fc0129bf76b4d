package consolidation

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// outdate marks the entries whose place a newer one takes, as far as that is sure: the
// newer one names it in a comment, or names the old value in plain words, and is not
// older. The newer one speaks for both from then on.
func (s *Snapshot) outdate() {
	lines, places := map[string]bool{}, map[string]bool{}
	type replacer struct {
		*Entry
		markdownstore.Replacement
	}
	var replacers []replacer
	s.each(func(e *Entry) {
		for _, ref := range e.Supersedes {
			if strings.HasPrefix(ref, "k-") {
				lines[ref] = true
			} else {
				places[ref] = true
			}
		}
		if r, ok := markdownstore.ReplacementOf(e.Plain); ok && e.State != StateSuperseded {
			replacers = append(replacers, replacer{e, r})
		}
	})
	if len(lines)+len(places)+len(replacers) == 0 {
		return
	}
	s.each(func(e *Entry) {
		if e.State == StateSuperseded || e.Kind == markdownstore.UnitTable {
			return
		}
		if len(lines) > 0 && lines[lineRef(e.Text)] && !slices.Contains(e.Supersedes, lineRef(e.Text)) || places[placeRef(e)] {
			e.State = StateSuperseded
			return
		}
		low := strings.ToLower(e.Plain)
		for i := range replacers {
			if r := &replacers[i]; r.Entry != e && newer(r.Entry, e) && r.Mentioned(low) && r.Replaces(e.Plain) {
				e.State = StateSuperseded
				return
			}
		}
	})
}

// newer reports whether an entry is known not to be older than another one: both
// have dates, or it is behind it in one file.
func newer(e, than *Entry) bool {
	if e.Path == than.Path {
		return e.StartLine > than.StartLine
	}
	return e.Date != "" && than.Date != "" && e.Date >= than.Date
}

// each visits all entries.
func (s *Snapshot) each(visit func(*Entry)) {
	for i := range s.Files {
		for j := range s.Files[i].Entries {
			visit(&s.Files[i].Entries[j])
		}
	}
}
