package kernel_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
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

// nightsOf is how many nights are lived through: ninety, or the first four in the quick
// suite.
func nightsOf() int { return suite.Pick(3, 90) }

// TestNinetyNights lives through nights of real workspaces. What people wrote into
// MEMORY.md stands there after every night, of what memkernel wrote no more than fits,
// no line is lost, a second run of a night changes nothing, and every entry with a tag
// is found by its own words.
func TestNinetyNights(t *testing.T) {
	for _, name := range suite.Some([]string{"robertsong2019__openclaw-workspace", "LumenBot__LobsterOps"}, 1) {
		from := filepath.Join("..", "..", "shared", "data", "workspaces", name)
		if _, err := os.Stat(from); err != nil {
			t.Skipf("the real workspaces are not here: %v", err)
		}
		t.Run(name, func(t *testing.T) { liveThrough(t, arriving(t, from), nightsOf(), nil) })
	}
}

// TestNinetyNightsOfPeople does the same over files in the manners of several people,
// of which each goes on writing.
func TestNinetyNightsOfPeople(t *testing.T) {
	for name, memory := range peoples {
		t.Run(name, func(t *testing.T) {
			from := t.TempDir()
			first := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
			putAt(t, filepath.Join(from, "MEMORY.md"), memory, first)
			putAt(t, filepath.Join(from, "USER.md"), "# User\n\n- Name: Mika\n", first)
			putAt(t, filepath.Join(from, "TOOLS.md"), "# Tools\n", first)
			for n := range nightsOf() {
				day := first.AddDate(0, 0, n).Format(time.DateOnly)
				a, b := words10[n%10]+words10[n/10%10], words10[n/10%10]+words10[n%10]
				putAt(t, filepath.Join(from, "memory", day+".md"), fmt.Sprintf("# %s\n\n- 09:00 [decision] The %s gate is opened by keeper %s from now on.\n- 10:00 [lesson] The %s crane only starts after the %s valve was opened.\n- 11:00 [human] The user wants every report on %s gates as a table.\n", day, a, b, a, b, a), first)
			}
			edit := func(night int, ours []string) (old, text string) {
				switch {
				case night%7 == 3: // a line at the end
					return "", fmt.Sprintf("- What I noted in night %d, by hand\n", night)
				case night%7 == 5: // a paragraph at the end
					return "", fmt.Sprintf("\nA thought of night %d, said in\ntwo lines.\n", night)
				case night%7 == 6 && len(ours) > 0: // something of memkernel's put right
					return ours[len(ours)-1], strings.Replace(ours[len(ours)-1], "The ", "By hand: the ", 1)
				}
				return "", ""
			}
			liveThrough(t, arriving(t, from), nightsOf(), edit)
		})
	}
}

// peoples are files in the manners of several people.
var peoples = map[string]string{
	"bullets": "# Memory\n\n## Ports\n\n" + repeat("- Gate %d is opened by keeper %d\n", 60),
	"short":   "# Memory\n\n- Likes short answers\n- Name: Mika\n",
	"prose":   "# What I know\n\n" + repeat("The harbour of pier %d was built on old piles, and nobody\nknows how deep pier %d goes.\n\n", 20),
	"leads": "# Rules\n\nNever do any of the following without asking:\n\n- delete a branch\n- publish a package\n  - not even a beta\n- write to a customer\n\n## Release:\n1. Freeze\n2. Tag\n   ```sh\n   git tag v1\n   ```\n3. Tell\n\n" +
		"> Keep the lamps burning.\n> Whatever it costs.\n\n<!-- keep with the next -->\n- [x] the oil was bought in March\n- ~~parcels go out on Mondays~~\n\n---\n\n" + repeat("## Section %d\n\nwords on %d\n\n", 12),
	"tables":  "---\ntitle: memory\n---\n\n# Keepers\n\nWho holds which gate:\n\n| gate | keeper |\n|---|---|\n" + repeat("| gate %d | keeper %d |\n", 55) + "\nUnderlined\n----------\n\nend\n",
	"chinese": "# 记忆\n\n## 偏好\n\n以下操作必须先询问：\n\n- 删除分支\n- 发布软件包\n\n## 端口\n\n" + repeat("- 第%d号闸门由管理员%d负责\n", 50),
	"deutsch": strings.ReplaceAll("# Gedächtnis\n\n## Vorlieben\n\n- Kurze Antworten\n- Name: Mika\n\n## Nie ohne Rückfrage:\n\n* Zweige löschen\n* Pakete veröffentlichen\n\n"+repeat("## Tor %d\n\nSchlüssel liegt bei Wärter %d.\n\n", 20), "\n", "\r\n"),
}

func repeat(form string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i, n-i)
	}
	return b.String()
}

