package consolidation

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// archiveDir holds the entries that pruning took out of memory because they no longer hold, in a
// note for each day on which it did. It is read and searched like any note, and ages.
const archiveDir = "memory/archive/"

// archived reports whether a file is one of archiveDir.
func (f *file) archived() bool { return strings.HasPrefix(f.Path, archiveDir) }

// KeyHash identifies an entry's content without revealing it. Tombstones hold it.
func KeyHash(plain string) string {
	sum := sha256.Sum256([]byte(Key(plain)))
	return hex.EncodeToString(sum[:16])
}

// known are the entries in memory: the references of their sources, and what they say.
type known struct {
	from map[string]bool
	said func() *sayings
}

// knownOf indexes the contents of memory files and the archive. Logs are left out, since they are
// a record and not memory.
func (s *Snapshot) knownOf() *known {
	k := &known{from: map[string]bool{}}
	var kept []*Entry
	for _, f := range s.Files {
		if f.Evergreen() || f.archived() {
			kept = append(kept, f.Entries...)
		}
	}
	for _, e := range kept {
		for _, r := range e.From {
			k.from[r] = true
		}
	}
	k.said = sync.OnceValue(func() *sayings {
		x := newSayings()
		for _, e := range kept {
			if e.Plain != "" {
				x.add(sayingOf(e.Plain))
			}
		}
		return x
	})
	return k
}

// holds reports whether memory holds a text, word for word or nearly.
func (k *known) holds(plain string) bool { return k.said().find(sayingOf(plain)) != nil }

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
func promotes(f *file, upTo string) bool {
	return f.Err == nil && f.Date != "" && !f.archived() && f.Date <= upTo
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
