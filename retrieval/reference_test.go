package retrieval

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// Of two facts the one that says that it replaces the other comes first, by the name
// of the other's line or by its place; the other stays.
func TestSupersedingComesFirst(t *testing.T) {
	const old = "- the ferry leaves the harbour at nine"
	for _, ref := range []string{lineName(old), "memory/a.md#L1"} {
		for _, mark := range []string{"", " <!-- supersedes " + ref + " -->"} {
			ix := &fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(hit("a", "memory/a.md", 1, .6, old),
				hit("b", "memory/b.md", 1, .5, "- by now the ferry leaves from the harbour not before half past ten"+mark))}}
			got := askPassages(ix, "ferry leaves harbour", Options{Lambda: 1})
			if len(got) != 2 {
				t.Fatalf("%d found", len(got))
			}
			want := "memory/a.md"
			if mark != "" {
				want = "memory/b.md"
			}
			if got[0].Path != want {
				t.Errorf("with mark %q %s comes first", mark, got[0].Path)
			}
		}
	}
}

// A promoted entry speaks for the one that it comes from, and does not take its place;
// where that one was not found it stands itself. The words of its references are not
// searched.
func TestPromotedSpeaksForOriginal(t *testing.T) {
	copied := "- the ferry leaves the harbour <!-- from memory/a.md#L2 -->"
	both := &fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(hit("b", "MEMORY.md", 1, .6, copied), hit("a", "memory/a.md", 1, .5, "# Log\n- 10:00 the ferry leaves the harbour at nine, says Mika"))}}
	if got := askPassages(both, "ferry harbour", Options{Lambda: 1}); len(got) != 1 || got[0].Path != "memory/a.md" {
		t.Errorf("%+v", got)
	}
	alone := &fakeIndex{hits: index.Hits{Chunks: 1, Keyword: ranked(hit("b", "MEMORY.md", 1, .6, copied))}}
	if got := askPassages(alone, "ferry harbour", Options{Lambda: 1}); len(got) != 1 || !strings.Contains(got[0].Text, "memory/a.md#L2") {
		t.Errorf("%+v", got)
	}
	if got := unreferenced("a <!-- from memory/a.md#L2 --> b <!-- note -->"); got != "a  b <!-- note -->" {
		t.Errorf("%q", got)
	}
}
