package retrieval

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// A fact finds the lines that it cites and is not shown: what is shown are these lines, with
// where the fact stands. Lines that have the words themselves are not found by it, and stand
// before.
func TestFactsFindLines(t *testing.T) {
	text := "- Ana: Hello there, it rains.\n- Ben: What do you do all day?\n- Ana: I throw pots on a wheel.\n- Ben: We met at the pottery class."
	facts := []index.Fact{{StartLine: 12, EndLine: 12, Text: "Ana's hobby is pottery (leisure)", Citation: "memory/.facts/a.md#L6"},
		{StartLine: 10, EndLine: 10, Text: "bad weather", Citation: "memory/.facts/a.md#L7"}}
	chunk := func() index.Hit {
		h := hit("c", "memory/a.md", 10, .5, text)
		h.Facts = facts
		return h
	}
	ask := func(q string, terms ...string) Result {
		ix := &fakeIndex{hits: index.Hits{Terms: terms, Chunks: 40, Holders: make([]int64, len(terms)), Keyword: ranked(chunk())}}
		for i := range ix.hits.Holders {
			ix.hits.Holders[i] = 1
		}
		return New(ix, nil).Search(context.Background(), Query{Text: q, Limit: 4, Passages: true, Lines: true, Now: now})
	}
	r := ask("Ana hobby", "ana", "hobbi")
	if len(r.Hits) == 0 || r.Hits[0].StartLine != 12 || r.Hits[0].ByFact != "memory/.facts/a.md#L6" || r.Hits[0].Snippet != "- Ana: I throw pots on a wheel." || r.Hits[0].Score <= 0 {
		t.Fatalf("%+v", r.Hits)
	}
	r = ask("pottery", "potteri")
	if len(r.Hits) != 1 || r.Hits[0].StartLine != 13 || r.Hits[0].ByFact != "" {
		t.Errorf("lines that hold the word are behind: %+v", r.Hits)
	}
	for _, h := range ask("bad weather pots wheel", "bad", "weather", "pot", "wheel").Hits {
		if strings.Contains(h.Snippet+h.Text, "weather") || strings.Contains(h.Snippet, "leisure") {
			t.Errorf("a fact is shown: %+v", h)
		}
	}
	facts = nil
	if r := ask("Ana hobby", "ana", "hobbi"); slices.ContainsFunc(r.Hits, func(h Hit) bool { return h.ByFact != "" }) {
		t.Errorf("a fact that is gone: %+v", r.Hits)
	}
	facts = []index.Fact{{StartLine: 11, EndLine: 11, Text: "other hobby", Citation: "x"}}
	if r := ask("Ana hobby", "ana", "hobbi"); !slices.ContainsFunc(r.Hits, func(h Hit) bool { return h.ByFact == "x" && h.StartLine == 11 }) {
		t.Errorf("another fact of the same chunk: %+v", r.Hits)
	}
}

// What stands behind lines that a fact found is not shown for their heading's sake, and no
// other line is said to be found by it.
func TestFactsInPlaces(t *testing.T) {
	h := hit("c", "memory/a.md", 1, .5, "# 2026-03-09\n\n- Ana: I throw pots on a wheel.\n- Ben: In Oslo nobody does.\n\nThe list of it:\n\n- one\n- two")
	h.Facts = []index.Fact{{StartLine: 3, EndLine: 3, Text: "Ana's hobby is pottery", Citation: "memory/.facts/a.md#L6"}, {StartLine: 6, EndLine: 6, Text: "hobby", Citation: "memory/.facts/a.md#L7"}}
	ix := &fakeIndex{hits: index.Hits{Terms: []string{"hobbi"}, Chunks: 40, Holders: []int64{1}, Keyword: ranked(h)}}
	r := New(ix, nil).Search(context.Background(), Query{Text: "hobby", Limit: 4, Passages: true, Now: now})
	for _, hit := range r.Hits {
		for _, run := range hit.Runs() {
			want := map[int]string{1: "memory/.facts/a.md#L6", 6: "memory/.facts/a.md#L7", 8: ""}
			if by, ok := want[run.StartLine]; !ok || run.ByFact != by {
				t.Errorf("%+v", run)
			}
		}
	}
	if len(r.Hits) != 1 || len(r.Hits[0].Runs()) != 3 {
		t.Errorf("%+v", r.Hits)
	}
}
