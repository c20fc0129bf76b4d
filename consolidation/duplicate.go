package consolidation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

const (
	// leastWords is how many words an entry needs to be reported as a duplicate: short ones ("all
	// green") recur and mean something else. Fewer words are enough in the files that every
	// session begins with. In scripts without spaces two characters count as one word.
	leastWords, leastCurated = 8, 4
	// mostHolders is the most entries that may share a shingle for the shingle to make them
	// candidates. A shingle that more entries share is a phrase.
	mostHolders = 64
)

// saying is an entry with the data that the check for duplicates needs.
type saying struct {
	entry   *Entry
	file    *file
	key     string
	numbers []string
	set     []uint64
}

func sayingOf(plain string) *saying {
	ws := words(plain)
	return &saying{key: strings.Join(ws, " "), numbers: numbers(ws), set: shingles(ws)}
}

// same reports whether two sayings are the same. Sayings with different numbers are not.
func (s *saying) same(t *saying) bool {
	return slices.Equal(s.numbers, t.numbers) && (s.key == t.key || similarity(s.set, t.set) >= nearDuplicate)
}

// leading returns the first elements of a saying's set, of which two sets that are nearly the same
// share at least one (prefix filtering; Bayardo, Ma, Srikant: Scaling up all pairs similarity
// search, 2007).
func (s *saying) leading() []uint64 {
	return s.set[:min(len(s.set), len(s.set)-int(nearDuplicate*float64(len(s.set)))+1)]
}

// sayings finds the first of several sayings that says the same as another one.
type sayings struct {
	byKey   map[string]*saying
	holders map[uint64][]*saying
}

func newSayings() *sayings { return &sayings{map[string]*saying{}, map[uint64][]*saying{}} }

func (x *sayings) add(s *saying) {
	x.byKey[s.key] = s
	for _, h := range s.leading() {
		if len(x.holders[h]) < mostHolders {
			x.holders[h] = append(x.holders[h], s)
		}
	}
}

// find returns the saying that says the same as s, word for word or nearly, nil if there is none. A
// short one must be said word for word.
func (x *sayings) find(s *saying) *saying {
	if t := x.byKey[s.key]; t != nil || strings.Count(s.key, " ")+1 < leastCurated {
		return t
	}
	for _, h := range s.leading() {
		if i := slices.IndexFunc(x.holders[h], s.same); i >= 0 {
			return x.holders[h][i]
		}
	}
	return nil
}

// duplicates finds entries with the same content, word for word or nearly, in one file and across
// files that are about how things are. A log is a record of a day, so it may repeat itself and be
// repeated. Text that several files have in the same place comes from a template and is left out.
// So are tasks that are done again.
func (a *auditor) duplicates() {
	heads := newSayings()
	var byFirst groups[*saying, *saying]
	for _, s := range sayingsIn(a.snap) {
		head := heads.find(s)
		if head == nil {
			heads.add(s)
			head = s
		}
		byFirst.add(head, s)
	}
	var byPair groups[pairOf, health.Finding]
	for _, head := range byFirst.keys {
		if g := byFirst.of[head]; len(g) > 1 && !fromTemplate(g) {
			f := a.repeated(g)
			byPair.add(pairOf{f.Path, f.Others[0].Path, apart(g)}, f)
		}
	}
	for _, pair := range byPair.keys {
		found := byPair.of[pair]
		if pair.apart && len(found) < leastApart {
			continue
		}
		of := "entries of " + pair.of
		if pair.of == pair.in {
			of = "of its own entries"
		}
		a.together(found, severalEntries, func(n int) string {
			return fmt.Sprintf("has %d %s once more: the first %s", n, of, found[0].What)
		})
	}
}

// severalEntries is the most shared entries of two files, or of two places in one, that are
// reported one by one.
const severalEntries = 2

// pairOf are two places that share entries. apart reports whether they are in one topic and under
// two of its headings.
type pairOf struct {
	in, of string
	apart  bool
}

