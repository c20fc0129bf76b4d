package relevance

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// The kinds of known items.
const (
	kindPhrase     = "phrase"     // four adjacent words of a line
	kindWord       = "word"       // one word
	kindIdentifier = "identifier" // a path, a name in code, a hash, a number
	kindHeading    = "heading"
	kindName       = "name"  // a note's title, or the name of its file
	kindWords      = "words" // four words of a line, not adjacent
	kindDate       = "date"
	kindTypo       = "typo" // a word with one letter wrong
)

// knownKinds lists all kinds of known items.
var knownKinds = []string{kindPhrase, kindWord, kindIdentifier, kindHeading, kindDate, kindTypo, kindName, kindWords}

// KnownItem is an item from a workspace, in the form in which somebody would type it.
type KnownItem struct {
	Kind, Query string
	// holds is the text that a line must hold, as a whole word unless within is set. If it is "", only
	// places counts.
	holds  string
	within bool
	places []Evidence
}

// known is the result for the items of a kind. For words it counts the share of the first ten
// hits that hold the word or a word with the same stem. For all other kinds it counts whether a
// hit holds the item.
type known struct {
	N                int      `json:"n"`
	HitAt1           *float64 `json:"hit_at_1,omitempty"`
	HitAt10          *float64 `json:"hit_at_10,omitempty"`
	HitsHoldingShare *float64 `json:"hits_holding_share,omitempty"`
	// LinesWithin is the mean number of lines holding the item in the first hits, by the number
	// of tokens of these hits.
	LinesWithin sizes `json:"lines_within_tokens"`
	// Rows and Differences are set for FTS5. Rows is the kind of the table's rows. Differences has how
	// much higher the judged search's recall at 1, 5 and 10 is. For words, the share of ten hits
	// replaces the recall at 10.
	Rows        string       `json:"rows,omitempty"`
	Differences []difference `json:"differences,omitempty"`
}

// knownAnswer is the answer for one item. It has the rank of the first hit that holds the item, 0
// if no hit of ten holds it, and the share of the hits that hold it.
type knownAnswer struct {
	KnownItem
	Rank  int
	Share float64
	// Lines is the number of lines holding the item in the first hits, by the number of tokens of
	// these hits.
	Lines sizes
}

