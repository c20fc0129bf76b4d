package kernel_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// TestRedactOptions: what is allowed is kept as it is, rules that are disabled find
// nothing, and status counts what was masked, by rule.
func TestRedactOptions(t *testing.T) {
	spared := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	other := "ghp_" + "9876543210abcdefghijABCDEFGHIJ543210"
	droplet := "dop_v1_" + strings.Repeat("0a1b2c3d4e5f6789", 4)
	dir := t.TempDir()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Redact: mask.Options{Allow: []string{spared, "/^s3cr3t/"}, Disable: []string{"digitalocean-pat"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := newConversation(3)
	c.add(memkernel.RoleUser, words("use "+spared+" and "+other+" and "+droplet+" and password=s3cr3t-Pa55 and password=0ther-Pa55"))
	mustPlan(t, k, request(c))
	st, err := k.Status(context.Background(), nil)
	if err != nil || len(st.Masked) != 2 || st.Masked[0] != (api.MaskCount{Rule: "github", Count: 1}) || st.Masked[1].Rule != "secret" {
		t.Errorf("%+v, %v", st.Masked, err)
	}
	for word, want := range map[string]bool{spared: true, other: false, droplet: true, "s3cr3t-Pa55": true, "0ther-Pa55": false} {
		if got := len(holding(t, dir, word)) > 0; got != want {
			t.Errorf("%.12s… is kept: %v", word, got)
		}
	}
	if _, err := kernel.Open(context.Background(), dir, &kernel.Options{Redact: mask.Options{Disable: []string{"nobody"}}}); err == nil {
		t.Error("a rule that there is none of was disabled")
	}
}

// TestIndexHoldsNoSecret: what is indexed is masked, and cited at its lines.
func TestIndexHoldsNoSecret(t *testing.T) {
	dir := t.TempDir()
	token := "glpat-" + "aB3dE5gH7jK9mN1pQ2rS"
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA\n", 8) + "-----END PRIVATE KEY-----\n"
	os.MkdirAll(filepath.Join(dir, "memory"), 0o700)
	text := "# Deployment\n\nThe gateway takes " + token + " as its header.\n\n" + key + "\nThe zeppelin leaves on Thursday.\n"
	if err := os.WriteFile(filepath.Join(dir, "memory", "deploy.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := openKernel(t, dir)
	if _, err := k.Reindex(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	res, err := k.Search(context.Background(), api.SearchRequest{Query: "when does the zeppelin leave", Private: true})
	if err != nil || len(res.Hits) == 0 || res.Hits[0].EndLine != strings.Count(text, "\n") {
		t.Errorf("%+v, %v", res, err)
	}
	k.Close()
	for _, f := range tree(t, filepath.Join(dir, ".memkernel")) {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{token, "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"} {
			if bytes.Contains(raw, []byte(s)) {
				t.Errorf("%s holds a secret", filepath.Base(f))
			}
		}
	}
}