// leastApart is the number of entries that two parts of a topic must share to be duplicates. One or
// two entries may hold for both subjects.
const leastApart = 3

// apart reports whether all sayings of a group are in one topic, each under a different heading.
func apart(group []*saying) bool {
	trails := map[string]bool{}
	for _, s := range group {
		trails[strings.Join(s.entry.Trail, "\n")] = s.file.Kind == markdownstore.KindTopic && s.file == group[0].file
	}
	return len(trails) == len(group) && !slices.Contains(slices.Collect(maps.Values(trails)), false)
}

// templateFiles is how many files must hold an entry for the entry to count as a template's.
const templateFiles = 3

// fromTemplate reports whether a group comes from a template or from a task that is done again. A
// template gives several files the same text at the same place. A task that is done again is in
// two files.
func fromTemplate(group []*saying) bool {
	files, headings, tasks := map[string]bool{}, map[string]bool{}, 0
	for _, s := range group {
		e := s.entry
		files[e.Path] = true
		headings[strings.Join(e.Trail[max(len(e.Trail)-1, 0):], "")] = true
		if e.State == stateOpen || e.State == stateDone {
			tasks++
		}
	}
	return len(files) > 1 && tasks == len(group) || len(files) >= templateFiles && len(files) == len(group) && len(headings) == 1
}

// sayingsIn returns the entries that are compared, curated files first.
func sayingsIn(s *Snapshot) (out []*saying) {
	for _, f := range s.Files {
		for _, e := range f.Entries {
			if f.Evergreen() && e.State != stateSuperseded && substantial(f, e) {
				if rest := codeSpan.ReplaceAllString(e.Text, ""); rest != e.Text && !strings.ContainsFunc(rest, unicode.IsLetter) {
					continue // only code, such as a command that is needed in several places
				}
				said := sayingOf(e.Plain)
				said.entry, said.file = e, f
				out = append(out, said)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y *saying) int { return cmp.Compare(order(x.file), order(y.file)) })
	return out
}

// substantial reports whether an entry has enough content to be compared with
// others. Outside of memory, user and instruction files a line with a label is
// treated as part of a form.
func substantial(f *file, e *Entry) bool {
	least := leastWords
	switch f.Kind {
	case markdownstore.KindMemory, markdownstore.KindUser, markdownstore.KindInstructions:
		if !e.Dated || f.Kind != markdownstore.KindMemory { // else it is a part that is kept as a log
			least = leastCurated
		}
	default:
		if e.Kind == markdownstore.UnitTurn {
			return false
		}
	}
	return weight(words(e.Plain)) >= 2*least
}

// order puts the files that are read most first.
func order(f *file) int {
	switch {
	case f.Kind == markdownstore.KindMemory:
		return 0
	case f.Evergreen():
		return 1
	}
	return 2
}

// repeated returns the finding for a group, at its second place.
func (a *auditor) repeated(group []*saying) health.Finding {
	first, verb := group[0], "repeats"
	f := health.Finding{Severity: health.Note, Place: placeOf(group[1].entry), Hint: "keep one of them, and refer to it from the other if that is needed"}
	for i, s := range group {
		if i != 1 {
			f.Others = append(f.Others, placeOf(s.entry))
		}
		if s.key != first.key {
			verb = "nearly repeats"
		}
	}
	f.What = fmt.Sprintf("%s %s", verb, f.Others[0])
	if more := len(f.Others) - 1; more > 0 {
		f.What += fmt.Sprintf(", and so %s %s", isAre(more, "does", "do"), count(more, "other entry", "other entries"))
	}
	f.What += fmt.Sprintf(": %q", a.excerpt(first.entry.Plain))
	return f
}

// excerpt returns the beginning of a text, fit to be shown.
func (a *auditor) excerpt(s string) string {
	masked, _ := a.Masker.Mask(s)
	return clip(masked, 80)
}
