package memory

import (
	"strings"
	"testing"
)

// A question is searched for by its beginning and its end where it is too long.
func TestBounded(t *testing.T) {
	for _, q := range []string{"", "when does the ferry sail?", strings.Repeat("x", MaxQuery)} {
		if got := bounded(q); got != q {
			t.Errorf("%d bytes became %d", len(q), len(got))
		}
	}
	got := bounded("Heron" + strings.Repeat("é", 8<<20) + "bittern?")
	if len(got) > MaxQuery+1 || !strings.HasPrefix(got, "Heron") || !strings.HasSuffix(got, "bittern?") || strings.ToValidUTF8(got, "") != got {
		t.Errorf("%d bytes: %.20q", len(got), got)
	}
}
