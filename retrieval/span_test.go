package retrieval

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func spansOf(t testing.TB, spans ...Span) *Spans {
	t.Helper()
	return (*Spans)(nil).With(spans...)
}

func TestSpansAreFound(t *testing.T) {
	s := spansOf(t,
		Span{ID: "t1", Text: "ok  pkg/parser\nFAIL pkg/lexer: TestUnicodeEscapes: unexpected rune\nok  pkg/ast", Time: now.AddDate(0, 0, -1), Label: "go test ./..."},
		Span{ID: "t2", Text: "die Datenbank der Rechnungen läuft auf Port 5433", Time: now},
		Span{ID: "t3", Text: "部署到测试环境失败"})
	for q, want := range map[string]string{
		"which test with unicode escapes failed": "t1", "Rechnungen Datenbank": "t2", "测试环境": "t3", "go test output": "t1",
	} {
		got := ask(nil, Options{}, Query{Text: q, Spans: s})
		if len(got.Hits) == 0 || got.Hits[0].ID != want {
			t.Errorf("%q finds %v, want %s", q, ids(got.Hits), want)
			continue
		}
		h := got.Hits[0]
		if h.Kind != Session || h.Path != "" || h.Citation != want || h.Score <= 0 || h.Score >= 1 {
			t.Errorf("%q: %+v", q, h)
		}
	}
	got := ask(nil, Options{}, Query{Text: "unicode escapes", Spans: s}).Hits[0]
	if got.StartLine != 1 || got.EndLine != 3 || got.Date != "2026-02-28" || got.Parts.AgeDays != 1 || got.Trail[0] != "go test ./..." {
		t.Errorf("%+v", got)
	}
	none := ask(nil, Options{}, Query{Text: "unicode escapes", Spans: s, WantSpan: func(s *Span) bool { return s.ID != "t1" }})
	if len(none.Hits) != 0 {
		t.Errorf("found %v, which is not wanted", ids(none.Hits))
	}
}

// The scores are those of BM25 as written down by Robertson, with the index's
// constants, on counts made by hand.
func TestSpansScore(t *testing.T) {
	s := spansOf(t, Span{ID: "a", Text: "kiwi kiwi mango"}, Span{ID: "b", Text: "kiwi"}, Span{ID: "c", Text: "mango grape", Label: "kiwi"})
	idf := math.Log((103 - 3 + .5) / 3.5)
	bm25 := func(f, size float64) float64 {
		raw := idf * f * 2.2 / (f + 1.2*(.25+.75*size/(7.0/3)))
		return raw / (raw + 10)
	}
	want := map[string]float64{"a": bm25(2, 3), "b": bm25(1, 1), "c": bm25(3, 3)}
	got := map[string]float64{}
	for _, h := range ask(nil, Options{}, Query{Text: "kiwi", Spans: s}).Hits {
		got[h.ID] = h.Parts.Keyword
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
		t.Error(d)
	}
}

// However a set came about, it answers as one made at once; and what it was
// made of answers as before.
func TestSpansWithAndWithout(t *testing.T) {
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta")
	rapid.Check(t, func(t *rapid.T) {
		var s *Spans
		model := []Span{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			before, was := s, answers(s)
			id := fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "id"))
			at := -1
			for i := range model {
				if model[i].ID == id {
					at = i
				}
			}
			if rapid.Bool().Draw(t, "without") {
				s = s.Without(id)
				if at >= 0 {
					model = append(model[:at], model[at+1:]...)
				}
			} else {
				sp := Span{ID: id, Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, "text"), " "), Label: rapid.SampledFrom(words).Draw(t, "label")}
				s = s.With(sp)
				if at >= 0 {
					model[at] = sp
				} else {
					model = append(model, sp)
				}
			}
			fresh := (*Spans)(nil).With(model...)
			if d := cmp.Diff(answers(fresh), answers(s)); d != "" || s.Len() != len(model) {
				t.Fatalf("not as made at once: %s", d)
			}
			if d := cmp.Diff(was, answers(before)); d != "" {
				t.Fatalf("the set before has changed: %s", d)
			}
		}
	})
}

