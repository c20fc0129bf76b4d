package policies_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/bench/policies"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// shared lists the transcripts beside the repository; the test is skipped where
// there are none.
func shared(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	return files
}

func run(t testing.TB, s *transcript.Session, policy string, opt replay.Options) *replay.Result {
	t.Helper()
	opt.Scratch = t.TempDir()
	opt.View = transcript.Full
	r, err := replay.Run(context.Background(), s, policy, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSharedTranscripts replays every transcript under every policy and holds the
// kernel to what it promises: every call is planned, in the larger window at least; the
// figures are printed with -v. The whole table
// takes minutes: it is for the long suite.
func TestSharedTranscripts(t *testing.T) {
	files := shared(t)
	if !suite.Long() {
		files = files[:1]
	}
	for _, f := range files {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range suite.Some([]int{128_000, 200_000}, 1) {
			recall := map[string]float64{}
			var results []*replay.Result
			for _, policy := range replay.Policies() {
				opt := replay.Options{ContextWindow: window, FixedTokens: 30_000, Resolver: "memory_get"}
				results = append(results, run(t, s, policy, opt))
			}
			replay.Align(results)
			for _, u := range results[0].Unplanned {
				if u.Reason != "does_not_fit" || window == 200_000 {
					t.Errorf("%s: call %d is not planned: %s %s", f, u.Index+1, u.Reason, u.Detail)
				}
			}
			for _, r := range results {
				policy := r.Policy
				report(t, filepath.Base(f), window, r)
				if r.Totals.Violations > 0 {
					t.Errorf("%s: %s: %d violations", f, policy, r.Totals.Violations)
				}
				// Turns, sliding and batch may drop what no call has shown.
				drops := policy == policies.Turns || policy == policies.Sliding || policy == "batch"
				if o := r.Totals.NetCostUSD; o != nil && !drops && *o < *r.Bound.NetCostUSD {
					t.Errorf("%s: %s costs %v, below the bound of %v", f, policy, *o, *r.Bound.NetCostUSD)
				}
				if recall[policy] = r.Totals.ReferenceRecall; policy == replay.Oracle && recall[policy] < recall[replay.Memkernel] {
					t.Errorf("%s: the oracle shows %v, memkernel %v", f, recall[policy], recall[replay.Memkernel])
				}
			}
		}
	}
}

func report(t testing.TB, name string, window int, r *replay.Result) {
	t.Helper()
	o := r.Totals
	cost := "unpriced"
	if o.CostUSD != nil {
		cost = fmt.Sprintf("$%.2f", *o.CostUSD)
	}
	t.Logf("%-28.28s %4dk %-11s %9s in %5.1fM hit %.3f cuts %2d cold %2d over %3d recall %5.1f named %4.1f ptr %4.1f anchors %5.1f",
		name, window/1000, r.Policy, cost, float64(o.InputTokens)/1e6, o.HitRatio, o.Cuts, o.ColdEvents, o.Overflows,
		100*o.ReferenceRecall, 100*o.Named, 100*o.Pointer, 100*o.AnchorRecall)
}
