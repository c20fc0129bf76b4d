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
