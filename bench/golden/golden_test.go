package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/bench/relevance"
)

var update = flag.Bool("update", false, "write the floors anew; a gap to FTS5 that grows stays an error")

const (
	// noise is what a figure may lose before it is a loss: a question or two.
	noise = .04
	// settled is how much smaller a gap may be than it is written down.
	settled = .02
)

// figures are what has a floor.
var figures = []struct {
	name string
	of   func(relevance.Metrics) float64
}{
	{"recall@10", func(m relevance.Metrics) float64 { return m.RecallAt10 }},
	{"ndcg@10", func(m relevance.Metrics) float64 { return m.NDCGAt10 }},
	{"within1000", func(m relevance.Metrics) float64 { return m.WithinTokens["1000"] }},
}

// floor is a figure as it was written down, and by how much FTS5 was better.
type floor struct{ value, gap float64 }

const floorsFile = "testdata/floors.txt"

// TestFloors holds each genre to what it was, but for noise, and where FTS5 on the
// same lines is better, to the gap, which only shrinks: what was won is written down
// with -update.
func TestFloors(t *testing.T) {
	known, now := readFloors(t), map[string]floor{}
	for _, g := range genres {
		ours, plain, _, err := g.judge(t.Context(), "../..", false)
		if err != nil {
			t.Fatal(err)
		}
		a, b := relevance.Sum(ours).Metrics, relevance.Sum(plain).Metrics
		for _, f := range figures {
			key := g.name + " " + f.name
			now[key] = floor{f.of(a), max(f.of(b)-f.of(a), 0)}
			const slack = .0005
			old, ok := known[key]
			switch got := now[key]; {
			case !ok && !*update:
				t.Errorf("%s has no floor in %s: run go test -update", key, floorsFile)
			case !ok:
			case got.value < old.value-noise-slack:
				t.Errorf("%s is %.3f, was %.3f", key, got.value, old.value)
			case got.gap > old.gap+slack:
				t.Errorf("%s: FTS5 is better by %.3f, was by %.3f: this may only shrink", key, got.gap, old.gap)
			case got.gap < old.gap-settled-slack && !*update:
				t.Errorf("%s: FTS5 is better by %.3f only, was by %.3f: write it down with go test -update", key, got.gap, old.gap)
			}
		}
	}
	if *update && !t.Failed() {
		writeFloors(t, now)
	}
}

func readFloors(t *testing.T) map[string]floor {
	t.Helper()
	out := map[string]floor{}
	f, err := os.Open(floorsFile)
	if os.IsNotExist(err) && *update {
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var genre, figure string
		var fl floor
		if _, err := fmt.Sscan(sc.Text(), &genre, &figure, &fl.value, &fl.gap); err != nil {
			t.Fatalf("%s: %q: %v", floorsFile, sc.Text(), err)
		}
		out[genre+" "+figure] = fl
	}
	return out
}

func writeFloors(t *testing.T, now map[string]floor) {
	t.Helper()
	var b strings.Builder
	for _, g := range genres {
		for _, f := range figures {
			fl := now[g.name+" "+f.name]
			fmt.Fprintf(&b, "%-13s %-10s %.3f %.3f\n", g.name, f.name, fl.value, fl.gap)
		}
	}
	if err := os.WriteFile(floorsFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Half of the questions are sealed, the halves have none in common, and both are the
// same each time; every question's evidence is a line that stands there.
func TestHalves(t *testing.T) {
	for _, g := range genres {
		asked := map[string]int{}
		var n [2]int
		for i, sealed := range []bool{false, true, false} {
			dir := t.TempDir()
			set, err := g.set(dir, "../..", sealed)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range set.Questions {
				asked[q.Text] += 1 + 10*(i%2)
				e := q.Evidence[0]
				text, err := os.ReadFile(dir + "/" + e.File)
				if err != nil {
					t.Fatal(err)
				}
				if lines := strings.Split(string(text), "\n"); e.EndLine >= len(lines) || strings.TrimSpace(lines[e.Line-1]) == "" || strings.Contains(q.Text, "%!") || strings.Contains(lines[e.Line-1], "%!") {
					t.Errorf("%s: %q is answered by line %d of %s", g.name, q.Text, e.Line, e.File)
				}
			}
			n[i%2] = len(set.Questions)
		}
		for q, count := range asked {
			if count != 2 && count != 11 {
				t.Errorf("%s: %q is in both halves, or not the same twice", g.name, q)
			}
		}
		if n[0] < 20 || n[0]-n[1] > 1 || n[1] > n[0] {
			t.Errorf("%s: %d questions and %d sealed", g.name, n[0], n[1])
		}
	}
}

func TestNoSource(t *testing.T) {
	if err := code(t.TempDir(), &notes{}); err == nil || !strings.Contains(err.Error(), "root of the source") {
		t.Errorf("%v", err)
	}
}
