package index

import (
	"context"
	"fmt"
	"github.com/memkernel/memkernel/internal/suite"
	"testing"
)

// A sync of ten thousand files of which none has changed opens none.
func TestNoopOpensNothing(t *testing.T) {
	n := suite.Pick(2000, 10_000)
	opened := 0
	read := func(p string) ([]Chunk, error) {
		opened++
		return []Chunk{{Text: p, StartLine: 1, EndLine: 1}}, nil
	}
	changed := ""
	source := func(yield func(FileStat, error) bool) {
		for i := range n {
			f := FileStat{Path: fmt.Sprintf("%02d/%05d.md", i/200, i), Size: 8, ModTime: old}
			if f.Path == changed {
				f.Size++
			}
			if !yield(f, nil) {
				return
			}
		}
	}
	ix := openNew(t)
	for _, c := range []struct {
		changed string
		opens   int
	}{{"", n}, {"", 0}, {"03/00700.md", 1}, {"03/00700.md", 0}} {
		opened, changed = 0, c.changed
		if r, err := ix.Sync(context.Background(), source, read, nil); err != nil || opened != c.opens || r.Unchanged != n-c.opens {
			t.Errorf("opened %d files, want %d: %+v, %v", opened, c.opens, r, err)
		}
	}
}

// A large sync merges word lists seldom; afterwards, also if it was cut short,
// they are merged as often as searches need it.
func TestMergesSeldomOnlyInBulk(t *testing.T) {
	ctx := context.Background()
	w := many(t, 30)
	ix := openNew(t)
	automerge := func() (n int) {
		t.Helper()
		if err := ix.door.cur.write.QueryRow("SELECT v FROM chunks_fts_config WHERE k='automerge'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, cancel := context.WithCancel(ctx)
	source := func(yield func(FileStat, error) bool) {
		for f := range w.list() {
			if f.Size = manyBytes; !yield(f, nil) {
				return
			}
		}
	}
	if _, err := ix.Sync(ctx, source, w.read, &SyncOptions{BatchChunks: 10, Progress: func(Progress) { cancel() }}); err == nil {
		t.Fatal("the sync was not cut short")
	}
	if n := automerge(); n != mergeMany {
		t.Errorf("in a large sync, %d segments are merged into one, want %d", n, mergeMany)
	}
	w.sync(t, ix)
	if n := automerge(); n != mergeFew {
		t.Errorf("after a sync, %d segments are merged into one, want %d", n, mergeFew)
	}
	checkClean(t, ix)
}

// A large sync leaves word lists in few segments, each of which costs a question a read
// for each of its words; one that was cut short leaves that to the next.
func TestMergesAtTheEndOfBulk(t *testing.T) {
	ctx := context.Background()
	w := many(t, 30)
	ix := openNew(t)
	source := func(yield func(FileStat, error) bool) {
		for f := range w.list() {
			if f.Size = manyBytes; !yield(f, nil) {
				return
			}
		}
	}
	segments := func() (n int) {
		t.Helper()
		if err := ix.door.cur.write.QueryRow("SELECT count(DISTINCT segid) FROM chunks_fts_idx").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	cut, cancel := context.WithCancel(ctx)
	batches := 0
	stop := func(Progress) {
		if batches++; batches == 10 {
			cancel()
		}
	}
	if _, err := ix.Sync(cut, source, w.read, &SyncOptions{BatchChunks: 1, Progress: stop}); err == nil {
		t.Fatal("the sync was not cut short")
	}
	if n := segments(); n < 2*mergeFew {
		t.Fatalf("%d segments after ten transactions: this test shows nothing", n)
	}
	if _, err := ix.Sync(ctx, source, w.read, &SyncOptions{BatchChunks: 1}); err != nil {
		t.Fatal(err)
	}
	if n := segments(); n >= mergeFew {
		t.Errorf("%d segments after a large sync", n)
	}
	checkClean(t, ix)
}
