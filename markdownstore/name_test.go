package markdownstore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/internal/hostile"
)

// Names that act where they are shown are refused by every function, and reported
// where files are listed; names that are only unusual are as good as any.
func TestNames(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/a.md": "a"})
	want, planted := []string{"memory/a.md +"}, 0
	for _, name := range hostile.Plausible() {
		if os.WriteFile(filepath.Join(dir, "memory", name), []byte("text\n"), 0o600) == nil {
			want = append(want, "memory/"+name+" +")
		}
	}
	for _, name := range hostile.Names() {
		sub := filepath.Join(dir, "memory", "sub"+name)
		if os.WriteFile(filepath.Join(dir, "memory", name), []byte("text\n"), 0o600) != nil || os.Mkdir(sub, 0o700) != nil {
			continue
		}
		planted++
		if err := os.WriteFile(filepath.Join(sub, "x.md"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "memory", name+".png"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, "memory/"+name+" !name", "memory/sub"+name+" !name")
	}
	if planted == 0 {
		t.Skip("this file system has no such names")
	}
	s := open(t, dir, true)
	got := listing(s)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, name := range hostile.Names() {
		for _, p := range []string{"memory/" + name, "memory/sub" + name + "/x.md", name, "memory/gone/" + name} {
			_, err := s.Read(p, 0, 0)
			_, appendErr := s.Append(bg, p, "e1", "text")
			_, replaceErr := s.Replace(bg, p, "", "text")
			_, loadErr := s.ReadFile(p)
			for what, err := range map[string]error{"read": err, "append": appendErr, "replace": replaceErr, "load": loadErr} {
				var d *DeniedError
				if !errors.As(err, &d) || d.Reason != denyName {
					t.Errorf("%s %q: %v", what, p, err)
				}
			}
			if _, ok := Classify(p); ok {
				t.Errorf("%q is something", p)
			}
		}
	}
	for _, name := range hostile.Plausible() {
		if _, err := s.Append(bg, "memory/new "+name, "e1", "text"); err != nil {
			t.Errorf("append to %q: %v", name, err)
		}
	}
}

// A selector at the beginning of a name follows the slash before it, and can be shown there. At the
// beginning of a path it follows nothing.
func TestNameBeginsWithASelector(t *testing.T) {
	dir := workspace(t, map[string]string{"memory/\ufe0fa.md": "a", "notes/\ufe0fb/\ufe0fc.md": "c", "\ufe0fd.md": "d"})
	s := openWith(t, dir, Options{Private: true, Include: Everything()})
	if got, want := listing(s), []string{"memory/\ufe0fa.md +", "notes/\ufe0fb/\ufe0fc.md +", "\ufe0fd.md !name"}; !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, p := range []string{"memory/\ufe0fa.md", "notes/\ufe0fb/\ufe0fc.md"} {
		if l, err := s.ReadFile(p); err != nil || l.Text == "" {
			t.Errorf("%q: %v", p, err)
		}
	}
	if v, err := s.Survey(bg); err != nil || v.Text() != "3 Markdown files: 2 searched, left out: 1 file (name can't be shown 1)" {
		t.Errorf("%s, %v", v.Text(), err)
	}
}
