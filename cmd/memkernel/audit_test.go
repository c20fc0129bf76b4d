package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
)

// troubled is a workspace with findings of every form: with others, and with what a
// host drops.
func troubled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"MEMORY.md": "# Memory\n\n- Postgres runs on port 5432.\n\n" + strings.Repeat("word ", 5000) + "\n",
		"TOOLS.md":  "# Tools\n\n- Postgres port: 5433\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Equal files give equal bytes, in both forms.
func TestAuditTwice(t *testing.T) {
	dir := troubled(t)
	for _, args := range [][]string{{"audit", "--workspace", dir}, {"audit", "--workspace", dir, "--json"}} {
		_, first, _ := invoke(t, args...)
		code, second, stderr := invoke(t, args...)
		if first != second || first == "" || code != cli.ExitFindings || stderr != "" {
			t.Errorf("%v: exit %d, %q; %q, then %q", args, code, stderr, first, second)
		}
	}
}
