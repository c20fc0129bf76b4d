package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"pgregory.net/rapid"
)

var bg = context.Background()

func read(t testing.TB, dir, p string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// cited is the text that a reference names.
func cited(t testing.TB, dir string, a Appended) string {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimPrefix(read(t, dir, a.Ref.Path), bom), "\n")
	text := strings.TrimRight(strings.Join(lines[a.Ref.StartLine-1:a.Ref.EndLine], ""), "\r\n")
	if hashOf(text) != a.Ref.Hash {
		t.Errorf("%+v cites %q", a.Ref, text)
	}
	return text
}

func TestAppend(t *testing.T) {
	for name, tt := range map[string]struct {
		path, before, text, after string
		cites                     string
	}{
		"new log":        {path: "memory/2026-03-21.md", text: "- a", after: "# 2026-03-21\n\n- a\n<!-- mk:e1 -->\n", cites: "- a"},
		"new topic":      {path: "memory/a/b/topic.md", text: "# T\n\ntext\n", after: "# T\n\ntext\n<!-- mk:e1 -->\n", cites: "# T\n\ntext"},
		"log there":      {path: "memory/2026-03-21.md", before: "# 2026-03-21\n\nx\n", text: "\n\n- a\n- b\n\n", after: "# 2026-03-21\n\nx\n\n- a\n- b\n<!-- mk:e1 -->\n", cites: "- a\n- b"},
		"no line end":    {path: "memory/t.md", before: "human", text: "a", after: "human\n\na\n<!-- mk:e1 -->\n", cites: "a"},
		"dos":            {path: "memory/t.md", before: "x\r\n", text: "a\nb\n", after: "x\r\n\r\na\r\nb\r\n<!-- mk:e1 -->\r\n", cites: "a\r\nb"},
		"order mark":     {path: "memory/t.md", before: bom, text: "a", after: bom + "a\n<!-- mk:e1 -->\n", cites: "a"},
		"tomorrow":       {path: "memory/2026-03-22.md", text: "a", after: "# 2026-03-22\n\na\n<!-- mk:e1 -->\n", cites: "a"},
		"open fence":     {path: "memory/t.md", before: "x\n", text: "```go\nx", after: "x\n\n```go\nx\n```\n<!-- mk:e1 -->\n", cites: "```go\nx\n```"},
		"marker in text": {path: "memory/t.md", before: "x\n", text: "a\n<!-- mk:e2 -->\n b", after: "x\n\na\n\\<!-- mk:e2 -->\n b\n<!-- mk:e1 -->\n", cites: "a\n\\<!-- mk:e2 -->\n b"},
		"invalid utf-8":  {path: "memory/t.md", before: "caf\xe9\n", text: "a", after: "caf\xe9\n\na\n<!-- mk:e1 -->\n", cites: "a"},
		"memory":         {path: "MEMORY.md", text: "a", after: "a\n<!-- mk:e1 -->\n", cites: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"AGENTS.md": ""}
			if tt.before != "" {
				files[tt.path] = tt.before
			}
			dir := workspace(t, files)
			s := open(t, dir, true)
			a, err := s.Append(bg, tt.path, "e1", tt.text)
			if err != nil || a.Existed || a.Late != "" {
				t.Fatalf("%+v, %v", a, err)
			}
			if got := read(t, dir, tt.path); got != tt.after {
				t.Errorf("got  %q\nwant %q", got, tt.after)
			}
			if got := cited(t, dir, a); got != tt.cites {
				t.Errorf("cites %q", got)
			}
			b, err := open(t, dir, true).Append(bg, tt.path, "e1", tt.text)
			if err != nil || !b.Existed || b.Ref != a.Ref || read(t, dir, tt.path) != tt.after {
				t.Errorf("again: %+v after %+v, %v", b, a, err)
			}
			checkDocument(t, tt.path, tt.after, nil)
		})
	}
}

