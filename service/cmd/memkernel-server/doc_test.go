package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/contract"
	"github.com/memkernel/memkernel/internal/fail"
)

// invoke runs the program in this process.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	u := &cli.UI{In: strings.NewReader(""), Out: &out, Err: &err}
	code = command.Run(context.Background(), u, args)
	return code, out.String(), err.String()
}

// TestJSONKeepsItsContract compares every document with its table: no member is undocumented,
// none that is documented is missing, and all have their type.
func TestJSONKeepsItsContract(t *testing.T) {
	ws := t.TempDir()
	_, revoked := newToken(t, "--workspace", ws)
	calls := [][]string{
		{"token", "create", "--expires", "1d", "--tenant", "a"},
		{"token", "revoke", revoked},
		{"token", "list"},
	}
	contracts, seen := contract.Read(t, "../../../doc/json-server.md"), map[string]bool{}
	if dsn, err := postgresServer(); err == nil {
		t.Setenv("STATE_DSN", dsn)
		conf := filepath.Join(t.TempDir(), "team.yaml")
		if err := os.WriteFile(conf, []byte("store:\n  postgres: {dsn_env: STATE_DSN, root: contract}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, []string{"migrate", "--state", "--to", "postgres", "--config", conf}, []string{"migrate", "--memory", "--to", "postgres", "--config", conf})
	} else {
		seen["memkernel/migrate_state/v1"], seen["memkernel/migrate_memory/v1"] = true, true // there is no PostgreSQL to move it to
	}
	for _, args := range calls {
		name := strings.Join(args, " ")
		code, stdout, stderr := invoke(t, append([]string{"--workspace", ws, "--quiet", "--json"}, args...)...)
		var doc map[string]any
		if err := json.Unmarshal([]byte(stdout), &doc); code != fail.ExitOK || stderr != "" || err != nil {
			t.Errorf("%s: exit %d, stderr %q, %v", name, code, stderr, err)
			continue
		}
		schema, _ := doc["schema"].(string)
		seen[schema] = true
		contract.Compare(t, name, doc, contracts[schema])
	}
	for schema := range contracts {
		if !seen[schema] {
			t.Errorf("doc/json-server.md describes %s, which no call of this test prints", schema)
		}
	}
}
