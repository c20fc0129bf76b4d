package display

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/memkernel/memkernel/serve/meter"
)

// Gained returns one line about the sum of calls: their bill, and their estimated cost without
// memkernel.
func Gained(s *meter.Sum) string {
	line := fmt.Sprintf("%s, billed %s", Plural(s.Calls, "call"), inCents(&s.BilledUSD))
	if s.Unpriced == s.Calls && s.Calls > 0 {
		line = Plural(s.Calls, "call") + " of models without a price"
	}
	if n := s.Usage.InputTotal(); n > 0 {
		line += fmt.Sprintf(" (%s tokens in, %s from the cache)", shortTokens(n), percent(s.Usage.CacheReadTokens, n))
	}
	if s.Estimated > 0 {
		line += fmt.Sprintf("; without about %s", inCents(&s.WithoutUSD))
		if c := change(s); c != "" {
			line += ", " + c
		}
		line += " by an estimate"
	}
	for _, c := range []struct {
		n    int
		what string
	}{{s.Cuts, "cut"}, {s.Recalled, "recall"}, {s.Restored, "page"}} {
		if c.n > 0 {
			line += "; " + Plural(c.n, c.what)
			if c.what == "page" {
				line += " brought back"
			}
		}
	}
	if s.Unpriced > 0 && s.Unpriced < s.Calls {
		line += fmt.Sprintf("; %s of models without a price not counted", Plural(s.Unpriced, "call"))
	}
	return line
}

// change formats a saving as a change of the bill: 0.2 is −20 %. It returns "" for less than a
// cent.
func change(s *meter.Sum) string {
	if inCents(&s.WithoutUSD) == "$0.00" {
		return ""
	}
	p := int(math.Round(-100 * s.Saved()))
	switch {
	case p < 0:
		return fmt.Sprintf("−%d %%", -p)
	case p > 0:
		return fmt.Sprintf("+%d %%", p)
	}
	return "0 %"
}

// Unknown names the models without a window or a price, and explains how to set the missing
// value.
func Unknown(u meter.Unknown) (lines []string) {
	if len(u.Window) > 0 {
		lines = append(lines, "no window is known of "+strings.Join(u.Window, ", ")+": nothing was cut; set plan.context_window in the configuration, or --context-window")
	}
	if len(u.Price) > 0 {
		lines = append(lines, "no price is known of "+strings.Join(u.Price, ", ")+": name a file that has it by prices in the configuration, or by --prices; memkernel prices import makes one")
	}
	return lines
}

// Gain draws the results of runs by day. Each day has a bar for the bill, and a lighter bar up to
// the estimated cost without memkernel.
func Gain(w io.Writer, doc *meter.Gain, p Style) error {
	s := &sheet{Style: p}
	days, all := doc.Days, &doc.Total
	if all.Calls == 0 {
		s.line("nothing went through memkernel wrap or memkernel proxy yet, or nothing that the flags ask for")
		return Flush(w, &s.b)
	}
	const day, number = 12, 10
	room := min(max(p.Columns()-day-4*number-2, 10), 40)
	most := 0.0
	for i := range days {
		most = max(most, days[i].BilledUSD, days[i].WithoutUSD)
	}
	row := s.table(0, []int{day, -number, -number, -number, -number, 2, room}, "", "calls", "billed", "without")
	for i := range days {
		d := &days[i]
		billed, without := bars(d.BilledUSD, most, room), bars(d.WithoutUSD, most, room)
		bar := strings.Repeat("█", min(billed, without)) + strings.Repeat("░", max(without-billed, 0)) + strings.Repeat("▓", max(billed-without, 0))
		row(d.Name, d.Calls, inCents(&d.BilledUSD), inCents(&d.WithoutUSD), change(&d.Sum), "", bar)
	}
	for _, text := range append([]string{"in all " + Gained(all)}, Unknown(doc.Unknown)...) {
		s.say(0, "", text)
	}
	return Flush(w, &s.b)
}

// bars returns the length of the bar for a value.
func bars(v, most float64, room int) int {
	if most <= 0 {
		return 0
	}
	return int(math.Round(v / most * float64(room)))
}
