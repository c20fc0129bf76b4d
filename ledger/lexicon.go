package ledger

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// tag is a set of the tables that hold a word.
type tag uint32

const (
	negator tag = 1 << iota
	weightless
	unsaid
	bygone
	environment
	condition
	fresh
	oneValue
	oneRole
	recurring
	ofPage
	impliedDate
	pointing
	placing
)

// tagNames are the names of the tables of words.txt, in the order of the tags.
var tagNames = []string{"negators", "weightless", "unsaid", "bygone", "environments", "conditions", "fresh", "one value", "roles of one", "events that recur", "about the page", "implied date", "pointing subjects", "placing"}

// word is the meaning of a word for claims.
type word struct {
	tags tag
	// side is the side of a pair of opposites. state is the side if the word is a label's value.
	side, state string
	// spelling is another spelling of the word, which claims use.
	spelling       string
	weekday, month int
	unit           unit
	// product is the class of a product, such as database. kindOf is the class that the word names.
	// single reports whether the work as a whole has one product of that class.
	product, kindOf string
	single          bool
}

func (w *word) is(t tag) bool { return w.tags&t != 0 }

// unit is a unit of measure: one of it is factor times the base unit.
type unit struct {
	base   string
	factor float64
}

// relation is a phrase that binds a value to a subject.
type relation struct {
	// verb is "relation", "owning", "moving", or "figuring" for a verb that only binds figures.
	verb string
	// attribute is added to the words of the subject.
	attribute string
	words     int
}

// lexicon has the words of claims.
type lexicon struct {
	words map[string]*word
	// wide are the words of scripts without spaces by their first character, the longest first.
	wide map[rune][]string
	// relations are the relations by their words. longest is the most words of one.
	relations map[string]*relation
	longest   int
}

// noWord is the meaning of an unknown word.
var noWord = new(word)

var lexiconOf = sync.OnceValue(func() *lexicon {
	x := &lexicon{words: map[string]*word{}, wide: map[rune][]string{}, relations: map[string]*relation{}}
	for name, list := range tables() {
		kind, of, _ := strings.Cut(name, " ")
		base, factor, _ := strings.Cut(of, " ")
		n, _ := strconv.Atoi(of)
		f, _ := strconv.ParseFloat(factor, 64)
		t := tag(1) << max(slices.Index(tagNames, name), 0)
		claims := slices.Contains(tagNames, name) || slices.Contains([]string{"side", "state", "spelling", "unit", "weekday", "month", "relation", "owning", "moving", "figuring", "product", "products"}, kind)
		for _, text := range list {
			if !claims {
				break
			}
			w := x.words[text]
			if w == nil {
				w = new(word)
				x.words[text] = w
				if r := firstRune(text); ideograph(r) {
					x.wide[r] = append(x.wide[r], text)
				}
			}
			switch kind {
			case "side":
				w.side = of
			case "state":
				w.state = of
			case "spelling":
				w.spelling = of
			case "product":
				w.product = of
			case "products":
				w.kindOf, w.single = base, factor == "one"
			case "weekday":
				w.weekday = n
			case "month":
				w.month = n
			case "unit":
				w.unit = unit{base, f}
			case "relation", "owning", "moving", "figuring":
				r := &relation{kind, of, strings.Count(text, " ") + 1}
				if of == "of its own" {
					r.attribute = text
				}
				x.relations[text], x.longest = r, max(x.longest, r.words)
			default:
				w.tags |= t
			}
		}
	}
	for _, ws := range x.wide {
		slices.SortFunc(ws, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return x
})

// word returns the meaning of a word in small letters.
func (x *lexicon) word(low string) *word {
	if w := x.words[low]; w != nil {
		return w
	}
	return noWord
}

func ideograph(r rune) bool {
	return r >= 0xe00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Weightless reports whether a word in small letters, such as "the", adds nothing to what a sentence
// says.
func Weightless(low string) bool { return lexiconOf().word(low).is(weightless) }

// Gist returns the words of a text that say something, in their order and in one spelling.
func Gist(text string) string {
	var out []string
	for _, t := range tokens(text) {
		for w := range wordsIn(t.low) {
			if !lexiconOf().word(w).is(weightless) {
				out = append(out, lexiconOf().spelledAlike(w))
			}
		}
	}
	return strings.Join(out, " ")
}

// Heading reports whether the text under a heading, or of a file, is about past facts or examples,
// and whether the heading turns the text into its opposite.
func Heading(heading string) (bygones, opposes bool) {
	for _, t := range tokens(heading) {
		for w := range wordsIn(t.low) {
			bygones = bygones || lexiconOf().word(w).is(bygone)
		}
		opposes = opposes || t.is(negator) || t.low == "avoid" || strings.HasSuffix(t.side, ":no") || strings.HasSuffix(t.side, ":off")
	}
	return bygones, opposes
}

// Environments returns the environments that texts name, such as staging.
func Environments(texts ...string) string {
	var out []string
	for _, text := range texts {
		for _, t := range tokens(text) {
			for w := range wordsIn(t.low) {
				if e := lexiconOf().word(w); e.is(environment) {
					out = append(out, cmp.Or(e.spelling, w))
				}
			}
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// token is a word of a sentence, as it is written and in small letters.
type token struct {
	raw, low string
	*word
	// code reports whether the word is in backquotes. comma reports whether a comma follows.
	code, comma bool
}

// tokens takes a text apart. A word of a script without spaces is one that the tables have, or a
// single character.
func tokens(s string) []token {
	x := lexiconOf()
	out := make([]token, 0, len(s)/5)
	from := -1
	end := func(at int) {
		if from >= 0 {
			out = x.add(out, s[from:at])
		}
		from = -1
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case ideograph(r):
			end(i)
			for _, w := range x.wide[r] {
				if strings.HasPrefix(s[i:], w) {
					size = len(w)
					break
				}
			}
			out = append(out, token{s[i : i+size], s[i : i+size], x.word(s[i : i+size]), false, false})
		case unicode.IsSpace(r) || strings.ContainsRune("，、。；：（）！", r):
			end(i)
		case from < 0:
			from = i
		}
		i += size
	}
	end(len(s))
	return out
}

// add appends the words of a text without spaces.
func (x *lexicon) add(out []token, text string) []token {
	raw := strings.Trim(text, "*_`.,;:!()[]{}\"“”'…=")
	if raw == "" {
		return out
	}
	low := strings.ToLower(raw)
	if strings.Contains(low, "’") {
		low = strings.ReplaceAll(low, "’", "'")
	}
	if stem, ok := strings.CutSuffix(low, "n't"); ok {
		if x.word(stem).is(unsaid) {
			out = append(out, token{raw, stem, x.word(stem), false, false})
		}
		low = "not"
	}
	return append(out, token{raw, low, x.word(low), strings.ContainsRune(text, '`'), strings.HasSuffix(text, ",")})
}

// wordsIn yields the parts of a word that are letters or digits.
func wordsIn(low string) func(yield func(string) bool) {
	return strings.FieldsFuncSeq(low, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// spelledAlike returns a word of a subject in one spelling: without the endings of number and of
// verbs, and one word for a thing that has many.
func (x *lexicon) spelledAlike(w string) string {
	if s := x.word(w).spelling; s != "" {
		return s
	}
	if strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return w
	}
	for _, end := range [...]string{"ments", "ment", "ing", "ed", "es", "s"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= 4 && (end != "s" || !strings.HasSuffix(stem, "s")) {
			w = stem
			break
		}
	}
	if len(w) > 4 {
		return strings.TrimSuffix(w, "e")
	}
	return w
}
