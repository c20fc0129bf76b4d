package reuse

import (
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

// TestPriors prints the table and holds it to what the constants of pagevm say: a
// name that was said is needed several times as often as one that only stood in a
// result, and with any one session left out.
func TestPriors(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	files = suite.Some(files, 5)
	var all []Counts
	for _, f := range files {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		msgs, _ := transcript.Repair(s.View(transcript.Full), false)
		all = append(all, Measure(msgs))
	}
	for _, r := range Rates(all) {
		t.Log(r.String())
	}
	for i := range all {
		rest := append(append([]Counts(nil), all[:i]...), all[i+1:]...)
		said, only := pooled(rest, tableName, func(row string) bool { return row != "said 0" }), pooled(rest, tableName, func(row string) bool { return row == "said 0" })
		if ratio := said.PerUnit / only.PerUnit; ratio < 4 {
			t.Errorf("without %s names that were said are needed only %.1f times as often as others", filepath.Base(files[i]), ratio)
		}
	}
}

// pooled is the rate of all cells of some rows of a table.
func pooled(sessions []Counts, table string, row func(string) bool) Rate {
	var sum Count
	for _, r := range Rates(sessions) {
		if r.Table == table && row(r.Row) {
			sum.Units, sum.Hits = sum.Units+r.Units, sum.Hits+r.Hits
		}
	}
	return Rate{Count: sum, PerUnit: per(1e3*sum.Hits, sum.Units)}
}