// KnownItems chooses at most n items of each kind from the indexed files. The same seed chooses
// the same items.
func (b *bench) KnownItems(seed uint64, n int) []KnownItem {
	all := map[string]map[string]KnownItem{}
	add := func(it KnownItem) {
		if all[it.Kind] == nil {
			all[it.Kind] = map[string]KnownItem{}
		}
		old := all[it.Kind][it.Query]
		it.places = append(old.places, it.places...)
		all[it.Kind][it.Query] = it
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	held := map[string][]Evidence{} // the lines of each word
	for _, path := range slices.Sorted(maps.Keys(b.lines)) {
		for i, line := range b.lines[path] {
			inLine(line, rng, add)
			for _, s := range wordSpans(line) {
				w := strings.ToLower(line[s.from:s.to])
				held[w] = append(held[w], Evidence{File: path, Line: i + 1})
			}
		}
		b.ofFile(path, add)
	}
	for _, w := range slices.Sorted(maps.Keys(all[kindWord])) {
		if typo := mistyped(w, rng); typo != "" && held[typo] == nil {
			add(KnownItem{Kind: kindTypo, Query: typo, holds: w})
		}
	}
	b.wordsApart(held, rand.New(rand.NewPCG(seed, 2)), add)
	var out []KnownItem
	for _, kind := range knownKinds {
		of := all[kind]
		queries := slices.Sorted(maps.Keys(of))
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
		for _, q := range queries[:min(n, len(queries))] {
			out = append(out, of[q])
		}
	}
	return out
}

var (
	identifiers = regexp.MustCompile(`(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*\w|\b[A-Za-z]+_\w+\b|\b[a-z]+[A-Z]\w+\b|\b\d{3,}\b|\b[0-9a-f]{7,40}\b|\b[\w-]+\.(?:go|md|py|js|ts|sh|json|ya?ml|txt)\b`)
	dates       = regexp.MustCompile(`\b\d{4}[-/]\d{2}[-/]\d{2}\b|\d{4}年\d{1,2}月\d{1,2}日|\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:, \d{4})?\b`)
)

// phraseWords is the number of words in a phrase. In a script without spaces, it is the number of
// pairs of characters.
const phraseWords = 4

// inLine adds the items in a line.
func inLine(line string, rng *rand.Rand, add func(KnownItem)) {
	found := dates.FindAllString(line, -1)
	for _, d := range found {
		add(KnownItem{Kind: kindDate, Query: d, holds: d})
	}
	for _, id := range identifiers.FindAllString(line, -1) {
		if !slices.ContainsFunc(found, func(d string) bool { return strings.Contains(d, id) }) {
			add(KnownItem{Kind: kindIdentifier, Query: id, holds: id})
		}
	}
	words := singleWords(line)
	for _, s := range words {
		w := strings.ToLower(line[s.from:s.to])
		if n := len([]rune(w)); (s.pairs && n == 2 || n >= 4) && !strings.ContainsFunc(w, unicode.IsNumber) {
			add(KnownItem{Kind: kindWord, Query: w, holds: w, within: s.pairs})
		}
	}
	if n := len(words) - phraseWords; n >= 0 {
		i := rng.IntN(n + 1)
		p := line[words[i].from:words[i+phraseWords-1].to]
		add(KnownItem{Kind: kindPhrase, Query: p, holds: p, within: true})
	}
}

// singleWords returns the words of a line, each once. In a script without spaces, pairs of
// characters count as words.
func singleWords(line string) []wordSpan {
	var out []wordSpan
	for _, s := range wordSpans(line) {
		if !s.pairs {
			out = append(out, s)
			continue
		}
		from, n := s.from, 0
		for i, r := range line[s.from:s.to] {
			if n++; n == 2 {
				to := s.from + i + len(string(r))
				out = append(out, wordSpan{from, to, true})
				from, n = to, 0
			}
		}
	}
	return out
}

// ofFile adds the headings of a file, each with the lines of its section. It also adds the file's
// date, and its name if the name has two words and the text lacks it.
func (b *bench) ofFile(path string, add func(KnownItem)) {
	d := markdownstore.Parse(path, strings.Join(b.lines[path], "\n"))
	whole := []Evidence{{path, 1, len(b.lines[path])}}
	if name := nameOf(d); len(strings.Fields(name)) > 1 && strings.ContainsFunc(name, unicode.IsLetter) && !stands(d.Body, name, true) {
		add(KnownItem{Kind: kindName, Query: name, places: whole})
	}
	units := markdownstore.Units(d)
	for i, u := range units {
		if u.Kind == markdownstore.UnitHeading && worded(u.Label) {
			add(KnownItem{Kind: kindHeading, Query: u.Label, places: []Evidence{{path, u.StartLine, endOf(units[i:])}}})
		}
	}
	if class, ok := markdownstore.Classify(path); ok && class.Date != "" {
		add(KnownItem{Kind: kindDate, Query: class.Date, holds: class.Date, places: whole})
	}
}

// nameOf returns the title of a document's front matter, or the words of its file's name.
func nameOf(d markdownstore.Document) string {
	if title, _ := d.Meta["title"].(string); title != "" {
		return title
	}
	name := path.Base(d.Path)
	return strings.NewReplacer(".", " ", "_", " ", "-", " ").Replace(strings.TrimSuffix(name, path.Ext(name)))
}

// contentRunes is the least number of letters of a content word. Function words are no content
// words.
const contentRunes = 4

// wordsApart adds, for each line, four content words in their order, no two of them adjacent,
// that occur together on no other line. held has the lines of each word. Scripts without spaces
// have none.
func (b *bench) wordsApart(held map[string][]Evidence, rng *rand.Rand, add func(KnownItem)) {
	for _, path := range slices.Sorted(maps.Keys(b.lines)) {
		for i, line := range b.lines[path] {
			words := contentWords(line, b.stops)
			choice := len(words) - phraseWords + 1 // a word stays between two that are drawn
			if choice < phraseWords {
				continue
			}
			drawn := rng.Perm(choice)[:phraseWords]
			slices.Sort(drawn)
			var query []string
			for n, k := range drawn {
				query = append(query, words[k+n])
			}
			if alone(held, query) {
				add(KnownItem{Kind: kindWords, Query: strings.Join(query, " "), places: []Evidence{{File: path, Line: i + 1}}})
			}
		}
	}
}

// contentWords returns the content words of a line in lower case, each once.
func contentWords(line string, stops map[string]bool) (out []string) {
	for _, s := range wordSpans(line) {
		w := strings.ToLower(line[s.from:s.to])
		if !s.pairs && len([]rune(w)) >= contentRunes && !stops[w] && !strings.ContainsFunc(w, unicode.IsNumber) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// alone reports whether words occur together on one line only.
func alone(held map[string][]Evidence, words []string) bool {
	rarest := slices.MinFunc(words, func(a, b string) int { return len(held[a]) - len(held[b]) })
	n := 0
	for _, at := range held[rarest] {
		if !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(held[w], at) }) {
			n++
		}
	}
	return n == 1
}

// mistyped returns a word with one letter left out, doubled, exchanged with the next letter, or
// replaced. It returns "" if the word is too short.
func mistyped(word string, rng *rand.Rand) string {
	rs := []rune(word)
	if len(rs) < 6 || slices.ContainsFunc(rs, func(r rune) bool { return paired(r) || !unicode.IsLetter(r) }) {
		return ""
	}
	i := 1 + rng.IntN(len(rs)-2)
	switch rng.IntN(4) {
	case 0:
		rs = slices.Delete(rs, i, i+1)
	case 1:
		rs = slices.Insert(rs, i, rs[i])
	case 2:
		rs[i], rs[i+1] = rs[i+1], rs[i]
	default:
		rs[i] = rs[rng.IntN(len(rs))]
	}
	if string(rs) == word {
		return ""
	}
	return string(rs)
}

// knownLimit is how many hits are judged.
const knownLimit = 10

// AskKnown searches for items with the judged search.
func (b *bench) AskKnown(ctx context.Context, items []KnownItem, opts *retrieval.Options, now time.Time) ([]knownAnswer, error) {
	return b.askEach(ctx, items, b.finder(opts, now))
}

// ComparePlain searches FTS5 tables for the items of ours, and compares the results with ours. It
// looks for names in the names and texts of files, and for all other kinds in lines and in
// paragraphs. For each kind, the rows that find more count.
func (b *bench) ComparePlain(ctx context.Context, ours []knownAnswer) (map[string]known, error) {
	out, most := map[string]known{}, map[string]float64{}
	for _, rows := range []string{rowsLine, rowsParagraph, rowsFile} {
		p, err := b.openPlain(ctx, rows)
		if err != nil {
			return nil, err
		}
		defer p.db.Close()
		for _, kind := range knownKinds {
			of := ofKind(ours, kind)
			if len(of) == 0 || (kind == kindName) != (rows == rowsFile) {
				continue
			}
			var items []KnownItem
			for _, a := range of {
				items = append(items, a.KnownItem)
			}
			plain, err := b.askEach(ctx, items, p.find)
			if err != nil {
				return nil, err
			}
			m := Sum(graded(plain)).Metrics
			if found := m.RecallAt1 + m.RecallAt10; out[kind].N == 0 || found > most[kind] {
				k := sumKnown(plain)[kind]
				k.Rows, k.Differences = rows, Compare(graded(plain), graded(of))[:3]
				out[kind], most[kind] = k, found
			}
		}
	}
	return out, nil
}

// graded returns answers as if each item had one line of evidence.
func graded(answers []knownAnswer) (out []Answer) {
	for _, a := range answers {
		m := Metrics{Questions: 1, RecallAt10: a.Share}
		if ranks := []int{a.Rank}; a.Kind != kindWord {
			m.RecallAt1, m.RecallAt5, m.RecallAt10 = share(ranks, 1), share(ranks, 5), share(ranks, knownLimit)
		}
		out = append(out, Answer{Metrics: m})
	}
	return out
}

// askEach rates the hits of a search for each item.
func (b *bench) askEach(ctx context.Context, items []KnownItem, find finder) ([]knownAnswer, error) {
	a := analysis.New()
	var out []knownAnswer
	for _, it := range items {
		hits, err := find(ctx, it.Query, knownLimit)
		if err != nil {
			return nil, fmt.Errorf("look for %q: %w", it.Query, err)
		}
		out = append(out, b.rateKnown(a, it, hits))
	}
	return out, nil
}

func (b *bench) rateKnown(a *analysis.Analyzer, it KnownItem, hits []retrieval.Hit) knownAnswer {
	out := knownAnswer{KnownItem: it, Lines: sizes{}}
	n := 0
	for i, h := range hits {
		if !b.holds(a, it, h) {
			continue
		}
		if n++; out.Rank == 0 {
			out.Rank = i + 1
		}
	}
	out.Share = float64(n) / float64(max(len(hits), 1))
	for _, n := range tokenSizes {
		out.Lines[key(n)] = float64(b.linesWithin(a, it, hits, n))
	}
	return out
}

// holds reports whether the lines of a hit hold an item.
func (b *bench) holds(a *analysis.Analyzer, it KnownItem, h retrieval.Hit) bool {
	if slices.ContainsFunc(it.places, func(e Evidence) bool { return e.in(h.Path, h.StartLine, h.EndLine) }) {
		return true
	}
	if it.holds == "" {
		return false
	}
	if b.HeldBy(it, h.Path, h.StartLine, h.EndLine) {
		return true
	}
	if it.Kind != kindWord || it.within {
		return false
	}
	terms, lang := a.AppendIndex(nil, h.Text)
	held := strings.Fields(string(terms))
	return slices.ContainsFunc(strings.Fields(string(a.AppendIndexAs(nil, it.holds, lang))), func(t string) bool { return slices.Contains(held, t) })
}

// stands reports whether a line holds a text, ignoring case. Unless within is set, the text must
// be a whole word.
func stands(line, text string, within bool) bool {
	line, text = strings.ToLower(line), strings.ToLower(text)
	for from := 0; ; {
		i := strings.Index(line[from:], text)
		if i < 0 {
			return false
		}
		i += from
		before, behind := []rune(line[:i]), []rune(line[i+len(text):])
		part := len(before) > 0 && wordRune(before[len(before)-1]) || len(behind) > 0 && wordRune(behind[0])
		if within || !part {
			return true
		}
		from = i + len(text)
	}
}

func wordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) && !paired(r) }

