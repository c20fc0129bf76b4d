package index

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRefusedTextIsNotRead: a search reads the text of wanted files alone, though others match better
// and there are many.
func TestRefusedTextIsNotRead(t *testing.T) {
	ctx := context.Background()
	ix := openNew(t)
	stats := []FileStat{{Path: "memory/ferry.md", Size: 9, ModTime: time.Unix(7, 7)}}
	for i := range 300 {
		stats = append(stats, FileStat{Path: fmt.Sprintf("transcripts/%d.md", i), Size: 9, ModTime: time.Unix(7, 7)})
	}
	_, err := ix.Sync(ctx, func(yield func(FileStat, error) bool) {
		for _, s := range stats {
			if !yield(s, nil) {
				return
			}
		}
	}, func(path string) ([]Chunk, error) {
		text := "which ferry leaves the northern quay at night"
		if path == stats[0].Path {
			text = "the ferry is painted in white and green, and every spring its engine is taken apart by two people from the yard across the river"
		}
		return []Chunk{{Text: text + " " + path, StartLine: 1, EndLine: 1}}, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := func(path string) bool { return !strings.HasPrefix(path, "transcripts/") }
	for range 2 { // by SQLite, then by the word lists
		hits, err := ix.Search(ctx, Query{Text: "which ferry leaves the northern quay at night", K: 5, Want: want})
		if err != nil {
			t.Fatal(err)
		}
		if got := places(hits.Keyword); !cmp.Equal(got, []string{"memory/ferry.md:1"}) {
			t.Errorf("hits: %v", got)
		}
	}
	v := ix.door.cur.seen
	for row := range v.nextRow {
		if h, ok := v.hits.Get(row); ok && !want(h.Path) {
			t.Fatalf("the text of %s was read", h.Path)
		}
	}
}
