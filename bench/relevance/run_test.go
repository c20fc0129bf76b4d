package relevance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/retrieval"
)

// openFile reads the questions on a folder and indexes it.
func openFile(dir, questions string) (*bench, error) {
	set, err := Read(dir, questions)
	if err != nil {
		return nil, err
	}
	return Open(context.Background(), set)
}

func open(t testing.TB, dir string) *bench {
	t.Helper()
	b, err := openFile(dir, filepath.Join(dir, "qa.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// dayAfter is the day after the last note: the worst moment for old ones.
func dayAfter(t testing.TB, b *bench) time.Time {
	t.Helper()
	last, err := b.newest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if last.IsZero() { // nothing in the set ages
		last = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return last.AddDate(0, 0, 1)
}

func run(t testing.TB, b *bench, o retrieval.Options) report {
	t.Helper()
	answers, err := b.Ask(context.Background(), &o, dayAfter(t, b))
	if err != nil {
		t.Fatal(err)
	}
	return Sum(answers)
}

// Three of four questions have words that are in one chunk only; that of the
// third covers one of its two lines; the fourth finds nothing. The file of the
// day is one chunk per section, the other one chunk.
func TestTinySet(t *testing.T) {
	got := run(t, open(t, "testdata/tiny"), retrieval.Options{})
	sizes := func(v float64) sizes { return sizes{"500": v, "1000": v, "2000": v} }
	half := 1 / (1 + 0.6309297535714575) // one of two lines, at rank 1
	metrics := func(n int, recall, mrr, ndcg float64) Metrics {
		return Metrics{Questions: n, RecallAt1: recall, RecallAt5: recall, RecallAt10: recall, MRR: mrr, NDCGAt10: ndcg, FileHitAt1: mrr, FileNDCGAt5: ndcg, WithinTokens: sizes(recall), Packed: sizes(recall)}
	}
	want := report{metrics(4, 2.5/4, 3.0/4, (2+half)/4), map[string]category{
		"fact":    {metrics(2, 1, 1, 1), got.Categories["fact"].Intervals},
		"several": {metrics(2, .5/2, .5, half/2), got.Categories["several"].Intervals}}, got.Intervals}
	if d := cmp.Diff(want, got, near); d != "" {
		t.Error(d)
	}
}

func TestReportJSON(t *testing.T) {
	b, err := json.Marshal(report{Metrics{Questions: 1, MRR: .5, WithinTokens: sizes{"1000": 1}, Packed: sizes{}}, map[string]category{}, map[string]interval{"mrr": {.4, .6}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"questions":1,"recall_at_1":0,"recall_at_5":0,"recall_at_10":0,"mrr":0.5,"ndcg_at_10":0,"file_hit_at_1":0,"file_ndcg_at_5":0,"recall_within_tokens":{"1000":1},"recall_packed":{},"categories":{},"intervals":{"mrr":{"low":0.4,"high":0.6}}}`
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
}

func TestBadSets(t *testing.T) {
	for name, tc := range map[string]struct{ qa, want string }{
		"no questions":  {`{"id":"a","question":"x","evidence":[]}`, "no row has a question with evidence"},
		"no JSON":       {"{}\n{", "qa.jsonl:2:"},
		"nothing there": {`{"id":"a","question":"x","evidence":[{"file":"memory/a.md","line":1}]}`, "nothing to search"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "qa.jsonl"), []byte(tc.qa), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := openFile(dir, filepath.Join(dir, "qa.jsonl"))
		if err == nil {
			b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	dir := t.TempDir()
	if _, err := openFile(dir, filepath.Join(dir, "qa.jsonl")); !os.IsNotExist(err) && !strings.Contains(fmt.Sprint(err), "qa.jsonl") {
		t.Errorf("without a file: %v", err)
	}
}

// settings are what the table compares.
var settings = []struct {
	name string
	o    retrieval.Options
	ages bool // is about decay
}{
	{"default", retrieval.Options{}, false},
	{"no decay", retrieval.Options{HalfLife: -1}, true},
	{"no diversity", retrieval.Options{Lambda: 1}, false},
	{"neither", retrieval.Options{HalfLife: -1, Lambda: 1}, true},
	{"no floor", retrieval.Options{Floor: -1}, true},
}

// choices are the values that defaults were chosen from, beside those of settings.
var choices = []struct {
	name  string
	o     retrieval.Options
	share float64
}{
	{"floor .2", retrieval.Options{Floor: .2}, 0},
	{"floor .5", retrieval.Options{Floor: .5}, 0},
	{"pool 50", retrieval.Options{Pool: 50}, 0},
	{"share .2", retrieval.Options{}, .2},
	{"share .3", retrieval.Options{}, .3},
	{"share .4", retrieval.Options{}, .4},
	{"share .5", retrieval.Options{}, .5},
}

// The sets are outside the repository; without them these tests are skipped.
func sets(t testing.TB) []string {
	t.Helper()
	dirs, _ := filepath.Glob("../../../shared/data/retrieval/*")
	if len(dirs) == 0 {
		t.Skip("no retrieval sets in ../../../shared/data/retrieval")
	}
	return dirs
}

// sample is how many questions of a set the test asks; BenchmarkSets asks all.
const sample = 40

func thin(qs []Question) []Question {
	var out []Question
	for i := range sample {
		out = append(out, qs[i*len(qs)/sample])
	}
	return out
}

// floorOf is what recall@10 must reach on a set of its family: dialogue, paragraphs,
// and abstracts, of which a question has 5.6 relevant ones in the mean.
func floorOf(set string) float64 {
	switch {
	case strings.HasPrefix(set, "xquad"):
		return 0.95
	case strings.HasPrefix(set, "cranfield"):
		return 0.30
	}
	return 0.76
}

func TestSets(t *testing.T) {
	for _, dir := range suite.Some(sets(t), 2) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			b := open(t, dir)
			b.Questions = thin(b.Questions)
			last, err := b.newest(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]report{}
			for _, s := range settings {
				if last.IsZero() && s.ages { // nothing in the set does
					continue
				}
				got[s.name] = run(t, b, s.o)
				t.Log(row(b.Name, s.name, got[s.name].Metrics))
				plausible(t, got[s.name])
			}
			if d := cmp.Diff(got["default"], run(t, b, retrieval.Options{})); d != "" {
				t.Errorf("not the same twice: %s", d)
			}
			best, floor := got["default"], floorOf(b.Name)
			if best.RecallAt10 < floor {
				t.Errorf("recall@10 is %.3f, want %.2f", best.RecallAt10, floor)
			}
			if lost := got["no decay"].RecallAt10 - best.RecallAt10; lost > 0.05 { // 0 where nothing ages
				t.Errorf("decay costs %.3f of recall@10", lost)
			}
		})
	}
}

// plausible checks what must hold of any report.
func plausible(t *testing.T, r report) {
	t.Helper()
	n, sum := 0, 0.0
	for _, c := range r.Categories {
		n += c.Questions
		sum += c.RecallAt10 * float64(c.Questions)
	}
	if n != r.Questions || cmp.Diff(sum, r.RecallAt10*float64(n), near) != "" {
		t.Errorf("the categories do not add up: %+v", r)
	}
	for _, s := range [][]float64{{0, r.RecallAt1, r.RecallAt5, r.RecallAt10, 1}, {0, r.MRR, 1}, {0, r.NDCGAt10, 1},
		{0, r.WithinTokens["1000"], r.WithinTokens["2000"], 1}, {0, r.Packed["1000"], 1}, {0, r.Packed["2000"], 1}} {
		for i := range s[1:] {
			if s[i] > s[i+1]+1e-9 {
				t.Errorf("%v does not rise: %+v", s, r)
			}
		}
	}
}

func row(set, setting string, m Metrics) string {
	return fmt.Sprintf("%-10s %-12s %4d  R@1 %.3f  R@5 %.3f  R@10 %.3f  MRR %.3f  nDCG %.3f  within %.3f %.3f  packed %.3f %.3f", set, setting, m.Questions,
		m.RecallAt1, m.RecallAt5, m.RecallAt10, m.MRR, m.NDCGAt10, m.WithinTokens["1000"], m.WithinTokens["2000"], m.Packed["1000"], m.Packed["2000"])
}

// BenchmarkSets judges every question of every set under every setting.
//
//	go test -run '^$' -bench Sets -benchtime 1x ./bench/relevance
func BenchmarkSets(b *testing.B) {
	for _, dir := range sets(b) {
		set := open(b, dir)
		for _, s := range settings {
			measure(b, set, s.name, s.o, 0)
		}
	}
}

// BenchmarkChoices are the figures by which defaults were chosen.
func BenchmarkChoices(b *testing.B) {
	for _, dir := range sets(b) {
		set := open(b, dir)
		measure(b, set, "default", retrieval.Options{}, 0)
		for _, c := range choices {
			measure(b, set, c.name, c.o, c.share)
		}
	}
}

func measure(b *testing.B, set *bench, name string, o retrieval.Options, share float64) {
	b.Run(set.Name+"/"+strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
		set.MinShare = share
		var r report
		for b.Loop() {
			r = run(b, set, o)
		}
		set.MinShare = 0
		b.ReportMetric(r.RecallAt10, "recall@10")
		b.ReportMetric(r.MRR, "mrr")
		b.ReportMetric(r.NDCGAt10, "ndcg@10")
		b.ReportMetric(r.WithinTokens["1000"], "within-1000")
		b.ReportMetric(r.WithinTokens["2000"], "within-2000")
		b.ReportMetric(r.Packed["2000"], "packed-2000")
		b.ReportMetric(0, "ns/op")
	})
}
