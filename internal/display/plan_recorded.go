package display

import (
	"fmt"

	"github.com/memkernel/memkernel/cachelayout/predict"
)

// recordedTail is the number of last calls shown without --all.
const recordedTail = 10

// recorded compares the expected cache use of every recorded call with its bill.
func (s *sheet) recorded() {
	r := s.out.Recorded
	if r == nil || len(r.Calls) == 0 {
		s.section("Recorded calls", "none with usage")
		return
	}
	s.section("Recorded calls: predicted from messages and times alone, against the bill", "")
	s.line(Left("", 17), s.Paint(Gray, Right("cache read", 25)), s.Paint(Gray, Right("cache write", 35)))
	s.line("  ", s.Paint(Gray, Right("call", 5)), "  ", s.Paint(Gray, Left("time", 8)),
		s.Paint(Gray, Right("predicted", 10)), s.Paint(Gray, Right("billed", 9)), s.Paint(Gray, Right("error", 9)), "  ",
		s.Paint(Gray, Right("predicted", 10)), s.Paint(Gray, Right("billed", 9)), s.Paint(Gray, Right("error", 9)), "   ")
	rows := r.Calls
	if !s.all {
		rows = s.upToTarget(rows)
		rows = rows[max(0, len(rows)-recordedTail):]
	}
	for i := range rows {
		s.recordedRow(&rows[i])
	}
	sum := r.Summary
	s.line("  ", Left("sum of judged", 15), Right(millions(sum.Predicted.Read), 10), Right(millions(sum.Recorded.Read), 9), Right(signed(sum.Predicted.Read, sum.Recorded.Read), 9), "  ",
		Right(millions(sum.Predicted.Write), 10), Right(millions(sum.Recorded.Write), 9), Right(signed(sum.Predicted.Write, sum.Recorded.Write), 9))
	if len(rows) < len(r.Calls) {
		s.line("  ", s.Paint(Gray, fmt.Sprintf("%d of %s calls, up to the planned one; --all shows every one", len(rows), Thousands(len(r.Calls)))))
	}
	s.verdict(r)
}

// upToTarget leaves out the calls after the planned call.
func (s *sheet) upToTarget(calls []predict.Call) []predict.Call {
	if s.out.Call == 0 || s.out.CallTime.IsZero() {
		return calls
	}
	n := len(calls)
	for n > 1 && calls[n-1].Start.After(s.out.CallTime) {
		n--
	}
	return calls[:n]
}

func (s *sheet) recordedRow(c *predict.Call) {
	mark := ""
	switch {
	case !c.Judged:
		mark = "1st"
	case c.Compacted:
		mark = "cut"
	case c.PredictedCold && c.RecordedCold:
		mark = "c"
	case c.PredictedCold:
		mark = "c?"
	case c.RecordedCold:
		mark = "w?"
	}
	s.line("  ", Right(Thousands(c.Index+1), 5), "  ", Left(c.Start.UTC().Format("15:04:05"), 8),
		Right(Thousands(c.Predicted.Read), 10), Right(Thousands(c.Recorded.Read), 9), s.errorOf(c.ReadError, c.Judged), "  ",
		Right(Thousands(c.Predicted.Write), 10), Right(Thousands(c.Recorded.Write), 9), s.errorOf(c.WriteError, c.Judged), " ", s.Paint(yellow, mark))
}

// errorOf formats a relative error, coloured by size.
func (s *sheet) errorOf(v float64, judged bool) string {
	if !judged {
		return Right("-", 9)
	}
	colour := green
	switch {
	case v > 0.5:
		colour = red
	case v > 0.1:
		colour = yellow
	}
	return s.Paint(colour, Right(Share(v), 9))
}

// millions shortens a sum that would not fit its column.
func millions(n int) string {
	if n < 1_000_000 {
		return Thousands(n)
	}
	return fmt.Sprintf("%.2f M", float64(n)/1e6)
}

// signed formats the difference of a sum from the expected one in per cent.
func signed(got, want int) string {
	if want == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100*float64(got-want)/float64(want))
}

// verdict condenses the comparison.
func (s *sheet) verdict(r *predict.Report) {
	sum := r.Summary
	s.text("judged", fmt.Sprintf("%s of %s billed", Plural(sum.Calls, "call"), Thousands(len(r.Calls))), "")
	s.text("warm or cold", fmt.Sprintf("right for %s of %s; %s of %s billed as cold foreseen, %s unexplained", Share(sum.RightShare), Plural(sum.Temperate, "call"), Thousands(sum.Foreseen), Thousands(sum.Cold), Thousands(sum.Unexplained)), "")
	s.text("error, read", fmt.Sprintf("median %s, 90th percentile %s", Share(sum.ReadMedian), Share(sum.ReadP90)), "")
	s.text("error, write", fmt.Sprintf("median %s, 90th percentile %s", Share(sum.WriteMedian), Share(sum.WriteP90)), "")
	from := "as given"
	if r.FixedFrom == predict.FixedFirstCall {
		from = "inferred from the first billed call"
	}
	s.text("assumed", fmt.Sprintf("fixed part %s tokens, %s; entries live %s", Thousands(r.FixedTokens), from, lifetime(r.TTLSeconds)), "")
	s.text("marks", "c cold, as billed; c? and w? predicted cold or warm, billed otherwise; cut the host compacted; 1st gives the fixed part", Gray)
}
