package paging

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

func page(id string, typ pagevm.Type, tokens ...int) Page {
	p := Page{ID: id, Type: typ, Scope: memkernel.ScopeSession, Session: "s", Pin: PinNone, Tokens: Tokens{Full: tokens[0]}}
	for i, n := range tokens[1:] {
		*[]*int{&p.Tokens.Compressed, &p.Tokens.Structured, &p.Tokens.Pointer}[i] = n
	}
	return p
}

func pinned(p Page) Page { p.Pin = PinHard; return p }

func shared(p Page) Page { p.Scope, p.Session = memkernel.ScopeProject, ""; return p }

func named(t testing.TB, name string, budget int) Config {
	p, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Policy: p, Budget: budget}
}

func step(t testing.TB, e *Engine, turn Turn) *Outcome {
	t.Helper()
	if turn.Session == "" {
		turn.Session = "s"
	}
	out, err := e.Step(&turn)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func levelOf(e *Engine, session, id string) pagevm.Level {
	return e.entry(e.session(session), id).level
}

// TestTable1 holds floors and degradation paths against the paper's Table 1.
func TestTable1(t *testing.T) {
	for typ, want := range map[pagevm.Type][]pagevm.Level{
		pagevm.Bootstrap:    {pagevm.Structured, pagevm.Full},
		pagevm.Constraint:   {pagevm.Structured, pagevm.Full},
		pagevm.Plan:         {pagevm.Pointer, pagevm.Structured, pagevm.Full},
		pagevm.Preference:   {pagevm.Pointer, pagevm.Structured, pagevm.Compressed, pagevm.Full},
		pagevm.Evidence:     {pagevm.Pointer, pagevm.Structured, pagevm.Compressed, pagevm.Full},
		pagevm.Conversation: {pagevm.Pointer, pagevm.Structured, pagevm.Compressed, pagevm.Full},
	} {
		pg := page("p", typ, 40, 20, 10, 2)
		r := row{page: &pg}
		r.chain()
		var got []pagevm.Level
		for l := r.up[pagevm.Gone]; l != pagevm.Gone; l = r.up[l] {
			got = append(got, l)
		}
		if len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != pagevm.Full {
			t.Errorf("%s climbs %v, want %v", typ, got, want)
		}
		floor := want[0]
		if typ == pagevm.Plan {
			floor = pagevm.Structured // goal and step, while it is active
		}
		if r.page.Floor() != floor {
			t.Errorf("%s has floor %v, want %v", typ, r.page.Floor(), floor)
		}
	}
}

func TestInsufficientBudgetIsNamed(t *testing.T) {
	e := mustNew(t, named(t, "clawvm", 40), pinned(page("c", pagevm.Constraint, 30, 0, 20)), pinned(page("a", pagevm.Constraint, 30, 0, 20)), pinned(page("b", pagevm.Plan, 30, 0, 20)))
	out := step(t, e, Turn{Turn: 1})
	if out.Over != 20 || out.Required != 60 || out.Tokens != 40 || len(out.Short) != 1 || out.Short[0] != (Short{Page: "c", Tokens: 20}) {
		t.Errorf("over %d of %d, %v short, %d tokens; want 20 of 60, c with 20, 40", out.Over, out.Required, out.Short, out.Tokens)
	}
	want := Fault{Code: PinnedInvariantMiss, Turn: 1, Session: "s", Page: "c", Cause: CauseBudget, Decision: 1, BudgetInsufficient: true}
	if len(out.Faults) != 1 || out.Faults[0] != want {
		t.Errorf("faults %+v, want %+v", out.Faults, want)
	}
	if tot := e.Totals(); tot.Explicit() != 0 || tot.Insufficient != 1 {
		t.Errorf("%d explicit faults, %d insufficient; want 0 and 1", tot.Explicit(), tot.Insufficient)
	}
}

// TestFaultsSayWhy follows one page through both ways of losing it.
func TestFaultsSayWhy(t *testing.T) {
	e := mustNew(t, named(t, "retrieval", 100))
	ev := page("e", pagevm.Evidence, 30, 20, 10, 2)
	step(t, e, Turn{Turn: 1, Arrive: []Page{ev}, Calls: []Call{{"ls", "e"}}, Demand: []string{"e"}})
	out := step(t, e, Turn{Turn: 2, Calls: []Call{{"ls", "e"}}, Demand: []string{"e"}})
	if len(out.Faults) != 1 || out.Faults[0].Code != DuplicateTool || out.Faults[0].Cause != CauseSelection || out.Faults[0].Decision != 2 {
		t.Errorf("faults %+v, want one duplicate_tool led to by decision 2", out.Faults)
	}
	out = step(t, e, Turn{Turn: 3, Demand: []string{"e"}, Events: []Event{EventCompaction}})
	if len(out.Faults) != 1 || out.Faults[0].Code != Refetch || out.Faults[0].Decision != 3 {
		t.Errorf("faults %+v, want one refetch led to by decision 3", out.Faults)
	}
	out = step(t, e, Turn{Turn: 4, Demand: []string{"e"}, Recall: []Recall{{"q", RecallDenied}, {"q", RecallNoMatch}, {"r", RecallError}}})
	if len(out.Faults) != 3 || out.Faults[0].Cause != CauseCompaction || out.Faults[0].Decision != 4 || out.Faults[1].Cause != CauseDenied || out.Faults[2].Cause != CauseBackend {
		t.Errorf("faults %+v, want a refetch after the compaction, and recalls DENIED and BACKEND_ERROR", out.Faults)
	}
	if tot := e.Totals(); tot.Cold != 1 || tot.Hits != 0 || tot.Explicit() != 5 || tot.Thrash() != 5 {
		t.Errorf("%+v, want one cold demand, no hit, five faults, thrash 5", tot)
	}
}

func TestAlertIsNoFault(t *testing.T) {
	e := mustNew(t, named(t, "clawvm", 100))
	ev := page("e", pagevm.Evidence, 30, 20, 10, 2)
	step(t, e, Turn{Turn: 1, Arrive: []Page{ev}, Calls: []Call{{"ls", "e"}}})
	out := step(t, e, Turn{Turn: 2, Calls: []Call{{"ls", "e"}}, Demand: []string{"e"}})
	if len(out.Alerts) != 1 || len(out.Faults) != 0 || out.Hits != 1 {
		t.Errorf("%+v, want one alert, one hit", out)
	}
	if tot := e.Totals(); tot.Thrash() != 0.5 {
		t.Errorf("thrash %v, want 1/2", tot.Thrash())
	}
}

// TestConflicts: what is superseded never rises, of a group one does.
func TestConflicts(t *testing.T) {
	old, now := page("old", pagevm.Evidence, 30, 20, 10, 2), page("new", pagevm.Evidence, 30, 20, 10, 2)
	now.Supersedes = "old"
	a, b := page("a", pagevm.Preference, 30, 20, 10, 2), page("b", pagevm.Preference, 30, 20, 10, 2)
	a.Group, b.Group = "theme", "theme"
	b.RecomputeCost = 3
	e := mustNew(t, named(t, "clawvm", 1000), now, old, a, b)
	step(t, e, Turn{Turn: 1})
	for id, want := range map[string]pagevm.Level{"old": pagevm.Pointer, "new": pagevm.Full, "a": pagevm.Pointer, "b": pagevm.Full} {
		if got := levelOf(e, "s", id); got != want {
			t.Errorf("%s stands at %v, want %v", id, got, want)
		}
	}
	if err := e.Remove("new"); err != nil {
		t.Fatal(err)
	}
	step(t, e, Turn{Turn: 2})
	if got := levelOf(e, "s", "old"); got != pagevm.Full {
		t.Errorf("without its successor the old page stands at %v, want full", got)
	}
}

// TestTwoSessionsOneSharedPage: the later change is rejected and kept, none is lost.
func TestTwoSessionsOneSharedPage(t *testing.T) {
	e := mustNew(t, named(t, "clawvm", 100), shared(page("m", pagevm.Preference, 30, 20, 10, 2)))
	step(t, e, Turn{Turn: 1, Session: "x", Dirty: []string{"m"}})
	step(t, e, Turn{Turn: 2, Session: "y", Dirty: []string{"m"}})
	out := step(t, e, Turn{Turn: 3, Session: "x", Events: []Event{EventCompaction}})
	if len(out.Commits) != 1 || out.Commits[0].Rejected != "" || out.Commits[0].At != "compaction" {
		t.Errorf("%+v, want a commit of x", out.Commits)
	}
	out = step(t, e, Turn{Turn: 4, Session: "y", Events: []Event{EventReset}})
	if len(out.Commits) != 1 || out.Commits[0].Rejected != DestructiveOp || len(out.Faults) != 0 {
		t.Errorf("%+v, faults %+v; want a rejection of y as DESTRUCTIVE_OP", out.Commits, out.Faults)
	}
	out = step(t, e, Turn{Turn: 5, Session: "y", Dirty: []string{"m"}, Events: []Event{EventFlush}})
	if len(out.Commits) != 1 || out.Commits[0].Rejected != "" {
		t.Errorf("%+v, want y's change on the newer version committed", out.Commits)
	}
}

func TestEvictionCommits(t *testing.T) {
	e := mustNew(t, named(t, "clawvm", 30))
	step(t, e, Turn{Turn: 1, Arrive: []Page{page("a", pagevm.Evidence, 25, 20, 10, 2)}, Dirty: []string{"a"}})
	out := step(t, e, Turn{Turn: 2, Arrive: []Page{page("b", pagevm.Evidence, 25, 20, 10, 2)}})
	if len(out.Commits) != 0 {
		t.Errorf("%+v before it was lowered", out.Commits)
	}
	out = step(t, e, Turn{Turn: 3, Demand: []string{"b"}})
	if len(out.Commits) != 1 || out.Commits[0].At != "eviction" || out.Commits[0].Page != "a" {
		t.Errorf("%+v, want a committed at its eviction", out.Commits)
	}
}

func TestBadInputIsRefusedWhole(t *testing.T) {
	e := mustNew(t, named(t, "clawvm", 100), page("a", pagevm.Evidence, 30, 20, 10, 2))
	other := page("o", pagevm.Evidence, 5)
	other.Session = "x"
	if err := e.Add(other); err != nil {
		t.Fatal(err)
	}
	step(t, e, Turn{Turn: 4})
	before := e.state()
	for want, turn := range map[string]Turn{
		"out of order":              {Turn: 3},
		"no such page":              {Turn: 5, Demand: []string{"a", "zz"}},
		"belongs to another":        {Turn: 5, Dirty: []string{"o"}},
		"the page exists":           {Turn: 5, Arrive: []Page{page("a", pagevm.Plan, 4)}},
		"arrives twice":             {Turn: 5, Arrive: []Page{page("n", pagevm.Plan, 4), page("n", pagevm.Plan, 4)}},
		"without signature":         {Turn: 5, Calls: []Call{{"", "a"}}},
		"unknown event":             {Turn: 5, Events: []Event{"quake"}},
		"unknown recall outcome":    {Turn: 5, Recall: []Recall{{"q", "maybe"}}},
		"over its own budget":       {Turn: 5, Arrive: []Page{page("n", pagevm.Evidence, 10, 11)}},
		"cyclic provenance":         {Turn: 5, Arrive: []Page{{ID: "n", Type: pagevm.Plan, Scope: "session", Session: "s", Pin: PinNone, Tokens: Tokens{Full: 1}, Provenance: Provenance{From: []string{"n"}}}}},
		"private and names no sess": {Turn: 5, Arrive: []Page{{ID: "n", Type: pagevm.Plan, Scope: "session", Pin: PinNone, Tokens: Tokens{Full: 1}}}},
	} {
		if turn.Session == "" {
			turn.Session = "s"
		}
		if _, err := e.Step(&turn); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if after := e.state(); !bytes.Equal(before, after) {
		t.Errorf("a refused turn changed the state:\n%s\n%s", before, after)
	}
	gone := page("gone", pagevm.Evidence, 3)
	if err := e.Update(gone); !errors.Is(err, errUnknownPage) {
		t.Errorf("update of a page that's gone: %v", err)
	}
	stale := page("a", pagevm.Evidence, 3)
	if err := e.Update(stale); !errors.Is(err, errOrder) {
		t.Errorf("update with the version that stands: %v", err)
	}
	if err := e.Remove("gone"); !errors.Is(err, errUnknownPage) {
		t.Errorf("remove of a page that's gone: %v", err)
	}
}

// TestDemandComesFirst: when not even the handles fit, the demanded one has its
// place before pages that are worth more, and so no fault comes of it.
func TestDemandComesFirst(t *testing.T) {
	dear := page("dear", pagevm.Evidence, 30, 20, 10, 4)
	dear.Pin, dear.RecomputeCost = PinSoft, 9
	e := mustNew(t, named(t, "clawvm", 5), dear, page("asked", pagevm.Evidence, 30, 20, 10, 4))
	if out := step(t, e, Turn{Turn: 1, Demand: []string{"asked"}}); out.Hits != 1 || len(out.Faults) != 0 {
		t.Errorf("%+v, want a hit", out)
	}
	out := step(t, e, Turn{Turn: 2, Demand: []string{"asked", "dear"}})
	if len(out.Faults) != 1 || !out.Faults[0].BudgetInsufficient || out.Faults[0].Code != Refetch || out.Over != 0 {
		t.Errorf("%+v, want one refetch for want of room, and no pinned page short", out)
	}
}

// TestOracleKeepsWhatComes: the only difference between the pages is in the future.
func TestOracleKeepsWhatComes(t *testing.T) {
	for _, coming := range []string{"a", "b"} {
		e := mustNew(t, named(t, "oracle", 34), page("a", pagevm.Evidence, 30, 20, 10, 2), page("b", pagevm.Evidence, 30, 20, 10, 2))
		step(t, e, Turn{Turn: 1, Future: []Future{{Page: coming, Demands: 2}}})
		if got := levelOf(e, "s", coming); got != pagevm.Full {
			t.Errorf("%s stands at %v, want full", coming, got)
		}
	}
}

// TestResetIsNoCompaction: rules that do not fit after a reset are missing for want
// of room, and no compaction took them.
func TestResetIsNoCompaction(t *testing.T) {
	e := mustNew(t, named(t, "comp-hybrid", 25), page("rules", pagevm.Bootstrap, 30, 0, 20), pinned(page("c", pagevm.Constraint, 20, 0, 10)))
	step(t, e, Turn{Turn: 1, Events: []Event{EventReset}})
	if out := step(t, e, Turn{Turn: 2}); len(out.Faults) != 0 {
		t.Errorf("%+v after a reset, want none", out.Faults)
	}
	step(t, e, Turn{Turn: 3, Events: []Event{EventCompaction}})
	if out := step(t, e, Turn{Turn: 4}); len(out.Faults) != 1 || out.Faults[0].Code != PostCompactionBootstrap || out.Faults[0].Cause != CauseCompaction {
		t.Errorf("%+v after a compaction, want one post_compaction_bootstrap", out.Faults)
	}
}

func TestUpdateRefits(t *testing.T) {
	p := page("a", pagevm.Evidence, 30, 20, 10, 2)
	e := mustNew(t, named(t, "clawvm", 20), p)
	step(t, e, Turn{Turn: 1})
	if got := levelOf(e, "s", "a"); got != pagevm.Compressed {
		t.Fatalf("%v, want compressed", got)
	}
	p.Tokens.Compressed, p.Version = 0, 1
	if err := e.Update(p); err != nil {
		t.Fatal(err)
	}
	out := step(t, e, Turn{Turn: 2})
	if got := levelOf(e, "s", "a"); got != pagevm.Structured || out.Tokens != 10 {
		t.Errorf("%v with %d tokens, want structured with 10", got, out.Tokens)
	}
}

func TestReplayShowsTheFirstDifference(t *testing.T) {
	var b bytes.Buffer
	tr, err := NewTracer(named(t, "clawvm", 60), &b)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Add(page("a", pagevm.Evidence, 30, 20, 10, 2)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		if _, err := tr.Step(&Turn{Turn: n, Session: "s", Demand: []string{"a"}}); err != nil {
			t.Fatal(err)
		}
	}
	good := b.String()
	if n, diff, err := Replay(strings.NewReader(good)); n != 3 || diff != nil || err != nil {
		t.Fatalf("%d turns, %+v, %v; want 3", n, diff, err)
	}
	lines := strings.SplitAfter(good, "\n")
	lines[3] = strings.Replace(lines[3], `"hits":1`, `"hits":2`, 1)
	n, diff, err := Replay(strings.NewReader(strings.Join(lines, "")))
	if n != 1 || err != nil || diff == nil || diff.Line != 4 || !strings.Contains(diff.Replayed, `"hits":1`) {
		t.Errorf("%d turns, %+v, %v; want a difference in line 4", n, diff, err)
	}
	for want, bad := range map[string]string{"line 5": good[:len(good)-9], "empty": "", "no paging trace": "{}\n", "newer": `{"paging_trace":7}` + "\n"} {
		if _, _, err := Replay(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestPolicyNamesAndJSON(t *testing.T) {
	for _, name := range Policies() {
		p, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(p)
		var back Policy
		if err := json.Unmarshal(data, &back); err != nil || back != p {
			t.Errorf("%s: %v, %+v", data, err, back)
		}
	}
	if _, err := ByName("fifo"); err == nil {
		t.Error("fifo is a policy")
	}
	if _, err := New(Config{Budget: 10}); err == nil {
		t.Error("a policy without strategy is taken")
	}
}
