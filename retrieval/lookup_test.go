package retrieval

import (
	"cmp"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

// exact is the search that the keys save: every span is analysed, and everything
// counted.
func exact(a *analysis.Analyzer, s *Spans, text string, k int) []string {
	s.once.Do(func() { s.languages(a) })
	mean := 0.0
	for _, sp := range s.spans {
		mean += float64(sp.text.digest(a, s.lang).size+sp.label.digest(a, s.lang).size) / float64(len(s.spans))
	}
	l := lookup{Spans: s, hashes: hashTerms(a.Query(text, s.langs))}
	l.holders = make([]float64, len(l.hashes))
	count := func(sp *span, h uint32) float64 {
		return float64(sp.text.digest(a, s.lang).count(h) + weightLabel*sp.label.digest(a, s.lang).count(h))
	}
	for _, sp := range s.spans {
		for j, h := range l.hashes {
			l.holders[j] += min(count(sp, h), 1)
		}
	}
	idf := l.idfs()
	var out []found
	for _, sp := range s.spans {
		f := found{span: sp}
		size := float64(sp.text.digest(a, s.lang).size + sp.label.digest(a, s.lang).size)
		for j, h := range l.hashes {
			if n := count(sp, h); n > 0 {
				f.raw += bm25(idf[j], n, k1*(1-lengthShare+lengthShare*size/mean))
			}
		}
		if f.raw > 0 {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Or(cmp.Compare(b.raw, a.raw), cmp.Compare(a.ID, b.ID)) })
	return foundIDs(out[:min(k, len(out))])
}

func foundIDs(fs []found) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.ID)
	}
	return out
}

// overlap is the mean share of the exact search's first ten that search's first
// ten hold.
func overlap(t testing.TB, s *Spans, questions []string) (share float64, asked int) {
	a, err := analyzer()
	if err != nil {
		t.Fatal(err)
	}
	defer analyzers.Put(a)
	for _, q := range questions {
		want := exact(a, s, q, 10)
		if len(want) == 0 {
			continue
		}
		got, _ := s.search(a, q, defaultPool, nil)
		both := 0
		for _, id := range foundIDs(got[:min(10, len(got))]) {
			if slices.Contains(want, id) {
				both++
			}
		}
		share += float64(both) / float64(len(want))
		asked++
	}
	return share / float64(max(asked, 1)), asked
}

// conversation is a session's texts cut into pieces as an archive has them, and
// what its user wrote.
func conversation(t testing.TB, path string) (*Spans, []string) {
	t.Helper()
	s, err := transcript.LoadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var spans []Span
	var said []string
	add := func(label, text string) {
		n := 0
		for text != "" {
			end := min(len(text), 1600)
			if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
				end += i + 1
			} else {
				end = len(text)
			}
			spans = append(spans, Span{ID: fmt.Sprint(len(spans)), Text: text[:end], Label: label})
			text = text[end:]
			n++
		}
	}
	for _, m := range s.View(transcript.Full) {
		for _, p := range m.Parts {
			switch {
			case p.Result != nil:
				for _, c := range p.Result.Content {
					add("result", c.Text)
				}
			case p.Call != nil:
				add(p.Call.Name, p.Call.Input)
			case p.Kind == memkernel.PartText:
				add(string(m.Role), p.Text)
				if m.Role == memkernel.RoleUser {
					said = append(said, p.Text)
				}
			}
		}
	}
	return spansOf(t, spans...), said
}

// asked are questions of a few words from the spans, and long ones that are a
// piece of them.
func asked(s *Spans, rng *rand.Rand, n int) []string {
	var out []string
	for range n {
		text := s.spans[rng.Intn(len(s.spans))].Text
		words := strings.Fields(text)
		if len(words) < 4 {
			continue
		}
		var few []string
		for range 3 + rng.Intn(4) {
			few = append(few, words[rng.Intn(len(words))])
		}
		at := rng.Intn(len(words))
		out = append(out, strings.Join(few, " "), strings.Join(words[at:min(len(words), at+60)], " "))
	}
	return out
}

// What keys choose must be what analysing everything would have found, but for
// some of what is as good.
func TestKeysFindWhatAnalysisFinds(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	check := func(name string, s *Spans, questions []string) {
		share, n := overlap(t, s, questions)
		t.Logf("%-70s %5d spans: %.3f of the first ten, %d questions", name, s.Len(), share, n)
		if share < .9 {
			t.Errorf("%s: %.3f of the first ten, want .9", name, share)
		}
	}
	var random []Span
	for i := range 200 {
		random = append(random, Span{ID: fmt.Sprint(i), Text: logText(rng, 1600), Label: "Bash"})
	}
	s := spansOf(t, random...)
	check("random", s, asked(s, rng, 20))
	s, said := conversation(t, "../testdata/session.jsonl")
	check("session.jsonl", s, append(said, asked(s, rng, 60)...))
	real, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	if len(real) == 0 {
		t.Skip("no transcripts in ../../shared/data")
	}
	for _, path := range suite.Some(real, 5) {
		s, said := conversation(t, path)
		check(filepath.Base(path), s, append(said[:min(len(said), 10)], asked(s, rng, 10)...))
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
			if d := gocmp.Diff(want, ids(ask(nil, Options{}, question).Hits)); d != "" {
				t.Error(d)
			}
		})
	}
	group.Wait()
}
