package main

import (
	"os"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
)

const (
	planPage   = "../../doc/plan.md"
	memoryPage = "../../doc/memory.md"
	demoBegin  = "<!-- demo: the first lines of what `make demo` prints; a test keeps them true -->\n```\n"
	demoEnd    = "```\n<!-- /demo -->"
)

// demoArgs is the second command of make demo; the first indexes the workspace.
var demoArgs = []string{"plan", "--workspace", "../../testdata/workspace", "--transcript", sample, "--view", "full",
	"--context-window", "128k", "--fixed-tokens", "25000", "--resolver", "memory_get", "--explain"}

// TestDemoIsShown holds the page's demo block against what the command prints;
// -update rewrites it.
func TestDemoIsShown(t *testing.T) {
	state := t.TempDir()
	if code, _, stderr := invoke(t, "reindex", "--workspace", demoArgs[2], "--state-dir", state); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	code, out, stderr := invoke(t, append(demoArgs, "--state-dir", state)...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	want, _, ok := strings.Cut(out, "\nPages")
	if !ok {
		t.Fatal("the explanation lists no pages")
	}
	raw, err := os.ReadFile(planPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(raw), demoBegin)
	got, tail, ends := strings.Cut(rest, demoEnd)
	if !begins || !ends {
		t.Fatal("doc/plan.md has no demo block")
	}
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("doc/plan.md shows other lines than the command prints; go test ./cmd/memkernel -run DemoIsShown -update rewrites it\n%s", want)
	}
	if err := os.WriteFile(planPage, []byte(head+demoBegin+want+demoEnd+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestMakefileDemo: make demo runs the command of the picture.
func TestMakefileDemo(t *testing.T) {
	raw, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(strings.ReplaceAll(string(raw), "\\\n", " ")), " ")
	for _, want := range []string{"reindex --workspace $(WORKSPACE) --state-dir bin/demo",
		"plan --workspace $(WORKSPACE) --state-dir bin/demo --transcript $(SAMPLE) " + strings.Join(demoArgs[5:], " ")} {
		if !strings.Contains(flat, want) {
			t.Errorf("the Makefile's demo does not hold %q", want)
		}
	}
}

// TestEveryCheckIsNamed: the table of audit's checks is whole.
func TestEveryCheckIsNamed(t *testing.T) {
	raw, err := os.ReadFile(memoryPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range consolidation.AllChecks() {
		if !strings.Contains(string(raw), "`"+string(id)+"`") {
			t.Errorf("doc/memory.md has nothing of the check %s", id)
		}
	}
}
