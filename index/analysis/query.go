package analysis

import (
	"slices"
	"strings"
	"sync"
)

// particles are Chinese and Japanese characters with a grammatical function only. They are in nearly
// every text, so a question drops a particle that stands alone between other characters.
const particles = "的了是在和与吗呢吧啊么也の は が を に で と も へ や か"

// pairTexts are pairs of characters that a Chinese or Japanese question drops: question words, copulas
// and endings of verbs.
const pairTexts = "什么 怎么 么样 多少 哪里 哪些 哪个 哪儿 为什 么时 如何 是否 是什 是谁 几个 有多 请问 " +
	"です ます すか ませ せん した まし てい いる いた れる れた され して する から まで では には とは ので のは のか のに って こと もの ため よう " +
	"いつ どこ だれ なに なぜ どれ どの どん んな くら らい いく くつ つで たか るか たい ない なる ある あり りま きま れま れて ると たの るの なの はい はど はな はだ でし でき"

var stopPairs = sync.OnceValue(func() map[[2]rune]bool {
	out := map[[2]rune]bool{}
	for _, p := range strings.Fields(pairTexts) {
		if r := []rune(p); len(r) == 2 {
			out[[2]rune(r)] = true
		}
	}
	return out
})

// Query returns the terms of a question in order, each once. langs are the languages of the searched
// documents, as codes that AppendIndex returns, the most frequent first. nil means English and the
// language of the question. The result is empty only if the question has no letter, digit or emoji.
func (a *Analyzer) Query(text string, langs []string) []string {
	q := a.query(text, langs)
	if len(q.terms) == 0 {
		q.collect(false)
	}
	return q.terms
}

// Tells reports whether a question has a word that Query does not drop.
func (a *Analyzer) Tells(text string) bool { return len(a.query(text, nil).terms) > 0 }

// query gathers the terms of a question without its function words.
func (a *Analyzer) query(text string, langs []string) *query {
	a.scan(text)
	set := a.languages(langs)
	q := &query{a: a, langs: set, stop: a.stopLanguage(set, langs != nil)}
	q.collect(true)
	return q
}

// languages returns the languages in which a question's words are stemmed.
func (a *Analyzer) languages(langs []string) []int {
	var set []int
	for _, code := range langs {
		if l := codeOf(code); l >= 0 && !slices.Contains(set, l) {
			set = append(set, l)
		}
	}
	if len(set) == 0 {
		set = append(set, english)
		if best := a.tally(true).best(); best != english {
			set = append(set, best)
		}
	}
	return set
}

// stopLanguage returns the language whose function words the question drops. It is the language with
// the most function words in the question. A single function word of a language that the index
// doesn't hold is a coincidence, such as "die" in an English question.
func (a *Analyzer) stopLanguage(set []int, known bool) int {
	t := a.tally(true)
	if mostlyHinted*t.hinted >= t.words && t.hinted > 0 {
		return vietnam // máy without its accent would be English
	}
	best, top := -1, 0.0
	for i, w := range t.weight {
		here := slices.Contains(set, i)
		if known && !here && t.hits[i] < 2 {
			continue
		}
		if here {
			w *= 1.5
		}
		if w > top {
			best, top = i, w
		}
	}
	return t.bareBeats(best)
}

// A question is Vietnamese if at least one in mostlyHinted of its words has letters that only
// Vietnamese has.
const mostlyHinted = 3

// bareBeats returns best, or a language without a stemmer if it has at least two function words in the
// question and two more than best. One more would not suffice, because related languages share words.
func (t *tally) bareBeats(best int) int {
	most := 1
	if best >= 0 {
		most = t.hits[best] + 1
	}
	for i, n := range t.bare {
		if n > most {
			best, most = firstBare+i, n
		}
	}
	return best
}

// query gathers the terms of one question.
type query struct {
	a     *Analyzer
	langs []int
	stop  int
	terms []string
	seen  map[string]bool
}

