package index

import (
	"context"
	"os"
	"testing"
	"time"
)

// An index in memory answers as one in a file does, is its own, and leaves nothing
// behind.
func TestInMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := context.Background()
	stat := FileStat{Path: "memory/a.md", Size: 9, ModTime: time.Unix(1, 0)}
	files := func(yield func(FileStat, error) bool) { yield(stat, nil) }
	text := "The heron eats herring."
	read := func(string) ([]Chunk, error) { return []Chunk{{StartLine: 1, EndLine: 1, Text: text}}, nil }
	var made [2]*Index
	for i := range made {
		ix, err := InMemory(ctx, &Options{Chunker: "c"})
		if err != nil {
			t.Fatal(err)
		}
		defer ix.Close()
		made[i] = ix
	}
	found := func(ix *Index, words string) int {
		t.Helper()
		hits, err := ix.Search(ctx, Query{Text: words, K: 5})
		if err != nil || hits.KeywordErr != nil {
			t.Fatal(err, hits.KeywordErr)
		}
		return len(hits.Keyword)
	}
	for range 2 { // the second time nothing has changed
		if r, err := made[0].Sync(ctx, files, read, nil); err != nil || len(r.Failed) > 0 {
			t.Fatal(err, r)
		}
	}
	if found(made[0], "herring") != 1 || found(made[1], "herring") != 0 {
		t.Error("not found, or by the other index too")
	}
	text, stat.Size = "The heron flew.", 15
	if lag, err := made[0].Lag(ctx, files); err != nil || lag.Files != 1 {
		t.Errorf("%+v, %v", lag, err)
	}
	if _, err := made[0].Sync(ctx, files, read, nil); err != nil {
		t.Fatal(err)
	}
	if found(made[0], "herring") != 0 || found(made[0], "flew") != 1 {
		t.Error("the change is not seen")
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
