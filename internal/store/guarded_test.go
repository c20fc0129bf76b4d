package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("no symbolic links here")
	}
}

// Every door refuses a link, as the file and as a folder above it, wherever it leads,
// and something that is no file; what the link leads to stays as it was.
func TestLinksAreRefused(t *testing.T) {
	for name, lay := range map[string]func(dir, out string){
		"file out":    func(dir, out string) { link(t, filepath.Join(out, "f"), filepath.Join(dir, "a", "f")) },
		"file within": func(dir, out string) { link(t, "g", filepath.Join(dir, "a", "f")) },
		"dangling":    func(dir, out string) { link(t, filepath.Join(out, "new"), filepath.Join(dir, "a", "f")) },
		"folder": func(dir, out string) {
			os.RemoveAll(filepath.Join(dir, "a"))
			link(t, out, filepath.Join(dir, "a"))
		},
		"folder within": func(dir, out string) {
			os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b"))
			os.WriteFile(filepath.Join(dir, "b", "f"), []byte("kept"), 0o600)
			link(t, "b", filepath.Join(dir, "a"))
		},
		"a folder": func(dir, out string) { os.Mkdir(filepath.Join(dir, "a", "f"), 0o700) },
	} {
		dir, out := t.TempDir(), t.TempDir()
		os.Mkdir(filepath.Join(dir, "a"), 0o700)
		os.WriteFile(filepath.Join(dir, "a", "g"), []byte("kept"), 0o600)
		os.WriteFile(filepath.Join(out, "f"), []byte("kept"), 0o600)
		lay(dir, out)
		d := Files(filepath.Join(dir, ".")).In("a").(files)
		for door, open := range map[string]func() error{
			"open":   func() error { _, err := d.Open("f"); return err },
			"patch":  func() error { return d.Patch("f", 0, []byte("new"), true) },
			"read":   func() error { _, err := d.Get("f"); return err },
			"append": func() error { _, err := d.Journal("f"); return err },
			"write":  func() error { _, err := d.Put(Synced, Doc{"f", []byte("new")}); return err },
			"rename": func() error { return d.Move(Synced, "g", "f") },
		} {
			err := open()
			if name == "a folder" {
				if err == nil {
					t.Errorf("%s, %s: a folder was taken for a file", name, door)
				}
				continue
			}
			if !Foreign(err) {
				t.Errorf("%s, %s: %v", name, door, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(out, "new")); err == nil {
			t.Errorf("%s: the target was made", name)
		}
		if b, _ := os.ReadFile(filepath.Join(out, "f")); string(b) != "kept" {
			t.Errorf("%s: the target says %q", name, b)
		}
	}
}

// The folders above a state directory are the user's, and may be links.
func TestBaseMayBeBehindALink(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "real"), 0o700)
	link(t, "real", filepath.Join(dir, "l"))
	d := Files(filepath.Join(dir, "l"))
	if _, err := d.Put(Synced, Doc{"f", []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if b, err := d.Get("f"); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
}

// A name never leads out of the folder, and a file that is not there is named by its
// whole path.
func TestNames(t *testing.T) {
	d := Files(t.TempDir())
	for _, name := range []string{"../f", "a/../../f", "/etc/hosts"} {
		if _, err := d.Get(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	_, err := d.In("a/b").Get("c")
	var pe *fs.PathError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &pe) || pe.Path != d.Where("a/b/c") {
		t.Errorf("%v", err)
	}
}

// A file that has another name is appended to under ours only.
func TestOwnInode(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	os.WriteFile(other, []byte("old\n"), 0o640)
	if err := os.Link(other, filepath.Join(dir, "log")); err != nil {
		t.Skip("no hard links here")
	}
	f, err := Files(dir).Journal("log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Append(4, []byte("new\n"), false); err != nil {
		t.Fatal(err)
	}
	was, _ := os.ReadFile(other)
	now, _ := os.ReadFile(filepath.Join(dir, "log"))
	if string(was) != "old\n" || string(now) != "old\nnew\n" {
		t.Errorf("the other name says %q, ours %q", was, now)
	}
}
