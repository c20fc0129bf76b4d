package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(0) }

// TestFollow: links lead on, also where nothing is at the end yet, and circles end.
func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"a": "b", "b": filepath.Join("real", "new"), "folder": filepath.Join(dir, "real"), "x": "y", "y": "x"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a": "real/new", "folder/f": "real/f", "folder/deep/f": "real/deep/f", "plain": "plain", "x": ""} {
		got, err := Follow(filepath.Join(dir, filepath.FromSlash(path)))
		if want == "" {
			if err == nil {
				t.Errorf("%s leads to %s", path, got)
			}
		} else if got != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s leads to %s, %v", path, got, err)
		}
	}
}

// TestWrite: nothing is made of no file, an empty one is one, and what is no file is
// refused.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d", "f")
	for _, to := range [][]byte{[]byte("x"), {}, []byte("y"), nil, {}, nil} {
		was, err := Read(path)
		if err == nil {
			err = Write(path, was, to)
		}
		if now, _ := Read(path); err != nil || !Same(now, to) {
			t.Fatalf("%v: %v instead of %v", err, now, to)
		}
	}
	if err := Write(path, []byte("z"), []byte("x")); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if err := Write(path, []byte("z"), nil); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a folder was read")
	}
}

// TestTOMLTexts: whatever a path has in it, a table that is put in reads back as it was
// meant, can be changed, and leaves no trace.
func TestTOMLTexts(t *testing.T) {
	for _, text := range []string{"memkernel", `C:\Program Files\mem kernel.exe`, `it's "quoted"`, "tab\tand \x01 and \x7f", "日本語/пример", `both ' and \`, "line\nend", ""} {
		for _, before := range []string{"", "a = 1", "[p]\nx = 1\n[q]\n", "[p.n2]\n"} {
			d, err := ParseTOML("f", []byte(before))
			if err == nil {
				err = d.Add("p", "n", map[string]any{"command": text, "args": []string{text, "b"}})
			}
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			again, err := ParseTOML("f", d.Bytes())
			if err != nil || again.Table("p", "n")["command"] != text || again.Table("p", "n")["args"].([]any)[0] != text {
				t.Fatalf("%q: %v\n%s", text, err, d.Bytes())
			}
			if err := again.Set("p", "n", "args", []string{"c", text}); err != nil || again.Table("p", "n")["args"].([]any)[1] != text {
				t.Errorf("%q: %v\n%s", text, err, again.Bytes())
			}
			if err := again.Drop("p", "n"); err != nil || strings.TrimSpace(string(again.Bytes())) != strings.TrimSpace(before) {
				t.Errorf("%q: %v\n%s", text, err, again.Bytes())
			}
		}
	}
}

// FuzzJSON: a member that is put in and taken out leaves a file that says what it said,
// with every comment.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"{}", "", "{ // a\n}", "/*a*/{\"b\":[1,],/*c*/}//d", "{\"a\":1//x\n,\"b\":2}", "\ufeff{\r\n\t\"a\" : {}\r\n}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseJSON("f", []byte(text), true)
		if err != nil {
			return
		}
		before := string(d.Bytes())
		if m, err := d.Member(d.Top(), "ours"); m != nil || err != nil {
			return
		}
		v, err := d.Render(map[string]any{"x": []int{1}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		d.Add(d.Top(), "ours", v, 1)
		again, err := ParseJSON("f", d.Bytes(), true)
		if err != nil {
			t.Fatalf("%v: %q became %q", err, text, d.Bytes())
		}
		Drop(again.Top(), "ours")
		after := again.Bytes()
		if !SameJSON(after, []byte(before)) || strings.Count(string(after), "/") < strings.Count(before, "/") {
			t.Errorf("%q became %q", before, after)
		}
	})
}

// TestSection: whatever a text holds, a section that is put in can be changed and leaves
// no trace but a line end where there was none.
func TestSection(t *testing.T) {
	s := Section{Name: "x", Note: "(ours)"}
	for _, text := range []string{"", "a", "a\n", "a\r\nb\r\n", "a\r\nb", "\n", "\n\n", "\ufeff", "\ufeffa\n", "<!-- x:beg -->\n<!-- y:end -->\n", "a\n\n", "日本語\n"} {
		in, err := s.Put("f", []byte(text), "one\ntwo\n")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, err := s.Put("f", in, "one\ntwo"); err != nil || string(again) != string(in) {
			t.Errorf("%q: put in again: %v, %q", text, err, again)
		}
		if strings.Contains(text, "\r\n") != strings.Contains(string(in), "two\r\n") {
			t.Errorf("%q: line ends are mixed: %q", text, in)
		}
		changed, err := s.Put("f", append(in, "behind"...), "three")
		if err != nil || !strings.HasPrefix(string(changed), text) || !strings.HasSuffix(string(changed), "behind") || strings.Contains(string(changed), "one") {
			t.Errorf("%q: changed: %v, %q", text, err, changed)
		}
		out, err := s.Drop("f", in)
		if want := strings.TrimRight(text, "\r\n"); err != nil || strings.TrimRight(string(out), "\r\n") != want || len(out) > len(text)+2 {
			t.Errorf("%q: taken out: %v, %q", text, err, out)
		}
		if same, err := s.Drop("f", out); err != nil || string(same) != string(out) {
			t.Errorf("%q: taken out twice: %v, %q", text, err, same)
		}
	}
	for text, line := range map[string]int{"<!-- x:begin -->\n": 1, "a\n<!-- x:end -->": 2, "<!-- x:end -->\n<!-- x:begin -->\n": 1, "<!-- x:begin -->\n<!-- x:begin -->\n<!-- x:end -->": 2,
		"<!-- x:begin -->\n<!-- x:end -->\n\n<!-- x:begin -->\n<!-- x:end -->": 4, "a\x00": 0} {
		var bad *Error
		if _, err := s.Put("f", []byte(text), "y"); !errors.As(err, &bad) || bad.Line != line {
			t.Errorf("%q: %v", text, err)
		}
		if out, err := s.Drop("f", []byte(text)); err == nil || string(out) != text {
			t.Errorf("%q: taken out: %v, %q", text, err, out)
		}
	}
}

// TestYAML: a value is found below its keys, and there is none in what can't be read.
func TestYAML(t *testing.T) {
	data := []byte("\ufeffa:\n  b: {c: x}\n")
	if YAMLValue(data, "a", "b", "c") != "x" || YAMLValue(data, "a", "z", "c") != nil || YAMLValue(data, "a", "b", "c", "d") != nil || YAMLValue([]byte("b: ["), "b") != nil {
		t.Error("a value is missing, or made up")
	}
}
