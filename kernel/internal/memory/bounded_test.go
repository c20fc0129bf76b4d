package memory

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm/mask"
)

// A question is searched for by its beginning and its end where it is too long.
func TestBounded(t *testing.T) {
	for _, q := range []string{"", "when does the ferry sail?", strings.Repeat("x", maxQuery)} {
		if got := bounded(q, (*mask.Masker)(nil).Text); got != q {
			t.Errorf("%d bytes became %d", len(q), len(got))
		}
	}
	got := bounded("Heron"+strings.Repeat("é", 8<<20)+"bittern?", (*mask.Masker)(nil).Text)
	if len(got) > maxQuery+1 || !strings.HasPrefix(got, "Heron") || !strings.HasSuffix(got, "bittern?") || strings.ToValidUTF8(got, "") != got {
		t.Errorf("%d bytes: %.20q", len(got), got)
	}
	const secret = "password: Meadow9Lark!" // which lies across a cut
	for _, at := range []int{maxQuery/2 - 16, maxQuery/2 - 4} {
		for _, q := range []string{strings.Repeat("x ", at/2) + secret + strings.Repeat(" y", 1<<20), strings.Repeat("x ", 1<<20) + secret + strings.Repeat(" y", at/2)} {
			if got := bounded(q, (*mask.Masker)(nil).Text); strings.Contains(got, "9Lark") || strings.Contains(got, "Meadow") {
				t.Errorf("a half is left of a secret at %d: %q", at, got)
			}
		}
	}
}
