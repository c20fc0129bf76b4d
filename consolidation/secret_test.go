package consolidation_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// secretsIn are the texts in which an audit finds a secret, by their numbers.
func secretsIn(t *testing.T, texts []string) map[int]bool {
	t.Helper()
	w := map[string]string{}
	for i, text := range texts {
		w[fmt.Sprintf("memory/%d.md", i)] = text
	}
	r := audit(t, files(w), func(o *consolidation.Options) { o.Only = []health.Code{health.Secrets} })
	out := map[int]bool{}
	for _, f := range r.Findings {
		if f.Severity != health.Error {
			t.Errorf("%s is a %s", f.Place, f.Severity)
		}
		var n int
		if _, err := fmt.Sscanf(f.Path, "memory/%d.md", &n); err != nil {
			t.Fatal(f.Path, err)
		}
		out[n] = true
	}
	return out
}

// Whatever the masker takes for a secret in hundreds of texts that hold one is an error of
// an audit, whichever characters it is made of.
func TestSecretsOfRealShapes(t *testing.T) {
	var texts []string
	for _, file := range []string{hostile.SecretKinds, hostile.MoreSecrets} {
		for _, x := range hostile.Texts(file, 3) {
			if (*mask.Masker)(nil).Lines(x.Text) != x.Text {
				texts = append(texts, x.Text)
			}
		}
	}
	found := secretsIn(t, texts)
	for i, text := range texts {
		if !found[i] {
			t.Errorf("nothing is found in\n%s", text)
		}
	}
	if len(texts) < 500 {
		t.Errorf("%d texts", len(texts))
	}
}

// What examples, amounts, names and hashes look like is nothing, in hundreds of shapes.
func TestNoSecrets(t *testing.T) {
	raw, err := os.ReadFile("testdata/nosecrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for _, x := range hostile.Texts(hostile.NoSecrets, 0) {
		texts = append(texts, x.Text)
	}
	for i := range secretsIn(t, texts) {
		t.Errorf("a secret in\n%s", texts[i])
	}
	if len(texts) < 350 {
		t.Errorf("%d texts", len(texts))
	}
}
