package display

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/document"
)

// Economy lists the measured cost and results of each choice of the setting economy.
func Economy(w io.Writer, m *document.Economy, p Style) error {
	s := &sheet{Style: p}
	s.say(2, Gray, fmt.Sprintf("Measured on %s by %s: %s with %s calls, prices %s. The bill has all that was sent and answered, against balanced; ready is the share of tool calls that had what they needed, least that of the worst session, blind the share of edits of a line that was not shown, shown that of references.",
		m.Made, m.Command, Plural(m.Sessions, "session"), Thousands(m.Calls), m.Regime))
	s.line()
	row := s.table(2, []int{14, 13, -8, -9, -9, -9, -9, -6}, "window", "economy", "bill", "ready", "least", "blind", "shown", "cuts")
	for i := range m.Rows {
		r := &m.Rows[i]
		window := ""
		if i == 0 || m.Rows[i-1].RoomTokens != r.RoomTokens {
			window = shortTokens(r.RoomTokens) + " + fixed"
		}
		row(window, r.Economy, moreOrLess(r.CostRatio), Share(r.ActionsReady), Share(r.WorstReady), Share(r.BlindEdits), Share(r.ReferenceRecall), r.Cuts)
	}
	return Flush(w, &s.b)
}

// economy writes the user's choice and the measured results of all choices for a window of this
// size.
func (s *sheet) economy(c cachelayout.Cut, window int) {
	own := Printable(string(cmp.Or(c.Economy, cachelayout.Balanced)))
	m, err := document.MeasuredEconomy()
	if err != nil {
		s.text("economy", own, "")
		return
	}
	near := m.Near(window)
	if len(near) > 0 {
		own += fmt.Sprintf("; measured with %s: bill, actions ready", shortTokens(near[0].RoomTokens))
	}
	s.text("economy", own, "")
	for _, r := range near {
		if slices.Contains(cachelayout.Economies(), cachelayout.Economy(r.Economy)) {
			s.text("", fmt.Sprintf("%s %s, %s", r.Economy, moreOrLess(r.CostRatio), Share(r.ActionsReady)), "")
		}
	}
}

// moreOrLess formats a ratio as its distance above or below one.
func moreOrLess(ratio float64) string {
	n := int(math.Round(100 * (ratio - 1)))
	if n == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%+d %%", n)
}
