package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// record installs a hook that notes every operation with temps as "TMP" and
// paths relative to dir, and fails operation number fail (-1: none).
func record(t *testing.T, dir string, fail int) *[]string {
	t.Helper()
	var ops []string
	t.Cleanup(SetHook(func(op, path string) error {
		name, _ := filepath.Rel(dir, path)
		if IsTemp(filepath.Base(path)) {
			name = filepath.Join(filepath.Dir(name), "TMP")
		}
		ops = append(ops, op+" "+filepath.ToSlash(name))
		if len(ops)-1 == fail {
			return &PartialWrite{N: 2, Err: syscall.ENOSPC}
		}
		return nil
	}))
	return &ops
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	return names
}

func TestWriteFileOrder(t *testing.T) {
	dir := t.TempDir()
	ops := record(t, dir, -1)
	if err := WriteFile(filepath.Join(dir, "a"), []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	want := []string{"create TMP", "write TMP", "sync TMP", "rename a", "syncdir ."}
	if diff := cmp.Diff(want, *ops); diff != "" {
		t.Error(diff)
	}
	if fi, err := os.Stat(filepath.Join(dir, "a")); err != nil || (runtime.GOOS != "windows" && fi.Mode() != 0o640) {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

func TestWriteFileFailsWithoutTrace(t *testing.T) {
	for n := range 5 {
		dir := t.TempDir()
		path := filepath.Join(dir, "a")
		os.WriteFile(path, []byte("old"), 0o600)
		ops := record(t, dir, n)
		err := WriteFile(path, []byte("new content"), 0o600)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v: err = %v", *ops, err)
		}
		if diff := cmp.Diff([]string{"a"}, files(t, dir)); diff != "" {
			t.Errorf("%v: %s", *ops, diff)
		}
		want := "old"
		if n == 4 { // the new name is there, only its durability is unknown
			want = "new content"
		}
		if b, _ := os.ReadFile(path); string(b) != want {
			t.Errorf("%v: content %q", *ops, b)
		}
	}
}

func TestWriteFileReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o500)
	if err := WriteFile(filepath.Join(dir, "a"), nil, 0o600); !errors.Is(err, os.ErrPermission) {
		t.Errorf("err = %v", err)
	}
}

func TestMkdirAllOrder(t *testing.T) {
	dir := t.TempDir()
	ops := record(t, dir, -1)
	if _, err := MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := []string{"mkdir a", "syncdir .", "mkdir a/b", "syncdir a"}
	if diff := cmp.Diff(want, *ops); diff != "" {
		t.Error(diff)
	}
	*ops = nil
	if _, err := MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil || len(*ops) != 0 {
		t.Errorf("again: %v, %v", *ops, err)
	}
	os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)
	if _, err := MkdirAll(filepath.Join(dir, "f"), 0o700); err == nil {
		t.Error("a file in the way is no error")
	}
}

// group writes n files in two folders of a folder.
func group(dir string, n int) (Stats, error) {
	var out []File
	for i := range n {
		out = append(out, File{filepath.Join(dir, fmt.Sprintf("d%d", i%2), fmt.Sprint(i)), []byte("data")})
	}
	return WriteGroup(dir, out, 0o600, map[string]bool{})
}

func TestGroupOrder(t *testing.T) {
	dir := t.TempDir()
	ops := record(t, dir, -1)
	st, err := group(dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"create TMP", "write TMP", "create TMP", "write TMP", "sync TMP", "sync TMP",
		"rename d0/0", "mkdir d0", "rename d0/0", "rename d1/1", "mkdir d1", "rename d1/1",
		"syncdir .", "syncdir d0", "syncdir d1"}
	if diff := cmp.Diff(want, *ops); diff != "" {
		t.Error(diff)
	}
	if st.Files != 2 || st.Bytes != 8 || (runtime.GOOS != "windows" && st.Syncs != 5) {
		t.Errorf("stats %+v", st)
	}
}

// A large group syncs all content before the first rename, and every directory
// after the last.
func TestLargeGroupOrder(t *testing.T) {
	dir := t.TempDir()
	ops := record(t, dir, -1)
	if _, err := group(dir, 100); err != nil {
		t.Fatal(err)
	}
	lastSync, firstRename, lastRename, firstDir := -1, -1, -1, -1
	syncs := 0
	for i, op := range *ops {
		switch kind, _, _ := strings.Cut(op, " "); kind {
		case "sync", "syncfs":
			syncs++
			lastSync = i
		case "rename":
			if firstRename < 0 {
				firstRename = i
			}
			lastRename = i
		case "syncdir":
			if firstDir < 0 {
				firstDir = i
			}
		}
	}
	if !(lastSync < firstRename && lastRename < firstDir) {
		t.Errorf("order: last sync %d, renames %d to %d, first syncdir %d", lastSync, firstRename, lastRename, firstDir)
	}
	if haveSyncFS && syncs != 1 {
		t.Errorf("%d syncs for 100 files", syncs)
	}
	if n := len(files(t, dir)); n != 100 {
		t.Errorf("%d files", n)
	}
}

