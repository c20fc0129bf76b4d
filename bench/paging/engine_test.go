package paging

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

func pageOf(id string, typ pagevm.Type, tokens ...int) page {
	p := page{ID: id, Type: typ, Session: "s", Tokens: paging.Tokens{Full: tokens[0]}}
	for i, n := range tokens[1:] {
		*[]*int{&p.Tokens.Compressed, &p.Tokens.Structured, &p.Tokens.Pointer}[i] = n
	}
	return p
}

func pinned(p page) page { p.Pin = paging.PinHard; return p }

func shared(p page) page { p.Scope, p.Session = memkernel.ScopeProject, ""; return p }

// waits makes a page of the workload exist only from the first turn on that names it.
func waits(e *engine, p page) {
	e.w.Pages = append(e.w.Pages, p)
	e.later[p.ID] = &e.w.Pages[len(e.w.Pages)-1]
}

func levelOf(e *engine, id string) pagevm.Level { return e.sessions["s"].of[id].level }

// TestTable1 holds floors and degradation paths against the paper's table 1.
func TestTable1(t *testing.T) {
	for typ, want := range map[pagevm.Type][]pagevm.Level{
		pagevm.Bootstrap:    {pagevm.Structured, pagevm.Full},
		pagevm.Constraint:   {pagevm.Structured, pagevm.Full},
		pagevm.Plan:         {pagevm.Pointer, pagevm.Structured, pagevm.Full},
		pagevm.Preference:   {pagevm.Pointer, pagevm.Structured, pagevm.Compressed, pagevm.Full},
		pagevm.Evidence:     {pagevm.Pointer, pagevm.Structured, pagevm.Compressed, pagevm.Full},
		pagevm.Conversation: {pagevm.Pointer, pagevm.Structured, pagevm.Compressed, pagevm.Full},
	} {
		pg := pageOf("p", typ, 40, 20, 10, 2)
		e := engineOf(t, policies["clawvm"], 100, pg)
		var got []pagevm.Level
		for l, shown := range e.pages["p"].shown {
			if shown.Tokens > 0 {
				got = append(got, pagevm.Level(l))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s climbs %v, want %v", typ, got, want)
		}
		floor := want[0]
		if typ == pagevm.Plan {
			floor = pagevm.Structured // goal and step, while it is active
		}
		if pg.floor() != floor {
			t.Errorf("%s has floor %v, want %v", typ, pg.floor(), floor)
		}
	}
}

func TestInsufficientBudgetIsNamed(t *testing.T) {
	e := engineOf(t, policies["clawvm"], 40, pinned(pageOf("c", pagevm.Constraint, 30, 0, 20)), pinned(pageOf("a", pagevm.Constraint, 30, 0, 20)), pinned(pageOf("b", pagevm.Plan, 30, 0, 20)))
	out := play(t, e, turn{Turn: 1})
	if out.Over != 20 || out.Required != 60 || out.Tokens != 40 || len(out.Short) != 1 || out.Short[0] != (short{Page: "c", Tokens: 20}) {
		t.Errorf("over %d of %d, %v short, %d tokens; want 20 of 60, c with 20, 40", out.Over, out.Required, out.Short, out.Tokens)
	}
	want := fault{Code: paging.PinnedInvariantMiss, Turn: 1, Session: "s", Page: "c", Cause: paging.CauseBudget, Decision: 1, BudgetInsufficient: true}
	if len(out.Faults) != 1 || out.Faults[0] != want {
		t.Errorf("faults %+v, want %+v", out.Faults, want)
	}
	if tot := e.totals; tot.Report().ExplicitFaults != 0 || tot.Insufficient != 1 {
		t.Errorf("%d explicit faults, %d insufficient; want 0 and 1", tot.Report().ExplicitFaults, tot.Insufficient)
	}
}

// TestFaultsSayWhy follows one page through both ways of losing it.
func TestFaultsSayWhy(t *testing.T) {
	e := engineOf(t, policies["retrieval"], 100)
	ev := pageOf("e", pagevm.Evidence, 30, 20, 10, 2)
	waits(e, ev)
	play(t, e, turn{Turn: 1, Calls: []call{{"ls", "e"}}, Demand: []string{"e"}})
	out := play(t, e, turn{Turn: 2, Calls: []call{{"ls", "e"}}, Demand: []string{"e"}})
	if len(out.Faults) != 1 || out.Faults[0].Code != paging.DuplicateTool || out.Faults[0].Cause != paging.CauseSelection || out.Faults[0].Decision != 2 {
		t.Errorf("faults %+v, want one duplicate_tool led to by decision 2", out.Faults)
	}
	out = play(t, e, turn{Turn: 3, Demand: []string{"e"}, Events: []event{eventCompaction}})
	if len(out.Faults) != 1 || out.Faults[0].Code != paging.Refetch || out.Faults[0].Decision != 3 {
		t.Errorf("faults %+v, want one refetch led to by decision 3", out.Faults)
	}
	out = play(t, e, turn{Turn: 4, Demand: []string{"e"}, Recall: []string{recallDenied, recallNoMatch, recallError}})
	if len(out.Faults) != 3 || out.Faults[0].Cause != paging.CauseCompaction || out.Faults[0].Decision != 4 || out.Faults[1].Cause != causeDenied || out.Faults[2].Cause != causeBackend {
		t.Errorf("faults %+v, want a refetch after the compaction, and recalls DENIED and BACKEND_ERROR", out.Faults)
	}
	if tot := e.totals; tot.Cold != 1 || tot.Hits != 0 || tot.Report().ExplicitFaults != 5 || tot.Report().Thrash != 5 {
		t.Errorf("%+v, want one cold demand, no hit, five faults, thrash 5", tot)
	}
}

func TestAlertIsNoFault(t *testing.T) {
	e := engineOf(t, policies["clawvm"], 100)
	ev := pageOf("e", pagevm.Evidence, 30, 20, 10, 2)
	waits(e, ev)
	play(t, e, turn{Turn: 1, Calls: []call{{"ls", "e"}}})
	out := play(t, e, turn{Turn: 2, Calls: []call{{"ls", "e"}}, Demand: []string{"e"}})
	if len(out.Alerts) != 1 || len(out.Faults) != 0 || out.Hits != 1 {
		t.Errorf("%+v, want one alert, one hit", out)
	}
	if tot := e.totals.Report(); tot.Thrash != 0.5 {
		t.Errorf("thrash %v, want 1/2", tot.Thrash)
	}
}

// TestTwoSessionsOneSharedPage: the later change is rejected and kept, none is lost.
func TestTwoSessionsOneSharedPage(t *testing.T) {
	e := engineOf(t, policies["clawvm"], 100, shared(pageOf("m", pagevm.Preference, 30, 20, 10, 2)))
	play(t, e, turn{Turn: 1, Session: "x", Dirty: []string{"m"}})
	play(t, e, turn{Turn: 2, Session: "y", Dirty: []string{"m"}})
	out := play(t, e, turn{Turn: 3, Session: "x", Events: []event{eventCompaction}})
	if len(out.Commits) != 1 || out.Commits[0].Rejected != "" || out.Commits[0].At != "compaction" {
		t.Errorf("%+v, want a commit of x", out.Commits)
	}
	out = play(t, e, turn{Turn: 4, Session: "y", Events: []event{eventReset}})
	if len(out.Commits) != 1 || out.Commits[0].Rejected != journal.CodeDestructive || len(out.Faults) != 0 {
		t.Errorf("%+v, faults %+v; want a rejection of y as DESTRUCTIVE_OP", out.Commits, out.Faults)
	}
	out = play(t, e, turn{Turn: 5, Session: "y", Dirty: []string{"m"}, Events: []event{eventFlush}})
	if len(out.Commits) != 1 || out.Commits[0].Rejected != "" {
		t.Errorf("%+v, want y's change on the newer version committed", out.Commits)
	}
}

func TestEvictionCommits(t *testing.T) {
	e := engineOf(t, policies["clawvm"], 30)
	waits(e, pageOf("a", pagevm.Evidence, 25, 20, 10, 2))
	play(t, e, turn{Turn: 1, Dirty: []string{"a"}})
	waits(e, pageOf("b", pagevm.Evidence, 25, 20, 10, 2))
	out := play(t, e, turn{Turn: 2, Calls: []call{{"make", "b"}}})
	if len(out.Commits) != 0 {
		t.Errorf("%+v before it was lowered", out.Commits)
	}
	out = play(t, e, turn{Turn: 3, Demand: []string{"b"}})
	if len(out.Commits) != 1 || out.Commits[0].At != "eviction" || out.Commits[0].Page != "a" {
		t.Errorf("%+v, want a committed at its eviction", out.Commits)
	}
}

// TestDemandComesFirst: when not even the handles fit, the demanded one has its
// place before pages that are worth more, and so no fault comes of it.
func TestDemandComesFirst(t *testing.T) {
	dear := pageOf("dear", pagevm.Evidence, 30, 20, 10, 4)
	dear.Pin, dear.RecomputeCost = paging.PinSoft, 9
	e := engineOf(t, policies["clawvm"], 5, dear, pageOf("asked", pagevm.Evidence, 30, 20, 10, 4))
	if out := play(t, e, turn{Turn: 1, Demand: []string{"asked"}}); out.Hits != 1 || len(out.Faults) != 0 {
		t.Errorf("%+v, want a hit", out)
	}
	out := play(t, e, turn{Turn: 2, Demand: []string{"asked", "dear"}})
	if len(out.Faults) != 1 || !out.Faults[0].BudgetInsufficient || out.Faults[0].Code != paging.Refetch || out.Over != 0 {
		t.Errorf("%+v, want one refetch for want of room, and no pinned page short", out)
	}
}

// TestOracleKeepsWhatComes: the only difference between the pages is in the future.
func TestOracleKeepsWhatComes(t *testing.T) {
	for _, coming := range []string{"a", "b"} {
		w := &workload{Sessions: []string{"s"}, Pages: []page{pageOf("a", pagevm.Evidence, 30, 20, 10, 2), pageOf("b", pagevm.Evidence, 30, 20, 10, 2)},
			Turns: []turn{{Turn: 1, Session: "s"}, {Turn: 2, Session: "s", Demand: []string{coming}}, {Turn: 3, Session: "s", Demand: []string{coming}}}}
		e := newEngine(w, policies["oracle"], 34)
		e.step(0)
		if got := levelOf(e, coming); got != pagevm.Full {
			t.Errorf("%s stands at %v, want full", coming, got)
		}
	}
}

// TestResetIsNoCompaction: rules that do not fit after a reset are missing for want
// of room, and no compaction took them.
func TestResetIsNoCompaction(t *testing.T) {
	e := engineOf(t, policies["comp-hybrid"], 25, pageOf("rules", pagevm.Bootstrap, 30, 0, 20), pinned(pageOf("c", pagevm.Constraint, 20, 0, 10)))
	play(t, e, turn{Turn: 1, Events: []event{eventReset}})
	if out := play(t, e, turn{Turn: 2}); len(out.Faults) != 0 {
		t.Errorf("%+v after a reset, want none", out.Faults)
	}
	play(t, e, turn{Turn: 3, Events: []event{eventCompaction}})
	if out := play(t, e, turn{Turn: 4}); len(out.Faults) != 1 || out.Faults[0].Code != paging.PostCompactionBootstrap || out.Faults[0].Cause != paging.CauseCompaction {
		t.Errorf("%+v after a compaction, want one post_compaction_bootstrap", out.Faults)
	}
}

// A page that is larger than the whole budget is shown as what fits of it and never
// breaks the budget; where not even its floor fits it is named.
func TestPageOverTheBudget(t *testing.T) {
	for _, name := range []string{"retrieval", "retrieval+cache", "comp-hybrid", "lru", "clawvm", "oracle"} {
		e := engineOf(t, policies[name], 30)
		huge := pageOf("huge", pagevm.Evidence, 5000, 1000, 20, 2)
		waits(e, huge)
		play(t, e, turn{Turn: 1, Calls: []call{{"cat", "huge"}}})
		for n := 2; n < 6; n++ {
			out := play(t, e, turn{Turn: n, Demand: []string{"huge"}})
			if out.Tokens > 30 || out.Over > 0 {
				t.Fatalf("%s: %d tokens of 30, over %d", name, out.Tokens, out.Over)
			}
		}
	}
	e := engineOf(t, policies["clawvm"], 30, pinned(pageOf("huge", pagevm.Constraint, 5000, 0, 400)))
	out := play(t, e, turn{Turn: 1})
	if out.Over != 370 || len(out.Short) != 1 || out.Short[0] != (short{"huge", 400}) || len(out.Faults) != 1 || !out.Faults[0].BudgetInsufficient || out.Tokens != 0 {
		t.Errorf("%+v", out)
	}
}

// Whatever strikes in a turn, and in whatever order, every dirty page is settled
// exactly once: committed, rejected, or lost by name. A reset between a flush and
// its end finds nothing left to do.
func TestResetAmidCommits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		pages := []page{pageOf("a", pagevm.Plan, 9, 0, 4, 1), pageOf("b", pagevm.Evidence, 9, 6, 4, 1), shared(pageOf("c", pagevm.Preference, 9, 6, 4, 1))}
		e := engineOf(t, p, rapid.SampledFrom([]int{8, 100}).Draw(t, "budget"), pages...)
		dirty := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), func(s string) string { return s }).Draw(t, "dirty")
		tn := turn{Turn: 1, Session: "s", Dirty: dirty,
			Events: rapid.SliceOfN(rapid.SampledFrom([]event{eventFlush, eventReset, eventCompaction}), 1, 4).Draw(t, "events")}
		out := play(t, e, tn)
		settled := map[string]int{}
		for _, c := range out.Commits {
			settled[c.Page]++
		}
		for _, f := range out.Faults {
			if f.Code == paging.FlushMiss {
				settled[f.Page]++
			}
		}
		destroys := slices.ContainsFunc(tn.Events, func(e event) bool { return e != eventFlush }) || p.writebackCompaction || p.writebackReset
		for _, id := range []string{"a", "b", "c"} {
			want := 0
			if destroys && slices.Contains(dirty, id) {
				want = 1
			}
			if settled[id] != want {
				t.Fatalf("%s was settled %d times, want %d: %+v %+v", id, settled[id], want, out.Commits, out.Faults)
			}
		}
		again := play(t, e, turn{Turn: 2, Events: []event{eventReset}})
		if destroys && (len(again.Commits) > 0 || slices.ContainsFunc(again.Faults, func(f fault) bool { return f.Code == paging.FlushMiss })) {
			t.Fatalf("settled again: %+v", again)
		}
	})
}

