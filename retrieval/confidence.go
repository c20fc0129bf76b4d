package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/index"
)

// DefaultMinBest is the score that the best hit needs for a prompt to get any hits.
// doc/retrieval.md gives the share of answerable questions that it loses, and the share of other
// questions that it lets through.
const DefaultMinBest = 0.3

// DefaultMinShare is the share of the best hit's score below which a search or a prompt does not
// get a hit. A weak match next to a strong match is not worth its reader's time, or its tokens. On
// Cranfield, three LoCoMo conversations and XQuAD in English and German a share of .45 loses no
// point of recall@10, and of the evidence that is packed into 2,000 tokens at most 1.7 points; .5
// loses 2.9 (`mkbench eval`, 2026-11-30).
const DefaultMinShare = 0.45

// Grounds measure how much of the question the best three hits hold. The chance that the hits
// answer the question is computed from these measures. Nearly all measures are relative to the
// index, so that they mean the same in any index. The weight of a word depends on the share of
// chunks that hold the word, from 0 if all chunks hold it to 1 if no chunk does. Scores are only
// compared with each other.
type Grounds struct {
	// Held is the largest share of the question's words that a hit holds. Unknown is the share of
	// the words that no chunk of the index holds. Rarest is the weight of the rarest word that a
	// hit holds: the logarithm of n, if one in n chunks holds the word.
	Held, Unknown, Rarest float64
	// Verbatim measures the longest run of the question's words that a hit contains in the same
	// order, as a logarithm. Quoted does too, but counts a word more if it is rare in any text: the
	// run "https github com" proves little.
	Verbatim, Quoted float64
	// Lead compares the best score with the tenth best score. Score compares the best score with
	// the amount that a rare word adds. Words is the number of searched words. Few compares
	// usualChunks with the number of chunks in the index. All four are logarithms.
	Lead, Score, Words, Few float64
	// Names is the share of the names and numbers in the question that no hit holds. Names are
	// words with a capital letter that don't begin the question. Numbers are words with a digit.
	Names float64
	// Near is how near the question's vector is to a hit, 0 to 1.
	Near float64
	// Rare measures, as a logarithm, those words of the question that a hit holds and that are rare
	// in any text. Told is the share of all such words of the question that the hits hold. In a
	// handful of notes no word is common, but Rare still distinguishes "which port does the heron
	// use" from "run it".
	Rare, Told float64
}

// Values returns the measures that have a weight, in the order of Weights. Prompts of one or two
// words and long prompts ask least, so the square of Words counts too. Three measures count only
// multiplied by another one.
func (g Grounds) Values() []float64 {
	return []float64{g.Held, g.Unknown, g.Verbatim, g.Quoted, g.Lead, g.Words, g.Words * g.Words, g.Few, g.Few * g.Score, g.Names, g.Names * g.Rarest, g.Rare, g.Rarest * g.Told}
}

// Weights returns the constant term, followed by the weight of each of Values.
func (Grounds) Weights() []float64 { return confidenceWeights[:] }

// chance returns the probability, 0 to 1, that the hits answer the question. It assumes that half
// of all questions have an answer.
func (g Grounds) chance() float64 {
	if g.Held == 0 {
		return g.Near
	}
	z := confidenceWeights[0]
	for i, v := range g.Values() {
		z += confidenceWeights[i+1] * v
	}
	return max(g.Near, 1/(1+math.Exp(-z)))
}

// confidenceFrom is the number of best hits from which the confidence is computed.
const confidenceFrom = 3

// confidencePrior is the number of chunks that are assumed in addition to the real chunks.
// Without them no word of a handful of notes would be rare.
const confidencePrior = 20

// usualChunks is the least number of chunks that an index needs for words to be fully rare. In a
// smaller index rareWord is reduced, at most to the share leastRarity.
const (
	usualChunks = 25
	leastRarity = .3
)

// sought is a word of the question. forms marks its terms as bits, one for each language of the
// index. A hit holds the word if it holds any of these terms.
type sought struct {
	forms           uint64
	term            string
	weight, holders float64
}

// wordsOf returns, for each term, the word of the question to which the term belongs, see
// [analysis.Analyzer.Words]. A term that was searched in place of one or two words belongs to the
// first of these words.
func (q *question) wordsOf(terms []string, added []index.Also) []int {
	words := q.a.Words(q.Text, terms)
	for _, also := range added {
		for _, j := range also.Terms {
			if j < len(words) && len(also.Of) > 0 && also.Of[0] < len(words) {
				words[j] = words[also.Of[0]]
			}
		}
	}
	return words
}

