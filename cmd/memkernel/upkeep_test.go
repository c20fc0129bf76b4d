package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// overgrown is a workspace that curation and pruning find something in, as what calls
// its verbs, and a file with another MEMORY.md.
func overgrown(t *testing.T) (verb func(args ...string) []string, before string) {
	t.Helper()
	dir := t.TempDir()
	var memory strings.Builder
	memory.WriteString("# Memory\n\n## Harbour\n\n")
	for i := range 70 {
		fmt.Fprintf(&memory, "- Gate %d of the harbour is opened by keeper %d.\n", i, 100-i)
	}
	before = filepath.Join(t.TempDir(), "before.md")
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for path, text := range map[string]string{
		filepath.Join(dir, "MEMORY.md"):                   memory.String(),
		filepath.Join(dir, "memory", "2026-03-09.md"):     "# 2026-03-09\n\n- 10:00 [decision] The nets are kept in the long shed.\n",
		filepath.Join(dir, "memory", "working-buffer.md"): "## 2026-03-09T09:12:05Z, turn 12 of session main, 63 % full, message 34\n\n- [decision] The lantern is lit from dusk on.\n<!-- mk:wb-1 -->\n",
		before: "# Memory\n\n- Something that stands nowhere.\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) []string {
		args = append(args, "--workspace", dir)
		if args[0] != "guard" && args[0] != "history" && args[0] != "undo" {
			args = append(args, "--now", "2026-03-09T23:30:00Z")
		}
		return args
	}, before
}

// The verbs preview, act, and take back; a night's second run finds nothing to do.
func TestUpkeepVerbs(t *testing.T) {
	verb, before := overgrown(t)
	say := func(want int, args ...string) (string, string) {
		t.Helper()
		code, stdout, stderr := invoke(t, verb(args...)...)
		if code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, stdout, stderr)
		}
		return stdout, stderr
	}
	for _, c := range []struct {
		code int
		args []string
		want []string
	}{
		{0, []string{"curate"}, []string{"  + [decision] The nets are kept in the long shed.", "from memory/2026-03-09.md#L3", "would be added under 2026-03-09 in MEMORY.md", "--apply does it"}},
		{0, []string{"prune"}, []string{"0 entries would be moved"}},
		{0, []string{"prune", "--apply=false"}, []string{"0 entries would be moved"}},
		{2, []string{"prune", "--apply=some"}, []string{"some"}},
		{0, []string{"prune", "--include", "nowhere"}, []string{`"nowhere" names no file that is pruned`, "0 entries would be moved"}},
		{0, []string{"prune", "--include", "harbour"}, []string{"MEMORY.md:5 -> memory/harbour.md (room)", "Gate 0 of the harbour", "MEMORY.md: 74 to ", "would be moved", "memkernel undo --workspace "}},
		{0, []string{"nightly", "--include", "Harbour"}, []string{"audit   ", "curate  2 entries were added under 2026-03-09", "prune   ", "file    MEMORY.md: 2 entries added\n", "file    memory/harbour.md: ", "file    memory/working-buffer.md: emptied", "', then 'memkernel undo run-1"}},
		{0, []string{"nightly", "--include", "Harbour"}, []string{"curate  0 entries added", "prune   0 entries moved"}},
		{0, []string{"why", "the nets are kept in the long shed"}, []string{"MEMORY.md:", "[decision] The nets are kept in the long shed.", "written     by memkernel's upkeep", "chosen      in run-", "by decision (", "from        memory/2026-03-09.md#L3: The nets", "said        in the logs of 1 day: 2026-03-09", "recalled    for no turn that memkernel planned"}},
		{0, []string{"why", "memory/2026-03-09.md:3"}, []string{"written     by somebody", "age         0 days, of 2026-03-09"}},
		{1, []string{"why", "nobody", "wrote", "this"}, []string{`"nobody wrote this" is no entry of the workspace's memory`, "memkernel search finds its place"}},
		{1, []string{"why", "of the harbour is opened"}, []string{"is said by several entries: ", ":", "name one of them: memkernel why "}},
		{1, []string{"why", "MEMORY.md:2"}, []string{"MEMORY.md:2 is no line of an entry", "the nearest entry is MEMORY.md:5"}},
		{2, []string{"why"}, []string{"name an entry, as FILE:LINE"}},
		{0, []string{"guard"}, []string{"MEMORY.md lost 0 of"}},
		{3, []string{"guard", "--before", before}, []string{"    3  - Something that stands nowhere.", "lost 1 of 2 lines, 50 %; 25 % may be", "'memkernel prune --workspace ", "' moves them"}},
		{0, []string{"undo"}, []string{"took back run-", " of 2026-03-09 23:30Z: prune of ", "MEMORY.md"}},
		{0, []string{"undo"}, []string{"took back run-1 of 2026-03-09 23:30Z: curate of MEMORY.md"}},
		{1, []string{"undo"}, []string{"nothing was changed that could be taken back"}},
		{2, []string{"curate", "--date", "tomorrow"}, []string{`--date "tomorrow" is not a day`}},
	} {
		stdout, stderr := say(c.code, c.args...)
		for _, w := range c.want {
			if !strings.Contains(stdout+stderr, w) {
				t.Errorf("%v: %q is not in\n%s%s", c.args, w, stdout, stderr)
			}
		}
	}
}
