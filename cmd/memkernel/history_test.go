package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/editing"
	"github.com/memkernel/memkernel/kernel/maintenance"
)

// What git has of an entry, under another name of the file too, is in its history; nothing is
// written, and no program is run that the repository names.
func TestHistoryVerb(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "space of Mika")
	hour := 9
	git := func(args ...string) {
		t.Helper()
		at := "2026-03-01T" + string(rune('0'+hour/10)) + string(rune('0'+hour%10)) + ":00:00Z"
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "init.defaultBranch=main", "-c", "user.name=Mika", "-c", "user.email=mika@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		hour++
	}
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := invoke(t, append([]string{"history", "--workspace", dir}, args...)...)
		if code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, stdout, stderr)
		}
		return stdout + stderr
	}
	const first = "# Gates\n\n- Gate 3 of the harbour is opened by keeper Olsen.\n- Gate 4 of the harbour is opened by keeper Berg.\n- Gate 5 is never opened.\n"
	put("memory/gates.md", first)
	if out := say(0, "memory/gates.md:3"); !strings.Contains(out, "nothing older is known") || !strings.Contains(out, "git init") {
		t.Errorf("without git: %s", out)
	}
	git("init", "--quiet")
	if out := say(0, "memory/gates.md:3"); !strings.Contains(out, "nothing older is known") || strings.Contains(out, "without all") {
		t.Errorf("without a commit: %s", out)
	}
	git("add", "--all")
	git("commit", "--quiet", "--message", "the gates")
	put("memory/gates.md", strings.Replace(first, "Olsen", "Lund", 1))
	git("commit", "--quiet", "--all", "--message", "keeper of gate 3")
	git("mv", "space of Mika/memory/gates.md", "space of Mika/memory/schleusen ü.md")
	git("commit", "--quiet", "--all", "--message", "another name")
	put("memory/schleusen ü.md", "Some words.\n\n"+strings.Replace(first, "Olsen", "Lund", 1))
	ran := filepath.Join(root, "ran")
	git("config", "core.fsmonitor", "touch '"+ran+"'; false")
	git("config", "core.pager", "touch '"+ran+"'; cat")
	git("config", "log.showSignature", "true")
	for _, want := range []string{"2 versions", "changed, by somebody, no record says who (commit ", " of Mika: keeper of gate 3)\n", "2026-03-01 11:00Z or before", "-- Gate 3 of the harbour is opened by keeper Olsen.\n", "+- Gate 3 of the harbour is opened by keeper Lund.\n", "first known, ", "git keeps its commits"} {
		if out := say(0, "memory/schleusen ü.md:5", "--diff"); !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program was run that the repository names")
	}
	var doc maintenance.History
	if err := json.Unmarshal([]byte(say(0, "memory/schleusen ü.md", "--json", "--limit", "1")), &doc); err != nil || doc.Total != 3 || len(doc.Versions) != 1 || doc.Versions[0].Added != 1 {
		t.Errorf("%+v, %v", doc, err)
	}
	if err := os.Remove(filepath.Join(dir, "memory", "schleusen ü.md")); err != nil {
		t.Fatal(err)
	}
	if out := say(0, "memory/schleusen ü.md"); !strings.Contains(out, "taken out") || !strings.Contains(out, "3 versions") {
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
		{2, []string{"a.md:0"}, "lines are counted from 1 on"},
		{2, []string{"a.md", "--limit", "-1"}, "0 for all"},
	} {
		if out := say(c.code, c.args...); !strings.Contains(out, c.want) {
			t.Errorf("%v: %q is not in\n%s", c.args, c.want, out)
		}
	}
	if status, err := exec.Command("git", "-C", root, "-c", "core.fsmonitor=false", "status", "--porcelain").Output(); err != nil || strings.Contains(string(status), "memkernel") {
		t.Errorf("the status is %s, %v", status, err)
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
	if _, err := k.Remember(ctx, kernel.RememberRequest{Text: "Kim owns the ledger.", Path: "memory/own.md"}); err != nil {
		t.Fatal(err)
	}
	e, err := k.Editor().Passage(ctx, editing.PassageRequest{Path: "memory/own.md", Old: "Kim", Text: "Noor"})
	if err != nil || e.Edit != "run-1" {
		t.Fatalf("%+v, %v", e, err)
	}
	return dir
}
