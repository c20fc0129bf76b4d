package verbs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/indexing"
)

// Texts that are dear are sent only if the user asks for it.
func TestReindexAsksBeforeItIsDear(t *testing.T) {
	err := fmt.Errorf("embed: %w", &indexing.LimitError{Limit: indexing.Limit{USD: .5}})
	if hint := embedHint(err); !strings.Contains(hint, "reindex --yes") {
		t.Error(hint)
	}
}
