package retrieval

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// What the best passage goes on with comes next, where the question's words don't
// are, and not without feedback.
func TestFeedback(t *testing.T) {
	var filler []string
	for i := range 20 {
		filler = append(filler, fmt.Sprintf("- a%d b%d c%d", i, i, i))
	}
	ix := &fakeIndex{hits: index.Hits{Keyword: ranked(
		hit("a", "a.md", 1, .9, "- the harbour pilot is called Torunn"),
		hit("b", "b.md", 1, .401, strings.Join(filler, "\n")),
		hit("c", "c.md", 1, .4, "- Torunn lives in Bergen"),
	)}}
	second := func(weight float64) string {
		s := DefaultSignals()
		s.Feedback = weight
		r := New(ix, &Options{Signals: s, Lambda: 1}).Search(context.Background(), Query{Text: "harbour pilot", Passages: true, Lines: true, Now: now})
		if len(r.Hits) < 2 {
			t.Fatalf("%d hits: %s", len(r.Hits), r.Detail)
		}
		return r.Hits[1].Path
	}
	if without, with := second(0), second(.1); without != "b.md" || with != "c.md" {
		t.Errorf("the second hit is of %s without feedback, of %s with; want b.md and c.md", without, with)
	}
}

// Of the words of the best, those that only one holds or that all do are not asked for.
func TestPick(t *testing.T) {
	words := []lent{{term: 1, score: 9, holders: 1}, {term: 2, score: 9, holders: 90}, {term: 3, score: 2, holders: 3}, {term: 4, score: 9, holders: 3}, {term: 5, score: 9, holders: 3}}
	for i := range 20 {
		words = append(words, lent{term: uint32(10 + i), score: 1, holders: 10})
	}
	got := pick(words, 100)
	if len(got) != feedbackWords || got[0].term != 4 || got[1].term != 5 || got[2].term != 3 {
		t.Errorf("%+v", got)
	}
}

// A session that repeats a word lends it once, with its best score.
func TestLend(t *testing.T) {
	one, two := &session{}, &session{}
	p := func(s *session, score float64, set ...uint32) *place {
		return &place{session: s, score: score, passage: &passage{body: *tallied(set)}}
	}
	r := &refiner{gathered: &gathered{terms: []uint32{7}}}
	r.places = []*place{p(one, 5, 1, 7), p(one, 4, 1, 2), p(two, 3, 1), p(two, 1, 9), p(two, 0, 9)}
	leaders := r.leaders(3)
	if len(leaders) != 3 || leaders[0] != r.places[0] || leaders[2] != r.places[2] {
		t.Fatalf("leaders %v", leaders)
	}
	got := r.lend(leaders)
	if len(got) != 2 || got[0].term != 1 || got[0].score != 8 || got[1].term != 2 || got[1].score != 4 {
		t.Errorf("%+v", got)
	}
}

func tallied(tokens []uint32) *digest {
	n := len(tokens)
	return &digest{set: tally(tokens), size: n}
}
