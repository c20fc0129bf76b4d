package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// workspace makes a workspace of files, given by path and content.
func workspace(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for p, content := range files {
		p = filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// noon is when the tests take place.
var noon = time.Date(2026, 3, 21, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, dir string, private bool) *Store {
	t.Helper()
	s, err := Open(dir, &Options{Private: private, Timezone: time.UTC, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func link(t testing.TB, target, dir, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

// listing gives one line for each file that Walk yields: its path, with the
// reason if it was refused.
func listing(s *Store) []string {
	out := []string{}
	for f, err := range s.Walk(context.Background()) {
		line := f.Path
		var d *DeniedError
		switch {
		case errors.As(err, &d):
			line += " !" + string(d.Reason)
		case err != nil:
			line += " " + err.Error()
		case f.Shadowed:
			line += " shadowed"
		case f.TooLarge:
			line += " too large"
		case f.Indexed:
			line += " +"
		}
		out = append(out, line)
	}
	return out
}

var tree = map[string]string{
	"MEMORY.md": "m", "memory.md": "lower", "USER.md": "u", "AGENTS.md": "a", "HEARTBEAT.md": "h", "README.md": "no",
	"SESSION-STATE.md": "s", "memory/2026-03-21.md": "d", "memory/2026-03-20.md": "y", "memory/a-b.md": "t", "memory/a/x.md": "t",
	"memory/a/y.txt": "no", "memory/a.md": "t", "memory/.git/x.md": "no", "memory/node_modules/p/x.md": "no", "memory/.hidden.md": "no",
	"memory/working-buffer.md": "b", "memory/observations.md": "o", ".memkernel/x.md": "no", "working-buffer.md": "b", "docs/x.md": "no",
}

func TestWalk(t *testing.T) {
	dir := workspace(t, tree)
	want := []string{
		"AGENTS.md", "HEARTBEAT.md", "MEMORY.md +", "SESSION-STATE.md", "USER.md +", "memory.md shadowed", "memory/2026-03-20.md +",
		"memory/2026-03-21.md +", "memory/a-b.md +", "memory/a.md +", "memory/a/x.md +", "memory/observations.md +",
		"memory/working-buffer.md", "working-buffer.md",
	}
	if diff := cmp.Diff(want, listing(open(t, dir, true))); diff != "" {
		t.Errorf("private (-want +got):\n%s", diff)
	}
	want = slices.DeleteFunc(want, func(p string) bool {
		return strings.HasPrefix(p, "MEMORY.md") || strings.HasPrefix(p, "memory.md") || strings.HasPrefix(p, "USER.md") || strings.HasSuffix(p, "working-buffer.md")
	})
	if diff := cmp.Diff(want, listing(open(t, dir, false))); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, listing(open(t, dir, true).Shared())); diff != "" {
		t.Errorf("Shared (-want +got):\n%s", diff)
	}
}

func TestWalkLinks(t *testing.T) {
	outside := workspace(t, map[string]string{"secret.md": "secret"})
	dir := workspace(t, map[string]string{"MEMORY.md": "m", "docs/x.md": "x", "docs/x.txt": "x", ".git/config.md": "c", "memory/a.md": "a", "memory/sub/b.md": "b"})
	link(t, filepath.Join(outside, "secret.md"), dir, "memory/out.md")
	link(t, "../../"+filepath.Base(outside)+"/secret.md", dir, "memory/out2.md")
	link(t, outside, dir, "memory/outdir")
	link(t, "sub", dir, "memory/indir")
	link(t, "../docs/x.md", dir, "memory/in.md")
	link(t, "../docs/x.txt", dir, "memory/kind.md")
	link(t, "../.git/config.md", dir, "memory/hid.md")
	link(t, "nowhere.md", dir, "memory/dangling.md")
	link(t, "loop.md", dir, "memory/loop.md")
	link(t, "../MEMORY.md", dir, "memory/disguise.md")
	link(t, filepath.Join(outside, "secret.md"), dir, "USER.md")
	if err := os.Link(filepath.Join(dir, "MEMORY.md"), filepath.Join(dir, "memory", "hard.md")); err != nil {
		t.Skip(err)
	}
	shared := []string{
		"memory/a.md +", "memory/dangling.md !link", "memory/hid.md !link", "memory/in.md !link", "memory/indir !link", "memory/kind.md !link",
		"memory/loop.md !link", "memory/out.md !link", "memory/out2.md !link", "memory/outdir !link", "memory/sub/b.md +",
	}
	if diff := cmp.Diff(shared, listing(open(t, dir, false))); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
	s := open(t, dir, true)
	private := append([]string{"MEMORY.md +", "USER.md !link", "memory/disguise.md +", "memory/hard.md +"}, shared...)
	slices.Sort(private)
	if diff := cmp.Diff(private, listing(s)); diff != "" {
		t.Errorf("private (-want +got):\n%s", diff)
	}
	for f := range s.Walk(context.Background()) {
		if want := f.Path == "MEMORY.md" || f.Path == "memory/disguise.md" || f.Path == "memory/hard.md"; f.Private != want {
			t.Errorf("%s: private %v", f.Path, f.Private)
		}
	}
	for _, p := range []string{"memory/in.md", "memory/out.md", "memory/outdir/secret.md", "memory/indir/b.md", "memory/disguise.md", "memory/hard.md", "memory/hid.md"} {
		if c, err := s.Shared().Read(p, 0, 0); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %+v, %v", p, c, err)
		}
	}
	link(t, "sub/b.md", dir, "memory/alias.md")
	if c, err := s.Shared().Read("memory/alias.md", 0, 0); err != nil || c.Text != "b" {
		t.Errorf("a link to memory: %+v, %v", c, err)
	}
}

func TestWalkLinkedMemory(t *testing.T) {
	outside := workspace(t, map[string]string{"secret.md": "secret"})
	dir := workspace(t, map[string]string{"AGENTS.md": "a"})
	link(t, outside, dir, "memory")
	if diff := cmp.Diff([]string{"AGENTS.md", "memory !link"}, listing(open(t, dir, true))); diff != "" {
		t.Error(diff)
	}
	if _, err := open(t, dir, true).Append(context.Background(), "memory/secret.md", "x", "y"); !errors.Is(err, ErrDenied) {
		t.Errorf("append through a linked folder: %v", err)
	}
}

func TestWalkEnds(t *testing.T) {
	s := open(t, workspace(t, tree), true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range s.Walk(ctx) {
		if n++; n == 3 {
			cancel()
		}
		if n == 4 && !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
	}
	if n != 4 {
		t.Errorf("%d entries after the end", n)
	}
	for range s.Walk(context.Background()) {
		break
	}
	if got := listing(open(t, t.TempDir(), true)); len(got) != 0 {
		t.Errorf("an empty workspace holds %v", got)
	}
}

func TestWalkLarge(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/a.md": strings.Repeat("line\n", 100)})
	s, err := Open(dir, &Options{MaxFileBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff([]string{"memory/a.md too large"}, listing(s)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.ReadFile("memory/a.md"); !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "500 bytes, the limit is 100") {
		t.Errorf("err = %v", err)
	}
	c, err := s.Read("memory/a.md", 90, 2)
	if err != nil || c.Text != "line\nline\n" || c.EndLine != 91 || c.Truncated {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = s.Read("memory/a.md", 0, 0); err != nil || c.Text != strings.Repeat("line\n", 20) || c.EndLine != 20 || !c.Truncated {
		t.Errorf("%+v, %v", c, err)
	}
}

// A file above the limit is not loaded to be written to either.
func TestLargeFilesAreNotWrittenTo(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/a.md": strings.Repeat("line\n", 100), "memory/2026-03-20.md": strings.Repeat("line\n", 100)})
	s, err := Open(dir, &Options{MaxFileBytes: 100, Timezone: time.UTC, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, appended := s.Append(bg, "memory/a.md", "e", "x")
	_, late := s.Append(bg, "memory/2026-03-20.md", "e", "x")
	_, replaced := s.Replace(bg, "memory/a.md", hashOf(strings.Repeat("line\n", 100)), "x")
	for what, err := range map[string]error{"append": appended, "late append": late, "replace": replaced} {
		if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "500 bytes, the limit is 100; split it") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := read(t, dir, "memory/a.md"); len(got) != 500 {
		t.Errorf("the file holds %d bytes", len(got))
	}
}

func TestRealWorkspaces(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "data", "workspaces")
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Skipf("no evaluation data: %v", err)
	}
	for _, d := range dirs {
		s := open(t, filepath.Join(root, d.Name()), true)
		kinds := map[Kind]int{}
		last := ""
		for f, err := range s.Walk(context.Background()) {
			if err != nil {
				t.Errorf("%s: %v", f.Path, err)
				continue
			}
			if f.Path <= last {
				t.Errorf("%s after %s", f.Path, last)
			}
			last = f.Path
			kinds[f.Kind]++
			l, err := s.ReadFile(f.Path)
			if err != nil || l.Unsettled || int64(len(l.Text)) != f.Size || !cmp.Equal(l.File, f) {
				t.Errorf("%s: %+v, %v", f.Path, l.File, err)
			}
		}
		t.Logf("%s: %v", d.Name(), kinds)
		if kinds[KindDaily] == 0 || kinds[KindNote] == 0 || kinds[KindTopic] == 0 {
			t.Errorf("%s: %v", d.Name(), kinds)
		}
	}
}

func TestDailyLogs(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/2026-03-21.md": "t", "memory/2026-03-29.md": "spring", "memory/2026-03-28.md": "before"})
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		now              string
		loc              *time.Location
		today, yesterday string
		has              [2]bool
	}{
		{"2026-03-21T12:00:00Z", time.UTC, "2026-03-21", "2026-03-20", [2]bool{true, false}},
		{"2026-03-21T23:30:00Z", berlin, "2026-03-22", "2026-03-21", [2]bool{false, true}},
		{"2026-03-21T23:30:00Z", time.FixedZone("west", -8*3600), "2026-03-21", "2026-03-20", [2]bool{true, false}},
		// The night in which the clocks go forward.
		{"2026-03-28T23:30:00Z", berlin, "2026-03-29", "2026-03-28", [2]bool{true, true}},
		{"2026-03-29T21:59:59Z", berlin, "2026-03-29", "2026-03-28", [2]bool{true, true}},
		{"2026-01-01T00:00:00Z", time.UTC, "2026-01-01", "2025-12-31", [2]bool{false, false}},
	} {
		s, err := Open(dir, &Options{Timezone: tt.loc})
		if err != nil {
			t.Fatal(err)
		}
		now, _ := time.Parse(time.RFC3339, tt.now)
		a, b := s.DailyLogs(now)
		if a.Date != tt.today || b.Date != tt.yesterday || a.Kind != KindDaily || a.ModTime.IsZero() == tt.has[0] || b.ModTime.IsZero() == tt.has[1] {
			t.Errorf("%s in %s: %+v and %+v", tt.now, tt.loc, a, b)
		}
		s.Close()
	}
}

func TestAgesFrom(t *testing.T) {
	f := File{ModTime: noon}
	for _, tt := range []struct {
		path, want string
	}{
		{"MEMORY.md", ""}, {"memory/topic.md", ""}, {"memory/2026-01-02.md", "2026-01-02T00:00:00Z"},
		{"memory/observations.md", "2026-03-21T12:00:00Z"}, {"AGENTS.md", "2026-03-21T12:00:00Z"},
	} {
		f.Class, _ = Classify(tt.path)
		at, ok := f.AgesFrom(time.UTC)
		if got := at.Format(time.RFC3339); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s ages from %s, %v", tt.path, got, ok)
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	files := map[string]string{}
	for i := range 10000 {
		files[fmt.Sprintf("memory/d%02d/note-%05d.md", i%50, i)] = "x"
	}
	s := open(b, workspace(b, files), true)
	for b.Loop() {
		n := 0
		for range s.Walk(context.Background()) {
			n++
		}
		if n != len(files) {
			b.Fatal(n)
		}
	}
}
