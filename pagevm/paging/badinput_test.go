package paging

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/pagevm"
)

// A page that is larger than the whole budget is shown as what fits of it and never
// breaks the budget; where not even its floor fits it is named.
func TestPageOverTheBudget(t *testing.T) {
	for _, name := range Policies() {
		e := mustNew(t, named(t, name, 30))
		huge := page("huge", pagevm.Evidence, 5000, 1000, 20, 2)
		step(t, e, Turn{Turn: 1, Arrive: []Page{huge}, Calls: []Call{{"cat", "huge"}}})
		for n := 2; n < 6; n++ {
			out := step(t, e, Turn{Turn: n, Demand: []string{"huge"}})
			if out.Tokens > 30 || out.Over > 0 {
				t.Fatalf("%s: %d tokens of 30, over %d", name, out.Tokens, out.Over)
			}
		}
	}
	e := mustNew(t, named(t, "clawvm", 30), pinned(page("huge", pagevm.Constraint, 5000, 0, 400)))
	out := step(t, e, Turn{Turn: 1})
	if out.Over != 370 || len(out.Short) != 1 || out.Short[0] != (Short{"huge", 400}) || len(out.Faults) != 1 || !out.Faults[0].BudgetInsufficient || out.Tokens != 0 {
		t.Errorf("%+v", out)
	}
}

// A circle of pages that come from each other is refused where it would close,
// whole and with its members named; what is no circle is not.
func TestCyclicProvenance(t *testing.T) {
	from := func(id string, ids ...string) Page {
		p := page(id, pagevm.Preference, 9, 6, 4, 1)
		p.Provenance.From = ids
		return p
	}
	e := mustNew(t, named(t, "clawvm", 100), from("a", "b"), from("b", "c"), from("d", "a", "b", "later"))
	before := e.state()
	err := e.Add(from("c", "d", "a"))
	if err == nil || !strings.Contains(err.Error(), "cyclic provenance") || !strings.Contains(err.Error(), "a comes from b comes from c") {
		t.Errorf("error %v", err)
	}
	_, err = e.Step(&Turn{Turn: 1, Session: "s", Arrive: []Page{from("c", "a")}})
	if err == nil || !strings.Contains(err.Error(), "cyclic provenance") {
		t.Errorf("arriving: %v", err)
	}
	_, err = e.Step(&Turn{Turn: 1, Session: "s", Arrive: []Page{from("x", "y"), from("y", "x")}})
	if err == nil || !strings.Contains(err.Error(), "cyclic provenance") {
		t.Errorf("arriving together: %v", err)
	}
	if after := e.state(); !bytes.Equal(before, after) {
		t.Error("what was refused changed the state")
	}
	if err := e.Add(from("c", "nobody")); err != nil {
		t.Errorf("no circle: %v", err)
	}
	turned := from("c", "a")
	turned.Version = 1
	if err := e.Update(turned); err == nil || !strings.Contains(err.Error(), "cyclic provenance") {
		t.Errorf("update: %v", err)
	}
}

// A page that was removed takes no update, no demand and no end of its work, and an
// id that is used again begins anew.
func TestPageThatIsGone(t *testing.T) {
	e := mustNew(t, named(t, "clawvm", 100), page("a", pagevm.Evidence, 30, 20, 10, 2))
	step(t, e, Turn{Turn: 1, Begin: []string{"a"}, Dirty: []string{"a"}})
	if err := e.Remove("a"); err != nil {
		t.Fatal(err)
	}
	newer := page("a", pagevm.Evidence, 30, 20, 10, 2)
	newer.Version = 9
	if err := e.Update(newer); !errors.Is(err, errUnknownPage) {
		t.Errorf("update: %v", err)
	}
	for _, turn := range []Turn{{Demand: []string{"a"}}, {Dirty: []string{"a"}}, {End: []string{"a"}}, {Begin: []string{"a"}}, {Calls: []Call{{"ls", "a"}}}} {
		turn.Turn, turn.Session = 2, "s"
		if _, err := e.Step(&turn); !errors.Is(err, errUnknownPage) {
			t.Errorf("%+v: %v", turn, err)
		}
	}
	if err := e.Add(page("a", pagevm.Evidence, 30, 20, 10, 2)); err != nil {
		t.Fatal(err)
	}
	if out := step(t, e, Turn{Turn: 2, Events: []Event{EventReset}}); len(out.Commits) != 0 || len(out.Faults) != 0 {
		t.Errorf("the old page's change is committed or lost: %+v", out)
	}
}

// Whatever strikes in a turn, and in whatever order, every dirty page is settled
// exactly once: committed, rejected, or lost by name. A reset between a flush and
// its end finds nothing left to do.
func TestResetAmidCommits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		pages := []Page{page("a", pagevm.Plan, 9, 0, 4, 1), page("b", pagevm.Evidence, 9, 6, 4, 1), shared(page("c", pagevm.Preference, 9, 6, 4, 1))}
		e := mustNew(t, Config{Policy: p, Budget: rapid.SampledFrom([]int{8, 100}).Draw(t, "budget")}, pages...)
		dirty := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), func(s string) string { return s }).Draw(t, "dirty")
		turn := Turn{Turn: 1, Session: "s", Dirty: dirty, Begin: rapid.SampledFrom([][]string{nil, {"b"}}).Draw(t, "begin"),
			Events: rapid.SliceOfN(rapid.SampledFrom([]Event{EventFlush, EventReset, EventCompaction}), 1, 4).Draw(t, "events")}
		out, err := e.Step(&turn)
		if err != nil {
			t.Fatal(err)
		}
		settled := map[string]int{}
		for _, c := range out.Commits {
			settled[c.Page]++
		}
		for _, f := range out.Faults {
			if f.Code == FlushMiss {
				settled[f.Page]++
			}
		}
		destroys := slices.ContainsFunc(turn.Events, func(e Event) bool { return e != EventFlush }) || p.WritebackCompaction || p.WritebackReset
		for _, id := range []string{"a", "b", "c"} {
			want := 0
			if destroys && slices.Contains(dirty, id) {
				want = 1
			}
			if settled[id] != want {
				t.Fatalf("%s was settled %d times, want %d: %+v %+v", id, settled[id], want, out.Commits, out.Faults)
			}
		}
		if again, err := e.Step(&Turn{Turn: 2, Session: "s", Events: []Event{EventReset}}); err != nil || destroys && len(again.Commits)+len(again.Faults) > 0 && slices.ContainsFunc(again.Faults, func(f Fault) bool { return f.Code == FlushMiss }) {
			t.Fatalf("%v: settled again: %+v", err, again)
		}
	})
}
