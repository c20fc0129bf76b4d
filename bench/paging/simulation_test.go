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
func drawPage(t *rapid.T, id string) Page {
	full := rapid.IntRange(1, 60).Draw(t, "full")
	below := func(n int, name string) int { return rapid.IntRange(0, n).Draw(t, name) }
	p := Page{ID: id, Type: rapid.SampledFrom(types).Draw(t, "type"), Scope: memkernel.ScopeSession, Session: "s",
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
func drawPolicy(t *rapid.T) Policy {
	flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
	p := Policy{Name: "drawn", Knobs: Knobs{Pin: flip("pin"), Prefetch: flip("prefetch"), WritebackCompaction: flip("wbc"), WritebackReset: flip("wbr"),
		Resolve: flip("resolve"), Upgrade: rapid.SampledFrom([]Upgrade{UpgradeNone, UpgradeRecency, UpgradeLRU, UpgradeUtility}).Draw(t, "upgrade")}}
	p.Weights = p.Upgrade.Weights()
	return p
}

// drawTurn draws a turn of session s over pages.
func drawTurn(t *rapid.T, n int, pages []Page) *Turn {
	some := func(name string) (out []string) {
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(pages)-1), 0, min(4, len(pages)), func(i int) int { return i }).Draw(t, name) {
			out = append(out, pages[i].ID)
		}
		return out
	}
	turn := &Turn{Turn: n, Session: "s", Demand: some("demand"), Dirty: some("dirty")}
	for _, id := range some("calls") {
		turn.Calls = append(turn.Calls, Call{Signature: "get " + id, Page: id})
	}
	turn.Events = rapid.SliceOfN(rapid.SampledFrom([]Event{EventCompaction, EventReset, EventFlush, EventSessionEnd}), 0, 1).Draw(t, "events")
	return turn
}

func drawPages(t *rapid.T) (pages []Page) {
	for i := range rapid.IntRange(1, 9).Draw(t, "pages") {
		pages = append(pages, drawPage(t, fmt.Sprintf("p%d", i)))
	}
	return pages
}

// engineOf makes an engine of a policy with pages. Turns are added by step.
func engineOf(t interface{ Fatal(...any) }, p Policy, budget int, pages ...Page) *engine {
	w := &Workload{Name: "drawn", Sessions: []string{"s", "x", "y"}, Pages: pages}
	if err := w.check(); err != nil {
		t.Fatal(err)
	}
	e := newEngine(w, p, budget)
	e.sight = nil // an oracle that is told nothing
	return e
}

// play adds a turn to the workload of an engine, and runs it.
func play(t interface{ Fatal(...any) }, e *engine, turn Turn) *Outcome {
	added(t, e, turn)
	return e.step(len(e.w.Turns) - 1)
}

func added(t interface{ Fatal(...any) }, e *engine, turn Turn) {
	turn.Session = cmp.Or(turn.Session, "s")
	e.w.Turns = append(e.w.Turns, turn)
	if err := e.w.check(); err != nil {
		t.Fatal(err)
	}
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

func compare(t *rapid.T, e *engine, ref *reference, out *Outcome) {
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
			p, _ = PolicyByName(rapid.SampledFrom([]string{"clawvm", "lru", "oracle"}).Draw(t, "policy"))
		}
		e := engineOf(t, p, budget, pages...)
		flying := map[string]string{}
		for n := 1; n <= 12; n++ {
			turn := drawTurn(t, n, pages)
			drawFlight(t, turn, pages, flying)
			held := holds(e.sessions["s"])
			out := play(t, e, *turn)
			invariants(t, e, out, turn)
			stillHeld(t, held, out)
		}
	})
}

// drawFlight may begin or end the work of a page. flying holds the session of every page in flight.
func drawFlight(t *rapid.T, turn *Turn, pages []Page, flying map[string]string) {
	id := pages[rapid.IntRange(0, len(pages)-1).Draw(t, "flight")].ID
	if rapid.IntRange(0, 2).Draw(t, "flies") > 0 {
		return
	}
	switch session, ok := flying[id]; {
	case !ok:
		flying[id], turn.Begin = turn.Session, []string{id}
	case session == turn.Session:
		delete(flying, id)
		turn.End = []string{id}
	}
}

func holds(s *session) map[string]pagevm.Level {
	out := map[string]pagevm.Level{}
	for _, en := range s.entries {
		if en.hold != pagevm.Gone {
			out[en.ID] = en.hold
		}
	}
	return out
}

func invariants(t *rapid.T, e *engine, out *Outcome, turn *Turn) {
	if out.Tokens > e.budget {
		t.Fatalf("%d tokens are over the budget of %d", out.Tokens, e.budget)
	}
	if (out.Over > 0) != (out.Required > e.budget) || (len(out.Short) > 0) != (out.Over > 0) {
		t.Fatalf("over %d, short %v; required %d, budget %d", out.Over, out.Short, out.Required, e.budget)
	}
	k := e.policy.Knobs
	for _, f := range out.Faults {
		if f.Code == paging.PinnedInvariantMiss && (!f.BudgetInsufficient || out.Over == 0) {
			t.Fatalf("%+v although the pinned fit", f)
		}
		whole := k.Pin && k.Prefetch && k.Resolve && k.WritebackCompaction && k.WritebackReset
		if whole && out.Minimum <= e.budget {
			t.Fatalf("%+v although the minimum set fits", f)
		}
		if f.Turn != turn.Turn || f.Decision == 0 || f.Decision > e.seq || f.Cause == "" {
			t.Fatalf("%+v does not say what led to it", f)
		}
	}
}

// stillHeld: work in flight is never lowered in a decision where the required set
// fits.
func stillHeld(t *rapid.T, held map[string]pagevm.Level, out *Outcome) {
	for _, c := range out.Changes {
		if h, ok := held[c.Page]; ok && out.Over == 0 && c.To < h {
			t.Fatalf("%s is in flight at %v and went to %v", c.Page, h, c.To)
		}
	}
}
