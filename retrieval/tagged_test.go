package retrieval

import (
	"testing"

	"github.com/memkernel/memkernel/index"
)

func TestTagged(t *testing.T) {
	for _, l := range []string{"- [decision] use Go", "- 14:05 **[Human]** tabs", "1. [lesson, decision] x", "- [x] [surprise] y", "use Go [identity]", "use Go [lesson]."} {
		if !isTagged(l) {
			t.Errorf("%q carries a tag", l)
		}
	}
	for _, l := range []string{"", "- use Go", "- [decision](log.md) was made", "we tag with [decision] when it matters", "[decisions] x", "- [x] done"} {
		if isTagged(l) {
			t.Errorf("%q carries no tag", l)
		}
	}
}

// Of two entries that answer alike the tagged one comes first, and the weight is too
// small to bring one before a better answer.
func TestTaggedEntriesComeFirst(t *testing.T) {
	best := func(text string) int {
		ix := &fakeIndex{hits: index.Hits{Chunks: 1, Keyword: ranked(hit("a", "memory/a.md", 1, .5, text))}}
		got := askPassages(ix, "ferry harbour", Options{Lambda: 1})
		if len(got) == 0 {
			t.Fatal("nothing found")
		}
		return got[0].StartLine
	}
	filler := "\n\n- one thing\n\n- two things\n\n- three things\n\n- four things\n\n"
	if n := best("- the ferry leaves the harbour" + filler + "- the ferry leaves the harbour [decision]"); n != 11 {
		t.Errorf("line %d comes first, want the tagged one", n)
	}
	if n := best("- the ferry leaves the harbour" + filler + "- the harbour has two sides [decision]"); n != 1 {
		t.Errorf("line %d comes first, want the better answer", n)
	}
}
