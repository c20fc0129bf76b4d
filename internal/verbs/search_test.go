package verbs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/retrieval"
)

// A terminal shows the best hits and says how many there are besides; elsewhere all are printed.
func TestHitsFitTheTerminal(t *testing.T) {
	res := &retrieval.Result{}
	for i := range 10 {
		path := fmt.Sprintf("n%d.md", i)
		text := "the crane lifts four tons\nand the winch\nfive\nat noon"
		res.Hits = append(res.Hits, retrieval.Hit{Path: path, SnippetStart: 1, SnippetEnd: 4, Snippet: text, Citation: path + "#L1-L4", Score: 0.9})
	}
	for rows, want := range map[int]int{0: 10, 4: 1, 24: 3, 500: 10} {
		b := display.Style{Width: 80, Rows: rows}.Text(func(s *display.Sheet) { showHits(s, "crane", res, false) })
		got := strings.Count(b, ".md:1  0.90")
		if says := strings.Contains(b, fmt.Sprintf("%d more: --max-results 10", 10-want)); got != want || says != (want < 10) {
			t.Errorf("%d rows: %d hits\n%s", rows, got, b)
		}
		if lines := strings.Count(b, "\n"); rows > 4 && lines > rows {
			t.Errorf("%d rows: %d lines", rows, lines)
		}
	}
}
