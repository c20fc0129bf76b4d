package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/judge/predict"
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
func Predict(w io.Writer, d *Predictions, p Style) error {
	b := &strings.Builder{}
	rows := func(head, columns string, row func(name string, s *Predicted)) {
		fmt.Fprintf(b, "%s\n  %s\n", p.Paint(Bold, head), p.Paint(Gray, columns))
		for i := range d.Sessions {
			row(d.Sessions[i].Name, &d.Sessions[i])
		}
		if len(d.Sessions) > 1 {
			row("all with recorded writes", &d.Recorded)
			row("all", &d.Total)
		}
	}
	rows("cold calls", left("", 26)+right("calls", 7)+right("past TTL", 10)+right("recall", 9)+right("precision", 11)+right("unexplained", 13), func(name string, s *Predicted) {
		c := &s.Calibrated
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", left(name, 26), right(Thousands(c.Calls), 7), right(Thousands(c.PastTTL), 10),
			right(optionalShare(c.Recall), 9), right(optionalShare(c.Precision), 11), right(Thousands(c.Unexplained), 13))
	})
	rows("cache writes of explained calls: sum off by, median error per call", left("", 26)+right("written", 13)+right("sum", 9)+right("plain", 9)+right("median", 9)+right("plain", 9), func(name string, s *Predicted) {
		c, q := &s.Calibrated, &s.Plain
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", left(name, 26), right(Thousands(c.Explained.Recorded.Write), 13), right(optionalSigned(c.WriteError), 9),
			right(optionalSigned(q.WriteError), 9), right(share(c.WriteMedian), 9), right(share(q.WriteMedian), 9))
	})
	rows("new content: median error per call", left("", 26)+right("calls", 7)+right("calibrated", 12)+right("plain", 9)+right("bytes/4", 9)+right("of bytes/4", 12), func(name string, s *Predicted) {
		g := &s.Calibrated.Growth
		ratio := "-"
		if g.Quarter > 0 {
			ratio = fmt.Sprintf("%.2f", g.Counted/g.Quarter)
		}
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", left(name, 26), right(Thousands(g.Calls), 7), right(share(g.Predicted), 12), right(share(g.Counted), 9), right(share(g.Quarter), 9), right(ratio, 12))
	})
	classTable(b, d.Classes, p)
	for i := range d.Sessions {
		s := &d.Sessions[i]
		for _, l := range Wrap(notCompared(s), p.columns()-2) {
			fmt.Fprintf(b, "  %s\n", p.Paint(Gray, l))
		}
	}
	return flush(w, b)
}

// notCompared says which calls of a session are in no figure.
func notCompared(s *Predicted) string {
	n := s.NotCompared[predict.NotBilled]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s calls have no bill in the transcript and are compared with nothing", s.Name, Thousands(n))
}

// classTable lists what content costs by class.
func classTable(b *strings.Builder, classes []predict.Class, p Style) {
	fmt.Fprintf(b, "%s\n  %s\n", p.Paint(Bold, "tokens by class of content"), p.Paint(Gray, left("", 12)+right("blocks", 9)+right("bytes", 12)+right("counted", 12)+right("bytes/token", 13)+right("calls of it", 13)+right("billed", 7)))
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
		fmt.Fprintf(b, "  %s%s%s%s%s%s%s\n", left(c.Class, 12), right(Thousands(c.Blocks), 9), right(Thousands(c.Bytes), 12), right(Thousands(c.Tokens), 12), right(each, 13), right(Thousands(c.Calls), 13), right(billed, 7))
	}
	for _, l := range Wrap("billed: median of billed over counted, over the calls that added little else", p.columns()-2) {
		fmt.Fprintf(b, "  %s\n", p.Paint(Gray, l))
	}
}

func optionalSigned(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100**v)
}
