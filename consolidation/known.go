package consolidation

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// ArchiveDir holds the entries that pruning took out of memory because they no longer hold, in a
// note for each day on which it did. It is read and searched like any note, and ages.
const ArchiveDir = "memory/archive/"

// archived reports whether a file is one of [ArchiveDir].
func (f *File) archived() bool { return strings.HasPrefix(f.Path, ArchiveDir) }

// KeyHash identifies an entry's content without revealing it. Tombstones hold it.
func KeyHash(plain string) string {
	sum := sha256.Sum256([]byte(Key(plain)))
	return hex.EncodeToString(sum[:16])
}

// known is an index of the entries in memory, by their content.
type known struct {
	from map[string]bool // the references of its entries
	// unread are entries that are not indexed yet. They are indexed when a content is first asked
	// for.
	unread []*Entry
	keys   map[string]bool
	// facts are the entries. holders has the places of the facts with a word.
	facts   []fact
	holders map[string][]int
}

// fact is the words of an entry that name something, and its numbers.
type fact struct {
	about   map[string]bool
	numbers []string
}

func newKnown() *known {
	return &known{keys: map[string]bool{}, from: map[string]bool{}, holders: map[string][]int{}}
}

// knownOf indexes the contents of memory files and the archive. Logs are left out, since they are
// a record and not memory.
func (s *Snapshot) knownOf() *known {
	k := newKnown()
	for i := range s.Files {
		f := &s.Files[i]
		if !f.Evergreen() && !f.archived() {
			continue
		}
		for j := range f.Entries {
			e := &f.Entries[j]
			k.unread = append(k.unread, e)
			for _, r := range e.From {
				k.from[r] = true
			}
		}
	}
	return k
}

func (k *known) addText(plain string) {
	f := factOf(plain)
	k.keys[Key(plain)] = true
	for w := range f.about {
		k.holders[w] = append(k.holders[w], len(k.facts))
	}
	k.facts = append(k.facts, f)
}

func sayingOf(plain string) saying {
	ws := words(plain)
	return saying{key: strings.Join(ws, " "), numbers: numbers(ws), set: shingles(ws)}
}

// factOf returns the words of a text in one spelling, and its numbers. In scripts without spaces
// two characters are a word.
func factOf(text string) fact {
	ws := contents(text)
	f := fact{map[string]bool{}, numbers(words(text))}
	for i, w := range ws {
		if han := hasHan(w); !han {
			f.about[spelledAlike(w)] = true
		} else if i > 0 && hasHan(ws[i-1]) {
			f.about[ws[i-1]+w] = true
		}
	}
	return f
}

// restated is the share of a text's words that an entry has if it says the same in other words,
// and leastRestated the least number of these words. Our choice.
const restated, leastRestated = .7, 4

// holds reports whether memory holds a text, word for word, or in an entry with nearly all of its
// words and all its numbers.
func (k *known) holds(plain string) bool {
	for _, e := range k.unread {
		if e.Plain != "" {
			k.addText(e.Plain)
		}
	}
	k.unread = nil
	if k.keys[Key(plain)] {
		return true
	}
	f, has := factOf(plain), map[int]int{}
	for w := range f.about {
		for _, i := range k.holders[w] {
			has[i]++
		}
	}
	for i, n := range has {
		if len(f.about) >= leastRestated && float64(n) >= restated*float64(len(f.about)) && shareOf(f.numbers, k.facts[i].numbers) == 1 {
			return true
		}
	}
	return false
}

// wordsIn counts the words of a [Key].
func wordsIn(key string) int { return strings.Count(key, " ") + 1 }

// cites reports whether an entry of memory comes from a place.
func (k *known) cites(ref string) bool { return k.from[ref] }

// lineRef names an entry by its first line in any place, since moved entries keep their words.
// Package retrieval makes the same name of a line.
func lineRef(line string) string {
	sum := sha256.Sum256([]byte(strings.Trim(uncommented(firstLine(line)), " \t\r-*+")))
	return "k-" + hex.EncodeToString(sum[:6])
}

// placeRef names the lines of an entry, as in "memory/2026-03-01.md#L3".
func placeRef(e *Entry) string { return e.Path + "#L" + itoa(e.StartLine) }

// promotes reports whether a file's entries may be worth a place in memory. That is so for logs
// and notes of days up to a given day.
func promotes(f *File, upTo string) bool {
	return f.Err == nil && f.Tier == markdownstore.TierDated && !f.archived() && f.Date <= upTo
}

// supersede marks the entry that a new entry replaces. That is an entry of curated memory that
// plainly claims something else about the same subject.
func (c *curator) supersede(p *Promoted) {
	m := c.snap.Memory()
	if m == nil {
		return
	}
	e := Entry{Path: m.Path, Text: "- " + p.Text, Plain: p.Text, StartLine: 1, Date: c.Day, Dated: true}
	who := peopleIn(c.snap)
	for _, now := range entryClaims(m, &e) {
		if now.loose {
			continue // likely enough for a finding, not to call a line outdated
		}
		for _, was := range claims(m) {
			if was.entry.Date > c.Day || who.rename(was.key) != who.rename(now.key) || was.scope() != now.scope() || was.value.kind != now.value.kind || !was.value.disagree(now.value) {
				continue
			}
			if was.label && now.label && !slices.Equal(was.entry.Trail, e.Trail) && len(strings.Fields(was.subject)) < 2 {
				continue
			}
			p.Supersedes = append(p.Supersedes, lineRef(was.entry.Text))
			for _, r := range was.entry.From {
				if strings.Contains(r, "#L") {
					p.Supersedes = append(p.Supersedes, r)
				}
			}
			p.Replaces = was.entry.Plain
			return
		}
	}
}
