package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/contract"
	"github.com/memkernel/memkernel/service/internal/verbs"
)

// invoke runs the program in this process.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	u := &cli.UI{In: strings.NewReader(""), Out: &out, Err: &err}
	code = command.Run(context.Background(), u, args)
	return code, out.String(), err.String()
}

var update = flag.Bool("update", false, "write doc/schema-server.json anew")

const schemaFile = "../../../doc/schema-server.json"

// TestSchemaIsCurrent fails when doc/schema-server.json is not made from the types of today.
func TestSchemaIsCurrent(t *testing.T) {
	s := contract.Source{Root: "../../..", Description: "The documents that only memkernel-server prints. doc/json.md has the rules.", Documents: verbs.Documents()}
	want, err := s.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(schemaFile); err != nil || string(got) != want {
		t.Errorf("doc/schema-server.json is not what the source makes (%v): run make contract", err)
	}
}

// TestJSONKeepsItsContract validates every document by doc/schema-server.json: no member is
// undocumented, none that is required is missing, and all have their type.
func TestJSONKeepsItsContract(t *testing.T) {
	ws := t.TempDir()
	_, revoked := newToken(t, "--workspace", ws)
	calls := [][]string{
		{"token", "create", "--expires", "1d", "--tenant", "a"},
		{"token", "revoke", revoked},
		{"token", "list"},
	}
	contracts, err := contract.Load(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
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
		if err := json.Unmarshal([]byte(stdout), &doc); code != cli.ExitOK || stderr != "" || err != nil {
			t.Errorf("%s: exit %d, stderr %q, %v", name, code, stderr, err)
			continue
		}
		schema, _ := doc["schema"].(string)
		seen[schema] = true
		if err := contracts.Check(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, schema := range contracts.Names() {
		if !seen[schema] {
			t.Errorf("doc/schema-server.json describes %s, which no call of this test prints", schema)
		}
	}
}
