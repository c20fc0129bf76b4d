package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// An agent's edit and a person's are versions of a file; a file that is gone has its history,
// and what can't be answered says why.
func TestHistoryVerb(t *testing.T) {
	dir := editedByAgent(t)
	own := filepath.Join(dir, "memory", "own.md")
	say := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := invoke(t, append([]string{"history", "--workspace", dir}, args...)...)
		if code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, stdout, stderr)
		}
		return stdout + stderr
	}
	if err := os.WriteFile(filepath.Join(dir, "memory", "gates.md"), []byte("# Gates\n\n- Gate 3 is opened by keeper Olsen.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := say(0, "memory/gates.md:3"); !strings.Contains(out, "nothing older is known") || !strings.Contains(out, "git log -L") {
		t.Errorf("without a record: %s", out)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, append([]byte("# Owners\n\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	line := strings.Count(strings.SplitN("# Owners\n\n"+string(text), "Noor", 2)[0], "\n") + 1
	for _, want := range []string{"2 versions", "changed, by an agent, in a session (run-1, edit)\n", "-Kim owns the ledger.", "+Noor owns the ledger.", "first known, by "} {
		if out := say(0, fmt.Sprintf("memory/own.md:%d", line), "--diff"); !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	var doc api.History
	if err := json.Unmarshal([]byte(say(0, "memory/own.md", "--json", "--limit", "1")), &doc); err != nil || doc.Total != 3 || len(doc.Versions) != 1 || doc.Versions[0].Added != 1 {
		t.Errorf("%+v, %v", doc, err)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if out := say(0, "memory/own.md"); !strings.Contains(out, "taken out") || !strings.Contains(out, "3 versions") {
		t.Errorf("of a file that is gone: %s", out)
	}
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{1, []string{"memory/none.md:3"}, "there is no such file, and none is on record"},
		{1, []string{"../x.md"}, "without .."},
		{2, nil, "name one file, or one of its entries as FILE:LINE"},
		{2, []string{"a.md", "b.md"}, "name one file"},
		{2, []string{"a.md:0"}, "lines are counted from 1"},
		{2, []string{"a.md", "--limit", "-1"}, "0 for all"},
	} {
		if out := say(c.code, c.args...); !strings.Contains(out, c.want) {
			t.Errorf("%v: %q is not in\n%s", c.args, c.want, out)
		}
	}
}

// editedByAgent makes a workspace in which an agent changed what it had written, as run-1.
func editedByAgent(t *testing.T) string {
	t.Helper()
	dir, ctx := t.TempDir(), context.Background()
	k, err := kernel.Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, err := k.Remember(ctx, api.RememberRequest{Text: "Kim owns the ledger.", Path: "memory/own.md"}); err != nil {
		t.Fatal(err)
	}
	e, err := k.Editor().Passage(ctx, api.PassageRequest{Path: "memory/own.md", Old: "Kim", Text: "Noor"})
	if err != nil || e.Edit != "run-1" {
		t.Fatalf("%+v, %v", e, err)
	}
	return dir
}
