package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

type keyOfWatch struct{}

// TestWatch: who watches is told of all work with its context and what came of it, of what
// failed too, and of each bill once; and what the kernel answers is the same as unwatched.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "memory", "a.md"), []byte("# Harbour\n\nThe lighthouse of Pellworm was built in 1907.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var told []api.Done
	ctx := context.WithValue(t.Context(), keyOfWatch{}, "mine")
	k, err := kernel.Open(ctx, dir, &kernel.Options{Watch: func(ctx context.Context, d *api.Done) {
		if ctx.Value(keyOfWatch{}) != "mine" {
			t.Errorf("%s: another context", d.Op)
		}
		told = append(told, *d)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if st := k.IndexStatus(ctx); st.State != api.IndexMissing {
		t.Errorf("the index is %s before there is one", st.State)
	}
	if _, err := k.Reindex(ctx, &api.ReindexOptions{}); err != nil {
		t.Fatal(err)
	}
	if st := k.IndexStatus(ctx); st.State != api.IndexOK || !st.Lag.Zero() || st.Files != 1 {
		t.Errorf("the index is %+v", st)
	}
	user := memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "When was the lighthouse of Pellworm built?"}}}
	req := api.PlanRequest{SessionKey: "s", Model: "claude-sonnet-4-6", Messages: []memkernel.Message{user}, Private: true}
	if _, err := k.PlanContext(ctx, api.PlanRequest{SessionKey: "s", Model: "nobody-knows"}); err == nil {
		t.Fatal("a plan of nothing")
	}
	p, err := k.PlanContext(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.PlanContext(ctx, req); err != nil { // the same again recalls nothing new
		t.Fatal(err)
	}
	answer := memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "In 1907."}}}
	turn := api.Turn{SessionKey: "s", Model: req.Model, Messages: []memkernel.Message{user, answer}, Usage: &memkernel.Usage{InputTokens: 50, OutputTokens: 3}, Private: true}
	for range 2 {
		if _, err := k.ObserveTurn(ctx, turn); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.Search(ctx, api.SearchRequest{Query: "lighthouse of Pellworm", Private: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", Text: "- a thing", Private: true}); err != nil {
		t.Fatal(err)
	}
	for _, apply := range []bool{false, true} {
		if _, err := k.Forget(ctx, api.ForgetRequest{SessionKey: "s", Session: true, Apply: apply}); err != nil {
			t.Fatal(err)
		}
	}
	var ops []api.Op
	for i := range told {
		ops = append(ops, told[i].Op)
		if told[i].Began.IsZero() || told[i].Took < 0 {
			t.Errorf("%+v", told[i])
		}
	}
	want := []api.Op{api.OpPlan, api.OpRecall, api.OpPlan, api.OpPlan, api.OpTurn, api.OpTurn, api.OpSearch, api.OpRemember, api.OpForget}
	if !slices.Equal(ops, want) {
		t.Fatalf("told of %v, want %v", ops, want)
	}
	if told[0].Err == nil || told[0].Plan != nil {
		t.Errorf("the plan of nothing: %+v", told[0])
	}
	if d := told[2]; !d.Recalled || d.Plan != p || p.Retrieval.Page == "" || told[1].Found == 0 || told[3].Recalled {
		t.Errorf("recalled %v %+v; then %v", d.Recalled, p.Retrieval, told[3].Recalled)
	}
	if first, again := told[4], told[5]; len(first.Observation.Bills) != 1 || first.Observation.Bills[0].Usage.InputTokens != 50 || len(again.Observation.Bills) != 0 || again.Observation.Outcome != api.Duplicate {
		t.Errorf("billed %+v, then %+v %s", first.Observation.Bills, again.Observation.Bills, again.Observation.Outcome)
	}
	if told[6].Found == 0 || told[7].Found != 1 || told[8].Found == 0 {
		t.Errorf("found %d, wrote %d, took out %d", told[6].Found, told[7].Found, told[8].Found)
	}
}
