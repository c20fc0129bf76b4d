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
	file    *File
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
	groups := map[*saying][]*saying{} // by the first one
	var order []*saying
	for _, s := range sayingsIn(a.snap) {
		head := heads.find(s)
		if head == nil {
			heads.add(s)
			head, order = s, append(order, s)
		}
		groups[head] = append(groups[head], s)
	}
	var pairs [][2]string
	by := map[[2]string][]*duplicate{}
	for _, head := range order {
		g := groups[head]
		if len(g) < 2 || fromTemplate(g) {
			continue
		}
		d := a.repeated(g)
		pair := [2]string{d.Path, d.Others[0].Path}
		if by[pair] == nil {
			pairs = append(pairs, pair)
		}
		if last := len(by[pair]) - 1; last < 0 || !by[pair][last].extend(d) {
			by[pair] = append(by[pair], d)
		}
	}
	for _, pair := range pairs {
		a.tellDuplicates(by[pair])
	}
}

// severalEntries is the most shared entries of two files, or of two places in one, that are
// reported one by one.
const severalEntries = 2

// duplicate is a run of entries that two places share.
type duplicate struct {
	health.Finding
	entries int
	// verb tells how the first entry is repeated. excerpt is the beginning of the first entry.
	verb, excerpt string
	// apart reports whether the two places are in one topic and under two of its headings.
	apart bool
}

// extend adds the duplicate f to d if f follows d in both places.
func (d *duplicate) extend(f *duplicate) bool {
	if len(f.Others) != 1 || len(d.Others) != 1 || d.EndLine+1 != f.StartLine || d.Others[0].EndLine+1 != f.Others[0].StartLine {
		return false
	}
	d.EndLine, d.Others[0].EndLine = f.EndLine, f.Others[0].EndLine
	d.entries++
	return true
}

// leastRun is how many entries in a row two parts of a topic must share. One or two entries may
// be true of both parts' subjects.
const leastRun = 3

// tellDuplicates reports the duplicates of two files.
func (a *auditor) tellDuplicates(all []*duplicate) {
	var found []health.Finding
	entries := 0
	for _, d := range all {
		if !d.apart || d.entries >= leastRun {
			entries += d.entries
			d.What = d.what()
			found = append(found, d.Finding)
		}
	}
	a.together(found, severalEntries, func(int) string {
		first := &found[0]
		of := "entries of " + first.Others[0].Path
		if first.Path == first.Others[0].Path {
			of = "of its own entries"
		}
		return fmt.Sprintf("has %d %s once more: the first %s", entries, of, first.What)
	})
}

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
			if f.Evergreen() && e.State != stateSuperseded && substantial(f, e) && !command(e.Text) {
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
func substantial(f *File, e *Entry) bool {
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
func order(f *File) int {
	switch {
	case f.Kind == markdownstore.KindMemory:
		return 0
	case f.Evergreen():
		return 1
	}
	return 2
}

// command reports whether an entry is only code, such as a command that is needed in several
// places.
func command(text string) bool {
	rest := codeSpan.ReplaceAllString(text, "")
	return rest != text && !strings.ContainsFunc(rest, unicode.IsLetter)
}

// repeated returns the duplicate for a group, at its second place.
func (a *auditor) repeated(group []*saying) *duplicate {
	first := group[0]
	d := &duplicate{entries: 1, verb: "repeats", excerpt: a.excerpt(first.entry.Plain), apart: apart(group)}
	d.Severity, d.Place, d.Hint = health.Note, placeOf(group[1].entry), "keep one of them, and refer to it from the other if that is needed"
	for i, s := range group {
		if i != 1 {
			d.Others = append(d.Others, placeOf(s.entry))
		}
		if s.key != first.key {
			d.verb = "nearly repeats"
		}
	}
	return d
}

// what names the first place, the number of entries, and the beginning of the first.
func (d *duplicate) what() string {
	what := fmt.Sprintf("%s %s", d.verb, d.Others[0])
	if d.entries > 1 {
		what += fmt.Sprintf(", %d entries", d.entries)
	}
	if more := len(d.Others) - 1; more > 0 {
		what += fmt.Sprintf(", and so %s %s", isAre(more, "does", "do"), count(more, "other entry", "other entries"))
	}
	return what + fmt.Sprintf(": %q", d.excerpt)
}

// excerpt returns the beginning of a text, fit to be shown.
func (a *auditor) excerpt(s string) string {
	masked, _ := a.Masker.Mask(s)
	return clip(masked, 80)
}
