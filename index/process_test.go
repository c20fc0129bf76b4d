package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// A child process of these tests is this test binary, or that of the other
// driver, with work to do.
type task struct{ Root, Path, Do string }

const childEnv = "INDEX_TEST_CHILD"

func TestMain(m *testing.M) {
	if env := os.Getenv(childEnv); env != "" {
		var j task
		if err := errors.Join(json.Unmarshal([]byte(env), &j), j.run(context.Background())); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// run syncs a workspace in small transactions, and prints how many files it
// found unchanged and how many it read.
func (j task) run(ctx context.Context) error {
	open := Open
	if j.Do == "rebuild" {
		open = func(path string, o *Options) (*Index, error) { return Rebuild(ctx, path, o) }
	}
	ix, err := open(j.Path, nil)
	if err != nil {
		return err
	}
	w := &workspace{root: j.Root}
	r, err := ix.Sync(ctx, w.list(), w.read, &SyncOptions{BatchChunks: 20, Wait: time.Minute, Full: j.Do == "full"})
	if err != nil {
		return err
	}
	fmt.Println(r.Unchanged, len(w.reads))
	if j.Do == "visit" {
		if err := visit(ctx, ix); err != nil {
			return err
		}
	}
	return ix.Close()
}

func start(t testing.TB, program string, j task) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	env, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childEnv+"="+string(env))
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// many is a workspace that takes a few tenths of a second to index.
func many(t testing.TB, n int) *workspace {
	t.Helper()
	files := map[string]string{}
	rng := rand.New(rand.NewSource(3))
	for i := range n {
		var b strings.Builder
		for range 3 {
			for range 60 {
				fmt.Fprintf(&b, "word%d ", int(rng.ExpFloat64()*300))
			}
			b.WriteString("\n\n")
		}
		files[fmt.Sprintf("d%d/f%03d.md", i%7, i)] = b.String()
	}
	return newWorkspace(t, files)
}

// Two processes and this one sync one workspace at once: each file is read by
// one of them, and searching goes on meanwhile.
func TestTwoProcesses(t *testing.T) {
	w := many(t, 200)
	path := filepath.Join(t.TempDir(), "index.sqlite")
	a, aout := start(t, os.Args[0], task{w.root, path, "sync"})
	b, bout := start(t, os.Args[0], task{w.root, path, "sync"})
	ix := openAt(t, path, nil)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := ix.Search(context.Background(), Query{Text: "word1 word200", K: 5}); err != nil {
				t.Errorf("search during a sync: %v", err)
				return
			}
		}
	})
	r, err := ix.Sync(context.Background(), w.list(), w.read, &SyncOptions{Wait: time.Minute})
	for _, c := range []*exec.Cmd{a, b} {
		if werr := c.Wait(); werr != nil {
			t.Errorf("%v: %s%s", werr, aout, bout)
		}
	}
	close(stop)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	read := len(w.reads)
	for _, out := range []*strings.Builder{aout, bout} {
		var unchanged, n int
		if _, err := fmt.Sscan(out.String(), &unchanged, &n); err != nil || unchanged+n != 200 {
			t.Errorf("child said %q", out)
		}
		read += n
	}
	if read != 200 || r.Unchanged+r.Read != 200 {
		t.Errorf("%d files were read, want each of 200 once (%+v)", read, r)
	}
	checkClean(t, ix)
}

func TestLocked(t *testing.T) {
	w, path := sample(t)
	ctx := context.Background()
	ix := openAt(t, path, &Options{BusyTimeout: time.Millisecond})
	w.put(t, "f00.md", "pear\n")

	t.Run("by another sync", func(t *testing.T) {
		release, err := lock(ctx, path, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if _, err := ix.Sync(ctx, w.list(), w.read, &SyncOptions{Wait: time.Millisecond}); !errors.Is(err, ErrBusy) {
			t.Errorf("sync: %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := ix.Sync(ended, w.list(), w.read, &SyncOptions{Wait: -1}); !errors.Is(err, context.Canceled) {
			t.Errorf("sync with an ended context: %v", err)
		}
		if got := ask(t, ix, "apple"); len(got) == 0 {
			t.Error("searching is locked out by a sync")
		}
	})

	t.Run("by a foreign transaction", func(t *testing.T) {
		db, err := drv.Open(path, drv.ReadWrite, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		_, err = ix.Sync(ctx, w.list(), w.read, nil)
		var e *Error
		if !errors.Is(err, ErrBusy) || !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("sync: %v", err)
		}
		if got := ask(t, ix, "apple"); len(got) == 0 {
			t.Error("searching is locked out by a writer")
		}
		tx.Rollback()
	})
	w.sync(t, ix)
	checkClean(t, ix)
}

// A process that wrote without the lock is noticed.
func TestOvertaken(t *testing.T) {
	w, path := sample(t)
	ix := openAt(t, path, nil)
	w.put(t, "f00.md", "pear\n")
	read := func(p string) ([]Chunk, error) {
		db, err := drv.Open(path, drv.ReadWrite, time.Second)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		if _, err := db.Exec("UPDATE meta SET value=value+1 WHERE key='generation'"); err != nil {
			return nil, err
		}
		return w.read(p)
	}
	if _, err := ix.Sync(context.Background(), w.list(), read, nil); !errors.Is(err, ErrBusy) || !errors.Is(err, errOvertaken) {
		t.Errorf("err = %v", err)
	}
	if r := w.sync(t, ix); r.Changed != 1 {
		t.Errorf("%+v", r)
	}
	checkClean(t, ix)
}
