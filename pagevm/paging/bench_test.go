package paging

import (
	"fmt"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// crowd makes an engine with n pages in the proportions of an agent's session, and a
// budget that holds all floors and a third of the rest.
func crowd(b testing.TB, policy string, n int) (*Engine, *Turn) {
	p, err := ByName(policy)
	if err != nil {
		b.Fatal(err)
	}
	e, err := New(Config{Policy: p, Budget: 18*n + 200})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		typ := pagevm.Evidence
		switch i % 20 {
		case 0:
			typ = pagevm.Preference
		case 1, 2:
			typ = pagevm.Conversation
		}
		pg := Page{ID: fmt.Sprintf("page-%06d", i), Type: typ, Scope: memkernel.ScopeSession, Session: "s", Pin: PinNone,
			Tokens: Tokens{Full: 40 + i%23, Compressed: 20 + i%7, Structured: 10, Pointer: 2}, RecomputeCost: float64(i % 5)}
		if err := e.Add(pg); err != nil {
			b.Fatal(err)
		}
	}
	return e, &Turn{Session: "s", Demand: make([]string, 3)}
}

// next moves the turn's demand on.
func (t *Turn) next(n int) {
	t.Turn++
	for i := range t.Demand {
		t.Demand[i] = benchIDs[(t.Turn*7+i*31)%n]
	}
}

var benchIDs = func() []string {
	ids := make([]string, 100_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("page-%06d", i)
	}
	return ids
}()

// BenchmarkStep is a whole turn by the number of pages: assembling, observing. The
// growth shows as ns/page, which n·log n lets rise by a fifth per factor of ten.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{20, 50, 100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pages=%d", n), func(b *testing.B) {
			e, turn := crowd(b, "clawvm", n)
			for range 100 {
				turn.next(n)
				step(b, e, *turn)
			}
			b.ReportAllocs()
			for b.Loop() {
				turn.next(n)
				if _, err := e.Step(turn); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/page")
		})
	}
}

// TestSteadyStateAllocatesNothing: once its buffers have grown, a turn allocates
// nothing.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, policy := range Policies() {
		e, turn := crowd(t, policy, 200)
		run := func() {
			turn.next(200)
			if _, err := e.Step(turn); err != nil {
				t.Fatal(err)
			}
		}
		for range 300 {
			run()
		}
		if n := testing.AllocsPerRun(100, run); n > 0 {
			t.Errorf("%s: %v allocations per turn, want none", policy, n)
		}
	}
}
