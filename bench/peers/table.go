package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/memkernel/memkernel/bench/relevance"
)

// row is what a peer came to.
type row struct {
	name             string
	questions, empty int
	r10, r1k         float64
	hits, lines      int
	index            float64
	p50, large       time.Duration
	err              error
	note             string
}

func (r *row) add(m relevance.Metrics, hits []hit) {
	r.questions++
	r.r10 += m.RecallAt10
	r.r1k += m.WithinTokens["1000"]
	if len(hits) == 0 {
		r.empty++
	}
	for _, h := range hits[:min(10, len(hits))] {
		r.hits++
		r.lines += h.to - h.from + 1
	}
}

type table struct{ rows []row }

func (t *table) print(w io.Writer, sets []set, f flags) {
	n := 0
	fmt.Fprint(w, "questions of")
	for _, s := range sets {
		n += len(s.Questions)
		fmt.Fprintf(w, " %s", s.Name)
	}
	fmt.Fprintf(w, ": %d\n\n", n)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "peer\tR@10\tR 1k\tempty\tlines\tindex s\tp50 ms\tp50 ms at %d chunks\t\n", f.chunks)
	for _, r := range t.rows {
		if r.err != nil || r.questions == 0 {
			continue
		}
		q := float64(r.questions)
		fmt.Fprintf(tw, "%s\t%.1f\t%.1f\t%.0f %%\t%.1f\t%.1f\t%.1f\t%s\t\n", r.name, 100*r.r10/q, 100*r.r1k/q, 100*float64(r.empty)/q,
			float64(r.lines)/float64(max(r.hits, 1)), r.index, ms(r.p50), large(r.large))
	}
	tw.Flush()
	for _, r := range t.rows {
		if r.err != nil {
			fmt.Fprintf(w, "%s: not measured: %v\n", r.name, r.err)
		} else if r.note != "" {
			fmt.Fprintf(w, "%s: %s\n", r.name, r.note)
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func large(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", ms(d))
}
