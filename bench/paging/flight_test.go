package paging

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

func flight(t *testing.T) *Workload {
	t.Helper()
	data, err := os.ReadFile("testdata/flight.json")
	if err != nil {
		t.Fatal(err)
	}
	w, err := Read(bytes.NewReader(data), "flight.json")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// levelsOf is the level of a page in the prompt of every turn.
func levelsOf(t *testing.T, w *Workload, policy Policy, budget int, page string) []pagevm.Level {
	t.Helper()
	e := newEngine(w, policy, budget)
	level := pagevm.Gone
	var out []pagevm.Level
	for i := range w.Turns {
		_, waits := e.later[page]
		for _, c := range e.step(i).Changes {
			if c.Page == page {
				level = c.To
			}
		}
		out = append(out, level)
		if _, still := e.later[page]; waits && !still {
			level = pagevm.Full
		}
	}
	return out
}

// A running build is shown in full while it runs, under pressure and across a
// compaction, under every policy; without being in flight it would not, and once it
// is over it gives way.
func TestFlightSurvivesPressure(t *testing.T) {
	const budget = 90
	w := flight(t)
	grounded := flight(t)
	for i := range grounded.Turns {
		grounded.Turns[i].Begin, grounded.Turns[i].End = nil, nil
	}
	for _, name := range paperPolicies {
		p := policy(t, name)
		got := levelsOf(t, w, p, budget, "build")
		if slices.ContainsFunc(got[1:6], func(l pagevm.Level) bool { return l != pagevm.Full }) {
			t.Errorf("%s: the build stands at %v while it runs", name, got[1:6])
		}
		if got[7] == pagevm.Full {
			t.Errorf("%s: the build stands in full after it ended: %v", name, got)
		}
		if l := levelsOf(t, grounded, p, budget, "build"); !slices.ContainsFunc(l[1:6], func(l pagevm.Level) bool { return l != pagevm.Full }) {
			t.Errorf("%s: nothing pressed: %v", name, l)
		}
		r, err := Run(t.Context(), w, p, budget, Options{NoOracle: true})
		if err != nil || r.Over > 0 {
			t.Errorf("%s: %v %+v", name, err, r)
		}
	}
	if r, err := Run(t.Context(), w, policy(t, "clawvm"), 40, Options{NoOracle: true}); err != nil || r.Over != 8 || r.Short[0].Page != "build" {
		t.Errorf("too small for pins and what is in flight: %v %+v", err, r)
	}
}

// What is in flight goes by its rules: begun once before it ends, by one session,
// and nobody's but its own.
func TestFlightIsChecked(t *testing.T) {
	for want, change := range map[string]func(w *Workload){
		`turn 6: page "build" ends, and is not in flight in session "main"`: func(w *Workload) { w.Turns[0].Begin = nil },
		`turn 3: page "build" begins, and is in flight in session "main"`:   func(w *Workload) { w.Turns[2].Begin = []string{"build"} },
		`turn 7: page "build" ends, and is not in flight`:                   func(w *Workload) { w.Turns[6].End = []string{"build"} },
		`turn 2: unknown page "biuld"`:                                      func(w *Workload) { w.Turns[1].Begin = []string{"biuld"} },
		`turn 2: page "other" is private to session "aside"`:                func(w *Workload) { w.Turns[1].Begin = []string{"other"} },
		`turn 3: page "ours" ends, and is not in flight in session "main"`: func(w *Workload) {
			w.Turns[1].Session, w.Turns[1].Calls, w.Turns[1].Begin, w.Turns[2].End = "aside", nil, []string{"ours"}, []string{"ours"}
		},
		`turn 2: page "build" begins, and is in flight in session "main": "e`: func(w *Workload) { w.Turns[1].Begin = []string{"build"} },
	} {
		w := flight(t)
		w.Sessions = append(w.Sessions, "aside")
		w.Pages = append(w.Pages, Page{ID: "other", Session: "aside", Type: pagevm.Evidence, Tokens: paging.Tokens{Full: 1}},
			Page{ID: "ours", Type: pagevm.Evidence, Scope: memkernel.ScopeProject, Tokens: paging.Tokens{Full: 1}})
		if err := w.check(); err != nil {
			t.Fatal(err)
		}
		change(w)
		if err := w.check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	w := flight(t)
	w.Turns[1].Begin, w.Turns[1].End = []string{"log-1"}, []string{"log-1"}
	if err := w.check(); err != nil {
		t.Errorf("begun and over within a turn: %v", err)
	}
}
