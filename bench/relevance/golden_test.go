package relevance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/retrieval"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRanks holds, for each question on the bundled workspace, the rank of each
// line of its evidence, so that a change of the ranking shows when it is reviewed.
// Its mean is held as well: a rank that is lost must be won elsewhere.
func TestRanks(t *testing.T) {
	b, err := openFile("../../testdata/workspace", "../../testdata/questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	answers, err := b.Ask(context.Background(), &retrieval.Options{}, time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, a := range answers {
		fmt.Fprintf(&got, "%s %-11s", a.ID, a.Category)
		for i, e := range a.Evidence {
			fmt.Fprintf(&got, "  %s:%d %d", e.File, e.Line, a.Ranks[i])
		}
		got.WriteByte('\n')
	}
	m := Sum(answers)
	fmt.Fprintf(&got, "recall@10 %.3f  mrr %.3f  ndcg@10 %.3f  within 1000 tokens %.3f\n", m.RecallAt10, m.MRR, m.NDCGAt10, m.WithinTokens["1000"])
	const path = "testdata/ranks.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); d != "" {
		t.Errorf("ranks differ from %s; if they should, run go test -update (-want +got):\n%s", path, d)
	}
}
