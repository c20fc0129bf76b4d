package markdownstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDenied(t *testing.T) {
	dir := workspace(t, tree)
	if err := os.Mkdir(filepath.Join(dir, "memory", "folder.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	abs := filepath.Join(dir, "memory", "a.md")
	for _, tt := range []struct {
		path    string
		private bool
		reason  DenyReason
	}{
		{"../x.md", true, denyOutside}, {"..", true, denyOutside}, {"memory/../../etc/passwd", true, denyOutside}, {"memory/../MEMORY.md", true, denyOutside},
		{"/etc/passwd", true, denyOutside}, {abs, true, denyOutside}, {"", true, denyOutside}, {"memory/a\x00.md", true, denyOutside},
		{"README.md", true, DenyNotMemory}, {"docs/x.md", true, DenyNotMemory}, {".memkernel/x.md", true, DenyNotMemory}, {"memory/a/y.txt", true, DenyNotMemory},
		{"memory", true, DenyNotMemory}, {".", true, DenyNotMemory}, {"memory/.git/x.md", true, DenyNotMemory}, {"AGENTS.md", true, denyStanding},
		{`memory\..\..\x.md`, true, DenyNotMemory}, {"~/x.md", true, DenyNotMemory},
		{"memory/folder.md", true, denyNotFile},
		{"MEMORY.md", false, DenyPrivate}, {"memory.md", false, DenyPrivate}, {"USER.md", false, DenyPrivate}, {"./MEMORY.md", false, DenyPrivate},
	} {
		s := open(t, dir, tt.private)
		var d *DeniedError
		if _, err := s.Read(tt.path, 0, 0); !errors.As(err, &d) || !errors.Is(err, ErrDenied) || d.Reason != tt.reason {
			t.Errorf("%q: %v, want %s", tt.path, err, tt.reason)
		}
		if _, err := s.ReadFile(tt.path); tt.path != "AGENTS.md" && !errors.Is(err, ErrDenied) {
			t.Errorf("ReadFile %q: %v", tt.path, err)
		}
	}
}

// Whether a private file exists is private too.
func TestDeniedTellsNothing(t *testing.T) {
	with, without := open(t, workspace(t, tree), false), open(t, t.TempDir(), false)
	_, a := with.Read("MEMORY.md", 0, 0)
	_, b := without.Read("MEMORY.md", 0, 0)
	if a == nil || b == nil || a.Error() != b.Error() {
		t.Errorf("%v and %v", a, b)
	}
}

func TestRead(t *testing.T) {
	dir := workspace(t, map[string]string{
		"memory/a.md": "one\ntwo\r\nthree", "memory/bom.md": bom + "one\ntwo\n", "memory/empty.md": "", "memory/bin.md": "a\x00b",
		"memory/bad.md": "caf\xe9\n", "memory.md": "lower", "memory/long.md": strings.Repeat("x", 200000) + "\nend\n",
	})
	for _, tt := range []struct {
		path        string
		from, lines int
		text        string
		start, end  int
		detail      string
	}{
		{"memory/a.md", 0, 0, "one\ntwo\r\nthree", 1, 3, ""},
		{"memory/a.md", 1, 1, "one\n", 1, 1, ""},
		{"memory/a.md", 2, 9, "two\r\nthree", 2, 3, ""},
		{"memory/a.md", 3, 1, "three", 3, 3, ""},
		{"memory/a.md", 4, 1, "", 0, 0, "line 4 is behind the end, the file has 3 lines"},
		{"memory/bom.md", 0, 0, "one\ntwo\n", 1, 2, ""},
		{"memory/bom.md", 3, 0, "", 0, 0, "line 3 is behind the end, the file has 2 lines"},
		{"memory/bom.md", 9, 0, "", 0, 0, "line 9 is behind the end, the file has 2 lines"},
		{"memory/empty.md", 0, 0, "", 0, 0, "line 1 is behind the end, the file has 0 lines"},
		{"memory/bin.md", 0, 0, "", 0, 0, "the file is not text: it holds zero bytes"},
		{"memory/bad.md", 0, 0, "caf\xe9\n", 1, 1, ""},
		{"memory/long.md", 2, 1, "end\n", 2, 2, ""},
		{"memory/none.md", 0, 0, "", 0, 0, "there is no such file"},
		{"memory/no/such/folder.md", 5, 5, "", 0, 0, "there is no such file"},
		{"memory/a.md/x.md", 0, 0, "", 0, 0, "there is no such file"},
		{"./memory//a.md", 1, 1, "one\n", 1, 1, ""},
		{"MEMORY.md", 0, 0, "lower", 1, 1, ""},
	} {
		c, err := open(t, dir, true).Read(tt.path, tt.from, tt.lines)
		reason := reasonOK
		if tt.detail != "" {
			reason = ReasonNoMatch
		}
		if err != nil || c.Text != tt.text || c.StartLine != tt.start || c.EndLine != tt.end || c.Detail != tt.detail || c.Reason != reason || c.Path == "" {
			t.Errorf("%s %d %d: %+v, %v", tt.path, tt.from, tt.lines, c, err)
		}
	}
	if _, err := open(t, dir, true).Read("memory/a.md", -1, 0); err == nil || errors.Is(err, ErrDenied) {
		t.Errorf("line -1: %v", err)
	}
}

// TestUTF16: what Notepad saves is read in lines like any other file, and never written to.
func TestUTF16(t *testing.T) {
	const raw = "\xfe\xff\x00o\x00n\x00e\x00\n\x00t\x00w\x00o\x00\n"
	dir := workspace(t, map[string]string{"memory/n.md": raw})
	s := open(t, dir, true)
	if c, err := s.Read("memory/n.md", 2, 1); err != nil || c.Text != "two\n" || c.StartLine != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	l, err := s.ReadFile("memory/n.md")
	if err != nil || l.Text != "one\ntwo\n" || !l.UTF16 || l.Unsettled || l.Hash != hashOf(raw) {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := s.Replace(t.Context(), "memory/n.md", l.Hash, "three\n"); err == nil || !strings.Contains(err.Error(), "save it as UTF-8") {
		t.Errorf("replaced: %v", err)
	}
	if _, err := s.Append(t.Context(), "memory/n.md", "e1", "three"); err == nil || !strings.Contains(err.Error(), "save it as UTF-8") {
		t.Errorf("appended: %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(dir, "memory/n.md")); err != nil || string(now) != raw {
		t.Errorf("the file is %q, %v", now, err)
	}
}

func TestReadFile(t *testing.T) {
	s := open(t, workspace(t, tree), true)
	l, err := s.ReadFile("AGENTS.md")
	if err != nil || l.Text != "a" || l.Hash != hashOf("a") || l.Kind != KindInstructions || l.Size != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := s.ReadFile("memory/none.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	if f, err := s.Stat("memory.md"); err != nil || !f.Shadowed || f.Indexed {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := s.Stat("memory/none.md"); err != nil || !f.ModTime.IsZero() || f.Kind != KindTopic {
		t.Errorf("%+v, %v", f, err)
	}
}

// A file that grows, shrinks or vanishes while it is read gives what was there
// at some moment, or reports that it could not.
func TestReadWhileItChanges(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/a.md": ""})
	s := open(t, dir, true)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := filepath.Join(dir, "memory", "a.md")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if i%50 == 49 {
				os.Remove(p)
			}
			f, err := os.OpenFile(p, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if err == nil {
				f.WriteString("a line\n")
				f.Close()
			}
		}
	}()
	for range 300 {
		l, err := s.ReadFile("memory/a.md")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("err = %v", err)
		}
		if l.Text != strings.Repeat("a line\n", len(l.Text)/7) || err == nil && l.Hash != hashOf(l.Text) || l.Unsettled != l.ModTime.IsZero() && err == nil {
			t.Errorf("%q %+v", l.Text, l.File)
		}
		if _, err := s.Read("memory/a.md", 0, 0); err != nil {
			t.Errorf("err = %v", err)
		}
		listing(s)
	}
	close(stop)
	<-done
}

func TestOpen(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := Open(file, nil); err == nil {
		t.Error("opened a file")
	}
	dir := workspace(t, tree)
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	none, err := Open(dir, &Options{OverlapTokens: -1, ChunkTokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if c := none.Chunking(); c.Name() != "2/bytes-v1/100/0" {
		t.Errorf("no overlap: %s", c.Name())
	}
	for _, c := range none.Chunks(Parse("memory/a.md", strings.Repeat("some line\n", 500))) {
		if c.overlap > 0 {
			t.Errorf("overlap of %d bytes", c.overlap)
		}
	}
	if s.opts.Timezone != time.Local || s.opts.Private || s.opts.MaxFileBytes != DefaultMaxFileBytes || s.Chunking().Name() != "2/bytes-v1/400/80" {
		t.Errorf("defaults: %+v", s.opts)
	}
}
