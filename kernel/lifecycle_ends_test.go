package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary"
)

// What a session's settings call no secret stands in its checkpoints and state files,
// too, and what they do is masked there.
func TestCheckpointsAreMaskedBySettings(t *testing.T) {
	spared, other := "ghp_"+"0123456789abcdefghijABCDEFGHIJ012345", "ghp_"+"9876543210abcdefghijABCDEFGHIJ543210"
	dir := t.TempDir()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Redact: mask.Options{Allow: []string{spared}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := newConversation(231)
	c.add(memkernel.RoleUser, words("use "+spared+" here"))
	c.say()
	c.add(memkernel.RoleUser, words("and "+other+" there"))
	c.say()
	pass(t, k.EndSession, api.Boundary{Messages: c.msgs})
	files := append(checkpoints(t, dir), filepath.Join(dir, ".memkernel/sessions/s/state/thread.json"))
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), spared) || strings.Contains(string(b), other) {
			t.Errorf("%s: allowed kept %v, secret kept %v, %v", path, strings.Contains(string(b), spared), strings.Contains(string(b), other), err)
		}
	}
}

// A turn says what it synced, all of it, and that is bounded.
func TestTurnSyncs(t *testing.T) {
	k := openKernel(t, t.TempDir())
	defer k.Close()
	var syncs atomic.Int64
	defer atomicfile.SetHook(func(op, _ string) error {
		switch op {
		case "sync", "syncdir", "syncfs":
			syncs.Add(1)
		}
		return nil
	})()
	c := newConversation(232)
	for turn := range 4 {
		before, told := syncs.Load(), 0
		c.user()
		told += mustPlan(t, k, request(c)).Stats.Syncs
		c.loop(1, 2000)
		o, err := k.ObserveToolResult(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		told += o.Stats.Syncs + mustPlan(t, k, request(c)).Stats.Syncs
		c.say()
		done := observe(t, k, api.Turn{Messages: c.msgs})
		told += done.Stats.Syncs
		if done.Stats.StateBytes == 0 {
			t.Error("the working state is not counted")
		}
		if n := int(syncs.Load() - before); turn > 0 && (n != told || n > 12) {
			t.Errorf("turn %d: %d syncs, %d are told, 12 are the bound", turn+1, n, told)
		}
	}
}

// noteOnce is a model that notes one thing, and counts how often it was asked.
type noteOnce struct{ asked atomic.Int64 }

func (m *noteOnce) Name() string { return "once" }

func (m *noteOnce) Complete(_ context.Context, p summary.Prompt) (summary.Completion, error) {
	m.asked.Add(1)
	return summary.Completion{Text: `{"ops":[{"op":"add","field":"open_threads","text":"Measure the retry under load","evidence":"m1"},{"op":"remember","text":"The harbour closes at six","evidence":"m1"}]}`}, nil
}

// After a cut, notes that came since are shown at the next cold moment, though
// nothing has to leave; a warm cache keeps its bytes.
func TestNotesAreShownWhenCold(t *testing.T) {
	dir, ck := t.TempDir(), newClock()
	c := longer(ruled(233))
	k := openKernel(t, dir)
	p := planned(t, k, request(c))
	if p.Layout.Made == nil {
		t.Fatal("no cut was made")
	}
	k.Close()
	c.say()
	observeNoted(t, dir, &noteOnce{}, ck, c.msgs)
	c.user()
	k = openKernel(t, dir)
	defer k.Close()
	warm := planned(t, k, request(c))
	if warm.Layout.Made != nil || strings.Contains(stream(warm), "Measure the retry under load") {
		t.Fatalf("the cache was warm: cut %+v", warm.Layout.Made)
	}
	c.gap(3 * time.Hour)
	cold := planned(t, k, request(c))
	if !cold.Layout.Cold || cold.Layout.Made == nil || !strings.Contains(stream(cold), "Measure the retry under load") {
		t.Fatalf("cold %v, cut %+v", cold.Layout.Cold, cold.Layout.Made)
	}
	checkPlan(t, cold, c.msgs)
	if len(goneKeys(cold)) != len(goneKeys(warm)) {
		t.Errorf("%d messages are gone, %d were", len(goneKeys(cold)), len(goneKeys(warm)))
	}
	c.gap(3 * time.Hour)
	if again := planned(t, k, request(c)); again.Layout.Made != nil {
		t.Errorf("what was shown is shown again: %+v", again.Layout.Made)
	}
}

// Every boundary of the host's asks the model about what was said until then, however
// little; what it remembers of a session that was reset stands.
func TestBoundariesAskTheModel(t *testing.T) {
	for name, pick := range map[string]func(*kernel.Kernel) hook{
		"compact": func(k *kernel.Kernel) hook { return k.Compact },
		"end":     func(k *kernel.Kernel) hook { return k.EndSession },
		"reset":   func(k *kernel.Kernel) hook { return k.Reset },
	} {
		t.Run(name, func(t *testing.T) {
			dir, ck, m := t.TempDir(), newClock(), &noteOnce{}
			k, err := kernel.Open(context.Background(), dir, &kernel.Options{Now: ck.Now,
				Summary: api.SummaryOptions{Model: m, Tokens: 1 << 20, After: 1000 * time.Hour, CloseWait: 20 * time.Second}})
			if err != nil {
				t.Fatal(err)
			}
			c := newConversation(234)
			c.user()
			c.say()
			observe(t, k, api.Turn{Messages: c.msgs})
			if m.asked.Load() > 0 {
				t.Fatal("the delta was not due")
			}
			pass(t, pick(k), api.Boundary{Messages: c.msgs})
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
			if m.asked.Load() != 1 || strings.Count(dailyLogs(t, dir), "The harbour closes at six") != 1 {
				t.Errorf("asked %d times; the logs say %q", m.asked.Load(), dailyLogs(t, dir))
			}
		})
	}
}

// However far one result takes the prompt, the plan that holds it has been through
// every threshold on the way: the gauge is told, the checkpoint is on disk, and the
// flush turn is asked for, before the call.
func TestNoThresholdIsJumpedPast(t *testing.T) {
	for _, share := range []float64{0.72, 0.83, 0.94, 1.4} {
		dir := t.TempDir()
		k := openKernel(t, dir)
		c := newConversation(235)
		c.user()
		before := fill(t, k, c, roomy, 0.3)
		per := 5500 // bytes a result, small enough to be shown in full
		need := int(share*40_000) - before.Budgets.PlannedInputTokens
		c.loop(max(1, need/2350), per)
		req := request(c)
		roomy(&req)
		p := mustPlan(t, k, req)
		u, text, cut := p.Budgets.Utilization, stream(p), p.Layout.Made != nil
		saved := len(checkpoints(t, dir)) == 1
		if before.Budgets.Utilization > 0.6 || u < min(share-0.12, 0.95) {
			t.Fatalf("from %.2f to %.2f, want about %.2f", before.Budgets.Utilization, u, share)
		}
		if !cut && u >= 0.7 && !strings.Contains(text, "[Context: ") {
			t.Errorf("at %.2f the gauge is not told", u)
		}
		if (u >= 0.8 || cut) != saved {
			t.Errorf("at %.2f, cut %v: checkpoint on disk %v", u, cut, saved)
		}
		if !cut && u >= 0.95 && p.FlushDue == "" {
			t.Errorf("at %.2f no flush turn is asked for", u)
		}
		k.Close()
	}
}
