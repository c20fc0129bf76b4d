package draw

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/cachelayout/predict"
	"github.com/memkernel/memkernel/internal/display"
)

// Predicted are the figures of a session, or of several.
type Predicted struct {
	Name              string
	Calibrated, Plain predict.Summary
	// NotCompared counts by reason the calls that have no bill.
	NotCompared map[string]int
}

// Predictions are sessions, and their sums: of all, and of those whose lifetime their
// writes name.
type Predictions struct {
	Sessions        []Predicted
	Total, Recorded Predicted
	Classes         []predict.Class
}

// Predict draws the three tables of a prediction.
func Predict(w io.Writer, d *Predictions, p display.Style) error {
	b := &strings.Builder{}
	rows := func(head, columns string, row func(name string, s *Predicted)) {
		fmt.Fprintf(b, "%s\n  %s\n", p.Paint(display.Bold, head), p.Paint(display.Gray, columns))
		for i := range d.Sessions {
			row(d.Sessions[i].Name, &d.Sessions[i])
		}
		if len(d.Sessions) > 1 {
			row("all with recorded writes", &d.Recorded)
			row("all", &d.Total)
		}
	}
	rows("cold calls", display.Left("", 26)+display.Right("calls", 7)+display.Right("past TTL", 10)+display.Right("recall", 9)+display.Right("precision", 11)+display.Right("unexplained", 13), func(name string, s *Predicted) {
		c := &s.Calibrated
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", display.Left(name, 26), display.Right(display.Thousands(c.Calls), 7), display.Right(display.Thousands(c.PastTTL), 10),
			display.Right(display.OptionalShare(c.Recall), 9), display.Right(display.OptionalShare(c.Precision), 11), display.Right(display.Thousands(c.Unexplained), 13))
	})
	rows("cache writes of explained calls: sum off by, median error per call", display.Left("", 26)+display.Right("written", 13)+display.Right("sum", 9)+display.Right("plain", 9)+display.Right("median", 9)+display.Right("plain", 9), func(name string, s *Predicted) {
		c, q := &s.Calibrated, &s.Plain
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", display.Left(name, 26), display.Right(display.Thousands(c.Explained.Recorded.Write), 13), display.Right(optionalSigned(c.WriteError), 9),
			display.Right(optionalSigned(q.WriteError), 9), display.Right(display.Share(c.WriteMedian), 9), display.Right(display.Share(q.WriteMedian), 9))
	})
	rows("new content: median error per call", display.Left("", 26)+display.Right("calls", 7)+display.Right("calibrated", 12)+display.Right("plain", 9)+display.Right("bytes/4", 9)+display.Right("of bytes/4", 12), func(name string, s *Predicted) {
		g := &s.Calibrated.Growth
		ratio := "-"
		if g.Quarter > 0 {
			ratio = fmt.Sprintf("%.2f", g.Counted/g.Quarter)
		}
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", display.Left(name, 26), display.Right(display.Thousands(g.Calls), 7), display.Right(display.Share(g.Predicted), 12), display.Right(display.Share(g.Counted), 9), display.Right(display.Share(g.Quarter), 9), display.Right(ratio, 12))
	})
	classTable(b, d.Classes, p)
	for i := range d.Sessions {
		s := &d.Sessions[i]
		for _, l := range display.Wrap(notCompared(s), p.Columns()-2) {
			fmt.Fprintf(b, "  %s\n", p.Paint(display.Gray, l))
		}
	}
	return display.Flush(w, b)
}

// notCompared says which calls of a session are in no figure.
func notCompared(s *Predicted) string {
	n := s.NotCompared[predict.NotBilled]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s calls have no bill in the transcript and are compared with nothing", s.Name, display.Thousands(n))
}

// classTable lists what content costs by class.
func classTable(b *strings.Builder, classes []predict.Class, p display.Style) {
	fmt.Fprintf(b, "%s\n  %s\n", p.Paint(display.Bold, "tokens by class of content"), p.Paint(display.Gray, display.Left("", 12)+display.Right("blocks", 9)+display.Right("bytes", 12)+display.Right("counted", 12)+display.Right("bytes/token", 13)+display.Right("calls of it", 13)+display.Right("billed", 7)))
	for _, c := range classes {
		if c.Blocks == 0 {
			continue
		}
		billed, each := "-", "-"
		if c.BilledRatio != nil {
			billed = fmt.Sprintf("%.2f", *c.BilledRatio)
		}
		if c.Tokens > 0 && c.Bytes > 0 {
			each = fmt.Sprintf("%.2f", float64(c.Bytes)/float64(c.Tokens))
		}
		fmt.Fprintf(b, "  %s%s%s%s%s%s%s\n", display.Left(c.Class, 12), display.Right(display.Thousands(c.Blocks), 9), display.Right(display.Thousands(c.Bytes), 12), display.Right(display.Thousands(c.Tokens), 12), display.Right(each, 13), display.Right(display.Thousands(c.Calls), 13), display.Right(billed, 7))
	}
	for _, l := range display.Wrap("billed: median of billed over counted, over the calls that added little else", p.Columns()-2) {
		fmt.Fprintf(b, "  %s\n", p.Paint(display.Gray, l))
	}
}

func optionalSigned(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100**v)
}
