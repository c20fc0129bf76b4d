package watch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// fake is a system's watcher that reports what the test sends.
type fake struct {
	mu     sync.Mutex
	added  []string
	refuse func(dir string) error
	e      chan fsnotify.Event
	err    chan error
	closed bool
}

func (f *fake) Add(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		if err := f.refuse(dir); err != nil {
			return err
		}
	}
	f.added = append(f.added, dir)
	return nil
}
func (f *fake) Close() error            { f.closed = true; return nil }
func (f *fake) open() (notifier, error) { return notifier{f.Add, f.Close, f.e, f.err}, nil }

func (f *fake) has(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.added {
		if d == dir {
			return true
		}
	}
	return false
}

func open(t *testing.T, root string, refuse func(string) error) (*watcher, *fake) {
	t.Helper()
	f := &fake{e: make(chan fsnotify.Event), err: make(chan error), refuse: refuse}
	w, err := Open(Options{Tree: Tree{Root: root,
		Skip: func(dir string) bool {
			return !strings.HasPrefix(dir+"/", "memory/") || strings.HasPrefix(filepath.Base(dir), ".")
		},
		Relevant: func(p string) bool { return strings.HasSuffix(p, ".md") }}, Debounce: time.Second,
		open: f.open})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, f
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDebounce(t *testing.T) { synctest.Test(t, testDebounce) }

func testDebounce(t *testing.T) {
	root := t.TempDir()
	w, f := open(t, root, nil)
	file := filepath.Join(root, "MEMORY.md")
	told := func() bool {
		synctest.Wait()
		select {
		case <-w.Changed():
			return true
		default:
			return false
		}
	}
	f.e <- fsnotify.Event{Name: filepath.Join(root, "main.go"), Op: fsnotify.Write}
	f.e <- fsnotify.Event{Name: file, Op: fsnotify.Chmod}
	if time.Sleep(time.Hour); told() {
		t.Fatal("told of what does not matter")
	}
	f.e <- fsnotify.Event{Name: file, Op: fsnotify.Write}
	time.Sleep(900 * time.Millisecond)
	// Another change puts it off: the first timer no longer counts.
	f.e <- fsnotify.Event{Name: file, Op: fsnotify.Rename}
	if time.Sleep(999 * time.Millisecond); told() {
		t.Fatal("told before it had settled")
	}
	if time.Sleep(time.Millisecond); !told() {
		t.Fatal("not told after a second")
	}
	if time.Sleep(time.Hour); told() {
		t.Fatal("told twice")
	}
	// Changes that never end are reported all the same.
	began := time.Now()
	for !told() {
		f.e <- fsnotify.Event{Name: file, Op: fsnotify.Write}
		time.Sleep(500 * time.Millisecond)
	}
	if took := time.Since(began); took != maxDelay*time.Second {
		t.Errorf("told after %v", took)
	}
}

func TestNewFolders(t *testing.T) { synctest.Test(t, testNewFolders) }

func testNewFolders(t *testing.T) {
	root := t.TempDir()
	w, f := open(t, root, nil)
	tell := func(op fsnotify.Op, path string) {
		f.e <- fsnotify.Event{Name: path, Op: op}
		synctest.Wait()
	}
	deep := mkdir(t, filepath.Join(root, "memory", "a", "b"))
	hidden := mkdir(t, filepath.Join(root, "memory", ".git"))
	tell(fsnotify.Create, filepath.Join(root, "memory"))
	if !f.has(deep) || f.has(hidden) {
		t.Errorf("watched: %v", f.added)
	}
	tell(fsnotify.Remove, deep)
	if n, _ := w.State(); n != 3 {
		t.Errorf("%d folders are watched, want root, memory, memory/a", n)
	}
	f.e <- fsnotify.Event{Name: mkdir(t, filepath.Join(root, "src")), Op: fsnotify.Create}
	tell(fsnotify.Create, deep) // it came back
	if n, err := w.State(); n != 4 || err != nil || f.has(filepath.Join(root, "src")) {
		t.Errorf("%d folders, %v: %v", n, err, f.added)
	}
}

func TestOverflow(t *testing.T) { synctest.Test(t, testOverflow) }

func testOverflow(t *testing.T) {
	root := t.TempDir()
	w, f := open(t, root, nil)
	unseen := mkdir(t, filepath.Join(root, "memory", "unseen"))
	f.err <- fsnotify.ErrEventOverflow
	<-w.Changed()
	if !f.has(unseen) {
		t.Error("a folder whose event was dropped is not watched")
	}
	if _, err := w.State(); err != nil {
		t.Errorf("an overflow is made good by a look: %v", err)
	}
}

func TestTooManyFolders(t *testing.T) {
	root := t.TempDir()
	mkdir(t, filepath.Join(root, "memory", "a"))
	mkdir(t, filepath.Join(root, "memory", "b"))
	n := 0
	w, _ := open(t, root, func(string) error {
		if n++; n > 2 {
			return syscall.ENOSPC
		}
		return nil
	})
	folders, err := w.State()
	if folders != 2 || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "1 folders more") {
		t.Errorf("%d %v", folders, err)
	}
	if runtime.GOOS == "linux" && !strings.Contains(err.Error(), "max_user_watches") {
		t.Errorf("no way out in %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(Options{Tree: Tree{Root: filepath.Join(t.TempDir(), "gone")}}); err == nil {
		t.Error("a root that is not there is watched")
	}
	no := errors.New("no watches here")
	if _, err := Open(Options{Tree: Tree{Root: t.TempDir()}, open: func() (notifier, error) { return notifier{}, no }}); !errors.Is(err, no) {
		t.Errorf("%v", err)
	}
}

// The system's own watcher sees files that are written, replaced by a rename, and in
// folders that came later. The test waits for each, as long as it takes.
func TestSystem(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(Options{Tree: Tree{Root: root}, Debounce: time.Millisecond})
	if err != nil {
		t.Skipf("this system can't watch: %v", err)
	}
	defer w.Close()
	seen := func(what string) {
		t.Helper()
		select {
		case <-w.Changed():
		case <-time.After(time.Minute):
			t.Fatalf("%s: no change was told in a minute", what)
		}
	}
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	memory := filepath.Join(root, "MEMORY.md")
	write(memory)
	seen("a new file")
	write(memory + "~")
	seen("a file beside it")
	if err := os.Rename(memory+"~", memory); err != nil {
		t.Fatal(err)
	}
	seen("a rename over it")
	mkdir(t, filepath.Join(root, "memory", "deep"))
	seen("a new folder")
}

// A whole folder is watched but for what Skip leaves out, and so are others beside it.
func TestWholeTrees(t *testing.T) {
	root, beside := t.TempDir(), t.TempDir()
	mkdir(t, filepath.Join(root, "a", "b"))
	mkdir(t, filepath.Join(root, "node_modules", "x"))
	mkdir(t, filepath.Join(beside, "c"))
	f := &fake{e: make(chan fsnotify.Event), err: make(chan error)}
	tree := func(dir string) Tree {
		return Tree{Root: dir, Skip: func(dir string) bool { return strings.HasPrefix(dir, "node_modules") },
			Relevant: func(p string) bool { return strings.HasSuffix(p, ".md") }}
	}
	w, err := Open(Options{Tree: tree(root), Also: []Tree{tree(beside)}, Debounce: time.Second, open: f.open})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if n, err := w.State(); n != 5 || err != nil {
		t.Errorf("%d folders are watched, %v", n, err)
	}
	for name, want := range map[string]bool{filepath.Join(root, "a", "b", "x.md"): true, filepath.Join(beside, "c", "x.md"): true, filepath.Join(beside, "c", "x.go"): false,
		filepath.Join(filepath.Dir(root), "x.md"): false} {
		if got := w.event(fsnotify.Event{Name: name, Op: fsnotify.Write}); got != want {
			t.Errorf("%s matters: %v", name, got)
		}
	}
	for name, want := range map[string]bool{filepath.Join(root, "a", "new"): true, filepath.Join(root, "node_modules", "new"): false} {
		mkdir(t, name)
		if got := w.event(fsnotify.Event{Name: name, Op: fsnotify.Create}); got != want {
			t.Errorf("the folder %s matters: %v", name, got)
		}
	}
}