func (q *query) collect(dropStops bool) {
	q.seen = map[string]bool{}
	for i := range q.a.items {
		it := &q.a.items[i]
		if it.word == nil {
			q.grams(it, dropStops)
			continue
		}
		if dropStops && q.isStop(it.word) {
			continue
		}
		for _, l := range q.langs {
			ts := strings.Fields(q.a.lx.in(it.word, l))
			if l == vietnam || it.word.hint == 1<<vietnam {
				ts = ts[len(ts)-1:] // a user who types accents means them
			}
			for _, t := range ts {
				q.add(t)
			}
			if it.word.script != roman {
				break
			}
		}
	}
}

func (q *query) isStop(w *word) bool {
	switch w.script {
	case roman:
		return q.stop >= 0 && w.asks&(1<<q.stop) != 0
	case russian:
		return w.asks&(1<<russian|1<<bulgarian) != 0
	}
	return w.asks != 0 // the script identifies the language, or nearly
}

// bulgarian is the bit of the other language in Cyrillic letters.
const bulgarian = firstOther

// grams adds the terms of a run of characters. If the run has pairs, its single characters are left
// out, because many texts hold them. A lone particle is left out too.
func (q *query) grams(it *item, dropStops bool) {
	run := q.a.runes[it.from:it.to]
	if it.class == dense && len(run) > 1 {
		for i := range run {
			if i+1 < len(run) && !(dropStops && stopPairs()[[2]rune{run[i], run[i+1]}]) {
				q.add(string(run[i : i+2]))
			}
			if lone(run, i) {
				q.add(string(run[i]))
			}
		}
		return
	}
	if dropStops && len(run) == 1 && it.class == dense && strings.ContainsRune(particles, run[0]) {
		return
	}
	for _, t := range strings.Fields(string(appendGrams(nil, run, it.class))) {
		q.add(t)
	}
}

func (q *query) add(t string) {
	if t != "" && !q.seen[t] {
		q.seen[t] = true
		q.terms = append(q.terms, t)
	}
}

// lone reports whether a character is probably a whole word in Japanese: it is not kana, and its
// neighbours are kana.
func lone(run []rune, i int) bool {
	before, after := i == 0 || kana(run[i-1]), i+1 == len(run) || kana(run[i+1])
	return len(run) > 1 && !kana(run[i]) && before && after
}

func kana(r rune) bool { return r >= 0x3041 && r <= 0x30FF }

// Stems returns the terms of [Analyzer.Query] for a word, except its root, which other words may
// share. langs has the same meaning as for Query.
func (a *Analyzer) Stems(word string, langs []string) (out []string) {
	a.scan(word)
	set := a.languages(langs)
	for i := range a.items {
		w := a.items[i].word
		if w == nil {
			continue
		}
		for _, l := range set {
			if w.script != roman {
				l = w.script
			}
			terms := a.lx.in(w, l)
			root := ""
			if strings.IndexByte(terms, ' ') >= 0 {
				root = rootOf(a.lx.folded(w.text), terms, l)
			}
			for t := range strings.FieldsSeq(terms) {
				if t != root && !slices.Contains(out, t) {
					out = append(out, t)
				}
			}
			if w.script != roman {
				break
			}
		}
	}
	return out
}

// Words returns, for each term that [Analyzer.Query] returned for a question, the number of its word
// in the question, from 0. A word may have several terms: its stems in several languages. In scripts
// without spaces, each pair of characters counts as a word.
func (a *Analyzer) Words(text string, terms []string) []int {
	a.scan(text)
	out := make([]int, len(terms))
	for i := range out {
		out[i] = -1
	}
	words := 0
	for i := range a.items {
		w := a.items[i].word
		if w == nil {
			continue
		}
		fresh := false
		for l := range latin {
			for t := range strings.FieldsSeq(a.lx.in(w, l)) {
				if j := slices.Index(terms, t); j >= 0 && out[j] < 0 {
					out[j], fresh = words, true
				}
			}
			if w.script != roman {
				break
			}
		}
		if fresh {
			words++
		}
	}
	for j := range out {
		if out[j] < 0 {
			out[j] = words
			words++
		}
	}
	return out
}