// askedWords returns the words of the question, with the weight of each.
func (g *gathered) askedWords() []sought {
	n := float64(g.hits.Chunks) + confidencePrior
	var out []sought
	at := map[int]int{}
	for j, word := range g.wordOf {
		t, holders := g.hits.Terms[j], 0.0
		if j < len(g.hits.Holders) {
			holders = float64(g.hits.Holders[j])
		}
		w := math.Log((n+1)/(holders+.5)) / math.Log((n+1)/.5)
		if i, ok := at[word]; ok {
			last := &out[i]
			if last.forms |= 1 << j; holders > 0 && (!g.added(j) || last.holders == 0) {
				last.weight = min(last.weight, w)
				last.holders = max(last.holders, holders)
			}
			continue
		}
		switch {
		case strings.Trim(t, "0123456789") == "":
			w /= 2
		case dense(t):
			// Every second pair of characters spans two words, and most such pairs occur nowhere.
			if w /= 2; holders == 0 {
				w /= 2
			}
		case holders == 0 && !stemmed(t):
			w /= 2 // another form of the word may occur in the index
		}
		at[word] = len(out)
		out = append(out, sought{1 << j, t, w, holders})
	}
	return out
}

// added reports whether term j was searched in addition to the words of the question.
func (g *gathered) added(j int) bool {
	return slices.ContainsFunc(g.hits.Also, func(a index.Also) bool { return slices.Contains(a.Terms, j) })
}

// stemmed reports whether a term is in a script for which words are stemmed. All forms of a word
// are then one term.
func stemmed(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return r < utf8.RuneSelf || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Devanagari)
}

// dense reports whether a term is Chinese or Japanese, which have no spaces between words.
func dense(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return denseRune(r)
}