// Turns of two sessions with private and shared pages: the budget is kept.
func TestManySessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := drawShared(t)
		e := engineOf(t, drawPolicy(t), rapid.IntRange(5, 200).Draw(t, "budget"), pages...)
		for n := 1; n <= 15; n++ {
			session := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "session")
			seen := slices.DeleteFunc(slices.Clone(pages), func(p page) bool { return p.Session != "" && p.Session != session })
			tn := &turn{Turn: n, Session: session}
			if len(seen) > 0 {
				tn = drawTurn(t, n, seen)
				tn.Session = session
			}
			out := play(t, e, *tn)
			if out.Tokens > e.budget {
				t.Fatalf("%d tokens over the budget of %d", out.Tokens, e.budget)
			}
		}
	})
}

func drawShared(t *rapid.T) (pages []page) {
	for i := range rapid.IntRange(2, 9).Draw(t, "pages") {
		p := drawPage(t, string(rune('a'+rapid.IntRange(0, 1).Draw(t, "id")*13+i)))
		if p.Session = rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, "owner"); p.Session == "" {
			p.Scope = memkernel.ScopeProject
		}
		pages = append(pages, p)
	}
	return pages
}

// BenchmarkStep is a whole turn by the number of pages: Select, Next and the observer.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{20, 50, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("pages=%d", n), func(b *testing.B) {
			e := crowd(b, n)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				e.step(i % len(e.w.Turns))
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/page")
		})
	}
}

// crowd makes an engine with n pages in the proportions of an agent's session, and a budget that
// holds all floors and a third of the rest.
func crowd(b *testing.B, n int) *engine {
	w := &workload{Sessions: []string{"s"}}
	for i := range n {
		typ := pagevm.Evidence
		switch i % 20 {
		case 0:
			typ = pagevm.Preference
		case 1, 2:
			typ = pagevm.Conversation
		}
		p := pageOf(fmt.Sprintf("page-%06d", i), typ, 40+i%23, 20+i%7, 10, 2)
		p.RecomputeCost = float64(i % 5)
		w.Pages = append(w.Pages, p)
	}
	for i := range 100 {
		t := turn{Turn: i + 1, Session: "s"}
		for k := range 3 {
			t.demand(w.Pages[(i*7+k*31)%n].ID)
		}
		w.Turns = append(w.Turns, t)
	}
	return newEngine(w, policies["clawvm"], 18*n+200)
}
