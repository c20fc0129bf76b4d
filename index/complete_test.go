package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A chunk with every word of the question, and the first chunk of a file with every word in its
// name, are among the hits, however many chunks hold some of the words more often. Files that the
// caller does not want are not. The first search is answered by SQLite, later ones by the word lists.
func TestEveryWordIsFound(t *testing.T) {
	ix := openNew(t)
	often := strings.Repeat("copper kettle ", 8) + strings.Repeat("sister kettle ", 8)
	long := "The copper thing, says my sister, is a kettle. " + strings.Repeat("Nothing more of it is known here. ", 60)
	texts := map[string][]Chunk{
		"long.md":                 {{Text: long}},
		"copper sister kettle.md": {{Text: "first"}, {Text: often}, {Text: often + "again"}},
	}
	for i := range 60 {
		texts[fmt.Sprintf("notes/%d.md", i)] = []Chunk{{Text: strings.Repeat("copper kettle ", 9)}, {Text: strings.Repeat("sister ", 9)}}
	}
	_, err := ix.Sync(context.Background(), func(yield func(FileStat, error) bool) {
		for path := range texts {
			if !yield(FileStat{Path: path, Size: 1, ModTime: time.Unix(1, 7)}, nil) {
				return
			}
		}
	}, func(path string) ([]Chunk, error) { return texts[path], nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"at first", "again"} {
		found := func(path string, want func(string) bool) bool {
			hits, err := ix.Search(context.Background(), Query{Text: "copper kettle sister", K: 4, Holders: true, Want: want})
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(hits.Keyword, func(h Hit) bool { return h.Path == path && h.Seq == 0 })
		}
		for _, path := range []string{"long.md", "copper sister kettle.md"} {
			if !found(path, nil) {
				t.Errorf("%s: %s is not found", how, path)
			}
			if found(path, func(p string) bool { return p != path }) {
				t.Errorf("%s: %s is found unwanted", how, path)
			}
		}
	}
}
