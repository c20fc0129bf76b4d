package kernel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"pgregory.net/rapid"
)

// life is a session beside the little that a reference needs to know of it: how
// many turns were committed, how often it was reset, what is pinned.
type life struct {
	dir   string
	k     *kernel.Kernel
	c     *conversation
	turns int
	epoch int
	pins  []string
	open  bool // the newest message is the user's
}

// TestLifeHolds drives a session through its boundaries at random, with restarts in
// between, and compares what stands with the reference after every step.
func TestLifeHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &life{dir: tempDir(t), c: newConversation(rapid.Int64Range(0, 1<<20).Draw(t, "seed"))}
		l.k = openKernel(t, l.dir)
		defer func() { l.k.Close() }()
		l.c.user()
		l.open = true
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			l.step(t, rapid.SampledFrom([]string{"plan", "tool", "turn", "flush", "compact", "reset", "end", "pin", "reopen"}).Draw(t, "step"))
		}
		l.look(t)
	})
}

func (l *life) step(t *rapid.T, what string) {
	switch what {
	case "plan":
		l.look(t)
	case "tool":
		l.c.loop(1, rapid.IntRange(100, 12_000).Draw(t, "bytes"))
	case "turn":
		l.c.say()
		if o := observe(t, l.k, api.Turn{Messages: l.c.msgs}); o.Outcome != api.Committed || o.Turns != l.turns+1 {
			t.Fatalf("turn %d: %+v", l.turns+1, o)
		}
		l.turns++
		l.c.user()
	case "pin":
		key := fmt.Sprint("r", len(l.pins))
		write(t, l.k, pin(key, "Rule "+key+" binds."))
		l.pins = append(l.pins, key)
	case "reopen":
		l.k.Close()
		l.k = openKernel(t, l.dir)
	default:
		l.boundary(t, what)
	}
}

func (l *life) boundary(t *rapid.T, what string) {
	h := map[string]hook{"flush": l.k.Flush, "compact": l.k.Compact, "reset": l.k.Reset, "end": l.k.EndSession}[what]
	p := pass(t, h, api.Boundary{Messages: l.c.msgs})
	if len(p.Faults) > 0 || len(p.Rejected) > 0 {
		t.Fatalf("%s: %+v", what, p)
	}
	if what == "reset" {
		l.epoch++
		n := l.c.n
		l.c = newConversation(l.c.rng.Int63())
		l.c.n = n + 1 // a host gives no id twice
		l.c.user()
	}
	if p.Turns != l.turns || p.Epoch != l.epoch || !slices.Equal(p.Pinned, l.pins) && len(l.pins) > 0 {
		t.Fatalf("%s: %+v, want %d turns, epoch %d, pins %v", what, p, l.turns, l.epoch, l.pins)
	}
}

// look plans, and finds every pin exactly once, no fault of the contract, and a
// state on disk that checks.
func (l *life) look(t *rapid.T) {
	p := mustPlan(t, l.k, request(l.c))
	text := stream(p)
	for _, key := range l.pins {
		if n := strings.Count(text, "Rule "+key+" binds."); n != 1 {
			t.Fatalf("pin %s stands %d times", key, n)
		}
	}
	for _, f := range p.Faults {
		switch f.Code {
		case "pinned_invariant_miss", "post_compaction_bootstrap", fault.SilentRecall, "flush_miss":
			t.Fatalf("%+v", f)
		}
	}
	checkPlan(t, p, l.c.msgs)
	if f, err := l.k.Check(context.Background()); err != nil || len(f) > 0 {
		t.Fatalf("check: %v %v", f, err)
	}
}
