package kernel_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/retrieval"
)

// whole is an index file of a workspace as it was made, closed.
func whole(t *testing.T, dir string) (path string, data []byte) {
	t.Helper()
	for i := range 30 {
		put(t, dir, fmt.Sprintf("memory/f%02d.md", i), fmt.Sprintf("# H%d\n\nthe heron of number %d\n\n%s\n", i, i, strings.Repeat(fmt.Sprintf("word%d ", i), 200)))
	}
	reindexed(t, dir, nil)
	path = filepath.Join(dir, kernel.DefaultStateDir, "index.sqlite")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

// Whatever stands in the index's place, a reindex makes it anew or says why it does not;
// a full one always makes it anew. What was there is kept, no target of a link is touched,
// and a search says what is wrong until then.
func TestDamagedIndex(t *testing.T) {
	const page = 4096
	be32 := func(n byte) []byte { return []byte{0, 0, 0, n} }
	spoil := func(at int, with []byte) func([]byte) []byte {
		return func(b []byte) []byte {
			b = bytes.Clone(b)
			copy(b[at:], with)
			return b
		}
	}
	cut := func(n func(int) int) func([]byte) []byte {
		return func(b []byte) []byte { return b[:n(len(b))] }
	}
	type damage struct {
		name   string
		change func([]byte) []byte                      // of the file's bytes
		make   func(t *testing.T, path, outside string) // or of what stands there
		// refused by a plain reindex, with this kind.
		refused error
		kept    string // the name under which the old file is kept
	}
	damages := []damage{
		{name: "magic", change: spoil(0, []byte("garbage!")), kept: "damaged-1"},
		{name: "header", change: spoil(0, bytes.Repeat([]byte{0xff}, 100)), kept: "damaged-1"},
		{name: "schema", change: spoil(100, bytes.Repeat([]byte{0xaa}, 3000)), kept: "damaged-1"},
		{name: "all zeros", change: func(b []byte) []byte { return make([]byte, len(b)) }, kept: "damaged-1"},
		{name: "first page zeros", change: spoil(0, make([]byte, page)), kept: "damaged-1"},
		{name: "cut to ten bytes", change: cut(func(int) int { return 10 }), kept: "damaged-1"},
		{name: "cut in the header", change: cut(func(int) int { return 80 }), kept: "damaged-1"},
		{name: "cut to a page", change: cut(func(int) int { return page }), kept: "damaged-1"},
		{name: "cut in half", change: cut(func(n int) int { return n / 2 }), kept: "damaged-1"},
		{name: "cut by a byte", change: cut(func(n int) int { return n - 1 }), kept: "damaged-1"},
		{name: "newer", change: spoil(60, be32(99)), refused: index.ErrNewer, kept: "aside-1"},
		{name: "text file", change: func([]byte) []byte { return []byte("dear diary") }, refused: index.ErrForeign, kept: "aside-1"},
		{name: "another database", change: spoil(68, []byte("abcd")), kept: "damaged-1"}, // its tables are ours
		{name: "folder", make: func(t *testing.T, path, _ string) { put(t, path, "deep/x.md", "mine\n") }, refused: index.ErrForeign, kept: "aside-1"},
		{name: "link to a text", make: func(t *testing.T, path, outside string) { symlink(t, outside, path) }, refused: index.ErrForeign, kept: "aside-1"},
		{name: "link to nothing", make: func(t *testing.T, path, outside string) { symlink(t, outside+"x", path) }, refused: index.ErrForeign, kept: "aside-1"},
	}
	dir := t.TempDir()
	path, good := whole(t, dir)
	for p := page; p < len(good); p += max(page, len(good)/12/page*page) {
		damages = append(damages, damage{name: fmt.Sprintf("page %d zeros", p/page), change: spoil(p, make([]byte, page))},
			damage{name: fmt.Sprintf("page %d noise", p/page), change: spoil(p+8, bytes.Repeat([]byte{0x5a, 0xc3}, 64))})
	}
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		damages = append(damages,
			damage{name: "noise as " + end, make: func(t *testing.T, path, _ string) {
				writeBytes(t, path, good)
				writeBytes(t, path+end, bytes.Repeat([]byte("noise"), 9999))
			}},
			damage{name: "link as " + end, kept: "damaged-1", make: func(t *testing.T, path, outside string) {
				writeBytes(t, path, good)
				symlink(t, outside, path+end)
			}},
			damage{name: "folder as " + end, kept: "damaged-1", make: func(t *testing.T, path, _ string) {
				writeBytes(t, path, good)
				put(t, path+end, "x", "mine\n")
			}})
	}
	for i, d := range suite.Some(damages, 10) {
		for _, full := range suite.Pick([]bool{i%2 == 0}, []bool{false, true}) {
			t.Run(fmt.Sprintf("%s/full=%v", d.name, full), func(t *testing.T) {
				state := filepath.Dir(path)
				left, _ := filepath.Glob(filepath.Join(state, "index.sqlite*"))
				for _, p := range left {
					os.RemoveAll(p)
				}
				outside := filepath.Join(t.TempDir(), "outside")
				writeBytes(t, outside, []byte("not yours"))
				if d.make != nil {
					d.make(t, path, outside)
				} else {
					writeBytes(t, path, d.change(good))
				}
				tryDamaged(t, dir, path, good, d.refused, d.kept, full)
				if b, err := os.ReadFile(outside); err != nil || string(b) != "not yours" {
					t.Errorf("the link's target holds %.40q, %v", b, err)
				}
				if _, err := os.Lstat(outside + "x"); err == nil {
					t.Error("the link's target was made")
				}
			})
		}
	}
}

