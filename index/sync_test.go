package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// counts compares reports without times and sizes.
var counts = cmpopts.IgnoreFields(SyncReport{}, "Bytes", "ChunkBytes", "Elapsed")

func TestSyncSteps(t *testing.T) {
	w := newWorkspace(t, map[string]string{
		"MEMORY.md":            "# Facts\n\nThe server is called borealis.\n\nBackups run at three.\n",
		"memory/2026-03-01.md": "Met with Ana about the budget.\n",
		"memory/empty.md":      "",
	})
	ix := openNew(t)
	check := func(name string, reads []string, want SyncReport) {
		t.Helper()
		got := w.sync(t, ix)
		if diff := cmp.Diff(want, got, counts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(reads, w.reads); diff != "" {
			t.Errorf("%s: files read (-want +got):\n%s", name, diff)
		}
		checkClean(t, ix)
		if behind, err := ix.Lag(context.Background(), w.list()); err != nil || !behind.Zero() {
			t.Errorf("%s: behind = %v, %v right after a sync", name, behind, err)
		}
	}
	check("first", []string{"MEMORY.md", "memory/2026-03-01.md", "memory/empty.md"},
		SyncReport{Files: 3, Added: 3, Read: 3, ChunksAdded: 3})
	check("nothing changed", nil, SyncReport{Files: 3, Unchanged: 3})

	w.put(t, "MEMORY.md", "# Facts\n\nThe server is called borealis.\n\nBackups run at four.\n")
	check("one paragraph changed", []string{"MEMORY.md"},
		SyncReport{Files: 3, Unchanged: 2, Changed: 1, Read: 1, ChunksAdded: 1, ChunksRemoved: 1, ChunksKept: 1})

	w.put(t, "MEMORY.md", "# Facts\n\nThe server is called borealis.\n\nBackups run at four.\n")
	check("touched", []string{"MEMORY.md"}, SyncReport{Files: 3, Unchanged: 2, Touched: 1, Read: 1})

	w.put(t, "MEMORY.md", "# Facts\n\nNew first.\n\nThe server is called borealis.\n\nBackups run at four.\n")
	check("moved down", []string{"MEMORY.md"},
		SyncReport{Files: 3, Unchanged: 2, Changed: 1, Read: 1, ChunksAdded: 1, ChunksKept: 2})
	if got := places(ask(t, ix, "borealis")); !cmp.Equal(got, []string{"MEMORY.md:5"}) {
		t.Errorf("a chunk that moved is cited at %v", got)
	}

	w.remove(t, "memory/2026-03-01.md")
	check("removed", nil, SyncReport{Files: 2, Unchanged: 2, Removed: 1, ChunksRemoved: 1})
	if got := ask(t, ix, "Ana budget"); len(got) != 0 {
		t.Errorf("a removed file is found: %v", places(got))
	}
	w.remove(t, "MEMORY.md")
	w.remove(t, "memory/empty.md")
	check("all gone", nil, SyncReport{Removed: 2, ChunksRemoved: 3})
}

func TestUnchangedChunksKeepRowAndID(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "one apple\n\ntwo pears\n\ntwo pears\n\nthree plums\n"})
	ix := openNew(t)
	w.sync(t, ix)
	before := map[string]int64{}
	for _, h := range ask(t, ix, "apple pears plums") {
		before[h.ID] = h.row
	}
	if len(before) != 4 {
		t.Fatalf("equal paragraphs need ids of their own: %v", before)
	}
	w.put(t, "a.md", "zero figs\n\ntwo pears\n\nthree plums\n\ntwo pears\n\none apple\n")
	w.sync(t, ix)
	after := map[string]int64{}
	for _, h := range ask(t, ix, "apple pears plums") {
		after[h.ID] = h.row
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func TestFilesThatFail(t *testing.T) {
	boom := errors.New("boom")
	w := newWorkspace(t, map[string]string{"a.md": "apple\n", "b.md": "banana\n", "c.md": "cherry\n", "d.md": "date\n"})
	ix := openNew(t)
	w.sync(t, ix)
	for _, f := range []string{"a.md", "b.md", "c.md", "d.md", "new.md"} {
		w.put(t, f, "changed "+f+"\n")
	}
	fails := map[string]error{
		"a.md": boom, "b.md": fmt.Errorf("it vanished: %w", fs.ErrNotExist),
		"c.md": fmt.Errorf("binary: %w", ErrSkip), "new.md": boom,
	}
	var reads []string
	read := func(p string) ([]Chunk, error) {
		reads = append(reads, p)
		if err := fails[p]; err != nil {
			return nil, err
		}
		return w.read(p)
	}
	ctx := context.Background()
	got, err := ix.Sync(ctx, w.list(), read, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := SyncReport{Files: 5, Changed: 1, Skipped: 1, Removed: 1, Read: 2, ChunksAdded: 1, ChunksRemoved: 3,
		Failed: []FileError{{"a.md", boom}, {"new.md", boom}}}
	if diff := cmp.Diff(want, got, counts, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	checkClean(t, ix)
	if got := places(ask(t, ix, "apple banana cherry")); !cmp.Equal(got, []string{"a.md:1"}) {
		t.Errorf("found %v: an unreadable file keeps its chunks, a gone or skipped one doesn't", got)
	}
	// Only those that failed are asked for again, and the one that was gone
	// when it was read but is listed.
	reads, fails = nil, nil
	if _, err := ix.Sync(ctx, w.list(), read, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.md", "b.md", "new.md"}, reads); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	checkClean(t, ix)
}

func TestListingWithGaps(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "apple\n", "sub/b.md": "banana\n", "sub/deep/c.md": "cherry\n", "subway.md": "date\n"})
	ix := openNew(t)
	w.sync(t, ix)
	gap := func(path string) iter.Seq2[FileStat, error] {
		return func(yield func(FileStat, error) bool) {
			for f := range w.list() {
				if f.Path == "a.md" && !yield(f, nil) {
					return
				}
			}
			yield(FileStat{Path: path}, fs.ErrPermission)
		}
	}
	for _, c := range []struct {
		path    string
		removed int
	}{{"", 0}, {"sub", 1}} {
		if behind, err := ix.Lag(context.Background(), gap(c.path)); err != nil || behind.Zero() != (c.removed == 0) {
			t.Errorf("gap %q: behind = %v, %v", c.path, behind, err)
		}
		got, err := ix.Sync(context.Background(), gap(c.path), w.read, nil)
		if err != nil || got.Removed != c.removed || len(got.Failed) != 1 {
			t.Errorf("gap %q: %+v, %v; want %d removed and the gap told", c.path, got, err, c.removed)
		}
		checkClean(t, ix)
	}
	if got := len(ask(t, ix, "banana cherry")); got != 2 {
		t.Errorf("%d of 2 chunks below the gap are left", got)
	}
}

// A file written in the clock tick in which it was read is not trusted.
func TestFreshFilesAreReadOnceMore(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "apple\n"})
	now := time.Now()
	full := filepath.Join(w.root, "a.md")
	if err := os.Chtimes(full, now.Add(time.Second), now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	ix := openNew(t)
	w.sync(t, ix)
	if r := w.sync(t, ix); r.Read != 1 || r.Unchanged != 1 {
		t.Errorf("a file that may have changed within its tick: %+v, want it read once more", r)
	}
	if err := os.Chtimes(full, old, old); err != nil {
		t.Fatal(err)
	}
	w.sync(t, ix)
	r := w.sync(t, ix)
	if r.Read != 0 {
		t.Errorf("a file that is no longer fresh was read again: %+v", r)
	}
	for _, c := range []struct {
		name  string
		mtime time.Time
		want  bool
	}{
		{"long ago", now.Add(-time.Hour), false},
		{"just now", now.Add(-time.Millisecond), true},
		{"last tick", now.Add(-50 * time.Millisecond), now.Add(-50*time.Millisecond).Nanosecond() == 0},
		{"whole seconds", now.Truncate(time.Second), true},
		{"next year", now.AddDate(1, 0, 0), false},
	} {
		if got := (FileStat{ModTime: c.mtime}).Young(now); got != c.want {
			t.Errorf("%s: young = %v", c.name, got)
		}
	}
}

func TestFullReadsEverything(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "apple\n", "b.md": "banana\n"})
	ix := openNew(t)
	w.sync(t, ix)
	w.reads = nil
	r, err := ix.Sync(context.Background(), w.list(), w.read, &SyncOptions{Full: true})
	if err != nil || len(w.reads) != 2 || r.Unchanged != 2 || r.ChunksAdded != 0 {
		t.Errorf("full sync: read %v, %+v, %v", w.reads, r, err)
	}
	if w.sync(t, ix); len(w.reads) != 0 {
		t.Errorf("read again after a full sync: %v", w.reads)
	}
}

