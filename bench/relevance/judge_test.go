package relevance

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/retrieval"
)

func hit(path string, from, to, words int) retrieval.Hit {
	return retrieval.Hit{Kind: retrieval.Memory, ID: path, Path: path, StartLine: from, EndLine: to, Text: strings.Repeat("word ", words)}
}

func words(s string) int { return len(strings.Fields(s)) }

var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })

// The figures are worked out by hand from the package comment.
func TestJudge(t *testing.T) {
	third := 1 / math.Log2(4)
	ideal2 := 1 + 1/math.Log2(3)
	for _, tc := range []struct {
		name     string
		evidence []Evidence
		hits     []retrieval.Hit
		want     Metrics
	}{
		{"first", []Evidence{{File: "a", Line: 5}}, []retrieval.Hit{hit("a", 1, 9, 10)},
			Metrics{Questions: 1, RecallAt1: 1, RecallAt5: 1, RecallAt10: 1, MRR: 1, NDCGAt10: 1, WithinTokens: sizes{"500": 1, "1000": 1, "2000": 1}}},
		{"other file, other lines, then the third", []Evidence{{File: "a", Line: 5}}, []retrieval.Hit{hit("b", 1, 9, 10), hit("a", 6, 9, 10), hit("a", 5, 5, 10)},
			Metrics{Questions: 1, RecallAt5: 1, RecallAt10: 1, MRR: 1.0 / 3, NDCGAt10: third, WithinTokens: sizes{"500": 1, "1000": 1, "2000": 1}}},
		{"one of two, at rank three", []Evidence{{File: "a", Line: 5}, {File: "z", Line: 1}}, []retrieval.Hit{hit("b", 1, 1, 10), hit("c", 1, 1, 10), hit("a", 5, 5, 10)},
			Metrics{Questions: 1, RecallAt5: .5, RecallAt10: .5, MRR: 1.0 / 3, NDCGAt10: third / ideal2, WithinTokens: sizes{"500": .5, "1000": .5, "2000": .5}}},
		{"both in one hit", []Evidence{{File: "a", Line: 5}, {File: "a", Line: 6}}, []retrieval.Hit{hit("a", 5, 6, 10)},
			Metrics{Questions: 1, RecallAt1: 1, RecallAt5: 1, RecallAt10: 1, MRR: 1, NDCGAt10: 1, WithinTokens: sizes{"500": 1, "1000": 1, "2000": 1}}},
		{"behind what fits in a thousand", []Evidence{{File: "a", Line: 5}}, []retrieval.Hit{hit("b", 1, 1, 1001), hit("a", 5, 5, 10)},
			Metrics{Questions: 1, RecallAt5: 1, RecallAt10: 1, MRR: .5, NDCGAt10: 1 / math.Log2(3), WithinTokens: sizes{"500": 0, "1000": 0, "2000": 1}}},
		{"nothing", []Evidence{{File: "a", Line: 5}}, nil,
			Metrics{Questions: 1, WithinTokens: sizes{"500": 0, "1000": 0, "2000": 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := rated(Question{Evidence: tc.evidence}, tc.hits, words)
			got.Packed, got.FileHitAt1, got.FileNDCGAt5 = nil, 0, 0
			if d := cmp.Diff(tc.want, got, near); d != "" {
				t.Error(d)
			}
		})
	}
}

// Files are in the order of their first hits, however many they have.
func TestJudgeFiles(t *testing.T) {
	hits := []retrieval.Hit{hit("b", 1, 1, 1), hit("b", 2, 2, 1), hit("a", 1, 1, 1), hit("b", 3, 3, 1), hit("c", 1, 1, 1)}
	for _, tc := range []struct {
		evidence []Evidence
		hit, at5 float64
	}{
		{[]Evidence{{File: "b", Line: 9}}, 1, 1},
		{[]Evidence{{File: "a", Line: 9}, {File: "a", Line: 3}}, 0, 1 / math.Log2(3)},
		{[]Evidence{{File: "c", Line: 9}, {File: "b", Line: 9}}, 1, (1 + .5) / (1 + 1/math.Log2(3))},
		{[]Evidence{{File: "z", Line: 1}}, 0, 0},
	} {
		got := rated(Question{Evidence: tc.evidence}, hits, words)
		if got.FileHitAt1 != tc.hit || !cmp.Equal(got.FileNDCGAt5, tc.at5, near) {
			t.Errorf("%v: hit@1 %v, ndcg@5 %v, want %v and %v", tc.evidence, got.FileHitAt1, got.FileNDCGAt5, tc.hit, tc.at5)
		}
	}
}

// Where evidence is a range, any line of it answers.
func TestJudgeRange(t *testing.T) {
	q := Question{Evidence: []Evidence{{File: "a", Line: 5, EndLine: 9}}}
	for _, tc := range []struct {
		from, to int
		want     float64
	}{{1, 4, 0}, {1, 5, 1}, {9, 12, 1}, {7, 7, 1}, {10, 12, 0}} {
		if got := rated(q, []retrieval.Hit{hit("a", tc.from, tc.to, 3)}, words); got.RecallAt10 != tc.want {
			t.Errorf("lines %d to %d: recall %v, want %v", tc.from, tc.to, got.RecallAt10, tc.want)
		}
	}
}

// rated is what a bench says of an answer.
func rated(q Question, hits []retrieval.Hit, count func(string) int) Metrics {
	m := rate(q, hits, count)
	m.pack(q, hits, count)
	return m
}
