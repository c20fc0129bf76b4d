package archive

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"pgregory.net/rapid"
)

// The pieces of a page are its lines, in order and without a gap, and the id of
// each names just those that it has.
func TestPiecesAreThePagesLines(t *testing.T) {
	line := rapid.SampledFrom([]string{"", " ", "short", strings.Repeat("a line of some words ", 20), strings.Repeat("x", 2*pieceBytes)})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n")
		p := &pagevm.Page{ID: "ev-1", Tool: "Bash"}
		rest := strings.TrimRight(text, "\n")
		for _, s := range pieces(p, text) {
			page, from, to := CutLines(s.ID)
			if from == 0 {
				from, to = 1, 1+strings.Count(text, "\n")
			}
			if page != p.ID || strings.TrimRight(LinesOf(text, from, to), "\n") != strings.TrimRight(s.Text, "\n") {
				t.Fatalf("%s is %q, not %q", s.ID, LinesOf(text, from, to), s.Text)
			}
			before, after, found := strings.Cut(rest, s.Text)
			if !found || strings.TrimSpace(before) != "" {
				t.Fatalf("%s is out of order behind %q", s.ID, before)
			}
			rest = after
		}
		if strings.TrimSpace(rest) != "" {
			t.Fatalf("%q is in no piece", rest)
		}
	})
}

func TestCallsAlone(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                     false,
		"Bash {\"command\":\"make\"}\n":        true,
		"a {}\nmcp__x.y-z {\n \"b\": [1]\n}\n": true,
		"I run it.\nBash {\"command\":\"make\"}\n": false,
		"Bash {\"command\":\"make\"}\nDone.":       false,
		"Bash {broken":                             false,
		"type T {}":                                false,
		"make build":                               false,
	} {
		if got := callsAlone(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A secret that reaches over the end of a piece is in none of them, whether the
// page knows of it or not; and what the page was not made of is always looked at.
func TestPiecesHoldNoSecret(t *testing.T) {
	secret := strings.Repeat("aB3dE5gH", 6)
	text := strings.Repeat("words in a line\n", pieceBytes/16-1) + "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(secret+"\n", 8) +
		"-----END RSA PRIVATE KEY-----\n" + strings.Repeat("words in a line\n", 200)
	masked, n := new(mask.Masker).Mask(text)
	for name, p := range map[string]*pagevm.Page{
		"known":        {ID: "ev-1", Hash: ingest.Hash(masked), Masked: n},
		"other text":   {ID: "ev-1", Hash: ingest.Hash("something else")},
		"hash of mask": {ID: "ev-1", Hash: ingest.Hash(masked)},
	} {
		pieces := pieces(p, plan.MaskedResult(nil, p, text))
		for _, s := range pieces {
			if strings.Contains(s.Text, secret[:16]) {
				t.Errorf("%s: %s holds %q", name, s.ID, s.Text)
			}
		}
		if len(pieces) < 2 {
			t.Errorf("%s: %d pieces", name, len(pieces))
		}
	}
	clean := "no secret\xff here"
	if got := plan.MaskedResult(nil, &pagevm.Page{Hash: ingest.Hash(clean)}, clean); got != "no secret\uFFFD here" {
		t.Errorf("got %q", got)
	}
}

// Masking what a page's hash vouches for, over masking it.
func BenchmarkMaskedResult(b *testing.B) {
	text := strings.Repeat("internal/kato/mito.go:38: undefined: NewServer in the token pool\n", 8000)
	for name, p := range map[string]*pagevm.Page{"hash": {Hash: ingest.Hash(text)}, "mask": {}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				plan.MaskedResult(nil, p, text)
			}
		})
	}
}
