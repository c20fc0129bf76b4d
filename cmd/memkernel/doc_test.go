package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/contract"
	"github.com/memkernel/memkernel/internal/suite"
)

const sample = "../../testdata/session.jsonl"

// invoke runs the program in this process.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	u := &cli.UI{In: strings.NewReader(""), Out: &out, Err: &err}
	code = checked(t, run)(context.Background(), u, args)
	return code, out.String(), err.String()
}

// beginning writes the first lines of the sample to a file of its own.
func beginning(t *testing.T, lines int) string {
	t.Helper()
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "beginning.jsonl")
	head := bytes.SplitAfterN(data, []byte("\n"), lines+1)[:lines]
	if err := os.WriteFile(path, bytes.Join(head, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// projectWithAgents is a project with a note in a home where some agents were.
func projectWithAgents(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, name := range []string{".codex", ".pi", "project/memory"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	project := filepath.Join(home, "project")
	if err := os.WriteFile(filepath.Join(project, "memory", "deploys.md"), []byte("# How the harbour deploys\n\nKim does it.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return project
}

// retention is a configuration that keeps things for a day.
func retention(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("retention:\n  days: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checked is the program, which fails the test if it prints a document that is not as
// doc/schema.json has it: a member is unknown, missing or of another type.
func checked(t *testing.T, run func(context.Context, *cli.UI, []string) int) func(context.Context, *cli.UI, []string) int {
	return func(ctx context.Context, u *cli.UI, args []string) int {
		var out bytes.Buffer
		u.Out = io.MultiWriter(u.Out, &out)
		code := run(ctx, u, args)
		var doc map[string]any
		if strings.HasPrefix(out.String(), "{\n  \"schema\": \"memkernel/") && json.Unmarshal(out.Bytes(), &doc) == nil {
			keeps(t, doc, doc["schema"].(string))
		}
		return code
	}
}

// schema is doc/schema.json. Verbs change the process's folder, and are called side by side.
var schema = struct {
	sync.Mutex
	load func() (*contract.Documents, error)
}{load: sync.OnceValues(func() (*contract.Documents, error) { return contract.Load(schemaFile) })}

var schemaFile, _ = filepath.Abs("../../doc/schema.json")

// documents are the definitions of doc/schema.json.
func documents(t *testing.T) *contract.Documents {
	t.Helper()
	d, err := schema.load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// keeps fails the test for a document that is not as doc/schema.json has the one of that name.
func keeps(t *testing.T, doc map[string]any, name string) {
	t.Helper()
	schema.Lock()
	defer schema.Unlock()
	if err := documents(t).Validate(name, doc); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestJSONKeepsItsContract prints every document, which has to be as doc/schema.json has it.
func TestJSONKeepsItsContract(t *testing.T) {
	ws := t.TempDir()
	short := beginning(t, 60)
	whole, long := suite.Pick(short, sample), suite.Pick(beginning(t, 150), sample)
	found := filepath.Join(t.TempDir(), "found.json")
	if err := os.WriteFile(found, []byte(`[{"id":"a","memory":"Kim has a dog."},{"id":"b"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	shared := []string{"--workspace", ws, "--quiet", "--json"}
	memory := []string{"--workspace", "../../testdata/workspace", "--state-dir", t.TempDir()}
	remembers := func(args ...string) []string { return append(args, memory...) }
	upkeep, before := overgrown(t)
	project := projectWithAgents(t)
	calls := [][]string{
		{"init", "--workspace", project, "--dry-run"},
		{"init", "--workspace", project, "--yes"},
		{"uninstall", "--workspace", project, "--dry-run", "--state"},
		{"uninstall", "--workspace", project, "--yes"},
		{"plan", "-t", whole},
		{"plan", "-t", sample, "--view", "full", "--fixed-tokens", "25k", "--resolver", "page"},
		{"plan", "-t", short, "--commit"},
		{"plan", "-t", whole, "--model", "nobody-knows-1", "--context-window", "100k"},
		{"plan", "-t", whole, "--model", "gpt-5"},
		{"plan", "--prompt", "hello", "--model", "claude-sonnet-4-6"},
		{"plan", "--prompt", "hello", "--model", "claude-sonnet-4-6", "--memories", found},
		{"replay", "-t", long, "--policy", "memkernel", "--context-window", "32k"},
		{"replay", "-t", short, "--policy", "append-late", "--room", "64k", "--resolver", "page"},
		{"plan", "-t", short, "--economy", "keep"},
		upkeep("curate"), upkeep("prune"), upkeep("guard"), upkeep("nightly", "--include", "Harbour"), upkeep("curate"), upkeep("why", "the nets are kept"), upkeep("history", "MEMORY.md:5", "--diff"), upkeep("undo"), upkeep("guard", "--before", before),
		{"undo", "run-1", "--workspace", editedByAgent(t)},
		{"remember", "the nets are dry", "--workspace", parcels(t)},
		{"list", "--workspace", parcels(t)},
		{"folders"},
		{"stats"},
		{"stats", "--workspace", observed(t)},
		{"plan", "-t", short, "--commit", "--session", "traced"},
		{"replay", "--trace", filepath.Join(ws, ".memkernel", "sessions", "traced", "trace.jsonl")},
		{"observe", "-t", short, "--session", "s"},
		{"import", foreign(t)},
		{"import", foreign(t), "--apply"},
		{"forget", "--all", "--session", "import:mcp-memory"},
		{"flush", "-t", short, "--session", "s"},
		{"compact", "-t", short, "--session", "s"},
		{"restore", "--session", "s"},
		{"reset", "--session", "s"},
		{"get", "nothing"},
		{"get", "memory/nothing.md"},
		{"search", "nothing is indexed yet"},
		remembers("reindex"),
		remembers("search", "deployment", "window"),
		remembers("get", "memory/locking.md:3:4"),
		remembers("plan", "-t", short),
		remembers("status"),
		remembers("doctor", "--now", "2026-12-01T00:00:00Z"),
		{"status"},
		{"check"},
		{"salvage", "--session", "s"},
		{"audit", "--only", "links"},
		{"audit", "--workspace", troubled(t)},
		{"forget", "--all", "--session", "s"},
		{"forget", "--everywhere", "berth five", "--workspace", parcels(t)},
		{"retain"},
		{"retain", "--now", "2126-01-01T00:00:00Z", "--config", retention(t)},
		{"prices"},
		{"gain"},
		{"gain", "--workspace", observed(t)},
		{"config"},
		{"config", "--workspace", t.TempDir()},
		{"version"},
	}
	for _, args := range calls {
		name := strings.Join(args, " ")
		code, stdout, stderr := invoke(t, append(shared[:len(shared):len(shared)], args...)...)
		if code != cli.ExitOK && (args[0] != "audit" && args[0] != "guard" || code != cli.ExitFindings) || stderr != "" {
			t.Errorf("%s: exit %d, stderr %q", name, code, stderr)
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(stdout, "{\n  \"schema\": ") {
			t.Errorf("%s: schema is not the first member", name)
		}
		name, _ = doc["schema"].(string)
		seen[name] = true
	}
	seen["memkernel/proxy/v1"] = true        // TestProxyVerb holds it: the verb ends by a signal
	seen["memkernel/proxy_status/v1"] = true // TestProxyStatus holds it
	for _, name := range uiSchemas {         // TestUIDocuments holds them
		seen["memkernel/"+name+"/v1"] = true
	}
	for _, name := range documents(t).Names() {
		if !seen[name] {
			t.Errorf("doc/schema.json describes %s, which no call of this test prints", name)
		}
	}
}

// TestDocumentsAreListed: doc/json.md says what prints each document.
func TestDocumentsAreListed(t *testing.T) {
	page, err := os.ReadFile("../../doc/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range documents(t).Names() {
		short := strings.TrimPrefix(strings.Split(name, "/")[1], "ui_")
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), "`"+short+"`") {
			t.Errorf("doc/json.md lacks %s", name)
		}
	}
}

// foreign is a file of another program's memory, beside a session.
func foreign(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile("../../testdata/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	path := filepath.Join(dir, "memory.jsonl")
	for name, text := range map[string]string{filepath.Join(dir, "session.jsonl"): strings.Join(lines[:20], ""),
		path: `{"type":"entity","name":"Ana","entityType":"person","observations":["Prefers tea"]}` + "\n{\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestCheckFindsDamage damages a stored blob and expects exit code 3, in text and
// in JSON that keeps its contract.
func TestCheckFindsDamage(t *testing.T) {
	ws := t.TempDir()
	if code, _, stderr := invoke(t, "observe", "-t", beginning(t, 60), "--workspace", ws, "-q"); code != cli.ExitOK {
		t.Fatalf("observe: exit %d, %s", code, stderr)
	}
	blobs, _ := filepath.Glob(filepath.Join(ws, ".memkernel", "blobs", "??", "*"))
	if len(blobs) == 0 {
		t.Fatal("observe stored no blob")
	}
	os.Chmod(blobs[0], 0o600)
	if err := os.WriteFile(blobs[0], []byte("not what was stored"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := invoke(t, "check", "--workspace", ws)
	if code != cli.ExitFindings || !strings.Contains(stdout, filepath.Base(blobs[0])) {
		t.Errorf("check: exit %d, output %q; want %d and the blob's name", code, stdout, cli.ExitFindings)
	}
	code, stdout, _ = invoke(t, "check", "--workspace", ws, "--json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != cli.ExitFindings {
		t.Fatalf("check --json: exit %d, %v", code, err)
	}
	if doc["schema"] != "memkernel/check/v1" {
		t.Errorf("the document is %v", doc["schema"])
	}
}
