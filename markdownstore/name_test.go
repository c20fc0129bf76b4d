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
				if !errors.As(err, &d) || d.Reason != DenyName {
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
