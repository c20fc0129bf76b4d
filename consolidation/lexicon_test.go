package consolidation

import (
	"slices"
	"strings"
	"testing"
)

// A word that a text is never taken apart into would be looked for in vain, and one that
// stands on both sides of a pair would be its own opposite.
func TestWordsOfTheLexicon(t *testing.T) {
	side := map[string]string{}
	for name, table := range sides {
		for w := range strings.FieldsSeq(table) {
			if side[w] != "" {
				t.Errorf("%s is %s and %s", w, side[w], name)
			}
			side[w] = name
		}
	}
	for _, table := range append([]string{negators, weightless, unsaid, bygone, settings}, slices.Collect(func(yield func(string) bool) {
		for _, ws := range sides {
			if !yield(ws) {
				return
			}
		}
	})...) {
		for w := range strings.FieldsSeq(table) {
			if got := words(w); len(got) != 1 || got[0] != w {
				t.Errorf("%q is taken apart into %q", w, got)
			}
		}
	}
	for w := range strings.FieldsSeq(negators) {
		if side[w] != "" || lexicon().unsaid[w] {
			t.Errorf("%s is a negation and something else", w)
		}
	}
}
