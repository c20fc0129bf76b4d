package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/internal/suite"
)

// sample is a workspace and a closed index of it, with vectors.
func sample(t testing.TB) (*workspace, string) {
	t.Helper()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("f%02d.md", i)] = fmt.Sprintf("# H%d\n\napple number %d\n\n%s\n", i, i, strings.Repeat(fmt.Sprintf("word%d ", i), 300))
	}
	w := newWorkspace(t, files)
	path := filepath.Join(t.TempDir(), "index.sqlite")
	ix := openAt(t, path, nil)
	w.sync(t, ix)
	if err := ix.UseModel(context.Background(), "m", 26); err != nil {
		t.Fatal(err)
	}
	embed(t, ix, "m", func(m Missing) []float32 { return letters(m.Text + m.Trail[0] + "x") })
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	return w, path
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// spoil overwrites bytes of a file.
func spoil(t testing.TB, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

func TestOpenTellsWhatIsTheMatter(t *testing.T) {
	_, good := sample(t)
	be := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want error
	}{
		{"newer", func(t *testing.T, p string) { spoil(t, p, versionOffset, be(formatVersion+1)) }, ErrNewer},
		{"older", func(t *testing.T, p string) { spoil(t, p, versionOffset, be(formatVersion-1)) }, ErrOlder},
		{"foreign SQLite", func(t *testing.T, p string) {
			os.Remove(p)
			db, err := drv.Open(p, drv.Create, time.Second)
			if err == nil {
				_, err = db.Exec("CREATE TABLE photos(x)")
				db.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}, ErrForeign},
		{"text file", func(t *testing.T, p string) { os.WriteFile(p, []byte("dear diary"), 0o644) }, ErrForeign},
		{"long text file", func(t *testing.T, p string) { os.WriteFile(p, bytes.Repeat([]byte("dear diary "), 9999), 0o644) }, ErrForeign},
		{"spoilt magic", func(t *testing.T, p string) { spoil(t, p, 0, []byte("garbage!")) }, ErrDamaged},
		{"spoilt header", func(t *testing.T, p string) { spoil(t, p, 0, bytes.Repeat([]byte{0xff}, 100)) }, ErrDamaged},
		{"zeroed header", func(t *testing.T, p string) { spoil(t, p, 0, make([]byte, 4096)) }, ErrDamaged},
		{"spoilt schema", func(t *testing.T, p string) { spoil(t, p, 100, bytes.Repeat([]byte{0xaa}, 3000)) }, ErrDamaged},
		{"cut to a page", func(t *testing.T, p string) { os.Truncate(p, drv.PageSize) }, ErrDamaged},
		{"cut in the header", func(t *testing.T, p string) { os.Truncate(p, 80) }, ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), "index.sqlite")
			copyFile(t, good, p)
			c.make(t, p)
			before, _ := os.ReadFile(p)
			for _, ro := range []bool{true, false} {
				ix, err := Open(p, &Options{ReadOnly: ro})
				if err == nil {
					ix.Close()
				}
				var e *Error
				if !errors.Is(err, c.want) || !errors.As(err, &e) || e.Hint == "" || !strings.Contains(err.Error(), p) {
					t.Errorf("read-only %v: %v, want %v with the file and a way out", ro, err, c.want)
				}
			}
			ix, err := Rebuild(context.Background(), p, nil)
			if c.want == ErrForeign {
				if after, _ := os.ReadFile(p); !errors.Is(err, ErrForeign) || !bytes.Equal(before, after) {
					t.Errorf("a foreign file was rebuilt: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatalf("rebuild: %v", err)
			}
			ix.Close()
		})
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no.sqlite"), &Options{ReadOnly: true}); !errors.Is(err, ErrMissing) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no", "folder.sqlite"), nil); err == nil {
		t.Error("a folder was made")
	}
	if _, err := Open(t.TempDir(), nil); err == nil {
		t.Error("a folder is an index")
	}
}

