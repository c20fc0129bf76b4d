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
		{"first", []Evidence{{"a", 5}}, []retrieval.Hit{hit("a", 1, 9, 10)},
			Metrics{Questions: 1, RecallAt1: 1, RecallAt5: 1, RecallAt10: 1, MRR: 1, NDCGAt10: 1, WithinTokens: Sizes{"500": 1, "1000": 1, "2000": 1}}},
		{"other file, other lines, then the third", []Evidence{{"a", 5}}, []retrieval.Hit{hit("b", 1, 9, 10), hit("a", 6, 9, 10), hit("a", 5, 5, 10)},
			Metrics{Questions: 1, RecallAt5: 1, RecallAt10: 1, MRR: 1.0 / 3, NDCGAt10: third, WithinTokens: Sizes{"500": 1, "1000": 1, "2000": 1}}},
		{"one of two, at rank three", []Evidence{{"a", 5}, {"z", 1}}, []retrieval.Hit{hit("b", 1, 1, 10), hit("c", 1, 1, 10), hit("a", 5, 5, 10)},
			Metrics{Questions: 1, RecallAt5: .5, RecallAt10: .5, MRR: 1.0 / 3, NDCGAt10: third / ideal2, WithinTokens: Sizes{"500": .5, "1000": .5, "2000": .5}}},
		{"both in one hit", []Evidence{{"a", 5}, {"a", 6}}, []retrieval.Hit{hit("a", 5, 6, 10)},
			Metrics{Questions: 1, RecallAt1: 1, RecallAt5: 1, RecallAt10: 1, MRR: 1, NDCGAt10: 1, WithinTokens: Sizes{"500": 1, "1000": 1, "2000": 1}}},
		{"behind what fits in a thousand", []Evidence{{"a", 5}}, []retrieval.Hit{hit("b", 1, 1, 1001), hit("a", 5, 5, 10)},
			Metrics{Questions: 1, RecallAt5: 1, RecallAt10: 1, MRR: .5, NDCGAt10: 1 / math.Log2(3), WithinTokens: Sizes{"500": 0, "1000": 0, "2000": 1}}},
		{"nothing", []Evidence{{"a", 5}}, nil,
			Metrics{Questions: 1, WithinTokens: Sizes{"500": 0, "1000": 0, "2000": 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Judge(Question{Evidence: tc.evidence}, tc.hits, words)
			got.Packed = nil
			if d := cmp.Diff(tc.want, got, near); d != "" {
				t.Error(d)
			}
		})
	}
}
