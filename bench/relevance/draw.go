package relevance

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/display"
)

// draw prints the figures as tables.
func (d *evaluation) draw(w io.Writer, p display.Style) error {
	var b strings.Builder
	title := func(format string, args ...any) {
		fmt.Fprintf(&b, "%s\n", p.Paint("bold", fmt.Sprintf(format, args...)))
	}
	title("%d questions of %s", d.Questions, strings.Join(d.Sets, ", "))
	evalTable(&b, d.report)
	b.WriteByte('\n')
	title("FTS5 on the same lines (rows: %s), and the difference, with the interval of 95 %% (* beyond chance)", strings.Join(d.Plain.Rows, ", "))
	evalRow(&b, "all", category{Metrics: d.Plain.Metrics, Intervals: d.Plain.Intervals})
	for _, x := range d.Plain.Differences {
		fmt.Fprintf(&b, "  %-20s %+6.1f%s  %+6.1f to %+.1f\n", x.Name, 100*x.Mean, x.Mark(), 100*x.Low, 100*x.High)
	}
	if len(d.Ablation) > 0 {
		b.WriteByte('\n')
		title("without each signal once: the difference")
		ablationTable(&b, d.Ablation)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// evalTable prints a report, with a row for each category and a row for all questions.
func evalTable(b *strings.Builder, r report) {
	fmt.Fprintf(b, "  %-12s %5s %5s %5s %5s %5s %5s %5s %5s %5s %5s %5s\n",
		"%", "n", "R@1", "R@5", "R@10", "±", "MRR", "nDCG", "500 t", "1k t", "2k t", "file1")
	for _, c := range slices.Sorted(maps.Keys(r.Categories)) {
		evalRow(b, c, r.Categories[c])
	}
	evalRow(b, "all", category{Metrics: r.Metrics, Intervals: r.Intervals})
	fmt.Fprintf(b, "  ± is the interval of R@10 (95 %%); file1: the first file is one of the right ones; files' nDCG@5 %.1f;\n", 100*r.FileNDCGAt5)
	fmt.Fprintf(b, "  packed into 500, 1,000 and 2,000 tokens %.1f, %.1f and %.1f\n", 100*r.Packed["500"], 100*r.Packed["1000"], 100*r.Packed["2000"])
}

func evalRow(b *strings.Builder, name string, c category) {
	m, i := c.Metrics, c.Intervals["recall_at_10"]
	fmt.Fprintf(b, "  %-12s %5d", display.Clip(display.Printable(name), 12), m.Questions)
	for _, v := range []float64{m.RecallAt1, m.RecallAt5, m.RecallAt10, (i.High - i.Low) / 2, m.MRR, m.NDCGAt10,
		m.WithinTokens["500"], m.WithinTokens["1000"], m.WithinTokens["2000"], m.FileHitAt1} {
		fmt.Fprintf(b, " %5.1f", 100*v)
	}
	b.WriteByte('\n')
}

// ablationTable prints ablations. It marks differences beyond chance with *.
func ablationTable(b *strings.Builder, as []ablation) {
	figures := []string{"recall_at_10", "recall_within_1000", "ndcg_at_10", "file_hit_at_1"}
	fmt.Fprintf(b, "  %-10s %6s %7s %7s %7s %7s\n", "", "weight", "R@10", "1k t", "nDCG", "file1")
	for _, x := range as {
		fmt.Fprintf(b, "  %-10s %6g", x.Signal, x.Value)
		for _, f := range figures {
			d := x.Differences.Of(f)
			fmt.Fprintf(b, " %+6.1f%s", 100*d.Mean, d.Mark())
		}
		b.WriteByte('\n')
	}
	b.WriteString("  * beyond chance, by the interval of 95 %\n")
}

// draw prints a row for each kind of item.
func (d *knownEvaluation) draw(w io.Writer, p display.Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.Paint("bold", "items of "+display.Printable(d.Workspace)+", as they are written; then FTS5, and the difference"))
	fmt.Fprintf(&b, "  %-10s %3s %6s %6s   %-9s %6s %6s   %7s %7s   %5s %5s\n", "%", "n", "hit@1", "hit@10", "FTS5 rows", "hit@1", "hit@10", "hit@1", "hit@10", "1k t", "2k t")
	for _, kind := range knownKinds {
		k, of := d.Known[kind], d.Plain[kind]
		if k.N == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %-10s %3d %s   %-9s %s  ", kind, k.N, hits(k), of.Rows, hits(of))
		for _, x := range of.Differences {
			if x.Name == "recall_at_5" {
				continue
			}
			fmt.Fprintf(&b, " %+6.1f%s", 100*x.Mean, x.Mark())
		}
		fmt.Fprintf(&b, "   %5.2f %5.2f\n", k.LinesWithin["1000"], k.LinesWithin["2000"])
	}
	b.WriteString("  of words: the share of the first ten hits that hold the word or one of its stem; * beyond chance\n  1k t, 2k t: how many lines that hold the item the hits have within 1,000 and 2,000 tokens\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// hits formats shares in percent: of the items, how many the first hit has, and how many any of the
// first ten hits has. For a judge of words it formats how many hits have the word.
func hits(k known) string {
	if k.HitsHoldingShare != nil {
		return fmt.Sprintf("%6s %6.1f", "", 100**k.HitsHoldingShare)
	}
	return fmt.Sprintf("%6.1f %6.1f", 100**k.HitAt1, 100**k.HitAt10)
}
