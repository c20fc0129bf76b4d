package bench

import (
	"context"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval"
)

// BenchmarkPassageSearch is a warm search for passages, from question to ranked
// hits with all context signals, against the bare table asked with the same analysed
// words for row numbers.
//
//	x-bare-fts5    all times over all times of the bare table
//	x-bare-p50     median over median
//	chunks-p50-µs  the same search for chunks
func BenchmarkPassageSearch(b *testing.B) {
	eachCorpus(b, func(b *testing.B, c *corpus) {
		ix := openIndex(b)
		syncIndex(b, ix, c.list(), c.read)
		p := newPeer(b)
		p.insert(analyse(b, c))
		passages(b, ix, p, c.questions)
	})
}

func passages(b *testing.B, ix *index.Index, p peer, questions []string) {
	ctx := context.Background()
	r := retrieval.New(ix, nil)
	now := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	ask := func(q string, fine bool) time.Duration {
		t := time.Now()
		got := r.Search(ctx, retrieval.Query{Text: q, Passages: fine, Now: now})
		if got.Err != nil {
			b.Fatal(got.Err)
		}
		return time.Since(t)
	}
	var ours, chunks, theirs []time.Duration
	for i := 0; b.Loop(); i++ {
		q := questions[i%len(questions)]
		asked, err := ix.Search(ctx, index.Query{Text: q})
		if err != nil {
			b.Fatal(err)
		}
		t := time.Now()
		p.search(anyOf(asked.Terms), wanted)
		theirs = append(theirs, time.Since(t))
		ours, chunks = append(ours, ask(q, true)), append(chunks, ask(q, false))
	}
	b.ReportMetric(float64(total(ours))/float64(total(theirs)), "x-bare-fts5")
	b.ReportMetric(float64(quantile(ours, 0.5))/float64(quantile(theirs, 0.5)), "x-bare-p50")
	b.ReportMetric(micros(quantile(ours, 0.5)), "p50-µs")
	b.ReportMetric(micros(quantile(ours, 0.95)), "p95-µs")
	b.ReportMetric(micros(quantile(chunks, 0.5)), "chunks-p50-µs")
	b.ReportMetric(micros(quantile(theirs, 0.5)), "bare-p50-µs")
}