func TestAppendAfterEdits(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/t.md": "# T\n"})
	s := open(t, dir, true)
	for _, id := range []string{"e1", "e2"} {
		if _, err := s.Append(bg, "memory/t.md", id, "entry "+id); err != nil {
			t.Fatal(err)
		}
	}
	p := filepath.Join(dir, "memory", "t.md")
	edited := strings.Replace(read(t, dir, "memory/t.md"), "entry e2", "the entry,\nedited by hand", 1)
	os.WriteFile(p, []byte(edited), 0o644)
	a, err := s.Append(bg, "memory/t.md", "e2", "entry e2")
	if err != nil || !a.Existed || read(t, dir, "memory/t.md") != edited {
		t.Errorf("%+v, %v", a, err)
	}
	if got := cited(t, dir, a); got != "the entry,\nedited by hand" {
		t.Errorf("cites %q", got)
	}
}

func TestAppendLate(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/2026-03-18.md": "# 2026-03-18\n"})
	now := noon
	s, err := Open(dir, &Options{Private: true, Timezone: time.UTC, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.Append(bg, "memory/2026-03-18.md", "e1", "- a")
	if err != nil || a.Late != "memory/2026-03-18.md" || a.Ref.Path != "memory/2026-03-21.md" {
		t.Fatalf("%+v, %v", a, err)
	}
	want := "# 2026-03-21\n\nLate entry for [2026-03-18](2026-03-18.md):\n\n- a\n<!-- mk:e1 -->\n"
	if got := read(t, dir, "memory/2026-03-21.md"); got != want {
		t.Errorf("got %q", got)
	}
	if got := read(t, dir, "memory/2026-03-18.md"); got != "# 2026-03-18\n" {
		t.Errorf("the closed log holds %q", got)
	}
	if _, err := s.Append(bg, "memory/2026-03-17.md", "e0", "- z"); err != nil { // a day without a log
		t.Fatal(err)
	}
	if got := read(t, dir, "memory/2026-03-21.md"); !strings.HasSuffix(got, "\nLate entry for 2026-03-17:\n\n- z\n<!-- mk:e0 -->\n") {
		t.Errorf("got %q", got)
	}
	now = now.AddDate(0, 0, 3) // the same entry once more, days later
	b, err := s.Append(bg, "memory/2026-03-18.md", "e1", "- a")
	if err != nil || !b.Existed || b.Ref != a.Ref {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "memory", "2026-03-24.md")); err == nil {
		t.Error("the entry stands twice")
	}
	// An entry that was in time is found in its own log.
	if _, err := s.Append(bg, "memory/2026-03-24.md", "e2", "b"); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 1)
	if c, err := s.Append(bg, "memory/2026-03-24.md", "e2", "b"); err != nil || !c.Existed || c.Late != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/bin.md": "\x00\x01", "memory/ro.md": "x\n", "AGENTS.md": "a", "memory/t.md": "x"})
	os.Chmod(filepath.Join(dir, "memory", "ro.md"), 0o444)
	s := open(t, dir, true)
	for name, tt := range map[string]struct {
		path, id, text, want string
		is                   error
		shared               bool
	}{
		"outside":      {path: "../x.md", id: "a", text: "x", is: ErrDenied},
		"no memory":    {path: "README.md", id: "a", text: "x", is: ErrDenied},
		"instructions": {path: "AGENTS.md", id: "a", text: "x", is: ErrDenied},
		"private":      {path: "MEMORY.md", id: "a", text: "x", is: ErrDenied, shared: true},
		"user":         {path: "USER.md", id: "a", text: "x", is: ErrDenied, shared: true},
		"read-only":    {path: "memory/ro.md", id: "a", text: "x", is: ErrReadOnly, want: "chmod u+w"},
		"binary":       {path: "memory/bin.md", id: "a", text: "x", want: "not text"},
		"zero byte":    {path: "memory/t.md", id: "a", text: "x\x00", want: "zero bytes"},
		"no text":      {path: "memory/t.md", id: "a", text: " \n", want: "no text"},
		"no id":        {path: "memory/t.md", id: "", text: "x", want: "entry id"},
		"id with dash": {path: "memory/t.md", id: "a--b", text: "x", want: "entry id"},
		"id with end":  {path: "memory/t.md", id: "a -->", text: "x", want: "entry id"},
		"long id":      {path: "memory/t.md", id: strings.Repeat("a", 129), text: "x", want: "entry id"},
	} {
		st := s
		if tt.shared {
			st = s.Shared()
		}
		_, err := st.Append(bg, tt.path, tt.id, tt.text)
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := read(t, dir, "memory/bin.md") + read(t, dir, "memory/ro.md") + read(t, dir, "AGENTS.md") + read(t, dir, "memory/t.md"); got != "\x00\x01x\nax" {
		t.Errorf("files hold %q", got)
	}
}

// MEMORY.md must not come into being beside a memory.md that it would hide.
func TestAppendToTheMemoryThatIsUsed(t *testing.T) {
	dir := workspace(t, map[string]string{"memory.md": "old\n"})
	s := open(t, dir, true)
	if a, err := s.Append(bg, "MEMORY.md", "e", "x"); err != nil || a.Ref.Path != "memory.md" {
		t.Errorf("%+v, %v", a, err)
	}
	dir = workspace(t, map[string]string{"memory.md": "old\n", "MEMORY.md": "used\n"})
	s = open(t, dir, true)
	if a, err := s.Append(bg, "memory.md", "e", "x"); err != nil || a.Ref.Path != "MEMORY.md" {
		t.Errorf("%+v, %v", a, err)
	}
}

// An append that was cut short at any byte is completed by the next one, and
// what was there before is kept.
func TestAppendAfterATornOne(t *testing.T) {
	for _, before := range []string{"", "# 2026-03-21\n\nhuman line\n", "human line without an end", "x\r\ny\r\n"} {
		dir := workspace(t, map[string]string{"memory/2026-03-21.md": before})
		p := filepath.Join(dir, "memory", "2026-03-21.md")
		s := open(t, dir, true)
		const text = "- first\n- second\n\n  more"
		if _, err := s.Append(bg, "memory/2026-03-21.md", "e1", text); err != nil {
			t.Fatal(err)
		}
		whole := read(t, dir, "memory/2026-03-21.md")
		for n := len(before); n <= len(whole); n++ {
			os.WriteFile(p, []byte(whole[:n]), 0o644)
			a, err := s.Append(bg, "memory/2026-03-21.md", "e1", text)
			got := read(t, dir, "memory/2026-03-21.md")
			if err != nil || !strings.HasPrefix(got, whole[:n]) || strings.Count(got, "<!-- mk:e1 -->") != 1 {
				t.Fatalf("cut at %d: %v, %q", n, err, got)
			}
			if c := strings.ReplaceAll(cited(t, dir, a), "\r\n", "\n"); c != text {
				t.Fatalf("cut at %d: cites %q in %q", n, c, got)
			}
		}
	}
}

// Whatever operation fails, what was there before is kept, and a second try
// writes the entry exactly once.
func TestAppendWhenOperationsFail(t *testing.T) {
	for _, failure := range []error{syscall.ENOSPC, syscall.EROFS, &atomicfile.PartialWrite{N: 7, Err: syscall.ENOSPC}} {
		for n := 0; ; n++ {
			dir := workspace(t, map[string]string{"memory/x.md": "human\n"})
			s := open(t, dir, true)
			count := 0
			restore := atomicfile.SetHook(func(op, path string) error {
				if count++; count == n+1 && op != "truncate" {
					return failure
				}
				return nil
			})
			_, err := s.Append(bg, "memory/2026-03-21.md", "e1", "- a\n- b")
			restore()
			if err == nil && count <= n {
				break
			}
			if err != nil && errors.Is(failure, syscall.EROFS) && (!errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "make the workspace writable")) {
				t.Errorf("err = %v", err)
			}
			if err != nil && errors.Is(failure, syscall.ENOSPC) && (!errors.Is(err, ErrFull) || strings.Count(err.Error(), "free some space") != 1) {
				t.Errorf("err = %v", err)
			}
			if _, err := s.Append(bg, "memory/2026-03-21.md", "e1", "- a\n- b"); err != nil {
				t.Fatalf("second try after %v at %d: %v", failure, n, err)
			}
			if got := read(t, dir, "memory/2026-03-21.md"); got != "# 2026-03-21\n\n- a\n- b\n<!-- mk:e1 -->\n" {
				t.Errorf("after %v at %d: %q", failure, n, got)
			}
		}
	}
}

