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
	unread  []*Entry
	keys    map[string]bool
	sayings []saying
	holders map[uint64][]int
}

// knownOf indexes the contents of memory files and the archive. Logs are left out, since they are
// a record and not memory.
func (s *Snapshot) knownOf() *known {
	k := &known{keys: map[string]bool{}, from: map[string]bool{}, holders: map[uint64][]int{}}
	for _, f := range s.Files {
		if !f.Evergreen() && !f.archived() {
			continue
		}
		for _, e := range f.Entries {
			k.unread = append(k.unread, e)
			for _, r := range e.From {
				k.from[r] = true
			}
		}
	}
	return k
}

func (k *known) addText(plain string) {
	s := sayingOf(plain)
	k.keys[s.key] = true
	for _, h := range leading(s.set) {
		if len(k.holders[h]) < mostHolders {
			k.holders[h] = append(k.holders[h], len(k.sayings))
		}
	}
	k.sayings = append(k.sayings, s)
}

func sayingOf(plain string) saying {
	ws := words(plain)
	return saying{key: strings.Join(ws, " "), numbers: numbers(ws), set: shingles(ws)}
}

// leading returns the first elements of a sorted set, of which two sets that are nearly the same
// share at least one (prefix filtering; see group).
func leading(set []uint64) []uint64 {
	return set[:min(len(set), len(set)-int(nearDuplicate*float64(len(set)))+1)]
}

// holds reports whether memory holds a text, word for word or nearly.
func (k *known) holds(plain string) bool {
	for _, e := range k.unread {
		if e.Plain != "" {
			k.addText(e.Plain)
		}
	}
	k.unread = nil
	s := sayingOf(plain)
	if k.keys[s.key] || wordsIn(s.key) < leastCurated {
		return k.keys[s.key]
	}
	seen := map[int]bool{}
	for _, h := range leading(s.set) {
		for _, i := range k.holders[h] {
			if !seen[i] && same(&s, &k.sayings[i]) {
				return true
			}
			seen[i] = true
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
		if now.Whole {
			continue // likely enough for a finding, not to call a line outdated
		}
		for _, was := range claims(m) {
			if was.changed() || was.entry.Date > c.Day || who.key(&was) != who.key(&now) || was.scope() != now.scope() || !now.Overrules(&was.Claim) {
				continue
			}
			if was.Label && now.Label && !slices.Equal(was.entry.Trail, e.Trail) && len(was.Subject) < 2 {
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