func TestGroupWithoutSyncFS(t *testing.T) {
	if !haveSyncFS {
		t.Skip("no syncfs on this system")
	}
	dir := t.TempDir()
	syncs := 0
	t.Cleanup(SetHook(func(op, path string) error {
		switch op {
		case "syncfs":
			return syscall.ENOSYS
		case "sync":
			syncs++
		}
		return nil
	}))
	if _, err := group(dir, 20); err != nil || syncs != 20 {
		t.Errorf("%d syncs, %v", syncs, err)
	}
}

func TestGroupFailsWithoutLitter(t *testing.T) {
	for _, size := range []int{3, 20} {
		for n := 0; ; n++ {
			dir := t.TempDir()
			ops := record(t, dir, n)
			var group []File
			for i := range size {
				group = append(group, File{filepath.Join(dir, "d", fmt.Sprint(i)), []byte("data")})
			}
			_, err := WriteGroup(dir, group, 0o600, map[string]bool{})
			if len(*ops) <= n {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("op %d %s: err = %v", n, (*ops)[n], err)
			}
			for _, f := range files(t, dir) {
				if b, _ := os.ReadFile(filepath.Join(dir, f)); IsTemp(filepath.Base(f)) || string(b) != "data" {
					t.Errorf("op %d %s: left %s %q", n, (*ops)[n], f, b)
				}
			}
		}
	}
}

func TestAppendTakesBackWhatFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := OpenAppend(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Append(f, 0, []byte("one\n"), true); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		restore := SetHook(func(op, _ string) error {
			if n--; n == -1 {
				return &PartialWrite{N: 2, Err: syscall.ENOSPC}
			}
			return nil
		})
		_, err := Append(f, 4, []byte("two\n"), true)
		restore()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("err = %v", err)
		}
		if b, _ := os.ReadFile(path); string(b) != "one\n" {
			t.Errorf("content %q", b)
		}
	}
	restore := SetHook(func(op, _ string) error { return &PartialWrite{N: 2, Err: syscall.EIO} })
	_, err = Append(f, 4, []byte("two\n"), true)
	restore()
	if !errors.Is(err, ErrTorn) || !strings.Contains(err.Error(), "cut back to byte 4") || !errors.Is(err, syscall.EIO) {
		t.Errorf("err = %v", err)
	}
}

func TestCleanTemps(t *testing.T) {
	dir := t.TempDir()
	me := process()
	names := map[string]bool{ // name -> is litter
		tempPrefix + "999999999-aaaaaaaa-" + me.host + "-1" + tempSuffix:              true,
		fmt.Sprint(tempPrefix, me.pid, "-bbbbbbbb-", me.host, "-1", tempSuffix):       true,
		fmt.Sprint(tempPrefix, me.pid, "-", me.nonce, "-", me.host, "-1", tempSuffix): false,
		fmt.Sprint(tempPrefix, os.Getppid(), "-cccccccc-", me.host, "-1", tempSuffix): false,
		tempPrefix + "1-dddddddd-00000000-1" + tempSuffix:                             false, // another host, young
		tempPrefix + "what" + tempSuffix:                                              false,
		"file":                                                                        false,
	}
	for n := range names {
		os.WriteFile(filepath.Join(dir, n), nil, 0o600)
	}
	if err := CleanTemps(dir); err != nil {
		t.Error(err)
	}
	for n, litter := range names {
		if _, err := os.Stat(filepath.Join(dir, n)); (err != nil) != litter {
			t.Errorf("%s: litter %v, stat %v", n, litter, err)
		}
	}
	if err := CleanTemps(filepath.Join(dir, "none")); err != nil {
		t.Errorf("missing directory: %v", err)
	}
}

func BenchmarkGroup(b *testing.B) {
	for _, n := range []int{1, 4, 8, 9, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			data := make([]byte, 2048)
			gen := 0
			for b.Loop() {
				gen++
				var group []File
				for i := range n {
					group = append(group, File{filepath.Join(dir, fmt.Sprint(gen, "-", i)), data})
				}
				if _, err := WriteGroup(dir, group, 0o600, map[string]bool{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
