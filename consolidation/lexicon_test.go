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
	for name, table := range tablesOf() {
		kind, of, _ := strings.Cut(name, " ")
		for _, w := range table {
			if kind == "side" && side[w] != "" {
				t.Errorf("%s is %s and %s", w, side[w], of)
			}
			if kind == "side" {
				side[w] = of
			}
			if got := words(w); slices.Contains([]string{"side", "negators", "weightless", "unsaid", "bygone", "settings"}, kind) && !strings.ContainsFunc(w, ideograph) && (len(got) != 1 || got[0] != w) {
				t.Errorf("%q is taken apart into %q", w, got)
			}
		}
	}
	for w := range lexicon().negator {
		if side[w] != "" || lexicon().unsaid[w] {
			t.Errorf("%s is a negation and something else", w)
		}
	}
}

// Each cue has words, and a phrase of a cue is found in a text of its own words.
func TestWordsOfCues(t *testing.T) {
	for i, name := range strings.Fields(cueNames) {
		if len(tablesOf()[name]) == 0 {
			t.Errorf("%s has no words", name)
		}
		for _, p := range tablesOf()[name] {
			if text := strings.TrimSuffix(strings.ReplaceAll(p, "_", " "), "*"); cuesOf(text)&(1<<i) == 0 {
				t.Errorf("%q is not found as %s", text, name)
			}
		}
	}
}
