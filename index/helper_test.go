package index

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// workspace is a folder of Markdown files, with a count of the files read.
type workspace struct {
	root  string
	reads []string
}

func newWorkspace(t testing.TB, files map[string]string) *workspace {
	t.Helper()
	w := &workspace{root: t.TempDir()}
	for _, p := range sortedKeys(files) {
		w.put(t, p, files[p])
	}
	return w
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// old is the time of every file that put writes, plus a second per write: long
// enough ago for a stat to be trusted.
var old = time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)

func (w *workspace) put(t testing.TB, path, text string) {
	t.Helper()
	full := filepath.Join(w.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	when := old
	if fi, err := os.Stat(full); err == nil {
		when = fi.ModTime().Add(time.Second)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(full, when, when); err != nil {
		t.Fatal(err)
	}
}

func (w *workspace) remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(filepath.Join(w.root, path)); err != nil {
		t.Fatal(err)
	}
}

// list walks the folder for Markdown files.
func (w *workspace) list() iter.Seq2[FileStat, error] {
	return func(yield func(FileStat, error) bool) {
		filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
				return err
			}
			fi, err := d.Info()
			if err != nil {
				return nil
			}
			rel, _ := filepath.Rel(w.root, p)
			if !yield(FileStat{Path: filepath.ToSlash(rel), Size: fi.Size(), ModTime: fi.ModTime()}, nil) {
				return filepath.SkipAll
			}
			return nil
		})
	}
}

// read cuts a file into paragraphs.
func (w *workspace) read(path string) ([]Chunk, error) {
	w.reads = append(w.reads, path)
	b, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	return paragraphs(string(b)), nil
}

// paragraphs is a small chunker: a chunk per paragraph, headings as trail.
func paragraphs(text string) []Chunk {
	var out []Chunk
	var trail []string
	start, line := 0, 0
	var para []string
	flush := func() {
		if len(para) > 0 {
			out = append(out, Chunk{StartLine: start, EndLine: line - 1, Trail: slices.Clone(trail), Text: strings.Join(para, "\n")})
			para = nil
		}
	}
	for l := range strings.SplitSeq(text, "\n") {
		line++
		level := len(l) - len(strings.TrimLeft(l, "#"))
		switch {
		case strings.TrimSpace(l) == "":
			flush()
		case level > 0:
			flush()
			trail = append(trail[:min(level-1, len(trail))], strings.TrimSpace(l[level:]))
		default:
			if len(para) == 0 {
				start = line
			}
			para = append(para, l)
		}
	}
	line++
	flush()
	return out
}

func openAt(t testing.TB, path string, o *Options) *Index {
	t.Helper()
	ix, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

func openNew(t testing.TB) *Index {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "index.sqlite"), nil)
}

// sync syncs and wants no failures.
func (w *workspace) sync(t testing.TB, ix *Index) SyncReport {
	t.Helper()
	w.reads = nil
	r, err := ix.Sync(context.Background(), w.list(), w.read, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Failed) > 0 {
		t.Fatalf("sync failed for %v", r.Failed)
	}
	return r
}

// clean wants Check to find nothing.
func checkClean(t testing.TB, ix *Index) {
	t.Helper()
	for err := range ix.Check(context.Background()) {
		t.Errorf("check: %v", err)
	}
}

// ask searches by keyword and returns the hits.
func ask(t testing.TB, ix *Index, question string) []Hit {
	t.Helper()
	got, err := ix.Search(context.Background(), Query{Text: question, K: 10})
	if err != nil {
		t.Fatalf("search %q: %v", question, err)
	}
	return got.Keyword
}

// places returns the places of hits, for comparing.
func places(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%d", h.Path, h.StartLine))
	}
	return out
}

// scored is places with ids and scores.
func scored(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%d %s:%d-%d %s %.9f", h.Rank, h.Path, h.StartLine, h.EndLine, h.ID, h.Raw))
	}
	return out
}

// keyword finds the k best chunks that hold any of some words.
func keyword(ix *Index, terms []string, k int, want func(string) bool) (hits []Hit, err error) {
	h, done, err := ix.door.use(context.Background())
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := h.reader(context.Background())
	if err != nil {
		return nil, err
	}
	defer r.tx.Rollback()
	return r.keyword(context.Background(), terms, k, want)
}
