package analysis

import (
	"slices"
	"strings"
)

// Stems returns the terms of [Analyzer.Query] for a word except its root: those that represent
// the word and its inflections, and no other word. langs is as there.
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
