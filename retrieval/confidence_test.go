package retrieval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// notes is an index of some notes whose words are rare to different degrees.
func notes(answer string) *fakeIndex {
	hits := []index.Hit{{ID: "a", Path: "memory/a.md", StartLine: 1, EndLine: 1, Text: answer, Score: .5}}
	for i := range 40 {
		hits = append(hits, index.Hit{ID: fmt.Sprint("n", i), Path: fmt.Sprintf("memory/n%d.md", i), StartLine: 1, EndLine: 1,
			Text: fmt.Sprintf("The ferry %d is repaired in the dock, says the list of the crew", i), Score: .1})
	}
	for i := range hits {
		hits[i].Rank = i + 1
	}
	return &fakeIndex{hits: index.Hits{Keyword: hits, Chunks: 41, Terms: nil}}
}

func TestWeakHits(t *testing.T) {
	const answer = "Marta keeps the key of the lighthouse under the third flowerpot"
	t.Run("some notes", func(t *testing.T) { weakHits(t, answer, 1, 1) })
	t.Run("many notes", func(t *testing.T) { weakHits(t, answer, 2500, 1) })
	t.Run("copies", func(t *testing.T) { weakHits(t, answer, 250, 20) })
}

// weakHits asks an index of so many times 41 chunks, in which the answer stands so often.
func weakHits(t *testing.T, answer string, times int64, copies int) {
	for _, c := range []struct {
		question string
		weak     bool
	}{
		{"Where does Marta keep the key of the lighthouse?", false},
		{"Who has the lighthouse key?", false},
		{"key of the lighthouse", false},
		{"Which list of a dict should be sorted by the key in Python code?", true},
		{"explain recursion to the crew", true},
		{"What is the capital of Peru, and who says so?", true},
	} {
		ix := notes(answer)
		ix.hits.Chunks *= times
		for i := 1; i < copies; i++ {
			h := ix.hits.Keyword[0]
			h.ID, h.Path = fmt.Sprint("a", i), fmt.Sprintf("memory/a%d.md", i)
			ix.hits.Keyword = slices.Insert(ix.hits.Keyword, i, h)
		}
		for i := range ix.hits.Keyword {
			ix.hits.Keyword[i].Rank = i + 1
		}
		r := New(ix, nil)
		for _, q := range []Query{{Text: c.question, Passages: true}, {Text: c.question, Passages: true, MinBest: DefaultMinBest}} {
			a := analyzers.Lend()
			ix.hits.Terms = a.Query(c.question, []string{"en"})
			ix.hits.Holders = make([]int64, len(ix.hits.Terms))
			for j, term := range hashTerms(ix.hits.Terms) {
				for _, h := range ix.hits.Keyword {
					if digestOf(a, h.Text, "en").count(term) > 0 {
						ix.hits.Holders[j]++
					}
				}
				if ix.hits.Holders[j] > int64(copies) {
					ix.hits.Holders[j] *= times
				}
			}
			analyzers.Give(a)
			got := r.Search(t.Context(), q)
			if got.Weak != c.weak {
				t.Errorf("%q: weak %v: %v", c.question, got.Weak, scoresOf(got))
			}
			if silent := len(got.Hits) == 0; silent != (c.weak && q.MinBest > 0) || silent && got.Reason != NoMatch {
				t.Errorf("%q with at least %v: %d hits, %s", c.question, q.MinBest, len(got.Hits), got.Reason)
			}
			for _, h := range got.Hits {
				if h.Score < 0 || h.Score > 1 {
					t.Errorf("%q scores %v", c.question, h.Score)
				}
			}
		}
	}
}

func scoresOf(r Result) (out []string) {
	for _, h := range r.Hits[:min(3, len(r.Hits))] {
		out = append(out, fmt.Sprintf("%.3f %s", h.Score, h.Text))
	}
	return out
}

func TestLongestRun(t *testing.T) {
	for _, c := range []struct {
		question, text string
		want           float64
	}{
		{"the harbour master of Oslo", "Ask the Harbour Master of Oslo", 3.6},
		{"港口的潮汐表", "请看港口的潮汐", 2.5},
		{"nothing", "of it", 0},
		{"", "of it", 0},
	} {
		q := runOf(c.question)
		if got := q.longest(unitsOf(c.text), q.weight); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%q in %q: %v, want %v", c.question, c.text, got, c.want)
		}
	}
}
