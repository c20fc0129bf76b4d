package retrieval

import (
	"testing"

	"github.com/memkernel/memkernel/index"
)

// Vectors count by what they were found to be worth, and what only they like stays behind
// what holds all of the question's words.
func TestReliance(t *testing.T) {
	words := index.Hits{Chunks: 90, Terms: []string{"stage", "deploi"}, Holders: []int64{2, 2}, Keyword: ranked(hit("all", "a.md", 1, .1, "staging deploy"), hit("half", "b.md", 1, .05, "staging"))}
	near := ranked(hit("far", "c.md", 1, .95, "sailing"), hit("half", "b.md", 1, .8, "staging"), hit("all", "a.md", 1, .1, "staging deploy"))
	for _, c := range []struct {
		name     string
		reliance float64
		mode     Mode
		first    string
		hits     int
	}{
		{"worth nothing", .1, Keyword, "all", 2},
		{"worth all", 1, Hybrid, "half", 3},
	} {
		hits := words
		hits.Vector, hits.Reliance = append([]index.Hit(nil), near...), &c.reliance
		got := ask(&fakeIndex{hits: hits}, Options{Embedder: works, HalfLife: -1, Lambda: 1}, Query{})
		if got.Mode != c.mode || len(got.Hits) != c.hits || got.Hits[0].ID != c.first {
			t.Fatalf("%s: %s, %d hits: %+v", c.name, got.Mode, len(got.Hits), got.Hits)
		}
		if (got.Detail != "") != (c.mode == Keyword) {
			t.Errorf("%s: %q", c.name, got.Detail)
		}
		place := map[string]int{}
		for i, h := range got.Hits {
			place[h.ID] = i
		}
		if far, ok := place["far"]; ok && far < place["all"] {
			t.Errorf("%s: what only vectors like comes before what holds all words: %v", c.name, place)
		}
	}
}