// Wherever bytes are spoilt, either nothing that is kept there matters, or
// Check reports it; nothing panics, and a rebuild brings the old answers back.
func TestSpoiltBytesAreFound(t *testing.T) {
	w, good := sample(t)
	ctx := context.Background()
	ix := openAt(t, good, &Options{ReadOnly: true})
	want := scored(ask(t, ix, "apple word7"))
	ix.Close()
	fi, err := os.Stat(good)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(7))
	whole := contents(t, good)
	found, dir := 0, t.TempDir()
	rounds := suite.Pick(16, 40)
	for i := range rounds {
		p := filepath.Join(dir, fmt.Sprintf("%d.sqlite", i))
		copyFile(t, good, p)
		noise := make([]byte, 64)
		rng.Read(noise)
		at := rng.Int63n(fi.Size() - 200)
		spoil(t, p, 100+at, noise)
		bad := problems(ctx, p, w)
		if got := contents(t, p); len(bad) == 0 && got != whole {
			t.Errorf("bytes at %d: the content changed and nothing was found", at)
		}
		for _, err := range bad {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("bytes at %d: %v is not called damage", at, err)
			}
		}
		if len(bad) == 0 {
			os.Remove(p)
			continue
		}
		found++
		if i%5 > 0 {
			os.Remove(p)
			continue
		}
		ix, err := Rebuild(ctx, p, nil)
		if err != nil {
			t.Fatalf("bytes at %d: %v", at, err)
		}
		if r := w.sync(t, ix); r.Added != 40 {
			t.Errorf("after a rebuild: %+v", r)
		}
		checkClean(t, ix)
		if diff := cmp.Diff(want, scored(ask(t, ix, "apple word7"))); diff != "" {
			t.Error(diff)
		}
		ix.Close()
	}
	// Half of so small a file is space kept for further vectors.
	if found < rounds/4 {
		t.Errorf("%d of %d spoilt files were found out", found, rounds)
	}
}

// contents is all that an index holds, in words; "" if it can't be read.
func contents(t testing.TB, path string) string {
	db, err := drv.Open(path, drv.ReadOnly, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	for _, q := range []string{
		"SELECT key, value, '' FROM meta", "SELECT path, size||' '||mtime, hex(hash)||chunks||again FROM files ORDER BY id",
		"SELECT row||' '||file||' '||seq||' '||id||' '||lang||date, hex(hash)||start_line||' '||end_line||' '||tokens, trail||body FROM chunks ORDER BY row",
		"SELECT model, hex(hash), dim||hex(vector) FROM embedding_cache ORDER BY id",
		"SELECT rowid, hex(embedding), '' FROM chunks_vec ORDER BY rowid",
		"SELECT rowid, bm25(chunks_fts), '' FROM chunks_fts WHERE chunks_fts MATCH 'appl OR word7 OR word8 OR number OR h3' ORDER BY rowid",
	} {
		rows, err := db.Query(q)
		if err != nil {
			return ""
		}
		for rows.Next() {
			var a, b, c string
			if rows.Scan(&a, &b, &c) != nil {
				return ""
			}
			fmt.Fprintln(&out, a, b, c)
		}
		if rows.Close(); rows.Err() != nil {
			return ""
		}
	}
	return out.String()
}

// problems opens an index and lists all that a check, a search and a sync find
// wrong with it.
func problems(ctx context.Context, path string, w *workspace) (out []error) {
	ix, err := Open(path, nil)
	if err != nil {
		return []error{err}
	}
	defer ix.Close()
	for err := range ix.Check(ctx) {
		out = append(out, err)
	}
	if _, err := ix.Search(ctx, Query{Text: "apple word7", K: 10}); err != nil {
		out = append(out, err)
	}
	if _, err := ix.Sync(ctx, w.list(), w.read, nil); err != nil {
		out = append(out, err)
	}
	return out
}

// Check finds what SQLite can't see: tables that disagree.
func TestCheckFindsDisagreement(t *testing.T) {
	_, good := sample(t)
	for _, q := range []string{
		"UPDATE chunks SET body=body||'x' WHERE row=3",
		"UPDATE chunks SET trail='other' WHERE row=3",
		"DELETE FROM chunks WHERE row=3",
		"DELETE FROM chunks_fts WHERE rowid=3",
		"INSERT INTO chunks_fts(rowid, body) VALUES(999, 'apple')",
		"DELETE FROM chunks_vec WHERE rowid=3",
		"INSERT INTO chunks_vec(rowid, embedding) SELECT 999, vector FROM embedding_cache LIMIT 1",
		"DELETE FROM files WHERE id=3",
		"UPDATE files SET mtime=mtime+1 WHERE id=3",
		"UPDATE files SET chunks=7 WHERE id=3",
		"UPDATE meta SET value='zz' WHERE key='stamp'",
		"DELETE FROM meta WHERE key='langs'",
		"UPDATE meta SET value='en=1' WHERE key='langs'",
		"UPDATE embedding_cache SET vector=zeroblob(104) WHERE id=3",
		"UPDATE embedding_cache SET vector=x'00' WHERE id=3",
	} {
		p := filepath.Join(t.TempDir(), "index.sqlite")
		copyFile(t, good, p)
		db, err := drv.Open(p, drv.ReadWrite, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		db.Close()
		ix, err := Open(p, &Options{ReadOnly: true})
		n := 0
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %v", q, err)
			}
			continue
		}
		for err := range ix.Check(context.Background()) {
			n++
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %v", q, err)
			}
		}
		if n == 0 {
			t.Errorf("%s: check found nothing", q)
		}
		for range ix.Check(context.Background()) {
			break // a consumer may stop at the first
		}
		ix.Close()
	}
}

