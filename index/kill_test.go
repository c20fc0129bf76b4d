package index

import (
	"cmp"
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/suite"
)

// killFiles is the size of the workspace that is indexed while it is killed.
var killFiles = suite.Pick(120, 300)

// victim is a kind of reindex, to be killed.
type victim struct {
	do string
	// from is the index that it starts with, "" for none, with cached vectors
	// in it.
	from   string
	cached int64
	// whole is how long it takes undisturbed.
	whole time.Duration
}

// However a reindex is killed, be it the first, one that reads everything
// again, or a rebuild, the index is whole and keeps its vectors, and the next
// sync reads no file that was committed.
func TestKill(t *testing.T) {
	kills := suite.Number(t, "MEMKERNEL_KILLS", 3, 100)
	w := many(t, killFiles)
	good := openNew(t)
	w.sync(t, good)
	want := scored(ask(t, good, killQuestion))
	from, cached := outdated(t, w)
	victims := []*victim{{do: "sync"}, {do: "full", from: from, cached: cached}, {do: "rebuild", from: from, cached: cached}}
	for _, v := range victims {
		v.whole = v.strike(t, w, filepath.Join(t.TempDir(), "i.sqlite"), time.Minute)
	}
	rng, partly := rand.New(rand.NewSource(time.Now().UnixNano())), map[string]int{}
	for i := range kills {
		v := victims[i%len(victims)]
		path := filepath.Join(t.TempDir(), "i.sqlite")
		v.strike(t, w, path, time.Duration(rng.Int63n(int64(v.whole))))
		if n := v.recover(t, w, path, want); n > 0 && n < killFiles {
			partly[v.do]++
		}
		if t.Failed() {
			t.Fatalf("after kill %d, of a %s", i, v.do)
		}
	}
	t.Logf("of %d kills, these struck between two transactions: %v", kills, partly)
}

const killQuestion = "word1 word200 word700"

// outdated is an index of other texts of the same files, with vectors.
func outdated(t *testing.T, w *workspace) (path string, cached int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "outdated.sqlite")
	ix := openAt(t, path, nil)
	_, err := ix.Sync(context.Background(), w.list(), func(p string) ([]Chunk, error) {
		chunks, err := w.read(p)
		for i := range chunks {
			chunks[i].Text = "outdated " + chunks[i].Text
		}
		return chunks, err
	}, nil)
	if err == nil {
		err = putLetters(context.Background(), ix)
	}
	s, serr := ix.Stats(context.Background())
	if err := cmp.Or(err, serr, ix.Close()); err != nil {
		t.Fatal(err)
	}
	return path, s.Cached
}

// strike starts the reindex and kills it after a while; it returns how long it
// lived.
func (v *victim) strike(t *testing.T, w *workspace, path string, after time.Duration) time.Duration {
	t.Helper()
	if v.from != "" {
		copyFile(t, v.from, path)
	}
	began := time.Now()
	cmd, out := start(t, os.Args[0], task{w.root, path, v.do})
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if timer.Stop() && err != nil {
		t.Fatalf("%s: %v: %s", v.do, err, out)
	}
	return time.Since(began)
}

// recover looks at what is left, lets a sync do the rest, and returns how many
// files had been done.
func (v *victim) recover(t *testing.T, w *workspace, path string, want []string) int {
	t.Helper()
	ix := openAt(t, path, nil)
	defer ix.Close()
	checkClean(t, ix)
	done := committed(t, ix)
	w.sync(t, ix)
	again := slices.DeleteFunc(slices.Clone(w.reads), func(p string) bool { return !slices.Contains(done, p) })
	if len(again) > 0 || len(w.reads)+len(done) != killFiles {
		t.Errorf("%d files were committed, %d read by the rerun, of them again %v", len(done), len(w.reads), again)
	}
	// A full sync of all files ends by dropping the vectors of texts that are gone.
	if s, err := ix.Stats(context.Background()); err != nil || s.Cached != v.cached && (s.Cached > 0 || len(done) < killFiles) {
		t.Errorf("%d of %d vectors are left, %v", s.Cached, v.cached, err)
	}
	if v.do != "sync" { // which may have been killed before it had begun
		if _, err := ix.Sync(context.Background(), w.list(), w.read, &SyncOptions{Full: true}); err != nil {
			t.Error(err)
		}
	}
	checkClean(t, ix)
	if diff := gocmp.Diff(want, scored(ask(t, ix, killQuestion))); diff != "" {
		t.Errorf("other answers after a kill:\n%s", diff)
	}
	return len(done)
}

// committed lists the files that need not be read again.
func committed(t *testing.T, ix *Index) (out []string) {
	t.Helper()
	files, err := readFiles(context.Background(), ix.door.cur.read)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !f.again {
			out = append(out, f.path)
		}
	}
	return out
}