func denseRune(r rune) bool {
	return r >= leastDense && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// leastDense is the first character of Chinese and Japanese.
const leastDense = 0x2E80

func byScore(a, b *candidate) int { return cmp.Compare(a.hit.Score, b.hit.Score) }

// grounds measures the best of the candidates.
func (q *question) grounds(of *gathered, top []*candidate) Grounds {
	chunks, words, rare := float64(of.hits.Chunks), of.askedWords(), of.rareWord()
	g := Grounds{Words: math.Log1p(float64(len(words))), Few: math.Log(max(usualChunks/max(chunks, 1), 1))}
	read := top[:min(confidenceFrom, len(top))]
	best := 0.0
	question, texts := runOf(q.Text), [][]string{}
	for _, c := range read {
		held := q.heldBy(c, of.terms)
		g.Held = max(g.Held, share(words, func(w *sought) bool { return held&w.forms != 0 }))
		for i := range words {
			if held&words[i].forms != 0 {
				g.Rarest = max(g.Rarest, math.Log((chunks+confidencePrior+1)/(words[i].holders+.5)))
			}
		}
		g.Near = max(g.Near, c.hit.Parts.Vector*of.vectorShare)
		best = max(best, c.raw())
		first := len(texts)
		called := ""
		if c.hit.place != nil {
			called = separators.Replace(c.hit.place.called)
		}
		for _, t := range append([]string{c.hit.Text, called}, c.hit.Trail...) {
			units := unitsOf(t)
			texts = append(texts, units)
			g.Verbatim, g.Quoted = max(g.Verbatim, question.longest(units, question.weight)), max(g.Quoted, question.longest(units, question.telling))
		}
		g.Rare = max(g.Rare, question.common(texts[first:]))
	}
	g.Told = question.common(texts) / max(question.common([][]string{question.units}), 1e-9)
	g.Verbatim, g.Quoted = math.Log1p(g.Verbatim), math.Log1p(g.Quoted)
	if question.unspaced {
		g.Rare = g.Held * float64(len(words))
	}
	g.Rare = math.Log1p(g.Rare)
	g.Unknown = share(words, func(w *sought) bool { return w.holders == 0 })
	g.Names = question.missed(texts)
	tenth, seen := 0.0, map[string]bool{} // copies of the best text don't count
	for _, c := range top {
		if seen[c.hit.Text] = true; len(seen) == leadOver {
			tenth = c.raw()
			break
		}
	}
	g.Lead, g.Score = math.Log((best+rare)/(tenth+rare)), math.Log1p(best/rare)
	return g
}

// leadOver is the rank of the hit with which the best hit is compared.
const leadOver = 10

// share returns the words for which of is true, as a share of the weight of all words.
func share(words []sought, of func(*sought) bool) float64 {
	all, some := 0.0, 0.0
	for i := range words {
		if all += words[i].weight; of(&words[i]) {
			some += words[i].weight
		}
	}
	return some / max(all, 1e-9)
}

// kindred returns a function that reports whether a word begins with most of a term, as other forms
// of the same word do.
func kindred(term string) func(word string) bool {
	n := 0
	for i := range term {
		if n++; 10*n > 7*utf8.RuneCountInString(term) && n > leastKin {
			return func(word string) bool { return strings.HasPrefix(word, term[:i]) }
		}
	}
	return func(string) bool { return false }
}

// leastKin is the least number of letters that kindred words share.
const leastKin = 4

// rareWord returns about the amount that a rare word adds to a score. In a handful of notes no
// word is rare, and all scores are smaller.
func (g *gathered) rareWord() float64 {
	w := math.Log(float64(g.hits.Chunks) + confidencePrior)
	if g.hits.Chunks > 0 {
		w *= min(max(float64(g.hits.Chunks)/usualChunks, leastRarity), 1)
	}
	return w
}

// heldBy returns the terms that a candidate holds, as bits.
func (q *question) heldBy(c *candidate, terms []uint32) uint64 {
	if c.held == 0 {
		c.held = q.digest(c).mark(terms)
	}
	return c.held
}

// leastUnspaced is the first character of the scripts that have no spaces between words, except
// those of Chinese and Japanese.
const leastUnspaced = 0x0E00

// run is a question cut into words. In scripts without spaces it is cut into characters.
type run struct {
	units []string
	// weight has for each word what it adds to a run, by the word's length. telling has its rarity
	// in general text.
	weight, telling []float64
	// names are the words that seem to be names.
	names []string
	// rare holds the rarity of each word in any text. A repeated word has 0.
	rare []float64
	// unspaced reports whether the text's words can't be separated, as in Thai.
	unspaced bool
}

// maxRun is the largest number of a question's words that are compared.
const maxRun = 64

func runOf(text string) run {
	r := run{units: unitsOf(text), names: namesOf(text), unspaced: strings.ContainsFunc(text, func(r rune) bool {
		return r >= leastUnspaced && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})}
	r.units = r.units[:min(len(r.units), maxRun)]
	for i, u := range r.units {
		rare := budget.Rarity(u)
		if slices.Contains(r.units[:i], u) {
			rare = 0
		}
		r.rare = append(r.rare, rare)
		telling := .1 + budget.Rarity(u)
		if dense(u) {
			telling = .5
		}
		r.telling = append(r.telling, telling)
		switch {
		case dense(u):
			r.weight = append(r.weight, .5)
		case utf8.RuneCountInString(u) <= 3: // mostly a function word
			r.weight = append(r.weight, .3)
		default:
			r.weight = append(r.weight, 1)
		}
	}
	return r
}

// unitsOf cuts a text into words in small letters and characters of Chinese and Japanese.
func unitsOf(text string) []string {
	out := make([]string, 0, len(text)/5)
	low := strings.ToLower(text) // rune by rune, and mostly the text itself
	begin := -1
	flush := func(end int) {
		if begin >= 0 {
			out, begin = append(out, low[begin:end]), -1
		}
	}
	for i := 0; i < len(low); {
		r, size := rune(low[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(low[i:])
		}
		switch {
		case ofWord(r) && !denseRune(r):
			if begin < 0 {
				begin = i
			}
		case denseRune(r):
			flush(i)
			out = append(out, low[i:i+size])
		default:
			flush(i)
		}
		i += size
	}
	flush(len(low))
	return out
}

// longest returns the weight of the heaviest run of the question's words that a text contains.
func (r *run) longest(text []string, weight []float64) float64 {
	best := 0.0
	last, here := make([]float64, len(r.units)+1), make([]float64, len(r.units)+1)
	for _, u := range text {
		for i := range r.units {
			if here[i+1] = 0; r.units[i] == u {
				here[i+1] = last[i] + weight[i]
				best = max(best, here[i+1])
			}
		}
		last, here = here, last
	}
	return best
}

// common returns the summed rarity of the question's words that any of the texts contains.
func (r *run) common(texts [][]string) float64 {
	sum := 0.0
	for i, u := range r.units {
		if r.rare[i] == 0 {
			continue
		}
		kin := kindred(u)
		if slices.ContainsFunc(texts, func(units []string) bool {
			return slices.ContainsFunc(units, func(w string) bool { return w == u || kin(w) })
		}) {
			sum += r.rare[i]
		}
	}
	return sum
}

// missed returns the share of the question's names that no text contains.
func (r *run) missed(texts [][]string) float64 {
	n := 0
	for _, name := range r.names {
		if !slices.ContainsFunc(texts, func(units []string) bool { return slices.Contains(units, name) }) {
			n++
		}
	}
	return float64(n) / float64(max(len(r.names), 1))
}

// namesOf returns, in small letters, the words of a text that seem to be names or numbers: words
// with a digit, and capitalized words that do not begin a sentence.
func namesOf(text string) (out []string) {
	begins := true
	for _, w := range strings.Fields(text) {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(w, unicode.IsPunct))
		if unicode.IsUpper(first) && !begins || strings.ContainsAny(w, "0123456789") {
			if u := unitsOf(w); len(u) > 0 && (len(u[0]) > 1 || u[0] < "a") {
				out = append(out, u[0])
			}
		}
		begins = strings.ContainsAny(w[len(w)-1:], ".!?:;")
	}
	return out
}
