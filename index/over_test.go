package index

import (
	"context"
	"strings"
	"testing"
	"time"
)

// Over is kept with a chunk, is not searched, and changes nothing else.
func TestOver(t *testing.T) {
	ix := openNew(t)
	for i, c := range []Chunk{{Over: "notes/lemon.md"}, {Over: "superseded"}, {Over: "two\n\x1flines", Keywords: "pantry"}, {Keywords: "pantry\n\x1f=done"}} {
		c.Text, c.StartLine, c.EndLine = "she keeps it there", 1, 1
		clock := int64(i + 1)
		if _, err := ix.Sync(context.Background(), func(yield func(FileStat, error) bool) {
			yield(FileStat{Path: "memory/a.md", Size: clock, ModTime: time.Unix(clock, 7)}, nil)
		}, func(string) ([]Chunk, error) { return []Chunk{c}, nil }, nil); err != nil {
			t.Fatal(err)
		}
		checkClean(t, ix)
		want := strings.NewReplacer("\n", " ", "\x1f", "").Replace(c.Over)
		if got := ask(t, ix, "keeps"); len(got) != 1 || got[0].Over != want {
			t.Errorf("%+v is found as %+v", c, got)
		}
		if got := ask(t, ix, "lemon superseded"); len(got) != 0 {
			t.Errorf("%+v is found by its Over", c)
		}
	}
}
