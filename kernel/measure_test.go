package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/memkernel/memkernel/kernel"
)

// TestProviderCountAnchors lets a stand-in for the provider count every prompt in
// its own way: the next plan stands on that count and adds only what is new.
func TestProviderCountAnchors(t *testing.T) {
	asked, measured := 0, 0
	var gone error
	k, err := kernel.Open(t.Context(), t.TempDir(), &kernel.Options{Counter: func(_ context.Context, model string, body []byte) (int, error) {
		asked++
		if model != request(session(1, 1, 1, 1)).Model || !json.Valid(body) {
			return 0, errors.New("bad request")
		}
		measured = len(body) / 2
		return measured, gone
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := session(20, 2, 2, 3000)
	p := mustPlan(t, k, request(c))
	checkPlan(t, p, c.msgs)
	if asked != 1 || len(p.Faults) != 0 {
		t.Fatalf("asked %d times, faults %v", asked, p.Faults)
	}
	before := measured
	c.loop(1, 1000)
	q := mustPlan(t, k, request(c))
	checkPlan(t, q, c.msgs)
	if delta := q.Budgets.PlannedInputTokens - before; delta < 200 || delta > 1500 {
		t.Errorf("the provider counted %d, and with some 500 tokens more %d are planned", before, q.Budgets.PlannedInputTokens)
	}
	gone = errors.New("the provider is gone")
	c.loop(1, 1000)
	if r := mustPlan(t, k, request(c)); !hasFault(r, "not_counted") {
		t.Errorf("the provider is gone and the plan does not say so: %v", r.Faults)
	}
}
