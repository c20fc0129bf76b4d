package index_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

const namespaceEnv = "INDEX_TEST_NAMESPACE"

// inNamespace runs the test once more in a child process with namespaces of its
// own, and is true there. As uid 0 the child may mount what nobody else sees;
// as any other it has no privileges, so that permission bits bind it although
// it owns what this process owns. Nothing outside the child changes.
func inNamespace(t *testing.T, uid int) bool {
	t.Helper()
	if os.Getenv(namespaceEnv) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), namespaceEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("this system gives no namespaces: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	return false
}

// disk is a file system of a given size.
func disk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// remount changes a disk.
func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
		t.Fatal(err)
	}
}

// wantError checks that an error is of a kind and names the path and, once,
// the way out.
func wantError(t *testing.T, what string, err, kind error, path, way string) {
	t.Helper()
	switch {
	case !errors.Is(err, kind):
		t.Errorf("%s: %v, want %v", what, err, kind)
	case !strings.Contains(err.Error(), path):
		t.Errorf("%s: %q does not name %s", what, err, path)
	case way != "" && strings.Count(err.Error(), way) != 1:
		t.Errorf("%s: %q says %q %d times", what, err, way, strings.Count(err.Error(), way))
	}
}

// smallFiles is how many files manyFiles makes.
const smallFiles = 60

// manyFiles are files enough to fill a small disk with their index.
func manyFiles() map[string]string {
	files := map[string]string{}
	for i := range smallFiles {
		var b strings.Builder
		for j := range 40 {
			fmt.Fprintf(&b, "- walrus number %d of pod %d, seen off buoy %d\n", j, i, i*j)
		}
		files[fmt.Sprintf("memory/%03d.md", i)] = b.String()
	}
	return files
}

// Wherever the disk fills up, the error is ErrFull, what was committed is
// whole and can be searched, and with room again the next sync does the rest.
func TestFullDisk(t *testing.T) {
	if !inNamespace(t, 0) {
		return
	}
	s := openStore(t, folder(t, manyFiles()))
	want := places(mustSearch(t, fresh(t, s), "walrus pod 57"))
	failed, partly := 0, 0
	sizes := []int{32, 192, 320, 448, 576, 704, 4096}
	for _, kib := range sizes {
		dir := disk(t, fmt.Sprintf("%dk", kib))
		path := filepath.Join(dir, "index.sqlite")
		ix, err := index.Open(path, nil)
		if err == nil {
			_, err = ix.Sync(bg, list(s), reader(s), &index.SyncOptions{BatchChunks: 20})
		}
		if err != nil {
			failed++
			wantError(t, fmt.Sprintf("%d KiB", kib), err, index.ErrFull, path, "free some space")
		}
		if ix != nil && err != nil {
			for err := range ix.Check(bg) {
				t.Errorf("%d KiB: check on the full disk: %v", kib, err)
			}
			if len(mustSearch(t, ix, "walrus")) > 0 {
				partly++
			}
		}
		remount(t, dir, 0, "size=64m")
		if ix == nil {
			ix = openIndex(t, path)
		}
		stats, err := ix.Stats(bg)
		if err != nil {
			t.Fatal(err)
		}
		if r := reindex(t, s, ix); int64(r.Unchanged) != stats.Files || r.Added != smallFiles-r.Unchanged {
			t.Errorf("%d KiB: %d files stood, then %+v", kib, stats.Files, r)
		}
		if diff := cmp.Diff(want, places(mustSearch(t, ix, "walrus pod 57"))); diff != "" {
			t.Errorf("%d KiB: %s", kib, diff)
		}
		ix.Close()
	}
	if failed < 3 || failed == len(sizes) || partly == 0 {
		t.Errorf("%d of %d disks were too small, %d of those held a part: other sizes are needed", failed, len(sizes), partly)
	}
}

