package display

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval"
)

// Hits prints a block per hit, the words of the question marked; explain adds what each
// score is made of.
func Hits(w io.Writer, query string, res *retrieval.Result, p Style, explain bool) error {
	mark := newMarker(query, p)
	var b strings.Builder
	if res.Weak && len(res.Hits) > 0 {
		fmt.Fprintf(&b, "%s\n\n", p.Paint(yellow, "The best hit is weak: this is likely beside the question."))
	}
	for i := range res.Hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		showHit(&b, &res.Hits[i], p, mark, explain)
	}
	return flush(w, &b)
}

func showHit(b *strings.Builder, h *retrieval.Hit, p Style, mark *marker, explain bool) {
	head := fmt.Sprintf("%.2f", h.Score)
	if h.Date != "" {
		head += "  " + h.Date
	}
	fmt.Fprintf(b, "%s  %s\n", p.Paint(Bold, Printable(h.Citation)), head)
	if by := h.SupersededBy; by == h.Citation {
		fmt.Fprintf(b, "  %s\n", p.Paint(yellow, "no longer holds, it says"))
	} else if by != "" {
		fmt.Fprintf(b, "  %s\n", p.Paint(yellow, "superseded by "+Printable(by)))
	}
	if len(h.Trail) > 0 {
		fmt.Fprintf(b, "  %s\n", p.Paint(Gray, Clip(strings.Join(h.Trail, " › "), p.columns()-2)))
	}
	if explain {
		for _, l := range Wrap(scoreText(h), p.columns()-4) {
			fmt.Fprintf(b, "  %s\n", p.Paint(cyan, l))
		}
	}
	for _, line := range strings.Split(strings.TrimRight(h.Snippet, "\n"), "\n") {
		for i, l := range Wrap(line, p.columns()-6) {
			fmt.Fprintf(b, "    %s%s\n", strings.Repeat(" ", 2*min(i, 1)), mark.text(l))
		}
	}
}

// scoreText says what a score is made of.
func scoreText(h *retrieval.Hit) string {
	s := &h.Parts
	parts := []string{fmt.Sprintf("%.3f", s.Merged)}
	if s.Decay != 1 {
		parts[0] += fmt.Sprintf(" × %.3f for %s = %.3f", s.Decay, days(s.AgeDays), s.Merged*s.Decay)
	}
	side := func(name string, score float64, rank int) {
		if rank > 0 {
			parts = append(parts, fmt.Sprintf("%s %.3f (no. %d)", name, score, rank))
		}
	}
	side("words", s.Keyword, s.KeywordRank)
	side("meaning", s.Vector, s.VectorRank)
	if s.Similarity > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% like one above", 100*s.Similarity))
	}
	return strings.Join(parts, ", ")
}

func days(n float64) string {
	if d := time.Duration(n * 24 * float64(time.Hour)); d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", n)
}

// BehindBy says how many files an index is behind by, "" if that is not known.
func BehindBy(l *index.Lag) string {
	if l == nil || l.Zero() {
		return ""
	}
	return fmt.Sprintf(" (%d changed, %d gone)", l.Files, l.Removed)
}
