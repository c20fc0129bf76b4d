package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

// BenchmarkVectors is a search among vectors against a plain loop over the same
// ones as float32 in memory, both in one run, and what of the loop's nearest 24 it
// finds. The vectors are made as some embeddings are and others are not:
//
//	clusters  300 directions with scatter round them, as texts on 300 subjects
//	flat      64 directions mixed at random, in all lengths: real embeddings use
//	          fewer dimensions than they have
//	uniform   every direction as likely: nothing stands out, the worst there is
//
// Questions lie off the stored vectors, towards one of them.
//
//	x-plain-loop  median over median
//	x-cpu         the processor's time over that of the loop
//	recall        share of the exact nearest 24 among the hits
//	put-s         storing all vectors, measuring included
//
// MEMKERNEL_BENCH_LARGE=1 measures 100,000 vectors of length 384 and 768.
func BenchmarkVectors(b *testing.B) {
	sizes := [][2]int{{10_000, 384}, {20_000, 384}}
	if os.Getenv("MEMKERNEL_BENCH_LARGE") != "" {
		sizes = [][2]int{{100_000, 384}, {100_000, 768}}
	}
	for _, size := range sizes {
		for _, kind := range []string{"clusters", "flat", "uniform"} {
			b.Run(fmt.Sprintf("%s/%dx%d", kind, size[0], size[1]), func(b *testing.B) { vectors(b, kind, size[0], size[1]) })
		}
	}
}

// cloud makes vectors of one kind.
func cloud(rng *rand.Rand, kind string, dim int) func() []float32 {
	var bases [][]float32
	n := map[string]int{"clusters": 300, "flat": 64}[kind]
	for range n {
		bases = append(bases, direction(rng, dim))
	}
	return func() []float32 {
		v := direction(rng, dim)
		switch kind {
		case "clusters":
			mix(v, 0.7, bases[rng.Intn(n)], 1)
		case "flat":
			for _, base := range bases {
				mix(v, 1, base, float32(rng.NormFloat64()))
			}
		}
		return v
	}
}

// mix is a·v + b·w in v.
func mix(v []float32, a float32, w []float32, b float32) {
	for i := range v {
		v[i] = a*v[i] + b*w[i]
	}
}

// tiny is a corpus of n chunks of a few words, ten to a file.
func tiny(n int) *corpus {
	c := &corpus{files: map[string][]index.Chunk{}}
	for i := range n {
		c.add(i, nil, fmt.Sprintf("note %d of many", i))
	}
	return c.finish()
}

func vectors(b *testing.B, kind string, n, dim int) {
	ctx := context.Background()
	rng := rand.New(rand.NewSource(1))
	next := cloud(rng, kind, dim)
	c := tiny(n)
	ix := openIndex(b)
	syncIndex(b, ix, c.list(), c.read)
	if err := ix.UseModel(ctx, "m", dim); err != nil {
		b.Fatal(err)
	}
	var all []index.Embedding
	at := map[index.Hash]int{}
	for m, err := range ix.MissingEmbeddings(ctx, "m") {
		if err != nil {
			b.Fatal(err)
		}
		at[m.Hash] = len(all)
		all = append(all, index.Embedding{Hash: m.Hash, Vector: normal(next())})
	}
	start := time.Now()
	if err := ix.PutEmbeddings(ctx, "m", all); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	var ours, loop times
	found, products := 0, make([]float32, n)
	b.ResetTimer()
	for b.Loop() {
		q := next()
		mix(q, 0.5, all[rng.Intn(n)].Vector, float32(math.Sqrt(float64(dim))))
		normal(q)
		t, c := time.Now(), cpuTime()
		hits, err := ix.Vector(ctx, "m", q, wanted, nil)
		ours.cpu += cpuTime() - c
		ours.clock = append(ours.clock, time.Since(t))
		if err != nil || len(hits) != wanted {
			b.Fatal(len(hits), err)
		}
		t, c = time.Now(), cpuTime()
		for i := range all {
			products[i] = dot(q, all[i].Vector)
		}
		loop.cpu += cpuTime() - c
		loop.clock = append(loop.clock, time.Since(t))
		best := slices.Clone(products)
		slices.SortFunc(best, func(x, y float32) int { return cmp.Compare(y, x) })
		for _, h := range hits {
			if products[at[h.Hash]] >= best[wanted-1] {
				found++
			}
		}
	}
	b.ReportMetric(ours.at(0.5)/loop.at(0.5), "x-plain-loop")
	b.ReportMetric(float64(ours.cpu)/float64(loop.cpu), "x-cpu")
	b.ReportMetric(float64(found)/float64(wanted*len(ours.clock)), "recall")
	b.ReportMetric(ours.at(0.5), "p50-µs")
	b.ReportMetric(loop.at(0.5), "loop-p50-µs")
	b.ReportMetric(took.Seconds(), "put-s")
}

// normal scales a vector to length 1.
func normal(v []float32) []float32 {
	s := float32(1 / math.Sqrt(float64(dot(v, v))))
	for i := range v {
		v[i] *= s
	}
	return v
}