// A workspace on a full disk is read, and an append that fails leaves the file
// as it was.
func TestFullDiskUnderTheWorkspace(t *testing.T) {
	if !inNamespace(t, 0) {
		return
	}
	dir := disk(t, "256k")
	write(t, filepath.Join(dir, "memory", "a.md"), "walrus\n")
	s := openStore(t, dir)
	if _, err := s.Append(bg, "memory/b.md", "e0", "makes the lock"); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	long := strings.Repeat("a line of some length\n", 400)
	for _, path := range []string{"memory/a.md", "memory/new.md"} {
		_, err := s.Append(bg, path, "e1", long)
		wantError(t, "append to "+path, err, markdownstore.ErrFull, path, "free some space")
	}
	l, err := s.ReadFile("memory/a.md")
	if err != nil || l.Text != "walrus\n" {
		t.Fatalf("%q, %v", l.Text, err)
	}
	_, err = s.Replace(bg, "memory/a.md", l.Hash, long)
	wantError(t, "replace", err, markdownstore.ErrFull, "memory/a.md", "free some space")
	if l, err := s.ReadFile("memory/a.md"); err != nil || l.Text != "walrus\n" {
		t.Errorf("%q, %v", l.Text, err)
	}
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.sqlite"))
	reindex(t, s, ix)
	if got := places(find(t, s, ix, "walrus")); !cmp.Equal(got, []string{"memory/a.md:1"}) {
		t.Errorf("found %v", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Append(bg, "memory/a.md", "e1", long); err != nil || a.Existed {
		t.Errorf("with room again: %+v, %v", a, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "memory", ".mk*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A file system that is mounted for reading, which binds root too.
func TestReadOnlyDisk(t *testing.T) {
	if !inNamespace(t, 0) {
		return
	}
	dir := disk(t, "8m")
	write(t, filepath.Join(dir, "memory", "a.md"), "walrus\n")
	path := filepath.Join(dir, "index.sqlite")
	s := openStore(t, dir)
	ix, err := index.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	reindex(t, s, ix)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(bg, "memory/a.md", "e1", "before"); err != nil {
		t.Fatal(err)
	}
	remount(t, dir, syscall.MS_RDONLY, "")
	cannotWrite(t, s, path, syscall.EROFS)
}

// A folder without permission to write, for a process without privileges.
func TestReadOnlyFolderWithoutPrivileges(t *testing.T) {
	if !inNamespace(t, 1000) {
		return
	}
	dir := folder(t, map[string]string{"memory/a.md": "walrus\n"})
	path := filepath.Join(dir, "index.sqlite")
	s := openStore(t, dir)
	ix, err := index.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	reindex(t, s, ix)
	if err := errors.Join(ix.Close(), os.Chmod(path, 0o444)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Join(dir, "memory"), dir} {
		if err := os.Chmod(d, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(d, 0o755) })
	}
	if err := os.WriteFile(filepath.Join(dir, "probe"), nil, 0o644); err == nil {
		t.Skip("permission bits don't bind this process")
	}
	cannotWrite(t, s, path, os.ErrPermission)
}

// cannotWrite wants a workspace and an index that are searched and read, and
// whose writers get an error with the system's own cause.
func cannotWrite(t *testing.T, s *markdownstore.Store, path string, cause error) {
	t.Helper()
	ro, err := index.Open(path, &index.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if got := find(t, s, ro, "walrus"); len(got) != 1 {
		t.Errorf("found %v", places(got))
	}
	_, err = s.Append(bg, "memory/new.md", "e2", "x")
	wantError(t, "append", err, cause, "memory/new.md", "")
	wantError(t, "append", err, markdownstore.ErrReadOnly, "memory/new.md", "make the workspace writable")
	_, err = s.Append(bg, "memory/a.md", "e2", "x")
	wantError(t, "append to a file", err, markdownstore.ErrReadOnly, "memory/a.md", "make the workspace writable")
	l, err := s.ReadFile("memory/a.md")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Replace(bg, "memory/a.md", l.Hash, "x")
	wantError(t, "replace", err, markdownstore.ErrReadOnly, "memory/a.md", "make the workspace writable")
	if now, err := s.ReadFile("memory/a.md"); err != nil || now.Text != l.Text {
		t.Errorf("%q became %q, %v", l.Text, now.Text, err)
	}
	rw, err := index.Open(path, nil)
	if err == nil {
		_, err = rw.Sync(bg, list(s), reader(s), &index.SyncOptions{Full: true})
		rw.Close()
	}
	wantError(t, "sync", err, index.ErrReadOnly, path, "make the folder writable")
	_, err = index.Open(filepath.Join(filepath.Dir(path), "other.sqlite"), nil)
	wantError(t, "a new index", err, cause, "other.sqlite", "")
	wantError(t, "a new index", err, index.ErrReadOnly, "other.sqlite", "make the folder writable")
}

// What may not be read is named, and what the index held of it is kept.
func TestUnreadable(t *testing.T) {
	if !inNamespace(t, 1000) {
		return
	}
	dir := folder(t, map[string]string{"memory/a.md": "walrus\n", "memory/deep/b.md": "otter\n", "memory/c.md": "seal\n"})
	s, ix := both(t, dir)
	reindex(t, s, ix)
	closed := []string{filepath.Join(dir, "memory", "a.md"), filepath.Join(dir, "memory", "deep")}
	write(t, closed[0], "walrus, changed\n")
	for _, p := range closed {
		fi, err := os.Stat(p)
		if err == nil {
			err = os.Chmod(p, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(p, fi.Mode()) })
	}
	r := reindex(t, s, ix)
	named := []string{}
	for _, f := range r.Failed {
		wantError(t, "unreadable", f, os.ErrPermission, f.Path, "")
		named = append(named, f.Path)
	}
	slices.Sort(named)
	if diff := cmp.Diff([]string{"memory/a.md", "memory/deep"}, named); diff != "" {
		t.Errorf("named (-want +got):\n%s", diff)
	}
	if got := places(mustSearch(t, ix, "walrus otter")); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	if _, err := s.Read("memory/a.md", 0, 0); !errors.Is(err, os.ErrPermission) {
		t.Errorf("read: %v", err)
	}
}
