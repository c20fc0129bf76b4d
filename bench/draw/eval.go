package draw

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/internal/display"
)

// Evaluation is what eval found: figures, ranks, and a second run beside the first.
type Evaluation struct {
	Sets []string `json:"sets"`
	With []string `json:"with"`
	// Mode is what was searched by, Vectors the kind that was made, "" for a provider's.
	Mode    string `json:"mode"`
	Vectors string `json:"vectors,omitempty"`
	relevance.Report
	// Plain is what bare FTS5 finds; its differences are those of ours to that.
	Plain   Compared  `json:"plain"`
	Ranks   []Ranks   `json:"ranks,omitempty"`
	Compare *Compared `json:"compare,omitempty"`
	// Ablation and LeaveOneOut are given where they were asked for.
	Ablation    []relevance.Ablation `json:"ablation,omitempty"`
	LeaveOneOut []relevance.Fold     `json:"leave_one_out,omitempty"`
}

// Ranks are the ranks of one question's evidence.
type Ranks struct {
	ID    string `json:"id"`
	Ranks []int  `json:"ranks"`
}

// Compared is the second run, and what it is above the first.
type Compared struct {
	With []string `json:"with"`
	relevance.Report
	Differences []relevance.Difference `json:"differences"`
}

// Eval prints the figures as tables.
func Eval(w io.Writer, doc *Evaluation, p display.Style) error {
	var b strings.Builder
	if len(doc.Ranks) > 0 {
		for _, r := range doc.Ranks {
			fmt.Fprintf(&b, "%s %s\n", r.ID, strings.Trim(fmt.Sprint(r.Ranks), "[]"))
		}
		return display.Flush(w, &b)
	}
	title := func(format string, args ...any) {
		fmt.Fprintf(&b, "%s\n", p.Paint(display.Bold, fmt.Sprintf(format, args...)))
	}
	title("%d questions of %s", doc.Questions, strings.Join(doc.Sets, ", "))
	evalTable(&b, doc.Report)
	b.WriteByte('\n')
	title("bare FTS5 on the same lines, and what is above it, with the interval of 95 %%")
	evalRow(&b, "all", relevance.Category{Metrics: doc.Plain.Metrics, Intervals: doc.Plain.Intervals})
	differenceTable(&b, doc.Plain.Differences)
	if c := doc.Compare; c != nil {
		b.WriteByte('\n')
		title("with %s", strings.Join(c.With, " "))
		evalTable(&b, c.Report)
		b.WriteByte('\n')
		title("difference, with the interval of 95 %%")
		differenceTable(&b, c.Differences)
	}
	if len(doc.Ablation) > 0 {
		b.WriteByte('\n')
		title("without each signal once: difference, and that of R@10 by category")
		ablationTable(&b, doc.Ablation)
	}
	if len(doc.LeaveOneOut) > 0 {
		b.WriteByte('\n')
		title("weights chosen on the other sets, those in use, no signals")
		foldTable(&b, doc.LeaveOneOut)
	}
	return display.Flush(w, &b)
}

// evalTable prints a report, a row per category and one for all.
func evalTable(b *strings.Builder, r relevance.Report) {
	fmt.Fprintf(b, "  %-12s %5s %5s %5s %5s %5s %5s %5s %5s %5s %5s %5s\n",
		"%", "n", "R@1", "R@5", "R@10", "±", "MRR", "nDCG", "500 t", "1k t", "2k t", "file1")
	for _, c := range slices.Sorted(maps.Keys(r.Categories)) {
		evalRow(b, c, r.Categories[c])
	}
	evalRow(b, "all", relevance.Category{Metrics: r.Metrics, Intervals: r.Intervals})
	fmt.Fprintf(b, "  ± is the interval of R@10 (95 %%); file1: the first file is one of the right ones; files' nDCG@5 %.1f;\n", 100*r.FileNDCGAt5)
	fmt.Fprintf(b, "  packed into 500, 1,000 and 2,000 tokens %.1f, %.1f and %.1f\n", 100*r.Packed["500"], 100*r.Packed["1000"], 100*r.Packed["2000"])
}

func evalRow(b *strings.Builder, name string, c relevance.Category) {
	m, i := c.Metrics, c.Intervals["recall_at_10"]
	fmt.Fprintf(b, "  %-12s %5d", display.Clip(display.Printable(name), 12), m.Questions)
	for _, v := range []float64{m.RecallAt1, m.RecallAt5, m.RecallAt10, (i.High - i.Low) / 2, m.MRR, m.NDCGAt10,
		m.WithinTokens["500"], m.WithinTokens["1000"], m.WithinTokens["2000"], m.FileHitAt1} {
		fmt.Fprintf(b, " %5.1f", 100*v)
	}
	b.WriteByte('\n')
}

func differenceTable(b *strings.Builder, ds []relevance.Difference) {
	for _, d := range ds {
		mark := ""
		if d.Low > 0 || d.High < 0 {
			mark = "  beyond chance"
		}
		fmt.Fprintf(b, "  %-20s %+6.1f  %+6.1f to %+.1f%s\n", d.Name, 100*d.Mean, 100*d.Low, 100*d.High, mark)
	}
}

// ablationTable marks with * what is beyond chance.
func ablationTable(b *strings.Builder, as []relevance.Ablation) {
	figures := []string{"recall_at_10", "recall_within_1000", "ndcg_at_10", "file_hit_at_1"}
	fmt.Fprintf(b, "  %-10s %6s %7s %7s %7s %7s", "", "weight", "R@10", "1k t", "nDCG", "file1")
	categories := slices.Sorted(maps.Keys(as[0].Categories))
	for _, c := range categories {
		b.WriteString(" " + display.Right(c, 8))
	}
	b.WriteByte('\n')
	for _, x := range as {
		fmt.Fprintf(b, "  %-10s %6g", x.Signal, x.Value)
		for _, f := range figures {
			d := x.Differences[slices.IndexFunc(x.Differences, func(d relevance.Difference) bool { return d.Name == f })]
			mark := " "
			if d.Low > 0 || d.High < 0 {
				mark = "*"
			}
			fmt.Fprintf(b, " %+6.1f%s", 100*d.Mean, mark)
		}
		for _, c := range categories {
			fmt.Fprintf(b, " %+8.1f", 100*x.Categories[c])
		}
		b.WriteByte('\n')
	}
	b.WriteString("  * beyond chance, by the interval of 95 %\n")
}

func foldTable(b *strings.Builder, folds []relevance.Fold) {
	fmt.Fprintf(b, "  %-12s %20s %20s %20s\n", "", "others' R@10 1k nDCG", "in use", "BM25 alone")
	for _, f := range folds {
		fmt.Fprintf(b, "  %s", display.Left(f.Set, 12))
		for _, m := range []relevance.Metrics{f.Unseen, f.Given, f.Bare} {
			fmt.Fprintf(b, "       %4.1f %4.1f %4.1f", 100*m.RecallAt10, 100*m.WithinTokens["1000"], 100*m.NDCGAt10)
		}
		b.WriteByte('\n')
	}
	for _, k := range relevance.Knobs {
		fmt.Fprintf(b, "  %-12s", k.Name)
		for _, f := range folds {
			fmt.Fprintf(b, " %6g", f.Chosen[k.Name])
		}
		b.WriteByte('\n')
	}
}