// sumKnown sums up the answers of each kind.
func sumKnown(answers []knownAnswer) map[string]known {
	out := map[string]known{}
	for _, kind := range knownKinds {
		of := ofKind(answers, kind)
		k := known{N: len(of), LinesWithin: sizes{}}
		for _, a := range of {
			k.LinesWithin = k.LinesWithin.plus(a.Lines)
		}
		k.LinesWithin = k.LinesWithin.over(float64(max(k.N, 1)))
		if m := Sum(graded(of)).Metrics; kind == kindWord {
			k.HitsHoldingShare = &m.RecallAt10
		} else {
			k.HitAt1, k.HitAt10 = &m.RecallAt1, &m.RecallAt10
		}
		if k.N > 0 {
			out[kind] = k
		}
	}
	return out
}

func ofKind(answers []knownAnswer, kind string) []knownAnswer {
	return slices.DeleteFunc(slices.Clone(answers), func(a knownAnswer) bool { return a.Kind != kind })
}

// Asked returns items that a prompt does not show by itself. They are phrases and identifiers
// that are in the folder of notes and in no file at the root.
func (b *bench) Asked(seed uint64, n int) []KnownItem {
	var out []KnownItem
	for _, it := range b.KnownItems(seed, 4*n) {
		if len(out) < n && (it.Kind == kindPhrase || it.Kind == kindIdentifier) && !b.atRoot(it) {
			out = append(out, it)
		}
	}
	return out
}

func (b *bench) atRoot(it KnownItem) bool {
	for path, lines := range b.lines {
		if !strings.Contains(path, "/") && b.HeldBy(it, path, 1, len(lines)) {
			return true
		}
	}
	return false
}

// HeldBy reports whether lines of a file hold an item word for word.
func (b *bench) HeldBy(it KnownItem, path string, from, to int) bool {
	lines := b.lines[path]
	lines = lines[min(max(from-1, 0), len(lines)):min(to, len(lines))]
	return slices.ContainsFunc(lines, func(l string) bool { return stands(l, it.holds, it.within) })
}

// endOf returns the last line of the section that begins with the first unit, which is a heading.
func endOf(units []markdownstore.Unit) int {
	end := units[0].EndLine
	for _, u := range units[1:] {
		if u.Kind == markdownstore.UnitHeading && u.Level <= units[0].Level {
			break
		}
		end = u.EndLine
	}
	return end
}

// worded reports whether a text has anything that can be searched for.
func worded(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) >= 0
}
