//go:build unix

package pgindex

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

// files are texts by path; a chunk is a paragraph. Every version of a file has a
// time of its own.
type files map[string]string

func (f files) source(at time.Time) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for _, p := range slices.Sorted(maps.Keys(f)) {
			if !yield(index.FileStat{Path: p, Size: int64(len(f[p])), ModTime: at}, nil) {
				return
			}
		}
	}
}

func (f files) read(path string) ([]index.Chunk, error) {
	text, ok := f[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	var out []index.Chunk
	for i, p := range strings.Split(text, "\n\n") {
		out = append(out, index.Chunk{StartLine: 2*i + 1, EndLine: 2*i + 1, Text: p, Trail: []string{filepath.Base(path)}, Tokens: len(p) / 4})
	}
	return out, nil
}

var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func open(t testing.TB, o Options) *Index {
	t.Helper()
	ix, err := Open(context.Background(), o, &index.Options{Chunker: "paragraphs"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

func fill(t testing.TB, ix *Index, f files, at time.Time) index.SyncReport {
	t.Helper()
	r, err := ix.Sync(context.Background(), f.source(at), f.read, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func find(t testing.TB, ix *Index, question string) []index.Hit {
	t.Helper()
	h, err := ix.Search(context.Background(), index.Query{Text: question, K: 10})
	if err != nil {
		t.Fatal(err)
	}
	return h.Keyword
}

// places names hits by path and line.
func places(hits []index.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%d", h.Path, h.StartLine))
	}
	return strings.Join(out, " ")
}

func sound(t testing.TB, ix *Index) {
	t.Helper()
	for err := range ix.Check(context.Background()) {
		t.Error(err)
	}
}