// liveThrough lives through nights and looks at what is left. Before a night edit, if
// there is one, says what somebody puts in the place of a line, or at the end.
func liveThrough(t *testing.T, a *arrival, nights int, edit func(night int, ours []string) (old, text string)) {
	dir := t.TempDir()
	a.arrive(t, dir, "", a.first.AddDate(0, 0, -3))
	lines, machine := map[string]bool{}, map[string]bool{}
	most, promoted, moved, before, day := 0, 0, 0, len(memoryLines(t, dir)), ""
	for night := range nights {
		at := a.first.AddDate(0, 0, night).Add(23*time.Hour + 30*time.Minute)
		day = at.Format(time.DateOnly)
		a.arrive(t, dir, day, at.Add(-time.Hour))
		if edit != nil {
			_, ours := sortOut(t, dir, machine)
			if old, text := edit(night, slices.DeleteFunc(ours, func(l string) bool { return !strings.HasPrefix(l, "- ") })); text != "" {
				was := readFile(t, dir, "MEMORY.md")
				if strings.Contains(was, "\r\n") {
					text = strings.ReplaceAll(text, "\n", "\r\n")
				}
				if old == "" {
					was += text
				} else {
					was = strings.Replace(was, old, text, 1)
				}
				putAt(t, filepath.Join(dir, "MEMORY.md"), was, at.Add(-time.Minute))
			}
		}
		for _, l := range memoryLines(t, dir) {
			lines[l] = true
		}
		want, _ := sortOut(t, dir, machine)
		n := lived(t, dir, at)
		promoted, moved = promoted+len(n.Curated.Entries), moved+len(n.Pruned.Moves)
		for l := range strings.SplitSeq(n.Curated.Text(), "\n") {
			machine[l] = true
		}
		got, ours := sortOut(t, dir, machine)
		if !slices.Equal(want, got) {
			t.Fatalf("night %d: of what people wrote\n%s\nstands\n%s", night+1, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
		if edit != nil { // headings and markers stay as long as a person's line is under them
			ours = slices.DeleteFunc(ours, func(l string) bool { return !strings.HasPrefix(l, "- ") })
		}
		most = max(most, len(ours))
		if night == 0 || night%10 == 1 || night == nights/2 || night == nights-1 {
			t.Logf("night %2d, %s: MEMORY.md %d lines, promoted so far %d, moved %d, over %q", night+1, day, len(memoryLines(t, dir)), promoted, moved, n.Pruned.Over)
			before := photograph(t, dir)
			again := lived(t, dir, at.Add(time.Minute))
			after := photograph(t, dir)
			for p := range after {
				if before[p] != after[p] && !strings.HasSuffix(p, api.JobsFile) && p != "/.memkernel" { // in which it is replaced
					t.Errorf("night %d: a second run changed %s: %+v", night+1, p, again.Curated.Entries)
				}
			}
		}
	}
	if most > consolidation.MachineLines {
		t.Errorf("of what memkernel wrote %d lines stood in MEMORY.md, the limit is %d", most, consolidation.MachineLines)
	}
	if moved == 0 && nights > 10 {
		t.Error("nothing was ever moved")
	}
	t.Logf("MEMORY.md had %d lines before; most lines of memkernel's own: %d", before, most)
	nothingLost(t, dir, lines)
	if edit == nil {
		taggedReachable(t, dir)
	}
}

// sortOut are the lines of MEMORY.md that people wrote, and those that memkernel did,
// without blank ones.
func sortOut(t *testing.T, dir string, machine map[string]bool) (people, ours []string) {
	t.Helper()
	for _, l := range memoryLines(t, dir) {
		switch plain := strings.TrimRight(l, "\r"); {
		case strings.TrimSpace(l) == "":
		case machine[plain], strings.HasPrefix(l, "<!-- mk:up-"), strings.HasPrefix(l, "More memory: ["):
			ours = append(ours, plain)
		default:
			people = append(people, l)
		}
	}
	return people, ours
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
func lived(t *testing.T, dir string, at time.Time) *api.Nightly {
	t.Helper()
	k := kernelAt(t, dir, at)
	defer k.Close()
	// The audit is tested by itself, and sixty of them take long.
	n, err := k.Maintenance().Nightly(context.Background(), api.NightlyRequest{Now: at, Audit: api.AuditOptions{Only: []health.Code{health.MemoryLoss}}})
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
	snap, err := consolidation.Read(context.Background(), os.DirFS(dir), 0, nil)
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
			r, err := k.Search(context.Background(), api.SearchRequest{Query: e.Plain, Private: true, MaxResults: 10})
			if err != nil {
				t.Fatal(err)
			}
			// What memkernel wrote may be answered by the place that it was taken from.
			at := slices.IndexFunc(r.Hits, func(h retrieval.Hit) bool {
				return strings.Contains(h.Text, e.Plain) || slices.ContainsFunc(e.From, func(ref string) bool {
					path, line, _ := strings.Cut(ref, "#L")
					n, err := strconv.Atoi(line)
					more := slices.ContainsFunc(h.More, func(m retrieval.More) bool { return m.StartLine <= n && n <= m.EndLine })
					return err == nil && path == h.Path && (more || h.StartLine <= n && n <= h.EndLine)
				})
			})
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