func tryDamaged(t *testing.T, dir, path string, good []byte, refused error, kept string, full bool) {
	ctx := context.Background()
	before, _ := os.ReadFile(path)
	k := asItIs(t, dir)
	ask := func() *retrieval.Result {
		t.Helper()
		res, err := k.Search(ctx, api.SearchRequest{Query: "heron number 7", Private: true})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := ask()
	switch res.Reason {
	case "OK", "DISABLED", "NO_MATCH": // the page that is not whole may be one that no search reads, or an empty list of words
	case "BACKEND_ERROR":
		var e *index.Error
		if !errors.As(res.Err, &e) || e.Hint == "" || strings.Contains(res.Detail, e.Hint) {
			t.Errorf("no way out, or told to a model: %s: %v", res.Detail, res.Err)
		}
	default:
		t.Errorf("a search says %s: %s", res.Reason, res.Detail)
	}
	if _, err := k.Check(ctx); err != nil {
		t.Errorf("check: %v", err)
	}
	r, err := k.Reindex(ctx, &api.ReindexOptions{Full: full})
	if refused != nil && !full {
		if !errors.Is(err, refused) {
			t.Errorf("error %v, want %v", err, refused)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Error("it was changed")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.Stats.Files != 30 {
		t.Errorf("%d files are indexed", r.Stats.Files)
	}
	if kept != "" {
		if r.Rebuilt == "" || !strings.HasSuffix(r.Aside, "index.sqlite."+kept) {
			t.Errorf("rebuilt %q, aside %q", r.Rebuilt, r.Aside)
		}
		if len(before) > 0 && !bytes.Equal(before, good) {
			if b, err := os.ReadFile(r.Aside); err != nil || !bytes.Equal(b, before) {
				t.Errorf("what is kept is not what was there: %v", err)
			}
		}
	}
	if (r.Rebuilt == "") != (r.Aside == "") {
		t.Errorf("rebuilt %q, aside %q", r.Rebuilt, r.Aside)
	}
	if found, err := k.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("check after it: %v %v", found, err)
	}
	if res := ask(); res.Reason != "OK" || len(res.Hits) == 0 {
		t.Errorf("a search after it: %s: %s", res.Reason, res.Detail)
	}
}

func writeBytes(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip(err)
	}
}

// The newest three damaged indexes are kept, and no number is used twice in a row; what
// was somebody else's stays for good.
func TestDamagedIndexesKept(t *testing.T) {
	dir := t.TempDir()
	path, good := whole(t, dir)
	writeBytes(t, path, []byte("dear diary"))
	k := openKernel(t, dir)
	defer k.Close()
	for i := range 6 {
		if _, err := k.Reindex(context.Background(), &api.ReindexOptions{Full: true}); err != nil {
			t.Fatal(err)
		}
		writeBytes(t, path, append(bytes.Repeat([]byte{byte(i)}, 100), good[100:]...))
	}
	left, _ := filepath.Glob(path + ".*[0-9]")
	want := []string{path + ".aside-1", path + ".damaged-3", path + ".damaged-4", path + ".damaged-5"}
	if fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("%q are left, want %q", left, want)
	}
	if b, err := os.ReadFile(want[0]); err != nil || string(b) != "dear diary" {
		t.Errorf("%q, %v", b, err)
	}
}

