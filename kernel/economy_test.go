package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// TestEconomy: a request's economy stands over the kernel's, a compaction that comes with
// no call takes that of the last one, and what was decided is decided again from the trace.
func TestEconomy(t *testing.T) {
	for _, c := range suite.Some([]struct {
		options, request cachelayout.Economy
		cuts             bool
	}{{"", "", true}, {cachelayout.Keep, "", false}, {"", cachelayout.Keep, false}, {cachelayout.Keep, cachelayout.Balanced, true}, {cachelayout.Keep, "0.5", true}, {cachelayout.Save, cachelayout.Keep, false}}, 2) {
		dir := t.TempDir()
		k, err := kernel.Open(context.Background(), dir, &kernel.Options{Economy: c.options})
		if err != nil {
			t.Fatal(err)
		}
		conv := newConversation(5)
		conv.user()
		for i := range 64 {
			conv.ask("Read", fmt.Sprintf(`{"file_path":"pkg/p%d/code.go"}`, i), conv.code(9000))
			conv.say()
			conv.user()
		}
		req := request(conv)
		req.ContextWindow, req.Economy = 1_000_000, c.request
		planned(t, k, req)
		req.Now = req.Now.Add(2 * time.Hour) // nothing is cached any more, and a cut costs nothing
		conv.grow()
		req.Messages = conv.msgs
		p := planned(t, k, req)
		if made := p.Layout.Made != nil; made != c.cuts {
			t.Errorf("%+v: cut %t, %+v", c, made, p.Layout.Cut)
		}
		if low := p.Layout.Cut.Figures.LowWater; (low > 400_000) == c.cuts {
			t.Errorf("%+v: a cut would keep %d", c, low)
		}
		got, err := k.Compact(context.Background(), api.Boundary{SessionKey: req.SessionKey, Compact: &api.CompactWish{}})
		if err != nil {
			t.Fatal(err)
		}
		if after := got.Compaction.TokensAfter; after == 0 || (after > 190_000) == c.cuts {
			t.Errorf("%+v: a compaction leaves %d tokens of %d", c, after, got.Compaction.TokensBefore)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if r := replayFile(t, sessionFile(dir, "trace.jsonl")); r.Difference != nil || r.Plans < 2 || r.Other+r.Skipped > 0 {
			t.Errorf("%+v: decided again: %+v\n%+v", c, r, r.Difference)
		}
	}
}

func TestEconomyIsChecked(t *testing.T) {
	var wrong *cachelayout.EconomyError
	if _, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Economy: "much"}); !errors.As(err, &wrong) {
		t.Errorf("option: %v", err)
	}
	k := memoryKernel(t)
	defer k.Close()
	req := request(session(5, 2, 2, 400))
	req.Economy = "1.5"
	if _, err := k.PlanContext(context.Background(), req); !errors.As(err, &wrong) || wrong.Value != "1.5" {
		t.Errorf("plan: %v", err)
	}
	if _, err := k.Compact(context.Background(), api.Boundary{Compact: &api.CompactWish{Call: &req}}); !errors.As(err, &wrong) {
		t.Errorf("compact: %v", err)
	}
}
