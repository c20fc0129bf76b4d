package paging

import (
	"cmp"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// drawPage makes a page with random costs on its degradation path.
func drawPage(t *rapid.T, id string) page {
	full := rapid.IntRange(1, 60).Draw(t, "full")
	below := func(n int, name string) int { return rapid.IntRange(0, n).Draw(t, name) }
	p := page{ID: id, Type: rapid.SampledFrom([]pagevm.Type{pagevm.Bootstrap, pagevm.Constraint, pagevm.Plan, pagevm.Preference, pagevm.Evidence, pagevm.Conversation}).Draw(t, "type"), Scope: memkernel.ScopeSession, Session: "s",
		Pin: rapid.SampledFrom([]paging.Pin{paging.PinNone, paging.PinNone, paging.PinSoft, paging.PinHard}).Draw(t, "pin"), RecomputeCost: float64(rapid.IntRange(0, 8).Draw(t, "cost"))}
	p.Tokens.Full = full
	p.Tokens.Compressed = below(full, "compressed")
	last := full
	if p.Tokens.Compressed > 0 {
		last = p.Tokens.Compressed
	}
	p.Tokens.Structured = below(last, "structured")
	if p.Tokens.Structured > 0 {
		last = p.Tokens.Structured
	}
	p.Tokens.Pointer = below(min(last, 3), "pointer")
	return p
}

// drawPolicy draws any combination of knobs.
func drawPolicy(t *rapid.T) policy {
	flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
	return by(rapid.SampledFrom([]upgrade{upgradeNone, upgradeRecency, upgradeLRU, upgradeUtility}).Draw(t, "upgrade"),
		knobs{pin: flip("pin"), prefetch: flip("prefetch"), writebackCompaction: flip("wbc"), writebackReset: flip("wbr"), resolve: flip("resolve")})
}

// drawTurn draws a turn of session s over pages.
func drawTurn(t *rapid.T, n int, pages []page) *turn {
	some := func(name string) (out []string) {
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(pages)-1), 0, min(4, len(pages)), func(i int) int { return i }).Draw(t, name) {
			out = append(out, pages[i].ID)
		}
		return out
	}
	turn := &turn{Turn: n, Session: "s", Demand: some("demand"), Dirty: some("dirty")}
	for _, id := range some("calls") {
		turn.Calls = append(turn.Calls, call{Signature: "get " + id, Page: id})
	}
	turn.Events = rapid.SliceOfN(rapid.SampledFrom([]event{eventCompaction, eventReset, eventFlush, eventSessionEnd}), 0, 1).Draw(t, "events")
	return turn
}

func drawPages(t *rapid.T) (pages []page) {
	for i := range rapid.IntRange(1, 9).Draw(t, "pages") {
		pages = append(pages, drawPage(t, fmt.Sprintf("p%d", i)))
	}
	return pages
}

// engineOf makes an engine of a policy with pages. Turns are added by step.
func engineOf(t interface{ Fatal(...any) }, p policy, budget int, pages ...page) *engine {
	w := &workload{Name: "drawn", Sessions: []string{"s", "x", "y"}, Pages: pages}
	p.horizon = 0 // an oracle that is told nothing
	return newEngine(w, p, budget)
}

// play adds a turn to the workload of an engine, and runs it.
func play(t interface{ Fatal(...any) }, e *engine, turn turn) *outcome {
	added(t, e, turn)
	return e.step(len(e.w.Turns) - 1)
}

func added(t interface{ Fatal(...any) }, e *engine, turn turn) {
	turn.Session = cmp.Or(turn.Session, "s")
	e.w.Turns = append(e.w.Turns, turn)
}

// TestEngineIsTheReference runs random turns through the engine and the reference
// under any combination of knobs: same levels, same counts.
func TestEngineIsTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := drawPages(t)
		p, budget := drawPolicy(t), rapid.IntRange(20, 400).Draw(t, "budget")
		e, ref := engineOf(t, p, budget, pages...), newReference(p, budget)
		for _, p := range pages {
			ref.add(p)
		}
		for n := 1; n <= 12; n++ {
			turn := drawTurn(t, n, pages)
			if !ref.step(turn) {
				return
			}
			compare(t, e, ref, play(t, e, *turn))
		}
	})
}

func compare(t *rapid.T, e *engine, ref *reference, out *outcome) {
	if out.Tokens != ref.tokens || e.totals.Hits != ref.hits || e.totals.Alerts != ref.alerts {
		t.Fatalf("turn %d: tokens %d, hits %d, alerts %d; the reference has %d, %d, %d", e.turn, out.Tokens, e.totals.Hits, e.totals.Alerts, ref.tokens, ref.hits, ref.alerts)
	}
	for _, c := range paging.Codes() {
		if e.totals.Faults[c] != ref.faults[c] {
			t.Fatalf("turn %d: %d %s, the reference has %d", e.turn, e.totals.Faults[c], c, ref.faults[c])
		}
	}
	for id, en := range e.sessions["s"].of {
		if en.level != ref.level[id] || en.limit != ref.limit[id] || en.loaded != ref.loaded[id] {
			t.Fatalf("turn %d: %s at %v below %v, loaded %v; the reference has %v, %v, %v", e.turn, id, en.level, en.limit, en.loaded, ref.level[id], ref.limit[id], ref.loaded[id])
		}
	}
}

// TestInvariants: whatever the workload, the budget is kept; if the floors of the
// pinned fit, none is missed; if the whole minimum set fits, a policy with all
// knobs has no fault.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := drawPages(t)
		p, budget := drawPolicy(t), rapid.IntRange(1, 200).Draw(t, "budget")
		if rapid.Bool().Draw(t, "whole") {
			p = policies[rapid.SampledFrom([]string{"clawvm", "lru", "oracle"}).Draw(t, "policy")]
		}
		e := engineOf(t, p, budget, pages...)
		for n := 1; n <= 12; n++ {
			turn := drawTurn(t, n, pages)
			out := play(t, e, *turn)
			invariants(t, e, out, turn)
		}
	})
}

func invariants(t *rapid.T, e *engine, out *outcome, turn *turn) {
	if out.Tokens > e.budget {
		t.Fatalf("%d tokens are over the budget of %d", out.Tokens, e.budget)
	}
	if (out.Over > 0) != (out.Required > e.budget) || (len(out.Short) > 0) != (out.Over > 0) {
		t.Fatalf("over %d, short %v; required %d, budget %d", out.Over, out.Short, out.Required, e.budget)
	}
	k := e.policy.knobs
	for _, f := range out.Faults {
		if f.Code == paging.PinnedInvariantMiss && (!f.BudgetInsufficient || out.Over == 0) {
			t.Fatalf("%+v although the pinned fit", f)
		}
		whole := k.pin && k.prefetch && k.resolve && k.writebackCompaction && k.writebackReset
		if whole && out.Minimum <= e.budget {
			t.Fatalf("%+v although the minimum set fits", f)
		}
		if f.Turn != turn.Turn || f.Decision == 0 || f.Decision > e.seq || f.Cause == "" {
			t.Fatalf("%+v does not say what led to it", f)
		}
	}
}
