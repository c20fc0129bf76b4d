package draw

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/bench/turns"
	"github.com/memkernel/memkernel/internal/display"
)

// KnownItems are what looking for a workspace's own items came to, and what bare FTS5
// finds of them.
type KnownItems struct {
	Workspace string                     `json:"workspace"`
	Seed      uint64                     `json:"seed"`
	Known     map[string]relevance.Known `json:"known_items"`
	Plain     map[string]relevance.Known `json:"plain"`
	Ranks     []KnownRank                `json:"ranks,omitempty"`
}

// KnownRank is an item and the rank of the first hit that holds it, 0 if none of ten
// does; Share is how many of the hits do, Plain the rank that bare FTS5 has.
type KnownRank struct {
	Kind  string  `json:"kind"`
	Query string  `json:"query"`
	Rank  int     `json:"rank"`
	Share float64 `json:"share"`
	Plain int     `json:"plain"`
}

// Known prints a row for each kind of item.
func Known(w io.Writer, doc *KnownItems, p display.Style) error {
	var b strings.Builder
	if len(doc.Ranks) > 0 {
		for _, r := range doc.Ranks {
			fmt.Fprintf(&b, "%-10s %2d %2d %4.2f  %s\n", r.Kind, r.Rank, r.Plain, r.Share, display.Printable(r.Query))
		}
		return display.Flush(w, &b)
	}
	fmt.Fprintf(&b, "%s\n", p.Paint(display.Bold, "what stands in "+display.Printable(doc.Workspace)+", looked for as it stands; behind it bare FTS5"))
	fmt.Fprintf(&b, "  %-12s %5s %6s %6s %6s   %6s %6s %6s  %6s %6s\n", "%", "n", "hit@1", "hit@10", "hold", "hit@1", "hit@10", "hold", "1k t", "2k t")
	for _, kind := range relevance.KnownKinds {
		k, of := doc.Known[kind], doc.Plain[kind]
		fmt.Fprintf(&b, "  %-12s %5d %6s %6s %6s   %6s %6s %6s  %6.2f %6.2f\n", kind, k.N, hundredth(k.HitAt1), hundredth(k.HitAt10), hundredth(k.HitsHoldingShare),
			hundredth(of.HitAt1), hundredth(of.HitAt10), hundredth(of.HitsHoldingShare), k.LinesWithin["1000"], k.LinesWithin["2000"])
	}
	b.WriteString("  hold: the share of the first ten hits that hold the word or one of its stem\n  1k t, 2k t: how many lines that hold the item the hits have within 1,000 and 2,000 tokens\n")
	return display.Flush(w, &b)
}

func hundredth(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.1f", 100**v)
}

// Junk prints what was recalled for turns that ask nothing, and for those that do.
func Junk(w io.Writer, r *turns.Report, p display.Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.Paint(display.Bold, "turns for which something was recalled"))
	row := func(name string, c turns.Count, rest string) {
		fmt.Fprintf(&b, "  %-22s %4d of %4d%s\n", display.Clip(display.Printable(name), 22), c.Recalled, c.Prompts, rest)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		row(kind, r.Kinds[kind], "")
	}
	row("nothing to do with it", turns.Count{Prompts: r.Prompts, Recalled: r.Recalled}, fmt.Sprintf("  %.0f tokens in the mean", r.TokensMean))
	row("answerable", r.Answerable.Count, fmt.Sprintf("  %.0f tokens in the mean, %d with the answer", r.Answerable.TokensMean, r.Answerable.Right))
	return display.Flush(w, &b)
}
