package kernel_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// arrival is a workspace whose files arrive day by day: what is not dated is there
// from the first, a dated file from its day on.
type arrival struct {
	from  string
	first time.Time
	byDay map[string][]string // "" has those without a date
}

// arriving reads which files a workspace has.
func arriving(t *testing.T, from string) *arrival {
	t.Helper()
	a := &arrival{from: from, byDay: map[string][]string{}}
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		rel, _ := filepath.Rel(from, p)
		c, _ := markdownstore.Classify(filepath.ToSlash(rel))
		a.byDay[c.Date] = append(a.byDay[c.Date], rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	days := slices.Sorted(maps.Keys(a.byDay))
	if len(days) < 2 {
		t.Fatalf("%s has no dated files", from)
	}
	a.first, _ = time.Parse(time.DateOnly, days[1])
	return a
}

// arrive copies the files of a day, written as of then.
func (a *arrival) arrive(t *testing.T, dir, day string, at time.Time) {
	t.Helper()
	for _, rel := range a.byDay[day] {
		b, err := os.ReadFile(filepath.Join(a.from, rel))
		if err != nil {
			t.Fatal(err)
		}
		// One of the two has its MEMORY.md among the configuration.
		to := filepath.Join(dir, strings.TrimPrefix(rel, "config"+string(filepath.Separator)))
		putAt(t, to, string(b), at)
	}
}

// putAt writes a file as of a time.
func putAt(t *testing.T, file, text string, at time.Time) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestSixtyNights lives through sixty nights of real workspaces, or through the first
// twelve in the quick suite. MEMORY.md comes down to its limit and stays
// there, no line of it is lost, a second run of a night changes nothing, and every entry
// with a tag is found by its own words.
func TestSixtyNights(t *testing.T) {
	nights := suite.Pick(12, 60)
	for _, name := range []string{"robertsong2019__openclaw-workspace", "LumenBot__LobsterOps"} {
		from := filepath.Join("..", "..", "shared", "data", "workspaces", name)
		if _, err := os.Stat(from); err != nil {
			t.Skipf("the real workspaces are not here: %v", err)
		}
		t.Run(name, func(t *testing.T) { liveThrough(t, arriving(t, from), nights) })
	}
}

// liveThrough lives through nights and looks at what is left.
func liveThrough(t *testing.T, a *arrival, nights int) {
	dir := t.TempDir()
	a.arrive(t, dir, "", a.first.AddDate(0, 0, -3))
	lines := map[string]bool{}
	most, promoted, moved, day := 0, 0, 0, ""
	for night := range nights {
		at := a.first.AddDate(0, 0, night).Add(23*time.Hour + 30*time.Minute)
		day = at.Format(time.DateOnly)
		a.arrive(t, dir, day, at.Add(-time.Hour))
		for _, l := range memoryLines(t, dir) {
			lines[l] = true
		}
		n := lived(t, dir, at)
		promoted, moved = promoted+len(n.Curated.Entries), moved+len(n.Pruned.Moves)
		if got := len(memoryLines(t, dir)); night > 1 {
			most = max(most, got)
		}
		if night == 0 || night == nights/2 || night == nights-1 {
			t.Logf("night %2d, %s: MEMORY.md %d lines, promoted so far %d, moved %d, over %q", night+1, day, len(memoryLines(t, dir)), promoted, moved, n.Pruned.Over)
			before := photograph(t, dir)
			again := lived(t, dir, at.Add(time.Minute))
			after := photograph(t, dir)
			for p := range after {
				if before[p] != after[p] && !strings.HasSuffix(p, kernel.JobsFile) {
					t.Errorf("night %d: a second run changed %s: %+v", night+1, p, again.Curated.Entries)
				}
			}
		}
	}
	if most > kernel.DefaultMemoryLines {
		t.Errorf("MEMORY.md got %d lines, the limit is %d", most, kernel.DefaultMemoryLines)
	}
	t.Logf("most lines after the second night: %d", most)
	nothingLost(t, dir, lines)
	taggedReachable(t, dir)
}

func memoryLines(t *testing.T, dir string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// kernelAt opens a kernel whose clock stands still.
func kernelAt(t *testing.T, dir string, at time.Time) *kernel.Kernel {
	t.Helper()
	now := func() time.Time { return at }
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: now, Memory: kernel.MemoryOptions{Store: markdownstore.Options{Timezone: time.UTC, Now: now}}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// lived is a night.
func lived(t *testing.T, dir string, at time.Time) *kernel.Nightly {
	t.Helper()
	k := kernelAt(t, dir, at)
	defer k.Close()
	// The audit is tested by itself, and sixty of them take long.
	n, err := k.Nightly(context.Background(), kernel.NightlyRequest{Now: at, Audit: kernel.AuditOptions{Only: []consolidation.CheckID{consolidation.CheckMemoryLoss}}})
	if err != nil || n.Failed() {
		t.Fatalf("%s: %+v, %v", at.Format(time.DateOnly), n, err)
	}
	if len(n.Audit.Findings) > 0 {
		t.Errorf("%s: the audit says %v", at.Format(time.DateOnly), n.Audit.Findings)
	}
	return n
}

// nothingLost looks for every line that MEMORY.md ever had.
func nothingLost(t *testing.T, dir string, lines map[string]bool) {
	t.Helper()
	var memory, backups strings.Builder
	for _, f := range tree(t, dir) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(f, ".md"):
			memory.Write(b)
		case strings.Contains(f, "/backups/"):
			backups.Write(b)
		}
	}
	inFiles, inBackups := 0, 0
	for l := range lines {
		switch {
		case strings.Contains(memory.String(), l):
			inFiles++
		case strings.Contains(backups.String(), l):
			inBackups++
		default:
			t.Errorf("a line is lost: %q", l)
		}
	}
	t.Logf("of %d different lines that MEMORY.md had, %d stand in the workspace and %d in backups alone", len(lines), inFiles, inBackups)
}

// taggedReachable searches for every entry with a tag that stands in memory.
func taggedReachable(t *testing.T, dir string) {
	t.Helper()
	reindexed(t, dir, nil)
	k := openKernel(t, dir)
	defer k.Close()
	snap, err := consolidation.Read(context.Background(), os.DirFS(dir), 0)
	if err != nil {
		t.Fatal(err)
	}
	tagged, first := 0, 0
	for i := range snap.Files {
		for _, e := range snap.Files[i].Entries {
			if len(e.Tags) == 0 || !snap.Files[i].Indexed {
				continue
			}
			tagged++
			r, err := k.Search(context.Background(), kernel.SearchRequest{Query: e.Plain, Private: true, MaxResults: 10})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(r.Hits, func(h retrieval.Hit) bool { return strings.Contains(h.Text, e.Plain) })
			if at == 0 {
				first++
			}
			if at < 0 {
				t.Errorf("%s is not found by its own words: %q", e.Place(), e.Plain)
			}
		}
	}
	t.Logf("%d entries with a tag were looked for; %d of them came first", tagged, first)
}
