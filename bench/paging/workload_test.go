package paging

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// TestBuiltInAreWorkloads: what is built in passes the reader, and comes back the
// same.
func TestBuiltInAreWorkloads(t *testing.T) {
	if n := len(tasks()); n != 30 {
		t.Errorf("%d tasks, want 30", n)
	}
	for _, w := range builtIn() {
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Read(bytes.NewReader(data), w.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, w) {
			t.Errorf("%s comes back different", w.Name)
		}
		if len(w.Turns) > 14 && strings.HasSuffix(w.Name, "-01") {
			t.Errorf("task %s has %d turns, want 5 to 14", w.Name, len(w.Turns))
		}
	}
}

// TestExampleWorkload runs the example to which the help of mkbench paging points.
func TestExampleWorkload(t *testing.T) {
	f, err := os.Open("testdata/morning.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := Read(f, "morning.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), w, policy(t, "retrieval"), 120, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[paging.Code]int{paging.Refetch: 2, paging.DuplicateTool: 1, paging.PostCompactionBootstrap: 1, paging.FlushMiss: 1, paging.SilentRecall: 1} {
		if r.Faults[code] != want {
			t.Errorf("%d %s, want %d", r.Faults[code], code, want)
		}
	}
}

const goodWorkload = `{"name":"w","sessions":["m","n"],"pages":[
 {"id":"a","session":"m","type":"evidence","pin":"none","scope":"session","tokens":{"full":9,"compressed":6,"structured":4,"pointer":1},"recompute_cost":1,"fields":{"version":2,"mine":[1]}},
 {"id":"b","session":"m","type":"evidence","pin":"none","scope":"session","tokens":{"full":9,"compressed":6,"structured":4,"pointer":1},"recompute_cost":1,"fields":{"version":3,"supersedes":"a"}}],
 "turns":[{"turn":1,"session":"m","demand":["a"]},
 {"turn":2,"session":"m","demand":["b"],"tool_calls":[{"signature":"x","page":"b"}],"events":["reset"],"recall":[{"query":"q","outcome":"ok"}]}]}`

