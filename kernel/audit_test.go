package kernel_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/transcript"
)

// photograph is every file and folder with its content, time and mode.
func photograph(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if fi.Mode().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		out[strings.TrimPrefix(p, dir)] = fmt.Sprint(fi.Mode(), fi.ModTime().UnixNano(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// audited runs an audit in a kernel of its own, as the command line does.
func audited(t *testing.T, dir string, o api.AuditOptions) *health.Report {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Store: markdownstore.Options{Timezone: time.UTC}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	r, err := k.Maintenance().Audit(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// livedIn is a workspace with a session, blobs and an index; the index has a log
// beside it if logged.
func livedIn(t *testing.T, logged bool) string {
	t.Helper()
	dir := sickbed(t, map[string]string{"MEMORY.md": "# M\n\n- Postgres port: 5432\n", "TOOLS.md": "# T\n\n- Postgres port: 5433\n", "memory/a.md": "# A\n\nsome words\n"})
	k := openKernel(t, dir)
	c := session(71, 3, 2, 9000)
	pass(t, k.Flush, api.Boundary{Messages: c.msgs})
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	reindexed(t, dir, nil)
	if logged {
		keepLog(t, filepath.Join(dir, kernel.DefaultStateDir, "index.sqlite"))
	}
	return dir
}

// keepLog has an index open that was written to, so that its log stands beside it.
func keepLog(t *testing.T, path string) {
	t.Helper()
	ix, err := index.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	if err := ix.UseModel(context.Background(), "m", 3); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path + "-wal"); err != nil || fi.Size() == 0 {
		t.Fatalf("there is no log: %v", err)
	}
}

// Not a byte and not a time of workspace and state changes.
func TestAuditChangesNothing(t *testing.T) {
	for _, logged := range []bool{false, true} {
		dir := livedIn(t, logged)
		before := photograph(t, dir)
		r := audited(t, dir, api.AuditOptions{})
		if diff := cmp.Diff(before, photograph(t, dir)); diff != "" {
			t.Errorf("logged %v: the audit changed something (-before +after):\n%s", logged, diff)
		}
		for _, c := range r.Checks {
			if c.Skipped != "" {
				t.Errorf("logged %v: %s did not run: %s", logged, c.ID, c.Skipped)
			}
		}
		if len(r.Findings) == 0 || r.Findings[0].Code != health.Contradictions {
			t.Errorf("found %+v", r.Findings)
		}
	}
}

// A workspace that nobody may write to can be audited.
func TestAuditOfReadOnlyFolder(t *testing.T) {
	dir := livedIn(t, false)
	chmod := func(mode fs.FileMode) {
		filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if d.IsDir() {
				return os.Chmod(p, mode|0o500)
			}
			return os.Chmod(p, mode|0o400)
		})
	}
	chmod(0)
	t.Cleanup(func() { chmod(0o200) })
	if r := audited(t, dir, api.AuditOptions{}); len(r.Findings) == 0 {
		t.Error("the contradiction was not found")
	}
}

// What the kernel keeps is held to its invariants, each by its own check.
func TestAuditOfState(t *testing.T) {
	orphan := strings.Repeat("ab", 32)
	tests := []struct {
		name  string
		check health.Code
		hurt  func(t *testing.T, dir, state string)
	}{
		{"orphan", health.Blobs, func(t *testing.T, _, state string) {
			content := []byte("nobody's")
			hash := fmt.Sprintf("%x", sha256.Sum256(content))
			if err := os.MkdirAll(filepath.Join(state, "blobs", hash[:2]), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(state, "blobs", hash[:2], hash), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"blob", health.Journals, func(t *testing.T, dir, _ string) { damageOneBlob(t, dir) }},
		{"index", health.Index, func(t *testing.T, _, state string) {
			f, err := os.OpenFile(filepath.Join(state, "index.sqlite"), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt(make([]byte, 64), 0); err != nil {
				t.Fatal(err)
			}
		}},
		{"pointer", health.Pointers, func(t *testing.T, dir, _ string) {
			if err := os.WriteFile(filepath.Join(dir, "memory", "p.md"), []byte("See ev-0123456789abcdef of "+orphan+".\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"job", health.Jobs, func(t *testing.T, _, state string) {
			line := fmt.Sprintf("{\"time\":%q,\"job\":\"nightly\",\"error\":\"no space\"}\n", time.Now().Format(time.RFC3339))
			if err := os.WriteFile(filepath.Join(state, api.JobsFile), []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	only := []health.Code{health.Blobs, health.Journals, health.Index, health.Pointers, health.Jobs}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := livedIn(t, false)
			later := time.Now().Add(2 * time.Hour)
			if r := audited(t, dir, api.AuditOptions{Only: only, Now: later}); len(r.Findings) != 0 {
				t.Fatalf("before: %+v", r.Findings)
			}
			tt.hurt(t, dir, filepath.Join(dir, kernel.DefaultStateDir))
			r := audited(t, dir, api.AuditOptions{Only: only, Now: later})
			for _, f := range r.Findings {
				if f.Code != tt.check || f.What == "" || f.Hint == "" {
					t.Errorf("%+v", f)
				}
			}
			if len(r.Findings) == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

// Nothing outside of the workspace is read, and nothing in it that is no memory, whatever leads there.
func TestAuditStaysInside(t *testing.T) {
	dir := sickbed(t, map[string]string{"MEMORY.md": "x\n", "memory/a.md": "See [it](../../outside.md).\n"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "memory", "link.md")); err != nil {
		t.Skip(err)
	}
	put(t, dir, "src/code.md", "code\n")
	if err := os.Symlink("../src/code.md", filepath.Join(dir, "memory", "up.md")); err != nil {
		t.Fatal(err)
	}
	r := audited(t, dir, api.AuditOptions{Only: []health.Code{health.Files, health.Links}})
	if len(r.Findings) != 2 || r.Findings[1].Path != "memory/up.md" || r.Findings[0].Path != "memory/link.md" || r.Findings[0].Code != health.Files {
		t.Errorf("%+v", r.Findings)
	}
}

// Of one file an audit and a doctor say that it matters as much.
func TestAuditAndDoctorAgree(t *testing.T) {
	for name, text := range map[string]string{
		"large":        "",
		"front matter": "---\na: [\n---\nx\n",
		"not UTF-8":    "Sk\xe5rven\n",
		"binary":       "a\x00\x01\x02b\n",
		"link outside": "",
		"shadowed":     "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := sickbed(t, map[string]string{"MEMORY.md": "x\n"})
			path := "memory/it.md"
			switch name {
			case "link outside":
				if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("/etc/passwd", filepath.Join(dir, path)); err != nil {
					t.Skip(err)
				}
			case "large":
				put(t, dir, path, "a\n")
				if err := os.Truncate(filepath.Join(dir, path), markdownstore.DefaultMaxFileBytes+1); err != nil {
					t.Fatal(err)
				}
			case "shadowed":
				path = "memory.md"
				put(t, dir, path, "y\n")
				if !distinct(t, dir) {
					t.Skip("names that differ by case are one file here")
				}
			default:
				put(t, dir, path, text)
			}
			severities := func(found []health.Finding) map[health.Severity]bool {
				out := map[health.Severity]bool{}
				for _, f := range found {
					if f.Severity != health.OK && (f.Path == path || strings.Contains(f.What, path)) {
						out[f.Severity] = true
					}
				}
				return out
			}
			ofAudit := severities(audited(t, dir, api.AuditOptions{Only: []health.Code{health.Files}}).Findings)
			ofDoctor := severities(diagnose(t, dir, nil, health.DoctorOptions{}).Findings)
			if len(ofAudit) != 1 || !maps.Equal(ofAudit, ofDoctor) {
				t.Errorf("an audit says %v, a doctor %v", ofAudit, ofDoctor)
			}
		})
	}
}

// distinct reports whether names that differ by case are two files.
func distinct(t *testing.T, dir string) bool {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range names {
		if strings.EqualFold(e.Name(), "MEMORY.md") {
			n++
		}
	}
	return n == 2
}

func TestAuditOfARecordThatIsNone(t *testing.T) {
	dir := sickbed(t, map[string]string{"MEMORY.md": "x\n"})
	k := openKernel(t, dir)
	defer k.Close()
	if _, err := k.Maintenance().Audit(context.Background(), api.AuditOptions{JobFiles: []string{filepath.Join(dir, "gone.json")}}); err == nil {
		t.Error("a record that is not there passed")
	}
	if _, err := k.Maintenance().Audit(context.Background(), api.AuditOptions{JobFiles: []string{filepath.Join(dir, "MEMORY.md")}}); err == nil || !strings.Contains(err.Error(), "MEMORY.md:1") {
		t.Errorf("error %v", err)
	}
}

// TestAuditOfRealWorkspaces: what is found of them stays within what was looked
// through by hand, and nothing of them changes.
func TestAuditOfRealWorkspaces(t *testing.T) {
	dirs, _ := filepath.Glob("../../shared/data/workspaces/*")
	if len(dirs) == 0 {
		t.Skip("no real workspaces at ../../shared/data/workspaces")
	}
	for _, dir := range suite.Some(dirs, 1) {
		before := photograph(t, dir)
		r := audited(t, dir, api.AuditOptions{Now: time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)})
		if diff := cmp.Diff(before, photograph(t, dir)); diff != "" {
			t.Errorf("%s changed: %s", filepath.Base(dir), diff)
		}
		found := map[health.Code]int{}
		for _, f := range r.Findings {
			found[f.Code]++
		}
		t.Logf("%s: %d files, %d entries, %v", filepath.Base(dir), r.Files, r.Entries, found)
		if n := found[health.Contradictions]; n > 1 {
			t.Errorf("%s: %d contradictions, of which one was right when they were looked through", filepath.Base(dir), n)
		}
		if n := found[health.Secrets] + found[health.Conflicts]; n > 0 {
			t.Errorf("%s: %v, where there is none", filepath.Base(dir), found)
		}
	}
}

// A host may say why something matters, and a flush says it of what it can see.
func TestRememberWithTags(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	for range 2 {
		if _, err := k.Remember(context.Background(), api.RememberRequest{SessionKey: "a", Text: "- ports move\n- names stay",
			Tags: consolidation.Tags{"lesson", "decision"}}); err != nil {
			t.Fatal(err)
		}
	}
	if text := logs(t, dir); strings.Count(text, "- [decision] [lesson] agent: ports move\n- [decision] [lesson] agent: names stay\n") != 1 {
		t.Errorf("the log says %q", text)
	}
}

// A flush tags what it writes by what can be seen of it.
func TestFlushTags(t *testing.T) {
	s, err := transcript.LoadFile("../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, _ := transcript.Repair(s.View(transcript.Full), false)
	flush := func(dir string, at time.Time) []string {
		clock := func() time.Time { return at }
		k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: clock, Memory: kernel.MemoryOptions{Store: markdownstore.Options{Timezone: time.UTC, Now: clock}}})
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		if _, err := k.Flush(context.Background(), api.Boundary{SessionKey: at.Format(time.DateOnly), Model: s.Model, Messages: msgs, Now: at}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "memory", at.Format(time.DateOnly)+".md"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(text), "\n")
	}
	dir := t.TempDir()
	day := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	first, again := flush(dir, day), flush(dir, day.AddDate(0, 0, 1))
	decided := 0
	for _, l := range first {
		if strings.HasPrefix(l, "- [decision] ") {
			decided++
		}
		for _, none := range []string{"commit: ", "plan (", "--- FAIL: "} {
			if strings.HasPrefix(l, "- [") && strings.Contains(l, none) && !strings.HasPrefix(l, "- [open] ") {
				t.Errorf("work in hand has a tag: %s", l)
			}
		}
	}
	if decided == 0 || noted(strings.Join(first, "\n")) <= decided {
		t.Errorf("%d decisions in\n%s", decided, strings.Join(first, "\n"))
	}
	if text := strings.Join(again, "\n"); strings.Count(text, "- [decision] [lesson] ") == 0 {
		t.Errorf("what is said on another day too is no lesson:\n%s", text)
	}
}
