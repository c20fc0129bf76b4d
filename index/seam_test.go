package index_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// These tests join the index with the store that feeds it, and give the two
// what people's disks hold.

var bg = context.Background()

// list is the store's listing as the index takes it. What can't be indexed
// although it is named like a note is handed on as an error with its path.
func list(s *markdownstore.Store) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for f, err := range s.Walk(bg) {
			if err == nil && f.TooLarge && f.Memory {
				_, err = s.ReadFile(f.Path)
			}
			if err == nil && !f.Indexed {
				continue
			}
			if !yield(index.FileStat{Path: f.Path, Size: f.Size, ModTime: f.ModTime}, err) {
				return
			}
		}
	}
}

// reader reads and cuts files by the store's rules.
func reader(s *markdownstore.Store) index.Reader {
	return func(path string) ([]index.Chunk, error) {
		l, err := s.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if l.Unsettled {
			return nil, fmt.Errorf("read %s: it is being written", path)
		}
		d := markdownstore.Parse(path, l.Text)
		if d.Binary {
			return nil, fmt.Errorf("%w: %s", index.ErrSkip, d.Notes[0].Text)
		}
		var out []index.Chunk
		for _, c := range s.Chunks(d) {
			out = append(out, index.Chunk{ID: c.ID, StartLine: c.StartLine, EndLine: c.EndLine, Trail: c.Trail,
				Date: c.Date, Tokens: c.Tokens, Text: c.Text})
		}
		return out, nil
	}
}

// folder makes a workspace of files, given by path and content.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(p)), text)
	}
	return dir
}

