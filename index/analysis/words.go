package analysis

import (
	"slices"
	"strings"
)

// Words returns, for each of the terms that [Analyzer.Query] made of a question, the
// number of the word that it is of, from 0. Of a word there may be several terms: its
// stems in several languages. In writing without spaces each pair of characters is a
// word.
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
