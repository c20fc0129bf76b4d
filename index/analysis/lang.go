package analysis

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/bleve/v2/registry"

	// Each import registers a language's filters and function words.
	_ "github.com/blevesearch/bleve/v2/analysis/lang/bg"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ca"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/cs"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/da"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/de"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/el"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/es"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/eu"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fi"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fr"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ga"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/gl"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hi"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hr"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hu"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hy"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/id"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/it"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/nl"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/no"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/pt"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ro"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ru"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/sv"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/tr"
)

// recipe names the filters of bleve that stem a word of a language, in their order. They get words in
// lower case.
type recipe struct {
	code    string
	filters []string
}

// recipes lists the languages. The languages before "ru" are written in Latin letters and are
// recognised by their function words. If two fit equally, the first one is taken. The others are
// recognised by their script.
var recipes = [...]recipe{
	{"en", []string{"possessive_en", "stemmer_porter"}},
	{"es", []string{"normalize_es", "stemmer_es_light"}},
	{"de", []string{"normalize_de", "stemmer_de_light"}},
	{"fr", []string{"elision_fr", "stemmer_fr_light"}},
	{"pt", []string{"stemmer_pt_light"}},
	{"it", []string{"elision_it", "stemmer_it_light"}},
	{"nl", []string{"stemmer_nl_snowball"}},
	{"sv", []string{"stemmer_sv_snowball"}},
	{"da", []string{"stemmer_da_snowball"}},
	{"no", []string{"stemmer_no_snowball"}},
	{"fi", []string{"stemmer_fi_snowball"}},
	{"hu", []string{"stemmer_hu_snowball"}},
	{"ro", []string{"stemmer_ro_snowball"}},
	{"tr", []string{"apostrophe", "stemmer_tr_snowball"}},
	{"vi", nil}, // a syllable keeps its accents apart from its letters, see terms
	{"ru", []string{"stemmer_ru_snowball"}},
	{"hi", []string{"normalize_in", "normalize_hi", "stemmer_hi"}},
	{"ar", nil}, // lightArabic
}

// unstemmed are the languages of which only function words are known. Their bits follow those of
// recipes.
var unstemmed = [...]string{"ca", "cs", "eu", "ga", "gl", "hr", "id", "pl", "bg", "ckb", "el", "fa", "hy"}

const (
	// firstBare is the bit of the first of unstemmed. The bits of those in Latin letters are below
	// firstOther.
	firstBare  = 18
	firstOther = firstBare + 8
	languages  = firstBare + 13
)

// Indexes into recipes.
const (
	english = 0
	latin   = 15 // languages in Latin letters
	german  = 2
	dutch   = 6
	swedish = 7
	danish  = 8
	norse   = 9
	finnish = 10
	magyar  = 11
	turkish = 13
	vietnam = 14
	russian = 15
	hindi   = 16
	arabic  = 17
	plain   = -1 // no stems: other scripts, numbers
	roman   = -2 // Latin letters: the language depends on the text
)

// lexicon holds the filters and function words of all languages. It is built once and never changes.
type lexicon struct {
	// filters holds the filters of each of recipes.
	filters [len(recipes)][]analysis.TokenFilter
	// stops maps a word to the languages, as bits, in which it is a function word.
	stops map[string]uint32
	// asks maps a word to the languages, as bits, in which it is one of the words of asking.
	asks  map[string]uint32
	fold  *asciifolding.AsciiFoldingFilter
	width analysis.TokenFilter
}

// words is the lexicon, built on first use.
var words = sync.OnceValue(build)

// build makes the lexicon. It panics if a name of recipes is not registered.
func build() *lexicon {
	cache := registry.NewCache()
	lx := &lexicon{stops: make(map[string]uint32, 8192), asks: make(map[string]uint32, 512), fold: asciifolding.New(), width: registered(cache.TokenFilterNamed("cjk_width"))}
	for i, r := range recipes {
		for _, name := range r.filters {
			lx.filters[i] = append(lx.filters[i], registered(cache.TokenFilterNamed(name)))
		}
		lx.loadStops(cache, r.code, i)
	}
	for i, code := range unstemmed {
		lx.loadStops(cache, code, firstBare+i)
	}
	return lx
}