func TestBadWorkloadsAreNamed(t *testing.T) {
	if _, err := Read(strings.NewReader(goodWorkload), "w.json"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"compressed":6`, `"compressed":60`, `page "a" is over its own budget: compressed costs 60 tokens, full only 9`},
		{`"demand":["b"]`, `"demand":["c"]`, `turn 2: unknown page "c"`},
		{`"version":3`, `"version":2`, `versions out of order: page "b" (version 2) supersedes "a" (version 2)`},
		{`"supersedes":"a"`, `"supersedes":"z"`, `supersedes "z", which is no page`},
		{`"supersedes":"a"`, `"supersedes":"b"`, `versions out of order: page "b" (version 3) supersedes "b"`},
		{`"id":"b"`, `"id":"a"`, `page "a" stands twice`},
		{`"turn":2`, `"turn":0`, `turn 0 follows turn 1`},
		{`"turn":2,"session":"m"`, `"turn":2,"session":"n"`, `turn 2: page "b" is private to session "m"`},
		{`"turn":2,"session":"m"`, `"turn":2,"session":"o"`, `turn 2: session "o" is not in "sessions"`},
		{`"events":["reset"]`, `"events":["restart"]`, `turn 2: unknown event "restart"`},
		{`"outcome":"ok"`, `"outcome":"fine"`, `unknown outcome "fine"`},
		{`"signature":"x"`, `"signature":""`, `no signature`},
		{`"type":"evidence"`, `"type":"proof"`, `unknown type "proof"`},
		{`"pin":"none"`, `"pin":"tight"`, `unknown pin "tight"`},
		{`"full":9`, `"full":0`, `full costs 0 tokens`},
		{`"full":9`, `"full":"9"`, `w.json, line 2`},
		{`"recompute_cost":1`, `"recompute_cost":-1`, `recompute cost -1`},
		{`"sessions":["m","n"]`, `"sessions":[]`, `names no session`},
		{`"session":"m","type"`, `"session":"q","type"`, `belongs to session "q"`},
		{`"turns":`, `"trns":`, `unknown field "trns"`},
		{`{"name"`, `{"name":"x"} {"name"`, `something follows`},
		{`"turns":[`, `"turns":[,`, `w.json, line 4`},
	} {
		bad := strings.Replace(goodWorkload, c.old, c.new, 1)
		if bad == goodWorkload {
			t.Fatalf("%q is not in the good workload", c.old)
		}
		_, err := Read(strings.NewReader(bad), "w.json")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "w.json") {
			t.Errorf("%s for %s: error %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

// TestReaderTakesAnything: whatever is read is refused or runs.
func TestReaderTakesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(goodWorkload)
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			b[i] = rapid.SampledFrom([]byte(`"{}[],:0123456789abmnxz-.`)).Draw(t, "byte")
		}
		w, err := Read(bytes.NewReader(b), "drawn")
		if err != nil {
			return
		}
		for _, name := range paperPolicies {
			p, err := PolicyByName(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), w, p, 20, Options{}); err != nil {
				t.Fatalf("it was read but does not run: %v\n%s", err, b)
			}
		}
	})
}

// TestClawVMHasNoGap: at every budget from starved to loose, where the minimum set
// fits there is no fault, and where it does not the oracle has as many.
func TestClawVMHasNoGap(t *testing.T) {
	for _, w := range builtIn() {
		for _, budget := range []int{40, 80, 120, 180, 240, 300, 360, 500} {
			r, err := Run(t.Context(), w, policy(t, "clawvm"), budget, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.MinimumFits && (r.ExplicitFaults != 0 || r.Faults[paging.PinnedInvariantMiss] != 0) {
				t.Errorf("%s at %d: %v although the minimum set fits", w.Name, budget, r.Faults)
			}
			if r.MinimumFits && (*r.OracleGap != 0 || *r.OracleGapInfinite != 0) {
				t.Errorf("%s at %d: oracle gap %d, %d", w.Name, budget, *r.OracleGap, *r.OracleGapInfinite)
			}
			if r.BudgetInsufficient > 0 && r.MinimumFits {
				t.Errorf("%s at %d: %d faults blamed on a budget that is large enough", w.Name, budget, r.BudgetInsufficient)
			}
		}
	}
}

// TestSameInputSameResult: a run is a function of its input, the trace byte for byte.
func TestSameInputSameResult(t *testing.T) {
	for _, w := range Families() {
		var first, second bytes.Buffer
		for _, b := range []*bytes.Buffer{&first, &second} {
			if _, err := Run(t.Context(), w, policy(t, "oracle"), 180, Options{NoOracle: true, Trace: b}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: two traces differ", w.Name)
		}
		if lines := bytes.Count(first.Bytes(), []byte("\n")); lines != 1+len(w.Turns) {
			t.Errorf("%s: a trace of %d lines, want one for each of %d turns and a header", w.Name, lines, len(w.Turns))
		}
	}
}

func TestRegressions(t *testing.T) {
	for _, g := range regressions() {
		if err := g.run(t.Context()); err != nil {
			t.Error(err)
		}
		g.without, g.policy = nil, "clawvm"
		if g.Code != string(paging.SilentRecall) && g.Code != journal.CodeDestructive {
			if err := g.run(t.Context()); err == nil {
				t.Errorf("%s is raised under the whole policy, too", g.Name)
			}
		}
	}
}

// TestForetell: the oracle gets the demands of its session's next turns, no more.
func TestForetell(t *testing.T) {
	b := build("w", "m", "n")
	ev := b.evidence("m", 2, 9, 6, 4, 1)
	other := b.evidence("n", 1, 9, 6, 4, 1)
	for _, ids := range [][]string{{}, {ev[0]}, {ev[1]}, {ev[0], ev[1]}, {ev[0]}} {
		b.turn("m").demand(ids...)
		b.turn("n").demand(other[0])
	}
	for horizon, want := range map[int][]Future{
		1: {{Page: ev[0], Demands: 1}}, 3: {{Page: ev[0], Demands: 2}, {Page: ev[1], Demands: 2}},
		Forever: {{Page: ev[0], Demands: 3}, {Page: ev[1], Demands: 2}},
	} {
		if got := newForesight(b.w.Turns, horizon).from(b.w.Turns, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("horizon %d: %v, want %v", horizon, got, want)
		}
	}
}
