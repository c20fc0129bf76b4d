package consolidation

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/ledger"
)

// Each cue has words, and a phrase of a cue is found in a text of its own words.
func TestWordsOfCues(t *testing.T) {
	for i, name := range strings.Fields(cueNames) {
		if len(ledger.Cue(name)) == 0 {
			t.Errorf("%s has no words", name)
		}
		for _, p := range ledger.Cue(name) {
			if text := strings.TrimSuffix(p, "*"); cuesOf(text)&(1<<i) == 0 {
				t.Errorf("%q is not found as %s", text, name)
			}
		}
	}
}
