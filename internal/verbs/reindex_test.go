package verbs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/api"
)

// Texts that are dear are sent only if the user asks for it.
func TestReindexAsksBeforeItIsDear(t *testing.T) {
	err := fmt.Errorf("embed: %w", &api.EmbedLimitError{Limit: api.EmbedLimit{USD: .5}})
	if hint := embedHint(err); !strings.Contains(hint, "reindex --yes") {
		t.Error(hint)
	}
}
