package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// A child process of these tests is this test binary with work to do.
const childEnv = "INDEX_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		root, path, _ := strings.Cut(job, "|")
		if err := child(root, path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child syncs a workspace in small transactions, and prints how many files it
// found unchanged and how many it read.
func child(root, path string) error {
	ix, err := Open(path, nil)
	if err != nil {
		return err
	}
	w := &workspace{root: root}
	r, err := ix.Sync(context.Background(), w.list(), w.read, &SyncOptions{BatchChunks: 20, Wait: time.Minute})
	if err != nil {
		return err
	}
	fmt.Println(r.Unchanged, len(w.reads))
	return ix.Close()
}

func start(t testing.TB, w *workspace, path string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+w.root+"|"+path)
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

// However a sync is killed, the index is whole, and the next sync does the rest
// only. MEMKERNEL_KILLS=100 kills more often.
func TestKill(t *testing.T) {
	kills := 10
	if n, err := strconv.Atoi(os.Getenv("MEMKERNEL_KILLS")); err == nil {
		kills = n
	}
	w := many(t, 300)
	rng := rand.New(rand.NewSource(time.Now().UnixNano()))
	dir := t.TempDir()
	// How long does it take undisturbed?
	began := time.Now()
	cmd, out := start(t, w, filepath.Join(dir, "whole.sqlite"))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(began)
	good := openAt(t, filepath.Join(dir, "whole.sqlite"), nil)
	want := scored(ask(t, good, "word1 word200 word700"))
	partly := 0
	for i := range kills {
		path := filepath.Join(dir, fmt.Sprintf("%d.sqlite", i))
		cmd, out := start(t, w, path)
		timer := time.AfterFunc(time.Duration(rng.Int63n(int64(whole))), func() { cmd.Process.Kill() })
		cmd.Wait()
		timer.Stop()
		ix, err := Open(path, nil)
		if err != nil {
			t.Fatalf("after a kill: %v (child: %s)", err, out)
		}
		t.Log("after kill", i)
		checkClean(t, ix)
		s, err := ix.Stats(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if s.Files > 0 && s.Files < 300 {
			partly++
		}
		if r := w.sync(t, ix); r.Unchanged != int(s.Files) || len(w.reads) != 300-int(s.Files) {
			t.Errorf("%d files stood after the kill; the rerun read %d and left %d alone", s.Files, len(w.reads), r.Unchanged)
		}
		t.Log("after rerun", i, s.Files)
		checkClean(t, ix)
		if diff := cmp.Diff(want, scored(ask(t, ix, "word1 word200 word700"))); diff != "" {
			t.Errorf("other answers after a kill:\n%s", diff)
		}
		ix.Close()
		os.Remove(path)
	}
	t.Logf("%d of %d kills struck between two transactions", partly, kills)
}

// Two processes and this one sync one workspace at once: each file is read by
// one of them, and searching goes on meanwhile.
func TestTwoProcesses(t *testing.T) {
	w := many(t, 200)
	path := filepath.Join(t.TempDir(), "index.sqlite")
	a, aout := start(t, w, path)
	b, bout := start(t, w, path)
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