// An index that another process writes is not rebuilt, and the error says so.
func TestDamagedIndexInUse(t *testing.T) {
	dir := t.TempDir()
	path, good := whole(t, dir)
	writeBytes(t, path, good[:len(good)/2])
	l := flock.New(path + ".lock")
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	k := openKernel(t, dir)
	defer k.Close()
	var both sync.WaitGroup
	for _, full := range []bool{false, true} {
		both.Go(func() {
			if _, err := k.Reindex(context.Background(), &api.ReindexOptions{Full: full}); !errors.Is(err, index.ErrBusy) {
				t.Errorf("full %v: %v", full, err)
			}
		})
	}
	both.Wait()
	if b, _ := os.ReadFile(path); !bytes.Equal(b, good[:len(good)/2]) {
		t.Error("it was changed")
	}
}

// While another program holds the lock of the index's file, a search finds what the index
// has and names the lock. Of a file that is not in the index it does not say that nothing
// was found, or that the index is being made.
func TestLockedIndexNamed(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	path, _ := whole(t, dir)
	drivers := slices.DeleteFunc(sql.Drivers(), func(name string) bool { return !strings.HasPrefix(name, "sqlite") })
	db, err := sql.Open(drivers[0], path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "memory/new.md", "# New\n\nThe bittern booms in the reeds.\n")
	k, err := kernel.Open(ctx, dir, &kernel.Options{Memory: kernel.MemoryOptions{Sync: kernel.SyncOptions{Wait: time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for query, reason := range map[string]retrieval.Reason{"bittern": retrieval.BackendError, "heron": retrieval.StaleIndex} {
		res, err := k.Search(ctx, api.SearchRequest{Query: query, Private: true})
		if err != nil || res.Reason != reason || !errors.Is(res.Err, index.ErrBusy) || !strings.Contains(res.Detail, "another process is using the index") {
			t.Errorf("%s: %+v, %v", query, res, err)
		}
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if res, err := k.Search(ctx, api.SearchRequest{Query: "bittern", Private: true}); err != nil || res.Reason != retrieval.OK || res.Err != nil {
		t.Errorf("without the lock: %+v, %v", res, err)
	}
}

// What is wrong inside an index, where a plain reindex doesn't look, is told with the
// command that mends it, and that command does.
func TestIndexHintMends(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path, _ := whole(t, dir)
	drivers := slices.DeleteFunc(sql.Drivers(), func(name string) bool { return !strings.HasPrefix(name, "sqlite") })
	for _, q := range []string{"UPDATE files SET chunks=chunks+1", "UPDATE meta SET value='7' WHERE key='stamp'", "DELETE FROM chunks_fts WHERE rowid=3"} {
		db, err := sql.Open(drivers[0], path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(q); err != nil {
			t.Fatal(q, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		k := openKernel(t, dir)
		check := func() []health.Finding {
			t.Helper()
			found, err := k.Check(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if reindex(t, k); len(check()) == 0 {
			t.Errorf("%s: a plain reindex mends it", q)
		}
		for _, f := range check() {
			if f.Code != health.Index || f.Severity != health.Error || !strings.Contains(f.Hint, "'memkernel reindex --full'") || strings.Contains(f.What+f.Hint, "compact") {
				t.Errorf("%s: %+v", q, f)
			}
		}
		if _, err := k.Reindex(ctx, &api.ReindexOptions{Full: true}); err != nil {
			t.Fatal(err)
		}
		if found := check(); len(found) > 0 {
			t.Errorf("%s: after a full reindex: %+v", q, found)
		}
		k.Close()
	}
}
