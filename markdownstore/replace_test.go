package markdownstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

func TestReplace(t *testing.T) {
	for name, tt := range map[string]struct{ before, text, after string }{
		"plain":           {"a\n", "b\n", "b\n"},
		"same":            {"a\n", "a\n", "a\n"},
		"dos":             {"a\r\nb\r\n", "a\nc\r\n", "a\r\nc\r\n"},
		"mixed stays":     {"a\r\nb\n", "a\nc\r\n", "a\nc\r\n"},
		"order mark":      {bom + "a\n", "b\n", bom + "b\n"},
		"order mark kept": {bom + "a\n", bom + "b\n", bom + "b\n"},
		"to nothing":      {"a\n", "", ""},
	} {
		dir := workspace(t, map[string]string{"MEMORY.md": tt.before})
		os.Chmod(filepath.Join(dir, "MEMORY.md"), 0o640)
		s := open(t, dir, true)
		l, err := s.ReadFile("MEMORY.md")
		if err != nil {
			t.Fatal(err)
		}
		hash, err := s.Replace(bg, "MEMORY.md", l.Hash, tt.text)
		if got := read(t, dir, "MEMORY.md"); err != nil || got != tt.after || hash != hashOf(tt.after) {
			t.Errorf("%s: %q, %s, %v", name, got, hash, err)
		}
		if fi, _ := os.Stat(filepath.Join(dir, "MEMORY.md")); fi.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %s", name, fi.Mode())
		}
	}
}

func TestReplaceConflicts(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/t.md": "now\n", "memory/empty.md": ""})
	s := open(t, dir, true)
	for _, tt := range []struct{ path, want, have string }{
		{"memory/t.md", hashOf("before\n"), hashOf("now\n")},
		{"memory/t.md", "", hashOf("now\n")},
		{"memory/none.md", hashOf("x"), ""},
	} {
		_, err := s.Replace(bg, tt.path, tt.want, "mine\n")
		var c *ConflictError
		if !errors.As(err, &c) || !errors.Is(err, ErrConflict) || c.Want != tt.want || c.Have != tt.have {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if got := read(t, dir, "memory/t.md"); got != "now\n" {
		t.Errorf("file holds %q", got)
	}
	for _, p := range []string{"memory/new/x.md", "memory/empty.md"} {
		if hash, err := s.Replace(bg, p, "", "new\n"); err != nil || hash != hashOf("new\n") || read(t, dir, p) != "new\n" {
			t.Errorf("%s: %s, %v", p, hash, err)
		}
	}
}

func TestReplaceRefuses(t *testing.T) {
	dir := workspace(t, map[string]string{"MEMORY.md": "m", "memory/2026-03-20.md": "y", "memory/2026-03-21.md": "t", "memory/ro.md": "r", "README.md": "x"})
	os.Chmod(filepath.Join(dir, "memory", "ro.md"), 0o444)
	s := open(t, dir, true)
	if _, err := s.Replace(bg, "memory/ro.md", hashOf("r"), "x"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
	for _, p := range []string{"../x.md", "README.md", "memory/2026-03-20.md", filepath.Join(dir, "MEMORY.md")} {
		if _, err := s.Replace(bg, p, hashOf("y"), "x"); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := s.Shared().Replace(bg, "MEMORY.md", hashOf("m"), "x"); !errors.Is(err, ErrDenied) {
		t.Errorf("shared: %v", err)
	}
	if _, err := s.Replace(bg, "memory/2026-03-21.md", hashOf("t"), "a\x00b"); err == nil {
		t.Error("wrote zero bytes")
	}
	if _, err := s.Replace(bg, "memory/2026-03-21.md", hashOf("t"), "x"); err != nil {
		t.Errorf("today's log: %v", err)
	}
	if _, err := s.Redact(bg, "memory/2026-03-20.md", hashOf("y"), "x"); err != nil || read(t, dir, "memory/2026-03-20.md") != "x" {
		t.Errorf("redact: %v", err)
	}
}

func TestReplaceThroughALink(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/sub/x.md": "a", "memory/t.md": "t"})
	link(t, "sub/x.md", dir, "memory/x.md")
	s := open(t, dir, true)
	if _, err := s.Replace(bg, "memory/x.md", hashOf("a"), "b"); err != nil || read(t, dir, "memory/sub/x.md") != "b" {
		t.Errorf("%q, %v", read(t, dir, "memory/sub/x.md"), err)
	}
	if fi, _ := os.Lstat(filepath.Join(dir, "memory", "x.md")); fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

// Whatever operation fails, the file is the old one or the new one.
func TestReplaceWhenOperationsFail(t *testing.T) {
	for _, failure := range []error{syscall.ENOSPC, syscall.EROFS, &atomicfile.PartialWrite{N: 1, Err: syscall.ENOSPC}} {
		for _, before := range []string{"", "old\n"} {
			for n := 0; ; n++ {
				dir := workspace(t, map[string]string{"AGENTS.md": "a"})
				s := open(t, dir, true)
				want := ""
				if before != "" {
					os.Mkdir(filepath.Join(dir, "memory"), 0o755)
					os.WriteFile(filepath.Join(dir, "memory", "t.md"), []byte(before), 0o644)
					want = hashOf(before)
				}
				count := 0
				restore := atomicfile.SetHook(func(op, path string) error {
					if count++; count == n+1 {
						return failure
					}
					return nil
				})
				_, err := s.Replace(bg, "memory/t.md", want, "new\n")
				restore()
				if err == nil && count <= n {
					break
				}
				got, _ := os.ReadFile(filepath.Join(dir, "memory", "t.md"))
				if string(got) != before && string(got) != "new\n" {
					t.Errorf("%v at %d: %q", failure, n, got)
				}
				l := hashOf(string(got))
				if string(got) == "" {
					l = ""
				}
				if _, err := s.Replace(bg, "memory/t.md", l, "newer\n"); err != nil || read(t, dir, "memory/t.md") != "newer\n" {
					t.Errorf("second try after %v at %d: %v", failure, n, err)
				}
			}
		}
	}
}

// An editor that writes into the file while its replacement is being synced.
func TestReplaceWhileAnEditorWrites(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/t.md": "old\n"})
	s := open(t, dir, true)
	p := filepath.Join(dir, "memory", "t.md")
	once := sync.OnceFunc(func() { os.WriteFile(p, []byte("human\n"), 0o644) })
	defer atomicfile.SetHook(func(op, path string) error {
		if op == "sync" {
			once()
		}
		return nil
	})()
	_, err := s.Replace(bg, "memory/t.md", hashOf("old\n"), "mine\n")
	var c *ConflictError
	if !errors.As(err, &c) || c.Have != hashOf("human\n") || read(t, dir, "memory/t.md") != "human\n" {
		t.Errorf("%q, %v", read(t, dir, "memory/t.md"), err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "memory", ".mk*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestErrorsNameTheWayOut(t *testing.T) {
	e := &ConflictError{Path: "memory/t.md", Want: "", Have: "ab"}
	if got := e.Error(); !strings.Contains(got, "no file") || !strings.Contains(got, "read it again") {
		t.Error(got)
	}
}