func answers(s *Spans) []string {
	var out []string
	for _, q := range []string{"alpha beta", "theta", "eta gamma delta"} {
		for _, h := range ask(nil, off(), Query{Text: q, Spans: s}).Hits {
			out = append(out, fmt.Sprintf("%s %s %.9f", q, h.ID, h.Score))
		}
	}
	return out
}

func TestNilSpans(t *testing.T) {
	var s *Spans
	if s.Len() != 0 || s.Without("x") != nil || s.With(Span{ID: "a", Text: "kiwi"}).Len() != 1 {
		t.Error("nil is not the empty set")
	}
}

// In a hybrid search vectors know nothing of spans; that is not held against
// them.
func TestSpansBesideVectors(t *testing.T) {
	s := spansOf(t, Span{ID: "s", Text: "the staging deploy failed at noon", Time: time.Time{}})
	h := hit("f", "a.md", 1, .5, "x")
	ix := &fakeIndex{}
	ix.hits.Keyword, ix.hits.Vector = ranked(h), ranked(h)
	for _, got := range ask(ix, Options{Embedder: works, HalfLife: -1}, Query{Spans: s}).Hits {
		if got.Kind == Session && got.Score != got.Parts.Keyword {
			t.Errorf("the span scores %v of %+v", got.Score, got.Parts)
		}
	}
}

// All goroutines get the same answers of a set that none has asked before.
func TestSpansConcurrently(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	var all []Span
	for i := range 60 {
		all = append(all, Span{ID: fmt.Sprint(i), Text: logText(rng, 400) + "é"[:2*(i%2)], Label: "Bash"})
	}
	question := Query{Text: "undefined in kato milo server", Spans: spansOf(t, all...)}
	want := ids(ask(nil, Options{}, question).Hits)
	question.Spans = spansOf(t, all...)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if d := cmp.Diff(want, ids(ask(nil, Options{}, question).Hits)); d != "" {
				t.Error(d)
			}
		})
	}
	group.Wait()
}

// logText is like a tool's output, n bytes of it.
func logText(rng *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "internal/%s/%s_%d.go:%d: undefined: New%s in %s\n", syllables(rng), syllables(rng), rng.Intn(99), rng.Intn(900), syllables(rng), syllables(rng))
	}
	return b.String()[:n]
}

func syllables(rng *rand.Rand) string {
	s := ""
	for range 2 + rng.Intn(2) {
		s += []string{"ka", "to", "mi", "ser", "ver", "lo", "dex", "pan"}[rng.Intn(8)]
	}
	return s
}

// baseline is how long f takes, once the caches are warm.
func baseline(f func()) time.Duration {
	f()
	begin := time.Now()
	for range 10 {
		f()
	}
	return time.Since(begin) / 10
}

// Adding a large tool result, over analysing it once; asking five hundred analysed spans,
// over looking for two words in their texts.
//
//	go test -run '^$' -bench Spans ./retrieval
func BenchmarkSpansAdd100KB(b *testing.B) {
	rng := rand.New(rand.NewSource(1))
	s, text := spansOf(b), logText(rng, 100<<10)
	a := analyzers.Lend()
	once := baseline(func() { a.AppendIndex(nil, text) })
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.With(Span{ID: "a", Text: text})
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(once), "×analysis")
}

func BenchmarkSpansSearch500(b *testing.B) {
	s := manySpans(b)
	a := analyzers.Lend()
	found := 0
	scan := baseline(func() {
		for _, sp := range s.spans {
			if strings.Contains(sp.Text, "quokka") || strings.Contains(sp.Text, "zebra") {
				found++
			}
		}
	})
	s.search(a, "why", 10, nil)
	for b.Loop() {
		s.search(a, "why is the new server undefined in internal kato milo", 10, nil)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(scan), "×scan")
}

func manySpans(b *testing.B) *Spans {
	rng := rand.New(rand.NewSource(1))
	var all []Span
	for i := range 500 {
		all = append(all, Span{ID: fmt.Sprint(i), Text: logText(rng, 4<<10), Label: "Bash"})
	}
	return spansOf(b, all...)
}

// The whole pipeline over 500 spans, diversity and snippets included.
func BenchmarkSpansRetrieve500(b *testing.B) {
	s := manySpans(b)
	for b.Loop() {
		ask(nil, Options{}, Query{Text: "why is the new server undefined in internal kato milo", Spans: s})
	}
}