// write writes a file with a time that is long past, and later than the one it
// had, so that its stat can be trusted.
func write(t testing.TB, path, text string) {
	t.Helper()
	when := time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)
	if fi, err := os.Stat(path); err == nil {
		when = fi.ModTime().Add(time.Second)
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err == nil {
		err = os.Chtimes(path, when, when)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, dir string) *markdownstore.Store {
	t.Helper()
	s, err := markdownstore.Open(dir, &markdownstore.Options{Private: true, Timezone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openIndex(t testing.TB, path string) *index.Index {
	t.Helper()
	ix, err := index.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

// both opens a store and a new index of it.
func both(t testing.TB, dir string) (*markdownstore.Store, *index.Index) {
	t.Helper()
	return openStore(t, dir), openIndex(t, filepath.Join(t.TempDir(), "index.sqlite"))
}

func reindex(t testing.TB, s *markdownstore.Store, ix *index.Index) index.SyncReport {
	t.Helper()
	r, err := ix.Sync(bg, list(s), reader(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	for err := range ix.Check(bg) {
		t.Errorf("check: %v", err)
	}
	return r
}

// find returns the hits of a question, and wants each to be what its citation
// names when read back from the file.
func find(t testing.TB, s *markdownstore.Store, ix *index.Index, question string) []index.Hit {
	t.Helper()
	got, err := ix.Search(bg, index.Query{Text: question, K: 10})
	if err != nil {
		t.Fatalf("search %q: %v", question, err)
	}
	for _, h := range got.Keyword {
		c, err := s.Read(h.Path, h.StartLine, h.EndLine-h.StartLine+1)
		if err != nil || c.Text != h.Text {
			t.Errorf("%s:%d-%d reads %q, %v; the hit says %q", h.Path, h.StartLine, h.EndLine, c.Text, err, h.Text)
		}
	}
	return got.Keyword
}

func places(hits []index.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%d", h.Path, h.StartLine))
	}
	return out
}

// Text that is odd is found at the place where an editor shows it, and its
// bytes stay as they are.
func TestOddTextIsFoundWhereItStands(t *testing.T) {
	files := map[string]string{
		"memory/bom.md":        "\xef\xbb\xbfwalrus first\n",
		"memory/bomfront.md":   "\xef\xbb\xbf---\ntitle: x\n---\nwalrus\n",
		"memory/latin1.md":     "caf\xe9 walrus cr\xe8me\n",
		"memory/tornrune.md":   "walrus \xe4\xb8\n",
		"memory/dos.md":        "\r\n\r\nwalrus\r\n",
		"memory/front.md":      "---\ntags: [a]\n---\n\nwalrus\n",
		"memory/badfront.md":   "---\na: [1\nb: }\n---\nwalrus\n",
		"memory/twice.md":      "---\na: 1\na: 2\n---\nwalrus\n",
		"memory/neverends.md":  "---\ntitle: x\nwalrus\n",
		"memory/nonewline.md":  "walrus",
		"memory/odd name#1.md": "walrus\n",
		"memory/海象.md":         "walrus\n",
	}
	s, ix := both(t, folder(t, files))
	if r := reindex(t, s, ix); r.Added != len(files) || len(r.Failed)+r.Skipped > 0 {
		t.Errorf("%+v", r)
	}
	for path := range files {
		hits, err := ix.Search(bg, index.Query{Text: "walrus", K: 20, Want: func(p string) bool { return p == path }})
		if err != nil || len(hits.Keyword) != 1 {
			t.Errorf("%q: %v, %v", path, places(hits.Keyword), err)
			continue
		}
		h := hits.Keyword[0]
		if c, err := s.Read(path, h.StartLine, h.EndLine-h.StartLine+1); err != nil || c.Text != h.Text {
			t.Errorf("%q reads %q, %v; the hit says %q", path, c.Text, err, h.Text)
		}
	}
	if got := places(find(t, s, ix, "café crème")); len(got) != 0 {
		// Bytes of an old encoding are no letters: nothing is guessed.
		t.Errorf("found %v", got)
	}
}

// A file that is not text is passed over once, and noticed when it becomes
// text.
func TestBinaryFileIsSkipped(t *testing.T) {
	dir := folder(t, map[string]string{
		"memory/photo.md": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR walrus", "memory/zip.md": "PK\x03\x04\x14\x00\x00\x00\x08\x00wal", "memory/a.md": "seal\n",
	})
	s, ix := both(t, dir)
	if r := reindex(t, s, ix); r.Skipped != 2 || r.Added != 1 || len(r.Failed) > 0 {
		t.Errorf("%+v", r)
	}
	if got := find(t, s, ix, "walrus wal IHDR"); len(got) > 0 {
		t.Errorf("found %v", places(got))
	}
	if r := reindex(t, s, ix); r.Read != 0 || r.Unchanged != 3 {
		t.Errorf("a second time: %+v", r)
	}
	if c, err := s.Read("memory/photo.md", 0, 0); err != nil || c.Text != "" || !strings.Contains(c.Detail, "not text") {
		t.Errorf("%+v, %v", c, err)
	}
	write(t, filepath.Join(dir, "memory", "photo.md"), "walrus\n")
	if r := reindex(t, s, ix); r.Changed != 1 || len(find(t, s, ix, "walrus")) != 1 {
		t.Errorf("after it became text: %+v", r)
	}
}

// A file above the limit is named and not loaded. What the index held of it is
// kept until it is small enough again.
func TestLargeFileIsNamedNotLoaded(t *testing.T) {
	const size = 100 << 20
	dir := folder(t, map[string]string{"memory/a.md": "seal\n", "memory/log.md": "walrus\n"})
	s, ix := both(t, dir)
	reindex(t, s, ix)
	big := filepath.Join(dir, "memory", "log.md")
	if err := os.Truncate(big, size); err != nil { // sparse: it takes no room
		t.Skip(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := reindex(t, s, ix)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > size/4 {
		t.Errorf("%d bytes were allocated for a file of %d that is not to be read", n, size)
	}
	if len(r.Failed) != 1 || r.Read != 0 || r.Removed != 0 {
		t.Fatalf("%+v", r)
	}
	err := error(r.Failed[0])
	for _, want := range []string{"memory/log.md", "file is too large", fmt.Sprint(size), "the limit is", "split it"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if got := places(mustSearch(t, ix, "walrus")); !cmp.Equal(got, []string{"memory/log.md:1"}) {
		t.Errorf("found %v", got)
	}
	if behind, err := ix.Lag(bg, list(s)); err != nil || !behind.Zero() {
		t.Errorf("behind = %v, %v", behind, err)
	}
	write(t, big, "walrus again\n")
	if r := reindex(t, s, ix); r.Changed != 1 || len(r.Failed) > 0 {
		t.Errorf("after it shrank: %+v", r)
	}
}

func mustSearch(t testing.TB, ix *index.Index, question string) []index.Hit {
	t.Helper()
	got, err := ix.Search(bg, index.Query{Text: question, K: 10})
	if err != nil {
		t.Fatal(err)
	}
	return got.Keyword
}

// Nothing from outside the workspace comes into the index, whatever link leads
// there, and the link is named.
func TestLinksOutAreNotIndexed(t *testing.T) {
	outside := folder(t, map[string]string{"secret.md": "walrus\n", "deep/more.md": "walrus\n"})
	dir := folder(t, map[string]string{"memory/a.md": "seal\n", "memory/was.md": "narwhal\n"})
	s, ix := both(t, dir)
	reindex(t, s, ix)
	if err := os.Remove(filepath.Join(dir, "memory", "was.md")); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out.md": "secret.md", "was.md": "secret.md", "folder": "deep"} {
		if err := os.Symlink(filepath.Join(outside, target), filepath.Join(dir, "memory", name)); err != nil {
			t.Skip(err)
		}
	}
	r := reindex(t, s, ix)
	named := []string{}
	for _, f := range r.Failed {
		if !errors.Is(f, markdownstore.ErrDenied) || strings.Contains(f.Error(), outside) {
			t.Errorf("%v", f)
		}
		named = append(named, f.Path)
	}
	if diff := cmp.Diff([]string{"memory/folder", "memory/out.md", "memory/was.md"}, named); diff != "" {
		t.Errorf("named (-want +got):\n%s", diff)
	}
	if got := mustSearch(t, ix, "walrus"); len(got) > 0 {
		t.Errorf("found %v", places(got))
	}
	// Reading by hand what a listing made before the swap promised.
	if _, err := reader(s)("memory/was.md"); !errors.Is(err, markdownstore.ErrDenied) {
		t.Errorf("read through the link: %v", err)
	}
}

// A file that vanishes, shrinks or grows between listing and reading is
// reported by the next Sync, which ends with what is there.
func TestFileChangesBetweenListingAndReading(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"vanishes": os.Remove,
		"grows": func(p string) error {
			f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("\n# Later\n\nwalrus\n")
			return err
		},
		"shrinks":   func(p string) error { return os.Truncate(p, 5) },
		"is folder": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"memory/a.md": "seal and otter\n", "memory/b.md": "narwhal\n"})
			s, ix := both(t, dir)
			changed := false
			read := func(p string) ([]index.Chunk, error) {
				if p == "memory/a.md" && !changed {
					changed = true
					if err := change(filepath.Join(dir, "memory", "a.md")); err != nil {
						t.Fatal(err)
					}
				}
				return reader(s)(p)
			}
			if _, err := ix.Sync(bg, list(s), read, nil); err != nil {
				t.Fatal(err)
			}
			r := reindex(t, s, ix)
			if name == "is folder" {
				if len(r.Failed) > 0 {
					t.Errorf("a folder named .md is no failure: %v", r.Failed)
				}
				os.Remove(filepath.Join(dir, "memory", "a.md"))
			}
			want := fresh(t, s)
			for _, q := range []string{"seal", "otter", "walrus", "narwhal"} {
				if diff := cmp.Diff(places(mustSearch(t, want, q)), places(find(t, s, ix, q))); diff != "" {
					t.Errorf("%s (-new index +this one):\n%s", q, diff)
				}
			}
		})
	}
}

// fresh is a new index of what is there now.
func fresh(t testing.TB, s *markdownstore.Store) *index.Index {
	t.Helper()
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.sqlite"))
	reindex(t, s, ix)
	return ix
}

// While a file is written to all the time, syncs neither fail nor index half a
// line for good.
func TestFileGrowsWhileSyncing(t *testing.T) {
	dir := folder(t, map[string]string{"memory/2026-03-09.md": "# 2026-03-09\n"})
	s, ix := both(t, dir)
	f, err := os.OpenFile(filepath.Join(dir, "memory", "2026-03-09.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				_, err := f.WriteString("\nlast walrus\n")
				done <- err
				return
			default:
			}
			if _, err := fmt.Fprintf(f, "\n- entry number %d", n); err != nil {
				done <- err
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	for range 20 {
		r, err := ix.Sync(bg, list(s), reader(s), nil)
		if err != nil {
			t.Error(err)
		}
		for _, f := range r.Failed {
			if !strings.Contains(f.Error(), "being written") {
				t.Error(f)
			}
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	reindex(t, s, ix)
	if got := find(t, s, ix, "last walrus"); len(got) == 0 || !strings.Contains(got[0].Text, "last walrus") {
		t.Errorf("found %v", places(got))
	}
}
