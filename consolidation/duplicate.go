package consolidation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

const (
	// leastWords is how many words an entry needs to be reported as a duplicate:
	// short ones ("all green") recur and mean something else. In the files that
	// every session begins with fewer will do. Of scripts without spaces two
	// characters count as a word.
	leastWords, leastCurated = 8, 4
	// mostHolders is how many entries may share a shingle for it to bring them
	// together: what so many share is a phrase.
	mostHolders = 64
)

// saying is an entry as the check for duplicates sees it.
type saying struct {
	entry   *Entry
	file    *File
	key     string
	numbers []string
	set     []uint64
	head    int // the group that it is in, by its first member
}

// duplicates finds entries with the same content, word for word or nearly, in one
// file and across files. A log is what was done that day, so what two days share
// is repetition and no fault, and neither is what a curated file has of a log.
func (a *auditor) duplicates() {
	all := sayingsIn(a.snap)
	group(all, a.NearDuplicate)
	members := map[int][]int{}
	for i := range all {
		members[all[i].head] = append(members[all[i].head], i)
	}
	for i := range all {
		if m := members[i]; len(m) > 1 {
			a.repeated(all, m)
		}
	}
}

// sayingsIn returns the entries that are compared, curated files first.
func sayingsIn(s *Snapshot) []saying {
	var out []saying
	for i := range s.Files {
		f := &s.Files[i]
		if f.Kind == markdownstore.KindBuffer || f.Kind == markdownstore.KindState || f.Shadowed {
			continue
		}
		for j := range f.Entries {
			e := &f.Entries[j]
			ws := words(e.Plain)
			if e.State == StateSuperseded || !substantial(f, e, ws) {
				continue
			}
			out = append(out, saying{entry: e, file: f, key: strings.Join(ws, " "), numbers: numbers(ws), set: shingles(ws)})
		}
	}
	slices.SortStableFunc(out, func(x, y saying) int { return cmp.Compare(order(x.file), order(y.file)) })
	for i := range out {
		out[i].head = i
	}
	return out
}

// substantial reports whether an entry has enough content to be compared with
// others. Outside of memory, user and instruction files a line with a label is
// treated as part of a form.
func substantial(f *File, e *Entry, ws []string) bool {
	n := 0
	for _, w := range ws {
		if n += 2; utf8.RuneCountInString(w) == 1 {
			n--
		}
	}
	switch f.Kind {
	case markdownstore.KindMemory, markdownstore.KindUser, markdownstore.KindInstructions:
		return n >= 2*leastCurated
	}
	return n >= 2*leastWords && e.Kind != markdownstore.UnitTurn
}

// order puts the files that are read most first.
func order(f *File) int {
	switch {
	case f.Kind == markdownstore.KindMemory:
		return 0
	case f.Evergreen():
		return 1
	}
	return 2
}

// comparable reports whether the same content in two files is a fault: both are
// about how things are, or both are about one day.
func comparable(f, g *File) bool {
	if f == g {
		return true
	}
	if f.Evergreen() || g.Evergreen() {
		return f.Evergreen() && g.Evergreen()
	}
	return f.Date != "" && f.Date == g.Date
}

// group sets for every saying the first that it repeats. Pairs are found by their
// rarest shingles: sets that share so much can't differ in all of those (prefix
// filtering; Bayardo, Ma, Srikant: Scaling up all pairs similarity search, 2007).
func group(all []saying, near float64) {
	freq := map[uint64]int{}
	for i := range all {
		for _, h := range all[i].set {
			freq[h]++
		}
	}
	holders := map[uint64][]int{}
	for i := range all {
		s := &all[i]
		rare := slices.Clone(s.set)
		slices.SortFunc(rare, func(x, y uint64) int { return cmp.Or(cmp.Compare(freq[x], freq[y]), cmp.Compare(x, y)) })
		rare = rare[:min(len(rare), len(rare)-int(near*float64(len(rare)))+1)]
		for _, h := range rare {
			for _, j := range holders[h] {
				if s.head == i && same(s, &all[j], near) {
					s.head = all[j].head
				}
			}
			if len(holders[h]) < mostHolders {
				holders[h] = append(holders[h], i)
			}
		}
	}
}

// same reports whether two sayings are one. With another number they are two.
func same(s, t *saying, near float64) bool {
	if !comparable(s.file, t.file) || !slices.Equal(s.numbers, t.numbers) {
		return false
	}
	return s.key == t.key || near > 0 && near < 1 && similarity(s.set, t.set) >= near
}

// repeated reports a group at its second place.
func (a *auditor) repeated(all []saying, members []int) {
	first := &all[members[0]]
	f := health.Finding{Severity: health.Note, Hint: "keep one of them, and refer to it from the other if that is needed"}
	verb := "repeats"
	for n, i := range members {
		switch n {
		case 0:
			f.Others = append(f.Others, placeOf(first.entry))
		case 1:
			f.Place = placeOf(all[i].entry)
		default:
			f.Others = append(f.Others, placeOf(all[i].entry))
		}
		if all[i].key != first.key {
			verb = "nearly repeats"
		}
	}
	f.What = fmt.Sprintf("%s %s", verb, f.Others[0])
	if more := len(f.Others) - 1; more > 0 {
		f.What += fmt.Sprintf(", and so do %s", count(more, "other entry", "other entries"))
	}
	f.What += fmt.Sprintf(": %q", a.excerpt(first.entry.Plain))
	a.add(f)
}

// excerpt returns the beginning of a text, fit to be shown.
func (a *auditor) excerpt(s string) string {
	masked, _ := a.Masker.Mask(s)
	return clip(masked, 80)
}
