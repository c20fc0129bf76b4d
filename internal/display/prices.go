package display

import (
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
)

// Prices lists models with a line per tier, and a numbered list of sources below.
func Prices(s *Sheet, models []cachelayout.Model) {
	row := s.Table(0, []int{22, -7, -7, -7, -7, -6, -7, 2, 10, -5}, "model", "window", "input", "read", "short", "long", "output", "", "as of", "src")
	var sources []string
	for i := range models {
		m := &models[i]
		at := slices.Index(sources, m.Source)
		if at < 0 && m.Source != "" {
			at = len(sources)
			sources = append(sources, m.Source)
		}
		name, window, asOf, src := m.ID, shortTokens(m.ContextWindow), m.AsOf, ""
		if at >= 0 {
			src = fmt.Sprintf("[%d]", at+1)
		}
		if len(m.Tiers) == 0 {
			s.Table(0, []int{22, -7, 34, 2, 10, -5})(name, window, "  unpriced", "", asOf, src)
		}
		for n, t := range m.Tiers {
			if n > 0 {
				name, window, asOf, src = "  above "+shortTokens(t.AboveTokens), "", "", ""
			}
			row(name, window, rateOf(t.Input), rateOf(t.Read), rateOf(t.Write5m), rateOf(t.Write1h), rateOf(t.Output), "", asOf, src)
		}
		if m.EffectiveFrom != "" {
			s.Line("  {}", inked{Gray, "from " + m.EffectiveFrom})
		}
	}
	s.Line("\n{}", inked{Gray, "US dollars per million tokens; short and long are cache writes by lifetime"})
	for i, source := range sources {
		s.Hang(s.Paint(Gray, Left(fmt.Sprintf("[%d]", i+1), 5)), 5, Gray, "{}", source)
	}
}

func rateOf(v *float64) string {
	if v == nil {
		return "-"
	}
	if s := fmt.Sprintf("%.5g", *v); len(s) < 7 {
		return s
	}
	return fmt.Sprintf("%.2g", *v)
}

// shortTokens writes 200000 as 200k.
func shortTokens(n int) string {
	switch {
	case n <= 0:
		return "-"
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gm", float64(n)/1e6)
	case n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return Thousands(n)
}
