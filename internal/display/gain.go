package display

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/serve/meter"
)

// Gained returns one line about the sum of calls: their bill, and their estimated cost without
// memkernel.
func Gained(s *meter.Sum) string {
	p := Style{}
	line := p.Say("{call}, billed {}", s.Calls, inCents(&s.BilledUSD))
	if s.Unpriced == s.Calls && s.Calls > 0 {
		line = p.Say("{call} of models without a price", s.Calls)
	}
	if n := s.Usage.InputTotal(); n > 0 {
		line += p.Say(" ({} tokens in, {} from the cache)", shortTokens(n), percent(s.Usage.CacheReadTokens, n))
	}
	if s.Estimated > 0 {
		by := change(s.BilledUSD, s.WithoutUSD)
		line += p.Say("; without about {}{?, }{} by an estimate", inCents(&s.WithoutUSD), by != "", by)
	}
	for _, c := range []struct {
		n    int
		form string
	}{{s.Cuts, "; {cut}"}, {s.Recalled, "; {recall}"}, {s.Restored, "; {page} brought back"}} {
		if c.n > 0 {
			line += p.Say(c.form, c.n)
		}
	}
	if s.Unpriced > 0 && s.Unpriced < s.Calls {
		line += p.Say("; {call} of models without a price not counted", s.Unpriced)
	}
	return line
}

// change formats the difference of a bill from the cost without memkernel: −20 %. It returns "" for
// less than a cent.
func change(billed, without float64) string {
	if inCents(&without) == "$0.00" {
		return ""
	}
	p := int(math.Round(100 * (billed/without - 1)))
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

// Gain draws the bills by day. Each day has a bar for the bill, and a lighter bar up to the
// estimated cost without memkernel.
func Gain(s *Sheet, d *document.Saved) {
	if d.Calls == 0 {
		s.Line("memkernel planned no call yet, or none that the flags ask for")
		return
	}
	const day, number = 12, 10
	room := min(max(s.Columns()-day-4*number-2, 10), 40)
	usd := func(v *float64) float64 { return *cmp.Or(v, new(float64)) }
	most := 0.0
	for i := range d.Days {
		most = max(most, usd(d.Days[i].BilledUSD), usd(d.Days[i].WithoutUSD))
	}
	row := s.Table(0, []int{day, -number, -number, -number, -number, 2, room}, "", "calls", "billed", "without")
	for i := range d.Days {
		o := &d.Days[i]
		billed, without := bars(usd(o.BilledUSD), most, room), bars(usd(o.WithoutUSD), most, room)
		bar := strings.Repeat("█", min(billed, without)) + strings.Repeat("░", max(without-billed, 0)) + strings.Repeat("▓", max(billed-without, 0))
		row(o.Day, o.Calls, inCents(o.BilledUSD), inCents(o.WithoutUSD), change(usd(o.BilledUSD), usd(o.WithoutUSD)), "", bar)
	}
	all := meter.Sum{Calls: d.Calls, Unpriced: d.Unpriced, BilledUSD: usd(d.BilledUSD), WithoutUSD: usd(d.WithoutUSD), Estimated: d.Calls}
	for _, text := range append([]string{"in all " + Gained(&all)}, Unknown(meter.Unknown{Price: d.Unknown})...) {
		s.Para(0, "", "{}", text)
	}
}

// bars returns the length of the bar for a value.
func bars(v, most float64, room int) int {
	if most <= 0 {
		return 0
	}
	return int(math.Round(v / most * float64(room)))
}