func TestOtherChunkerReadsEverything(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "apple\n", "b.md": "banana\n"})
	path := filepath.Join(t.TempDir(), "index.sqlite")
	ix := openAt(t, path, &Options{Chunker: "paragraphs/1"})
	w.sync(t, ix)
	ix.Close()
	ro := openAt(t, path, &Options{Chunker: "paragraphs/2", ReadOnly: true})
	if behind, err := ro.Lag(context.Background(), w.list()); err != nil || behind.Zero() {
		t.Errorf("behind = %v, %v", behind, err)
	}
	if got, err := ro.Search(context.Background(), Query{Text: "apple", K: 1}); err != nil || !got.Outdated || len(got.Keyword) != 1 {
		t.Errorf("search: %+v, %v", got, err)
	}
	ix = openAt(t, path, &Options{Chunker: "paragraphs/2"})
	if w.sync(t, ix); len(w.reads) != 2 {
		t.Errorf("read %v", w.reads)
	}
	if w.sync(t, ix); len(w.reads) != 0 {
		t.Errorf("read %v", w.reads)
	}
}

func TestOtherAnalysisRemakesWords(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "# Fruit\n\napples\n", "b.md": "banana\n"})
	ix := openNew(t)
	w.sync(t, ix)
	want := scored(ask(t, ix, "apple fruit"))
	for _, q := range []string{"UPDATE meta SET value='0' WHERE key='analysis'", "DELETE FROM chunks_fts",
		"UPDATE chunks SET lang='xx'", "UPDATE meta SET value='xx=2' WHERE key='langs'", "UPDATE meta SET value=value+1 WHERE key='generation'"} {
		if _, err := ix.door.cur.write.Exec(q); err != nil {
			t.Fatal(q, err)
		}
	}
	if behind, err := ix.Lag(context.Background(), w.list()); err != nil || behind.Zero() {
		t.Errorf("behind = %v, %v", behind, err)
	}
	r := w.sync(t, ix)
	if r.Reanalysed != 2 || r.Read != 0 {
		t.Errorf("%+v: want both chunks analysed again and no file read", r)
	}
	if diff := cmp.Diff(want, scored(ask(t, ix, "apple fruit"))); diff != "" {
		t.Error(diff)
	}
	checkClean(t, ix)
}

