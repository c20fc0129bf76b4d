package index

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Chunks are found by words of their facts, which are kept with them, move with their lines
// and go with them; nothing else of a chunk depends on them.
func TestFacts(t *testing.T) {
	ix := openNew(t)
	clock := int64(0)
	sync := func(line int, keywords string, facts ...Fact) SyncReport {
		t.Helper()
		clock++
		r, err := ix.Sync(context.Background(), func(yield func(FileStat, error) bool) {
			yield(FileStat{Path: "memory/a.md", Size: clock, ModTime: time.Unix(clock, 7)}, nil)
		}, func(string) ([]Chunk, error) {
			return []Chunk{{Text: "she keeps\nit there", StartLine: line, EndLine: line + 1, Keywords: keywords, Facts: facts}}, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkClean(t, ix)
		return r
	}
	sync(4, "pantry", Fact{4, 5, "Ana keeps honey\tin the\ncellar\x1f", "memory/.facts/a.md#L6"}, Fact{5, 5, "Ana keeps honey in the cellar", "memory/.facts/a.md#L7"})
	want := []Fact{{4, 5, "Ana keeps honey in the cellar", "memory/.facts/a.md#L6"}, {5, 5, "Ana keeps honey in the cellar", "memory/.facts/a.md#L7"}}
	first := ask(t, ix, "honey")
	if len(first) != 1 || !cmp.Equal(first[0].Facts, want) || first[0].Text != "she keeps\nit there" || first[0].Hash != HashChunk(nil, first[0].Text) {
		t.Fatalf("found is %+v", first)
	}
	for _, q := range []string{"pantry", "keeps", "cellars"} {
		if got := ask(t, ix, q); len(got) != 1 || !cmp.Equal(got[0].Facts, want) {
			t.Errorf("%q finds %+v", q, got)
		}
	}
	for _, q := range []string{"L6", "0-1", "facts"} {
		if got := ask(t, ix, q); len(got) != 0 {
			t.Errorf("%q finds %+v", q, got)
		}
	}
	if r := sync(14, "pantry", Fact{14, 15, want[0].Text, want[0].Citation}, Fact{15, 15, want[1].Text, want[1].Citation}); r.ChunksKept != 1 || r.ChunksAdded != 0 {
		t.Errorf("moved: %+v", r)
	}
	if got := ask(t, ix, "honey"); len(got) != 1 || got[0].Facts[0].StartLine != 14 || got[0].Facts[1].EndLine != 15 {
		t.Errorf("after the move: %+v", got)
	}
	if r := sync(14, "pantry"); r.ChunksAdded != 1 || r.ChunksRemoved != 1 {
		t.Errorf("without facts: %+v", r)
	}
	if got := ask(t, ix, "honey"); len(got) != 0 {
		t.Errorf("a fact that is gone finds %+v", got)
	}
	if got := ask(t, ix, "pantry"); len(got) != 1 || got[0].Facts != nil || got[0].ID != first[0].ID {
		t.Errorf("without facts it is %+v, was %+v", got, first)
	}
	if r := sync(14, "pantry\n\x1f0-0 x\thoney"); r.ChunksAdded != 1 {
		t.Errorf("keywords that look like facts: %+v", r)
	}
	if got := ask(t, ix, "pantry"); len(got) != 1 || got[0].Facts != nil {
		t.Errorf("keywords became the facts %+v", got)
	}
}

// Over is kept with a chunk in addition to its facts, is not searched, and changes nothing else.
func TestOver(t *testing.T) {
	ix := openNew(t)
	fact := Fact{1, 1, "Ana keeps honey", "memory/.facts/a.md#L6"}
	for i, c := range []Chunk{{Over: "notes/lemon.md"}, {Over: "superseded", Facts: []Fact{fact}}, {Over: "two\n\x1flines", Keywords: "pantry", Facts: []Fact{fact}}, {Facts: []Fact{fact}}, {Keywords: "pantry\n\x1f=done"}} {
		c.Text, c.StartLine, c.EndLine = "she keeps it there", 1, 1
		clock := int64(i + 1)
		if _, err := ix.Sync(context.Background(), func(yield func(FileStat, error) bool) {
			yield(FileStat{Path: "memory/a.md", Size: clock, ModTime: time.Unix(clock, 7)}, nil)
		}, func(string) ([]Chunk, error) { return []Chunk{c}, nil }, nil); err != nil {
			t.Fatal(err)
		}
		checkClean(t, ix)
		want := strings.NewReplacer("\n", " ", "\x1f", "").Replace(c.Over)
		if got := ask(t, ix, "keeps"); len(got) != 1 || got[0].Over != want || !cmp.Equal(got[0].Facts, c.Facts) {
			t.Errorf("%+v is found as %+v", c, got)
		}
		if got := ask(t, ix, "lemon superseded"); len(got) != 0 {
			t.Errorf("%+v is found by its Over", c)
		}
	}
}

func TestSplitFacts(t *testing.T) {
	for _, stored := range []string{"", "words", "\x1f", "a\n\x1f", "a\n\x1f1-", "a\n\x1fx-y c\tt", "a\n\x1f1-2 c", "\x1f1-2 c\tt", "a\n\x1f1-2 c\t", strings.Repeat("\x1f", 9)} {
		if _, facts := splitFacts(stored, 3); len(facts) != 0 {
			t.Errorf("%q has the facts %+v", stored, facts)
		}
	}
}
