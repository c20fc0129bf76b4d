package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultMinBest is the score that the best hit needs for a prompt to get any. What it
// loses of questions that memory answers, and lets through of others, is in
// doc/retrieval.md: 2 to 4 % each on most sets.
const DefaultMinBest = 0.2

// confidence turns what the best hits have of the question into the chance that they
// answer it, where half of all questions have an answer. Everything that it counts is
// relative to the index: a word weighs by how few of its chunks hold it, from 0 for one
// that all hold to 1 for one that none does, and the best score is in such words. The
// weights are those of a logistic regression on eleven sets in six languages, each
// counting alike, and hold for each of them left out.
const (
	confidenceCovered  = 3.7  // share of the question's words that the best three hits hold
	confidenceScore    = 8.7  // logarithm of the best score
	confidenceWords    = -2.7 // logarithm of the number of words
	confidenceVerbatim = 4.2  // logarithm of the longest run of words that stands so in a hit
	confidenceBase     = -13.1
)

// confidenceFrom is how many of the best hits are read for it.
const confidenceFrom = 3

// confidencePrior is how many chunks are thought to be beside the real ones: without
// them no word of a handful of notes would be rare.
const confidencePrior = 20

// usualChunks is how many chunks an index has in which words can be rare; leastRarity is
// what is left of that in a smaller one.
const (
	usualChunks = 25
	leastRarity = .3
)

// sought is a word of the question, of whose forms (one for each language of the
// index) any counts.
type sought struct {
	forms  uint64
	weight float64
}

// askedWords returns those of the question, by the terms that it was searched by.
func (s *search) askedWords() []sought {
	n := float64(s.chunks) + confidencePrior
	var out []sought
	for j, t := range s.asked[:min(len(s.asked), maxTerms)] {
		holders := 0.0
		if j < len(s.holders) {
			holders = float64(s.holders[j])
		}
		w := math.Log((n+1)/(holders+.5)) / math.Log((n+1)/.5)
		if j > 0 && variant(s.asked[j-1], t) {
			last := &out[len(out)-1]
			if last.forms |= 1 << j; holders > 0 {
				last.weight = min(last.weight, w)
			}
			continue
		}
		switch {
		case strings.Trim(t, "0123456789") == "":
			w /= 2
		case dense(t):
			// Every second pair is of two words, and then mostly stands nowhere.
			if w /= 2; holders == 0 {
				w /= 2
			}
		}
		out = append(out, sought{1 << j, w})
	}
	return out
}

// variant reports whether a term seems to be another form of the word before.
func variant(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 3 && 2*n >= max(len(a), len(b)) && utf8.RuneCountInString(a) > 2
}

// dense reports whether a term is of a script that is written without spaces.
func dense(t string) bool {
	r, _ := utf8.DecodeRuneInString(t)
	return denseRune(r)
}

func denseRune(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// calibrate gives the hits the scores that callers see: the confidence in the best one,
// and the others' in proportion.
func (s *search) calibrate(top []*candidate) {
	if len(top) == 0 || s.ranked || !s.q.Passages || len(s.asked) == 0 {
		return
	}
	s.calibrated = true
	best := slices.MaxFunc(top, byScore).hit.Score
	sure := s.confidence(top[:min(confidenceFrom, len(top))])
	for _, c := range top {
		c.hit.Score *= sure / best
	}
}

func byScore(a, b *candidate) int { return cmp.Compare(a.hit.Score, b.hit.Score) }

func (s *search) confidence(top []*candidate) float64 {
	terms := hashTerms(s.asked)
	near, score, verbatim := 0.0, 0.0, 0.0
	var held uint64
	question := runOf(s.q.Text)
	for _, c := range top {
		held |= s.heldBy(c, terms)
		near = max(near, c.hit.Parts.Vector*s.vectorShare)
		score = max(score, c.raw())
		verbatim = max(verbatim, question.longest(c.hit.Trail, c.hit.Text))
	}
	all, covered := 0.0, 0.0
	words := s.askedWords()
	for _, w := range words {
		if all += w.weight; held&w.forms != 0 {
			covered += w.weight
		}
	}
	if covered == 0 || all == 0 {
		return near
	}
	z := confidenceBase + confidenceCovered*covered/all + confidenceScore*math.Log1p(score/s.rareWord()) +
		confidenceWords*math.Log1p(float64(len(words))) + confidenceVerbatim*math.Log1p(verbatim)
	return max(near, 1/(1+math.Exp(-z)))
}

// rareWord returns about what a rare word adds to a score. In a handful of notes no word
// is rare, and scores are as much smaller.
func (s *search) rareWord() float64 {
	w := math.Log(float64(s.chunks) + confidencePrior)
	if s.chunks > 0 {
		w *= min(max(float64(s.chunks)/usualChunks, leastRarity), 1)
	}
	return w
}

// heldBy marks which terms a candidate holds.
func (s *search) heldBy(c *candidate, terms []uint32) uint64 {
	if c.held == 0 {
		d := s.digest(c)
		for j, t := range terms {
			if d.count(t) > 0 {
				c.held |= 1 << j
			}
		}
	}
	return c.held
}

// run is a question cut into words, and into characters where words have no spaces.
type run struct {
	units  []string
	weight []float64
}

// maxRun is how many of a question's words are compared.
const maxRun = 64

func runOf(text string) run {
	r := run{units: unitsOf(text)}
	r.units = r.units[:min(len(r.units), maxRun)]
	for _, u := range r.units {
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
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out, word = append(out, string(word)), word[:0]
		}
	}
	for _, r := range text {
		switch {
		case denseRune(r):
			flush()
			out = append(out, string(r))
		case unicode.In(r, unicode.L, unicode.N, unicode.M):
			word = append(word, unicode.ToLower(r))
		default:
			flush()
		}
	}
	flush()
	return out
}

// longest returns the weight of the longest run that a hit has.
func (r *run) longest(trail []string, text string) float64 {
	best := 0.0
	last, here := make([]float64, len(r.units)+1), make([]float64, len(r.units)+1)
	look := func(text string) {
		clear(last)
		for _, u := range unitsOf(text) {
			for i := range r.units {
				if here[i+1] = 0; r.units[i] == u {
					here[i+1] = last[i] + r.weight[i]
					best = max(best, here[i+1])
				}
			}
			last, here = here, last
		}
	}
	for _, t := range trail {
		look(t)
	}
	look(text)
	return best
}
