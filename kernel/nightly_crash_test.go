package kernel_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
)

// nightAt is the moment of the nights of these tests.
var nightAt = time.Date(2026, 3, 9, 23, 30, 0, 0, time.UTC)

// overgrown is a workspace that gives every step of a night something to do.
func overgrown(t *testing.T, dir string) {
	t.Helper()
	var memory, observed strings.Builder
	memory.WriteString("# Memory\n\n## Tools\n\n- The sweeper listens on port 9100.\n- [x] Renew the certificate of the sweeper\n- ~~The parcels go out on Mondays.~~\n\n## Harbour\n\n")
	for i := range 60 {
		fmt.Fprintf(&memory, "- Gate %s of the harbour is opened by the key of keeper %s.\n", words10[i%10]+words10[i/10], words10[i/10]+words10[i%10])
	}
	observed.WriteString("# Observations\n\n")
	for i := range 110 {
		fmt.Fprintf(&observed, "- The %s boat was seen near the %s pier.\n", words10[i%10], words10[i/10%10]+words10[i%10])
	}
	old := nightAt.AddDate(0, 0, -10)
	for name, text := range map[string]string{
		"MEMORY.md":                memory.String(),
		"TOOLS.md":                 "# Tools\n\n- Postgres runs on port 5432.\n",
		"USER.md":                  "# User\n\n- Name: Mika\n",
		"memory/observations.md":   observed.String(),
		"memory/2026-03-09.md":     "# 2026-03-09\n\n- 10:00 [decision] We decided to keep the nets in the long shed because the short one leaks.\n- 11:00 [lesson] On 2026-03-09 the crane only starts after the valve was opened twice.\n- 12:00 Heartbeat.\n",
		"memory/2026-02-02.md":     "# 2026-02-02\n\n- 09:00 [decision] The ferry calls at the north quay during winter.\n",
		"memory/working-buffer.md": "# Working buffer of session main, 2026-03-09\n\n## 2026-03-09T09:12:05Z, turn 12 of session main, 63 % full, message 34\n\n- [decision] The lantern on the mole is lit from dusk on.\n<!-- mk:wb-1 -->\n",
	} {
		at := old
		if strings.Contains(name, "2026-03-09") || strings.Contains(name, "buffer") {
			at = nightAt.Add(-time.Hour)
		}
		putAt(t, filepath.Join(dir, name), text, at)
	}
}

var words10 = []string{"amber", "birch", "coral", "dune", "ember", "fern", "grove", "heath", "iris", "jade"}

// nightKernel opens a kernel as of that night.
func nightKernel(t *testing.T, dir string) *kernel.Kernel {
	t.Helper()
	return kernelAt(t, dir, nightAt)
}

// named lets go what somebody wrote into the files of overgrown.
var named = api.PruneOptions{Include: []string{"MEMORY.md", "memory/observations.md"}}

var onlyLosses = api.AuditOptions{Only: []health.Code{health.MemoryLoss}}

// TestNightlyCrashChild is the night that TestNightlyKillAnywhere kills.
func TestNightlyCrashChild(t *testing.T) {
	dir := suite.Child(t)
	overgrown(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	if n, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: nightAt, Audit: onlyLosses, Prune: named}); err != nil || n.Failed() {
		t.Fatalf("%+v, %v", n, err)
	}
	fmt.Println("DONE")
}

// TestNightlyKillAnywhere kills a night before each of its writes. No line of any file
// is ever nowhere; the buffer stands as long as no entry of MEMORY.md has what it says;
// the next run finishes what was begun, and what comes out is what comes out without a
// kill.
func TestNightlyKillAnywhere(t *testing.T) {
	want := t.TempDir()
	overgrown(t, want)
	lines := markdownLines(t, want)
	k := nightKernel(t, want)
	if n, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: nightAt, Audit: onlyLosses, Prune: named}); err != nil || n.Failed() || len(n.Curated.Entries) != 3 || len(n.Pruned.Moves) < 20 {
		t.Fatalf("%+v, %v", n, err)
	}
	k.Close()
	through := markdownOf(t, want)
	suite.EveryWrite(t, "TestNightlyCrashChild", 30, func(dir string, n int, out []byte) {
		here := markdownLines(t, dir)
		backups := backupText(t, dir)
		for l := range lines {
			if here[l] == 0 && !strings.Contains(backups, l) {
				t.Fatalf("killed at %d: %q is nowhere", n, l)
			}
		}
		if text := readFile(t, dir, "MEMORY.md"); !strings.Contains(text, "The lantern on the mole is lit from dusk on.") && !strings.Contains(readFile(t, dir, "memory/working-buffer.md"), "lantern") {
			t.Fatalf("killed at %d: what the buffer held is in no file", n)
		}
		k := nightKernel(t, dir)
		defer k.Close()
		if night, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: nightAt, Audit: onlyLosses, Prune: named}); err != nil || night.Failed() {
			t.Fatalf("after a kill at %d: %+v, %v", n, night, err)
		}
		got := markdownOf(t, dir)
		if !maps.Equal(got, through) {
			for name := range through {
				if got[name] != through[name] {
					t.Errorf("killed at %d: %s is\n%s\nwant\n%s", n, name, got[name], through[name])
				}
			}
			t.FailNow()
		}
		if findings, err := k.Check(context.Background()); err != nil || len(findings) > 0 {
			t.Fatalf("killed at %d: check says %v, %v", n, findings, err)
		}
	})
}

// markdownOf are the Markdown files of a workspace, without the names that markers have.
func markdownOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range tree(t, dir) {
		if rel, _ := filepath.Rel(dir, f); strings.HasSuffix(rel, ".md") {
			var kept []string
			for l := range strings.SplitSeq(readFile(t, dir, rel), "\n") {
				if !strings.HasPrefix(l, "<!-- mk:") {
					kept = append(kept, l)
				}
			}
			out[rel] = strings.Join(kept, "\n")
		}
	}
	return out
}

// markdownLines counts the lines of all Markdown files, by what they say.
func markdownLines(t *testing.T, dir string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, text := range markdownOf(t, dir) {
		for l := range strings.SplitSeq(text, "\n") {
			if key := consolidation.LineKey(l); key != "" {
				out[key]++
			}
		}
	}
	return out
}

func backupText(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, f := range tree(t, dir) {
		if strings.Contains(f, "/backups/") {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(data)
		}
	}
	return b.String()
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}
