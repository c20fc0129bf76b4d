package bench

import (
	"context"
	"math/rand"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

// wanted is how many hits a search is asked for.
const wanted = 24

// BenchmarkIndexSearch is a warm search by words, from question to hits with
// their texts, against the bare table asked with the same analysed words for
// row numbers.
func BenchmarkIndexSearch(b *testing.B) {
	eachCorpus(b, func(b *testing.B, c *corpus) {
		ix := openIndex(b)
		syncIndex(b, ix, c.list(), c.read)
		p := newPeer(b)
		p.insert(analyse(b, c))
		search(b, ix, p, c.questions)
	})
}

func search(b *testing.B, ix *index.Index, p peer, questions []string) {
	ctx := context.Background()
	var ours, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		q := questions[i%len(questions)]
		asked, err := ix.Search(ctx, index.Query{Text: q})
		if err != nil {
			b.Fatal(err)
		}
		expr := anyOf(asked.Terms)
		t := time.Now()
		rows := p.search(expr, wanted)
		theirs = append(theirs, time.Since(t))
		t = time.Now()
		got, err := ix.Search(ctx, index.Query{Text: q, K: wanted})
		ours = append(ours, time.Since(t))
		if err != nil || len(got.Keyword) != len(rows) {
			b.Fatalf("%q: %d hits, the bare table has %d: %v", q, len(got.Keyword), len(rows), err)
		}
	}
	b.ReportMetric(float64(total(ours))/float64(total(theirs)), "x-bare-fts5")
	b.ReportMetric(micros(quantile(ours, 0.5)), "p50-µs")
	b.ReportMetric(micros(quantile(ours, 0.95)), "p95-µs")
	b.ReportMetric(micros(quantile(theirs, 0.5)), "µs-bare")
}

func total(times []time.Duration) (sum time.Duration) {
	for _, t := range times {
		sum += t
	}
	return sum
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// BenchmarkIndexOpen opens an index of 10,000 chunks for one question, as a
// process on the command line does.
func BenchmarkIndexOpen(b *testing.B) {
	c := notesCorpus(b, 10000)
	ix := openIndex(b)
	syncIndex(b, ix, c.list(), c.read)
	ix.Close()
	for i := 0; b.Loop(); i++ {
		ro, err := index.Open(ix.Path(), &index.Options{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ro.Search(context.Background(), index.Query{Text: c.questions[i%len(c.questions)], K: wanted}); err != nil {
			b.Fatal(err)
		}
		ro.Close()
	}
}

// BenchmarkIndexVector is an exact search among 10,000 vectors of length 384,
// against a plain loop over the same vectors in memory.
func BenchmarkIndexVector(b *testing.B) {
	const dim = 384
	ctx := context.Background()
	c := zipfCorpus(b, 10000)
	ix := openIndex(b)
	syncIndex(b, ix, c.list(), c.read)
	if err := ix.UseModel(ctx, "m", dim); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewSource(1))
	var all []index.Embedding
	for m, err := range ix.MissingEmbeddings(ctx, "m") {
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, index.Embedding{Hash: m.Hash, Vector: direction(rng, dim)})
	}
	if err := ix.PutEmbeddings(ctx, "m", all); err != nil {
		b.Fatal(err)
	}
	var ours, loop time.Duration
	var sum float32
	for b.Loop() {
		q := direction(rng, dim)
		t := time.Now()
		if _, err := ix.Vector(ctx, "m", q, wanted, nil); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(t)
		t = time.Now()
		for i := range all {
			sum += dot(q, all[i].Vector)
		}
		loop += time.Since(t)
	}
	b.ReportMetric(float64(ours)/float64(loop), "x-plain-loop")
	if sum == 0 {
		b.Fatal("no product was made")
	}
}

func direction(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// BenchmarkIndexCheck verifies an index of 10,000 chunks.
func BenchmarkIndexCheck(b *testing.B) {
	c := zipfCorpus(b, 10000)
	ix := openIndex(b)
	syncIndex(b, ix, c.list(), c.read)
	b.SetBytes(c.bytes)
	for b.Loop() {
		for err := range ix.Check(context.Background()) {
			b.Fatal(err)
		}
	}
}
