package analysis

import (
	"slices"
	"testing"
)

// The stems that one word has in several languages are of one word; in writing without
// spaces each pair is one.
func TestWords(t *testing.T) {
	a := newAnalyzer(t)
	text := "existing lamps 港口灯"
	terms := a.Query(text, []string{"en", "fr", "de"})
	words := a.Words(text, terms)
	if len(words) != len(terms) || slices.Max(words) != 3 || words[0] != 0 || !slices.IsSorted(words) {
		t.Errorf("%q are of words %v", terms, words)
	}
	if slices.Contains(words, -1) || len(a.Words("", nil)) != 0 {
		t.Errorf("%v", words)
	}
}