// A rebuild keeps the vectors, which may have been paid for, and a handle that
// was open on the old file finds the new one.
func TestRebuildKeepsVectors(t *testing.T) {
	ctx := context.Background()
	w, path := sample(t)
	reader := openAt(t, path, &Options{ReadOnly: true})
	want := scored(ask(t, reader, "apple word7"))
	ix, err := Rebuild(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	if got := ask(t, reader, "apple"); len(got) != 0 {
		t.Errorf("the old handle still answers from the old file: %v", places(got))
	}
	w.sync(t, ix)
	if n := embed(t, ix, "m", func(Missing) []float32 { return nil }); n != 0 {
		t.Errorf("%d texts lost their vectors", n)
	}
	if hits, err := reader.Vector(ctx, "m", letters("apple"), 5, nil); err != nil || len(hits) != 5 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	if diff := cmp.Diff(want, scored(ask(t, reader, "apple word7"))); diff != "" {
		t.Errorf("same files, other answers:\n%s", diff)
	}
	checkClean(t, ix)
	for _, left := range []string{".old", ".new", ".old-wal"} {
		if _, err := os.Stat(path + left); err == nil {
			t.Errorf("%s was left behind", left)
		}
	}
}

// An index that is deleted while it is open is made again.
func TestDeletedWhileOpen(t *testing.T) {
	w, path := sample(t)
	ix := openAt(t, path, nil)
	want := scored(ask(t, ix, "apple word7"))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := w.sync(t, ix); r.Added != 40 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(want, scored(ask(t, ix, "apple word7"))); diff != "" {
		t.Error(diff)
	}
	checkClean(t, ix)
}

func TestReadOnlyChangesNothing(t *testing.T) {
	ctx := context.Background()
	w, path := sample(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ix := openAt(t, path, &Options{ReadOnly: true})
	w.put(t, "f00.md", "pear\n")
	if behind, err := ix.Lag(ctx, w.list()); err != nil || behind.Zero() {
		t.Errorf("behind = %v, %v", behind, err)
	}
	ask(t, ix, "apple")
	_, syncErr := ix.Sync(ctx, w.list(), w.read, nil)
	for what, err := range map[string]error{
		"sync": syncErr, "model": ix.UseModel(ctx, "x", 3),
		"put": ix.PutEmbeddings(ctx, "m", []Embedding{{Hash{}, letters("a")}}),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	checkClean(t, ix)
	ix.Close()
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed, %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	w, path := sample(t)
	dir := filepath.Dir(path)
	os.Remove(path + ".lock")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write to read-only folders")
	}
	ix := openAt(t, path, &Options{ReadOnly: true})
	if got := ask(t, ix, "word7"); len(got) == 0 {
		t.Error("nothing found")
	}
	if rw, err := Open(path, nil); err == nil {
		defer rw.Close()
		if _, err := rw.Sync(context.Background(), w.list(), w.read, &SyncOptions{Full: true}); !errors.Is(err, ErrReadOnly) {
			t.Errorf("sync: %v", err)
		}
	} else if !errors.Is(err, ErrReadOnly) {
		t.Errorf("open: %v", err)
	}
}

// The vectors of a text that is gone stay for its return, until a full sync.
func TestFullSyncForgetsVectors(t *testing.T) {
	ctx := context.Background()
	w, path := sample(t)
	ix := openAt(t, path, nil)
	cached := func() int64 {
		s, err := ix.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.Cached
	}
	all := cached()
	if err := os.Remove(filepath.Join(w.root, "f07.md")); err != nil {
		t.Fatal(err)
	}
	if w.sync(t, ix); cached() != all {
		t.Errorf("%d vectors, want %d", cached(), all)
	}
	if _, err := ix.Sync(ctx, w.list(), w.read, &SyncOptions{Full: true}); err != nil {
		t.Fatal(err)
	}
	if left := cached(); left == 0 || left >= all {
		t.Errorf("%d of %d vectors are left", left, all)
	}
	checkClean(t, ix)
	if n := embed(t, ix, "m", func(Missing) []float32 { return nil }); n != 0 {
		t.Errorf("%d texts lost their vectors", n)
	}
}
