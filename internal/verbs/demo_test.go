package verbs

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
)

// Every word that the explanation of a plan uses is explained.
func TestExplainedWords(t *testing.T) {
	words, unknown := cli.Terms(explainedIn(), 80)
	for _, w := range explainedIn() {
		if unknown != "" || !strings.Contains(words, "  "+w+"\n") {
			t.Errorf("%q is not explained, %q is unknown", w, unknown)
		}
	}
}
