package relevance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/retrieval"
)

// beside asks a set for ten lines and for ten places.
func beside(t *testing.T, b *bench) (lines, places report) {
	t.Helper()
	b.Hits, b.Unpacked = 10, true
	lines = run(t, b, retrieval.Options{})
	b.Places = true
	return lines, run(t, b, retrieval.Options{})
}

// Within 1,000 and 2,000 tokens ten places have what ten lines have, and the first of them
// begins with the best line.
func TestPlacesBesideLines(t *testing.T) {
	sets := []string{"../../testdata/workspace"}
	for _, n := range suite.Pick([]string{"locomo-30"}, []string{"locomo-26", "locomo-30", "locomo-41"}) {
		dir := filepath.Join("../../../shared/data/retrieval", n)
		if _, err := os.Stat(dir); err != nil {
			t.Logf("%s is absent: it is not judged", dir)
			continue
		}
		sets = append(sets, dir)
	}
	for _, dir := range sets {
		questions := filepath.Join(dir, "qa.jsonl")
		if _, err := os.Stat(questions); err != nil {
			questions = "../../testdata/questions.jsonl"
		}
		b, err := openFile(dir, questions)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		lines, places := beside(t, b)
		for _, n := range []string{"1000", "2000"} {
			if places.WithinTokens[n] < lines.WithinTokens[n] {
				t.Errorf("%s: within %s tokens places have %.3f, lines %.3f", b.Name, n, places.WithinTokens[n], lines.WithinTokens[n])
			}
		}
		if places.RecallAt1 != lines.RecallAt1 || places.FileHitAt1 != lines.FileHitAt1 {
			t.Errorf("%s: the first place has %.3f, the first line %.3f", b.Name, places.RecallAt1, lines.RecallAt1)
		}
	}
}

// Of what stands in a workspace as it was typed places have no fewer lines, over all kinds.
// (A bare year loses one within 1,000 tokens and gains one within 2,000.)
func TestPlacesOfKnownItems(t *testing.T) {
	b, err := Open(t.Context(), Set{Dir: "../../testdata/workspace"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	items := b.KnownItems(1, suite.Pick(10, 100))
	lines, err := b.AskKnown(t.Context(), items, nil, dayAfter(t, b))
	if err != nil {
		t.Fatal(err)
	}
	b.Places = true
	places, err := b.AskKnown(t.Context(), items, nil, dayAfter(t, b))
	if err != nil {
		t.Fatal(err)
	}
	more := false
	for _, n := range []string{"1000", "2000"} {
		of, got := 0.0, 0.0
		for kind, k := range sumKnown(places) {
			of, got = of+sumKnown(lines)[kind].LinesWithin[n], got+k.LinesWithin[n]
		}
		if got < of {
			t.Errorf("within %s tokens places have %.2f lines, lines %.2f", n, got, of)
		}
		more = more || got > of
	}
	if !more {
		t.Error("places have no line more")
	}
}
