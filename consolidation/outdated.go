package consolidation

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// outdate marks the entries that a newer one surely replaces. The newer entry must name the old
// entry in a comment, or name the old value in plain words and not be older. From then on only
// the newer entry counts.
func (s *Snapshot) outdate() {
	named, replacers := map[string]bool{}, map[string][]*Entry{} // by the words of the old value
	for e := range s.entries() {
		for _, ref := range e.Supersedes {
			named[ref] = true
		}
		if e.replacement != nil {
			for _, w := range e.replacement.Former() {
				replacers[w] = append(replacers[w], e)
			}
		}
	}
	for e := range s.entries() {
		if e.State == stateSuperseded || e.Kind == markdownstore.UnitTable || len(named)+len(replacers) == 0 {
			continue
		}
		if named[placeRef(e)] || len(named) > 0 && named[e.Name()] && !slices.Contains(e.Supersedes, e.Name()) || slices.ContainsFunc(replacers[markdownstore.LastWord(e.Plain)], func(r *Entry) bool {
			return r != e && newer(r, e) && r.replacement.Replaces(e.Plain)
		}) {
			e.State = stateSuperseded
		}
	}
}

// newer reports whether an entry is known not to be older than the entry than. That is known if
// both have dates, or if e is after than in the same file.
func newer(e, than *Entry) bool {
	if e.Path == than.Path {
		return e.StartLine > than.StartLine
	}
	return e.Date != "" && than.Date != "" && e.Date >= than.Date
}

// entries yields every entry.
func (s *Snapshot) entries() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, f := range s.Files {
			for _, e := range f.Entries {
				if !yield(e) {
					return
				}
			}
		}
	}
}

const (
	// saysShare is the share of a fact's words that an entry of its source must have to still say
	// the fact, since a promotion leaves words out and adds none. The entry must have all numbers
	// of the fact.
	saysShare = 0.8
	// wasShare is the share of a fact's words from which an entry in the source's place is the
	// changed source of the fact. In any other place the share must be wasElsewhere.
	wasShare     = 0.35
	wasElsewhere = 0.5
)

// drift finds the facts whose source has changed since the facts were promoted, so that the
// source says something else or is marked as superseded. A source that has left its file no
// longer counts.
func (a *auditor) drift() {
	for e := range a.snap.entries() {
		if !a.snap.File(e.Path).Evergreen() || e.State == stateSuperseded {
			continue
		}
		for _, ref := range e.From {
			now := a.snap.changedSource(e, ref)
			if now == nil {
				continue
			}
			says := "now says"
			if now.State == stateSuperseded {
				says = "is marked there as superseded:"
			}
			a.tell(health.Warning, placeOf(e), fmt.Sprintf("says %q, which comes from %s, and that %s %q", a.excerpt(e.Plain), now.Place(), says, a.excerpt(now.Plain)),
				"correct the one that is wrong; if the fact was reworded on purpose, take its source mark away", placeOf(now))
			break
		}
	}
}

// changedSource returns the entry that is now in the place of a fact's source. It returns nil if
// the source still says the fact, or if no entry there resembles the fact.
func (s *Snapshot) changedSource(e *Entry, ref string) *Entry {
	path, line, _ := PlaceOf(ref)
	f, fact := s.File(path), words(e.Plain)
	if f == nil || path == e.Path {
		return nil
	}
	var best *Entry
	most := 0.0
	for i, c := range f.Entries {
		said, above := words(c.Plain), words(aboveOf(f, i))
		own := slices.DeleteFunc(slices.Clone(fact), func(w string) bool { return slices.Contains(above, w) && !slices.Contains(said, w) })
		share := shareOf(own, said)
		if share >= saysShare && shareOf(numbers(own), said) == 1 {
			if c.State != stateSuperseded {
				return nil
			}
			share = 1
		}
		least := wasElsewhere
		if c.On(line) {
			least = wasShare
		}
		if share >= least && share > most {
			best, most = c, share
		}
	}
	return best
}

// aboveOf returns the text that a promotion may put before an entry so that the entry can be read
// by itself. The text has the entry's headings, the paragraph that introduces its list, and its
// restrictions.
func aboveOf(f *file, i int) string {
	e := f.Entries[i]
	text := strings.Join(e.Trail, " ")
	for j := i - 1; j >= 0 && sameTrail(f.Entries[j], e); j-- {
		if f.Entries[j].Kind != markdownstore.UnitItem {
			text += " " + f.Entries[j].Plain
			break
		}
	}
	for j := i + 1; j < len(f.Entries) && sameTrail(e, f.Entries[j]) && qualifies(f.Entries[j].Plain); j++ {
		text += " " + f.Entries[j].Plain
	}
	return text
}

// shareOf returns the share of words that are also in among. It is 1 if words is empty.
func shareOf(words, among []string) float64 {
	if len(words) == 0 {
		return 1
	}
	n := 0
	for _, w := range words {
		if slices.Contains(among, w) {
			n++
		}
	}
	return float64(n) / float64(len(words))
}
