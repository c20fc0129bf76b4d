package ledger

import (
	"slices"
	"strings"
	"testing"
)

// A word that a text is never taken apart into would be looked for in vain, and one that is on both
// sides of a pair would be its own opposite.
func TestWordsOfClaims(t *testing.T) {
	side := map[string]string{}
	for name, table := range tables() {
		kind, of, _ := strings.Cut(name, " ")
		for _, w := range table {
			if kind == "side" && side[w] != "" {
				t.Errorf("%s is %s and %s", w, side[w], of)
			}
			if kind == "side" {
				side[w] = of
			}
			if got := tokens(w); (kind == "side" || slices.Contains(tagNames, name)) && !strings.Contains(w, " ") && (len(got) != 1 || got[0].low != w) {
				t.Errorf("%q is taken apart into %+v", w, got)
			}
		}
	}
	for w, of := range lexiconOf().words {
		if of.is(negator) && (of.side != "" || of.is(unsaid)) {
			t.Errorf("%s is a negation and something else", w)
		}
	}
	for _, name := range tagNames {
		if len(tables()[name]) == 0 {
			t.Errorf("%s has no words", name)
		}
	}
}
