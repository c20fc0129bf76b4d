package kernel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// keptIn opens a kernel whose state is kept in memory.
func keptIn(t fataler, dir string, mem *storetest.Store) *kernel.Kernel {
	t.Helper()
	o := &kernel.Options{Memory: kernel.MemoryOptions{Off: true}}
	o.KeepIn(mem)
	k, err := kernel.Open(context.Background(), dir, o)
	if err != nil {
		t.Fatalf("open kernel: %v", err)
	}
	return k
}

// memoryKernel opens a kernel of a new workspace, with its state in memory: most tests say
// nothing about files, and need none.
func memoryKernel(t testing.TB) *kernel.Kernel {
	t.Helper()
	o := &kernel.Options{}
	o.KeepIn(storetest.New())
	k, err := kernel.Open(context.Background(), t.TempDir(), o)
	if err != nil {
		t.Fatalf("open kernel: %v", err)
	}
	return k
}

// TestCrashAtAnyStep lets the process die at each step of what a session writes, by a
// kill and with the power. The next one opens the session, has every turn that was
// acknowledged, finds nothing wrong but what was not synced, restores what prompts name,
// and goes on.
func TestCrashAtAnyStep(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(3, 5))
	tell := func(k *kernel.Kernel, acked func()) *conversation {
		c := session(41, 1, 2, 9000)
		for range 3 {
			p, err := k.PlanContext(context.Background(), request(c))
			if err != nil {
				break // the process died
			}
			c.say()
			if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, PlanID: p.ID, Now: c.now}); err == nil {
				acked()
			}
			c.user()
			c.loop(1, 6000)
		}
		return c
	}
	steps, mem := 0, storetest.New()
	mem.SetFault(func(storetest.Op, string) error { steps++; return nil })
	k := keptIn(t, dir, mem)
	turns := 0
	tell(k, func() { turns++ })
	k.Close()
	if steps < 60 || turns != 3 {
		t.Fatalf("only %d steps were seen, and %d turns", steps, turns)
	}
	all := make([]int, steps)
	for n := range all {
		all[n] = n + 1
	}
	for i, at := range suite.Some(all, 8) {
		mem, step, turns := storetest.New(), 0, 0
		mem.SetFault(func(op storetest.Op, _ string) error {
			if step++; step < at {
				return nil
			}
			return &atomicfile.PartialWrite{N: rng.IntN(4000), Err: storetest.ErrCrash}
		})
		k := keptIn(t, dir, mem)
		c := tell(k, func() { turns++ })
		k.Close()
		power, how := rng.IntN, "the power went"
		if i%2 == 1 {
			power, how = nil, "killed"
		}
		next := mem.Restart(power)
		k = keptIn(t, dir, next)
		st, err := k.Status(context.Background(), &api.StatusOptions{Session: "s"})
		if had := err == nil && len(st.Sessions) == 1; had && st.Sessions[0].Turns < turns || !had && turns > 0 {
			t.Fatalf("%s at step %d: %d turns were acknowledged: %+v, %v", how, at, turns, st, err)
		}
		findings, err := k.Check(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			halfHead := strings.Contains(f.What, "journal.head: one of its two states")
			derived := slices.ContainsFunc([]string{"/state/", "/state: what was captured", "projection", "trace.jsonl", "usage.jsonl"}, func(n string) bool { return strings.Contains(f.What, n) })
			if !halfHead && (power == nil || !derived) {
				t.Fatalf("%s at step %d: check says %+v", how, at, f)
			}
		}
		p := mustPlan(t, k, request(c))
		checkPlan(t, p, c.msgs)
		if hasFault(p, fault.NotRecorded) {
			t.Fatalf("%s at step %d: %v", how, at, p.Faults)
		}
		k.Close()
	}
}

// redelivered has a process die at each step of a call, which has not answered. Made again, what
// the call wrote is there or is written, and either way it outlasts the power cut that comes then:
// holds looks. It ends when no step is left, and says how often nothing was to be written.
func redelivered(t *testing.T, call func(*kernel.Kernel) (there bool, err error), holds func(*kernel.Kernel) error) (found int) {
	t.Helper()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(7, 11))
	for at, died := 1, true; died; at++ {
		died = false
		mem, step := storetest.New(), 0
		mem.SetFault(func(storetest.Op, string) error {
			if step++; step < at {
				return nil
			}
			died = true
			return storetest.ErrCrash
		})
		k := keptIn(t, dir, mem)
		call(k)
		k.Close()
		next := mem.Restart(nil)
		k = keptIn(t, dir, next)
		there, err := call(k)
		if err != nil {
			t.Fatalf("killed at step %d: %v", at, err)
		}
		if there {
			found++
		}
		for range 8 {
			k := keptIn(t, dir, next.Restart(rng.IntN))
			if err := holds(k); err != nil {
				t.Errorf("killed at step %d, and called again: after a power cut %v", at, err)
			}
			k.Close()
		}
		k.Close()
	}
	return found
}

func TestPowerCutAfterADuplicate(t *testing.T) {
	c := session(42, 1, 2, 900)
	c.say()
	duplicates := redelivered(t, func(k *kernel.Kernel) (bool, error) {
		o, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, AdvancementKey: "t1", Now: c.now})
		return err == nil && o.Outcome == api.Duplicate, err
	}, func(k *kernel.Kernel) error {
		st, err := k.Status(context.Background(), &api.StatusOptions{Session: "s"})
		if err == nil && (len(st.Sessions) != 1 || st.Sessions[0].Turns != 1) {
			err = fmt.Errorf("%+v", st.Sessions)
		}
		return err
	})
	if duplicates == 0 {
		t.Error("no delivery found the turn of one that had died")
	}
}

func TestPowerCutAfterAPlanAgain(t *testing.T) {
	c := session(42, 1, 2, 900)
	var shown []string
	again := redelivered(t, func(k *kernel.Kernel) (bool, error) {
		shown = nil
		p, err := k.PlanContext(context.Background(), request(c))
		if err != nil {
			return false, err
		}
		for _, page := range p.Debug.Included {
			if page.Kind == "conversation" || page.Kind == "evidence" {
				shown = append(shown, page.ID)
			}
		}
		return p.Stats.Ingested == 0, nil
	}, func(k *kernel.Kernel) error {
		for _, id := range shown {
			if got, err := k.Get(context.Background(), "s", id); err != nil || got.Reason != api.GetOK {
				return fmt.Errorf("page %s: %s, %v", id, got.Reason, err)
			}
		}
		return nil
	})
	if again == 0 || len(shown) < 5 {
		t.Errorf("%d plans found what one that had died had written; %d pages are shown", again, len(shown))
	}
}