// registered returns what bleve has registered under a name.
func registered[T any](found T, err error) T {
	if err != nil {
		panic("analysis: " + err.Error())
	}
	return found
}

// loadStops adds the function words of a language and those with which it asks.
func (lx *lexicon) loadStops(cache *registry.Cache, code string, bit int) {
	list := strings.Fields(ownStops[code])
	if len(list) == 0 {
		list = slices.Collect(maps.Keys(registered(cache.TokenMapNamed("stop_" + code))))
	}
	lx.add(lx.stops, list, bit)
	lx.add(lx.asks, strings.Fields(asking[code]), bit)
}

// add adds words of a language to a map, as they are scanned and without accents.
func (lx *lexicon) add(to map[string]uint32, list []string, bit int) {
	for _, w := range list {
		w = strings.Map(lower, w)
		to[w] |= 1 << bit
		to[lx.folded(w)] |= 1 << bit
	}
}

// folded returns a word without accents, with only its letters, digits and apostrophes.
func (lx *lexicon) folded(w string) string {
	if isASCII(w) {
		return w
	}
	out := lx.fold.Filter([]byte(w))
	n := 0
	for _, c := range out {
		if c >= 0x80 || asciiClass[c] != space || c == '\'' {
			out[n] = c
			n++
		}
	}
	return strings.Map(bareGreek, strings.ToLower(string(out[:n])))
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// tally counts the evidence for each Latin language in a text.
type tally struct {
	weight [latin]float64
	hits   [latin]int
	words  int
	// hinted counts the words with letters that only Vietnamese has.
	hinted int
	// bare counts the function words of each of unstemmed in Latin letters.
	bare [firstOther - firstBare]int
}

// count adds one word. functional holds, as bits, the languages in which it is a function word. A word
// that several languages share counts less for each.
func (t *tally) count(w *word, functional uint32) {
	t.words++
	for i := range t.bare {
		t.bare[i] += int(functional >> (firstBare + i) & 1)
	}
	mask := functional & (1<<latin - 1)
	if w.hint == 1<<vietnam {
		t.hinted++
	} else { // without its accents it is like many others'
		mask &^= 1 << vietnam
	}
	t.share(mask, 1)
	for ; mask != 0; mask &= mask - 1 {
		t.hits[bits.TrailingZeros32(mask)]++
	}
	t.share(w.hint, hintWeight)
}

// share divides a weight among the languages in mask.
func (t *tally) share(mask uint32, weight float64) {
	if mask == 0 {
		return
	}
	weight /= float64(bits.OnesCount32(mask))
	for ; mask != 0; mask &= mask - 1 {
		t.weight[bits.TrailingZeros32(mask)] += weight
	}
}

// hintWeight is the weight of a word with a characteristic letter, relative to a function word. It is
// small because names keep their letters in texts of other languages.
const hintWeight = 0.5

// hints are letters that only one language has, or a few.
var hints = func() map[rune]uint32 {
	out := map[rune]uint32{}
	for code, letters := range map[string]string{"tr": "ğış", "es": "ñ", "de": "ß", "da": "øå", "no": "øå", "sv": "å", "hu": "őű", "ro": "țș"} {
		for _, r := range letters {
			out[r] |= 1 << codeOf(code)
		}
	}
	return out
}()

// hintOf returns the languages, as bits, that the letters of a word hint at.
func hintOf(w string) (mask uint32) {
	if isASCII(w) {
		return 0
	}
	for _, r := range w {
		mask |= hints[r]
	}
	if vietnamese(w) {
		mask |= 1 << vietnam
	}
	return mask
}

// vietnamese reports whether a word has letters that only Vietnamese has. Such a word must not count
// as the function word of another language that it resembles without accents: dữ is not French "du".
func vietnamese(w string) bool {
	return !isASCII(w) && strings.ContainsFunc(w, func(r rune) bool { return r >= 0x1EA0 && r <= 0x1EF9 || r == 'ơ' || r == 'ư' })
}

// best returns the language with the most evidence, or English if there is none. Texts without
// function words are mostly names and code.
func (t *tally) best() int {
	best := english
	for i, w := range t.weight {
		if w > t.weight[best] {
			best = i
		}
	}
	// A stray foreign word in a long text is not a change of language.
	if best != english && t.weight[best] < float64(t.words)/50 {
		return english
	}
	return best
}
