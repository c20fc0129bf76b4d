package consolidation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	head    int // the group that it is in, by its first member
}

// duplicates finds entries with the same content, word for word or nearly, in one file and across
// files that are about how things are. A log is a record of a day, so it may repeat itself and be
// repeated. Text that several files have in the same place comes from a template and is left out.
// So are tasks that are done again.
func (a *auditor) duplicates() {
	all := sayingsIn(a.snap)
	group(all)
	members := map[int][]int{}
	for i := range all {
		members[all[i].head] = append(members[all[i].head], i)
	}
	var pairs []pairOf
	at := map[[2]string]int{}
	for i := range all {
		m := members[i]
		if len(m) < 2 || fromTemplate(all, m) {
			continue
		}
		f := a.repeated(all, m)
		key := [2]string{f.Path, f.Others[0].Path}
		n, ok := at[key]
		if !ok {
			n, at[key] = len(pairs), len(pairs)
			pairs = append(pairs, pairOf{})
		}
		pairs[n].add(f)
	}
	for _, p := range pairs {
		p.tell(a)
	}
}

// severalEntries is the most shared entries of two files, or of two places in one, that are
// reported one by one.
const severalEntries = 2

// pairOf holds the duplicates of two files.
type pairOf struct {
	found []duplicate
}

// duplicate is a run of entries that two places share.
type duplicate struct {
	health.Finding
	entries int
	// verb tells how the first entry is repeated. excerpt is the beginning of the first entry.
	verb, excerpt string
	// apart reports whether the two places are in one topic and under two of its headings.
	apart bool
}

// add notes a duplicate. A duplicate that follows the last duplicate in both places extends that
// duplicate.
func (p *pairOf) add(f duplicate) {
	if n := len(p.found) - 1; n >= 0 && len(f.Others) == 1 && len(p.found[n].Others) == 1 {
		if last := &p.found[n]; last.EndLine+1 == f.StartLine && last.Others[0].EndLine+1 == f.Others[0].StartLine {
			last.EndLine, last.Others[0].EndLine = f.EndLine, f.Others[0].EndLine
			last.entries++
			return
		}
	}
	p.found = append(p.found, f)
}

// leastRun is how many entries in a row two parts of a topic must share. One or two entries may
// be true of both parts' subjects.
const leastRun = 3

// tell reports the duplicates of two files.
func (p *pairOf) tell(a *auditor) {
	var found []health.Finding
	entries := 0
	for i := range p.found {
		d := &p.found[i]
		if d.apart && d.entries < leastRun {
			continue
		}
		entries += d.entries
		d.What = d.what()
		found = append(found, d.Finding)
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

// apart reports whether all members of a group are in one topic, each under a different heading.
func apart(all []saying, members []int) bool {
	trails := map[string]bool{}
	for _, i := range members {
		e := all[i].entry
		if all[i].file.Kind != markdownstore.KindTopic || e.Path != all[members[0]].entry.Path {
			return false
		}
		trails[strings.Join(e.Trail, "\n")] = true
	}
	return len(trails) == len(members)
}

// templateFiles is how many files must hold an entry for the entry to count as a template's.
const templateFiles = 3

// fromTemplate reports whether a group comes from a template or from a task that is done again. A
// template gives several files the same text at the same place. A task that is done again is in
// two files.
func fromTemplate(all []saying, members []int) bool {
	files, headings, tasks := map[string]bool{}, map[string]bool{}, 0
	for _, i := range members {
		e := all[i].entry
		files[e.Path] = true
		last := ""
		if len(e.Trail) > 0 {
			last = e.Trail[len(e.Trail)-1]
		}
		headings[last] = true
		if e.State == StateOpen || e.State == StateDone {
			tasks++
		}
	}
	return len(files) > 1 && tasks == len(members) || len(files) >= templateFiles && len(files) == len(members) && len(headings) == 1
}

// sayingsIn returns the entries that are compared, curated files first.
func sayingsIn(s *Snapshot) []saying {
	var out []saying
	for _, f := range s.Files {
		if !f.Evergreen() {
			continue
		}
		for _, e := range f.Entries {
			ws := words(e.Plain)
			if e.State == StateSuperseded || !substantial(f, e, ws) || command(e.Text) {
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
	if e.Dated && f.Kind == markdownstore.KindMemory {
		return n >= 2*leastWords // a part of it that is kept as a log
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

// command reports whether an entry is only code, such as a command that is needed in several
// places.
func command(text string) bool {
	rest := codeSpan.ReplaceAllString(text, "")
	return rest != text && !strings.ContainsFunc(rest, unicode.IsLetter)
}

// group sets for every saying the first saying that it repeats. It finds pairs by their rarest
// shingles, since two similar sets must share at least one of their rarest shingles (prefix
// filtering; Bayardo, Ma, Srikant: Scaling up all pairs similarity search, 2007).
func group(all []saying) {
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
		for _, h := range leading(rare) {
			for _, j := range holders[h] {
				if s.head == i && same(s, &all[j]) {
					s.head = all[j].head
				}
			}
			if len(holders[h]) < mostHolders {
				holders[h] = append(holders[h], i)
			}
		}
	}
}

// same reports whether two sayings are the same. Sayings with different numbers are not.
func same(s, t *saying) bool {
	if !slices.Equal(s.numbers, t.numbers) {
		return false
	}
	return s.key == t.key || similarity(s.set, t.set) >= nearDuplicate
}

// repeated returns the duplicate for a group, at its second place.
func (a *auditor) repeated(all []saying, members []int) duplicate {
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
	return duplicate{Finding: f, entries: 1, verb: verb, excerpt: a.excerpt(first.entry.Plain), apart: apart(all, members)}
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
