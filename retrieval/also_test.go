package retrieval

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// What was asked for in place of a word finds passages, below those that have the words as
// they were typed, and the answer names it.
func TestAlso(t *testing.T) {
	text := "- a login for the crew\n- the log and an in tray, log in at the harbour\n- a tray"
	ix := &fakeIndex{hits: index.Hits{
		Terms: []string{"log", "login"}, Chunks: 1, Holders: []int64{1, 1},
		Also:    []index.Also{{Typed: "log in", Asked: []string{"login"}, Of: []int{0}, Terms: []int{1}}},
		Keyword: ranked(hit("a", "a.md", 1, .9, text)),
	}}
	res := New(ix, nil).Search(t.Context(), Query{Text: "log in", Passages: true, Lines: true, Now: now})
	if len(res.Hits) < 2 || !strings.Contains(res.Hits[0].Text, "log and") || !strings.Contains(res.Hits[1].Text, "login") {
		t.Errorf("%+v", res.Hits)
	}
	if got := AlsoLine(res.Also); got != "also asked: login for log in" {
		t.Errorf("%q", got)
	}

	// One word alone: what doesn't hold what it was meant as is no hit.
	ix.hits.Terms, ix.hits.Holders = []string{"torunament", "tournament"}, []int64{0, 1}
	ix.hits.Also = []index.Also{{Typed: "torunament", Asked: []string{"tournament"}, Of: []int{0}, Terms: []int{1}}}
	ix.hits.Keyword = ranked(hit("a", "a.md", 1, .9, "- before\n- the tournament is on\n- behind"))
	res = New(ix, nil).Search(t.Context(), Query{Text: "torunament", Passages: true, Lines: true, Now: now})
	if len(res.Hits) != 1 || !strings.Contains(res.Hits[0].Text, "tournament") {
		t.Errorf("%+v", res.Hits)
	}
}