// Whatever happened to the files, an index that was kept up to date answers as
// one made from scratch does, with the same ids and the same scores.
func TestHistoryLeavesNoTrace(t *testing.T) {
	paras := []string{"the quick fox", "the lazy dog sleeps", "a fox and a dog", "numbers 1 2 3", "数据库 内存", "canción de los niños", "fox fox fox"}
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string][]Chunk{}
		clock := int64(0)
		times := map[string]int64{}
		source := func(yield func(FileStat, error) bool) {
			for p, c := range files {
				if !yield(FileStat{Path: p, Size: int64(len(c)), ModTime: time.Unix(times[p], 7)}, nil) {
					return
				}
			}
		}
		read := func(p string) ([]Chunk, error) { return files[p], nil }
		dir := t.TempDir()
		kept := openAt(t, filepath.Join(dir, "kept.sqlite"), nil)
		defer kept.Close()
		for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			for _, p := range rapid.SliceOfN(rapid.SampledFrom([]string{"a.md", "b.md", "c/d.md"}), 1, 3).Draw(rt, "edited") {
				picked := rapid.SliceOfN(rapid.SampledFrom(paras), 0, 5).Draw(rt, "paragraphs")
				if clock++; len(picked) == 0 {
					delete(files, p)
					continue
				}
				times[p] = clock
				files[p] = paragraphs("# H" + fmt.Sprint(len(picked)%2) + "\n\n" + strings.Join(picked, "\n\n") + "\n")
			}
			if _, err := kept.Sync(context.Background(), source, read, nil); err != nil {
				rt.Fatal(err)
			}
		}
		made := openAt(t, filepath.Join(dir, "made.sqlite"), nil)
		defer made.Close()
		if _, err := made.Sync(context.Background(), source, read, nil); err != nil {
			rt.Fatal(err)
		}
		for _, q := range append(paras, "fox dog numbers", "h1") {
			if diff := cmp.Diff(scored(ask(t, made, q)), scored(ask(t, kept, q))); diff != "" {
				rt.Fatalf("%q: (-made +kept)\n%s", q, diff)
			}
		}
		for err := range kept.Check(context.Background()) {
			rt.Fatal(err)
		}
	})
}

func TestCancelledSyncResumes(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("f%02d.md", i)] = fmt.Sprintf("file number %d\n", i)
	}
	w := newWorkspace(t, files)
	ix := openNew(t)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := ix.Sync(ctx, w.list(), w.read, &SyncOptions{BatchChunks: 10, Progress: func(p Progress) {
		if p.Files >= 20 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
	checkClean(t, ix)
	s, err := ix.Stats(context.Background())
	if err != nil || s.Files < 20 || s.Files >= 60 {
		t.Fatalf("%d files after the cancelled sync, %v", s.Files, err)
	}
	r := w.sync(t, ix)
	if r.Unchanged != int(s.Files) || r.Added != 60-int(s.Files) {
		t.Errorf("%+v does not do the rest only: %d were there", r, s.Files)
	}
	checkClean(t, ix)
}

func TestSyncTakesListingsAsTheyCome(t *testing.T) {
	ix := openNew(t)
	files := []FileStat{{Path: "z.md", Size: 1, ModTime: old}, {Path: "a.md", Size: 1, ModTime: old}, {Path: "z.md", Size: 1, ModTime: old}, {Path: "m/odd\xff.md", Size: 1, ModTime: old}}
	var reads []string
	r, err := ix.Sync(context.Background(), func(yield func(FileStat, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
	}, func(p string) ([]Chunk, error) {
		reads = append(reads, p)
		return []Chunk{{Text: "text \x00 with \xff bytes", StartLine: 1, EndLine: 1, Trail: []string{"two\nlines", "b"}}}, nil
	}, nil)
	if err != nil || r.Added != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !slices.Equal(reads, []string{"a.md", "m/odd\xff.md", "z.md"}) {
		t.Errorf("read %q", reads)
	}
	checkClean(t, ix)
	hits := ask(t, ix, "bytes")
	if len(hits) != 3 || hits[0].Text != "text \x00 with \xff bytes" || !cmp.Equal(hits[0].Trail, []string{"two lines", "b"}) {
		t.Errorf("%+v", hits)
	}
}