// An editor that saves by renaming, between our look at the file and our write.
func TestAppendWhileAnEditorSaves(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/t.md": "old\n"})
	s := open(t, dir, true)
	p := filepath.Join(dir, "memory", "t.md")
	saved := 0
	restore := atomicfile.SetHook(func(op, path string) error {
		if op == "write" && saved < 2 {
			saved++
			tmp := filepath.Join(dir, "editor.tmp")
			os.WriteFile(tmp, fmt.Appendf(nil, "old\nsaved %d\n", saved), 0o644)
			return os.Rename(tmp, p)
		}
		return nil
	})
	defer restore()
	if _, err := s.Append(bg, "memory/t.md", "e1", "a"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "memory/t.md"); got != "old\nsaved 2\n\na\n<!-- mk:e1 -->\n" {
		t.Errorf("got %q", got)
	}
}

// An editor that appends, between our look at the file and our write.
func TestAppendWhileSomeoneAppends(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/t.md": "old\n"})
	s := open(t, dir, true)
	once := sync.OnceFunc(func() {
		f, _ := os.OpenFile(filepath.Join(dir, "memory", "t.md"), os.O_APPEND|os.O_WRONLY, 0)
		f.WriteString("human\n")
		f.Close()
	})
	defer atomicfile.SetHook(func(op, path string) error {
		if op == "write" {
			once()
		}
		return nil
	})()
	a, err := s.Append(bg, "memory/t.md", "e1", "a")
	if got := read(t, dir, "memory/t.md"); err != nil || got != "old\nhuman\n\na\n<!-- mk:e1 -->\n" || cited(t, dir, a) != "a" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAppendEndsWithTheContext(t *testing.T) {
	dir := workspace(t, nil)
	s, other := open(t, dir, true), open(t, dir, true)
	err := s.files.Write(bg, func(Writer) error {
		ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
		defer cancel()
		_, err := other.Append(ctx, "memory/t.md", "e", "x")
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	if got := read(t, dir, ".memkernel/.gitignore"); got != "*\n" {
		t.Errorf("gitignore holds %q", got)
	}
}

// The property: any entries, in any order and repetition, are there once each,
// and no line that was there before is lost.
func TestAppendProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := genDocument(rt)
		dir := workspace(t, map[string]string{"memory/t.md": before})
		s := open(t, dir, true)
		ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c.d", "b:1"}), 1, 6).Draw(rt, "ids")
		want := map[string]bool{}
		for _, id := range ids {
			text := rapid.SampledFrom([]string{"- x", "```\nopen", "<!-- mk:a -->", "p\n\n<!-- mk:b -->\nq\n", "- it\n  ~~~~\n  x"}).Draw(rt, "text")
			_, err := s.Append(bg, "memory/t.md", id, text)
			if binaryWhy(before) != "" {
				if err == nil {
					t.Fatal("appended to a binary file")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want[id] = true
		}
		after := read(t, dir, "memory/t.md")
		if !strings.HasPrefix(after, before) {
			t.Fatalf("lost a line: %q then %q", before, after)
		}
		for id := range want {
			if n := strings.Count("\n"+strings.ReplaceAll(after, "\r\n", "\n"), "\n<!-- mk:"+id+" -->\n"); n != 1 {
				t.Fatalf("entry %s stands %d times in %q", id, n, after)
			}
		}
		checkDocument(t, "memory/t.md", after, nil)
	})
}

const appenderEnv = "MARKDOWNSTORE_TEST_APPENDER"

// TestAppenderProcess is the other process of TestAppendFromProcesses.
func TestAppenderProcess(t *testing.T) {
	dir := os.Getenv(appenderEnv)
	if dir == "" {
		t.Skip("runs as a child only")
	}
	s := open(t, dir, true)
	me := os.Getpid()
	for i := range 15 {
		if _, err := s.Append(bg, "memory/2026-03-21.md", fmt.Sprint(me, "-", i), fmt.Sprintf("- %d wrote %d", me, i)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(bg, "memory/2026-03-21.md", fmt.Sprint("both-", i), fmt.Sprint("- both ", i)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAppendFromProcesses(t *testing.T) {
	dir := workspace(t, nil)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestAppenderProcess$")
			cmd.Env = append(os.Environ(), appenderEnv+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	got := read(t, dir, "memory/2026-03-21.md")
	if n := strings.Count(got, " wrote "); n != 45 {
		t.Errorf("%d entries of their own, want 45", n)
	}
	if n := strings.Count(got, "- both "); n != 15 {
		t.Errorf("%d shared entries, want 15", n)
	}
	if n := strings.Count(got, "# 2026-03-21\n"); n != 1 {
		t.Errorf("%d headings", n)
	}
	checkDocument(t, "memory/2026-03-21.md", got, nil)
}

// What was appended is taken out again to the byte, but for what somebody wrote to since.
// TestRetractLate removes an entry for a closed log from the log that has it, with the line above.
func TestRetractLate(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/2026-03-21.md": "# 2026-03-21\n\n- mine\n"})
	s, err := Open(dir, &Options{Private: true, Timezone: time.UTC, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := read(t, dir, "memory/2026-03-21.md")
	if _, err := s.Append(bg, "memory/2026-03-18.md", "e1", "- a"); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Retract(bg, "memory/2026-03-18.md", map[string]string{"e1": "- a"}, true); err != nil || out.Gone != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if got := read(t, dir, "memory/2026-03-21.md"); got != before {
		t.Errorf("got %q", got)
	}
}

func TestRetract(t *testing.T) {
	ctx := context.Background()
	for _, eol := range []string{"\n", "\r\n"} {
		dir := t.TempDir()
		before := strings.ReplaceAll("# Imported\n\nby hand\n", "\n", eol)
		path := filepath.Join(dir, "memory", "imported", "mem0.md")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, &Options{Private: true, LockFile: filepath.Join(dir, "lock")})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		entries := map[string]string{"a": "- one\n- two", "b": "```\nopen", "c": "- three"}
		for _, id := range []string{"a", "b", "c"} {
			if _, err := s.Append(ctx, "memory/imported/mem0.md", id, entries[id]); err != nil {
				t.Fatal(err)
			}
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Retract(ctx, "memory/imported/mem0.md", entries, false)
		if err != nil || out.Gone != 3 || len(out.Changed) > 0 {
			t.Errorf("a preview: %+v, %v", out, err)
		}
		edited := strings.Replace(string(whole), "- three", "- three, and mine", 1)
		if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err = s.Retract(ctx, "memory/imported/mem0.md", entries, true)
		if err != nil || out.Gone != 2 || len(out.Changed) != 1 || out.Changed[0] != "c" {
			t.Errorf("%+v, %v", out, err)
		}
		after, err := os.ReadFile(path)
		want := before + strings.ReplaceAll("\n- three, and mine\n<!-- mk:c -->\n", "\n", eol)
		if err != nil || string(after) != want {
			t.Errorf("got %q, want %q", after, want)
		}
		if out, err := s.Retract(ctx, "memory/none.md", entries, true); err != nil || out.Gone > 0 {
			t.Errorf("of a file that is not there: %+v, %v", out, err)
		}
	}
}
