package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
)

// Prices lists models, a line per tier, and numbers the sources below.
func Prices(w io.Writer, models []cachelayout.Model, p Style) error {
	var b strings.Builder
	b.WriteString(p.Paint(Bold, left("model", 22)+right("window", 7)+right("input", 7)+right("read", 7)+right("short", 7)+right("long", 6)+right("output", 7)+"  "+left("as of", 10)+right("src", 4)) + "\n")
	var sources []string
	for i := range models {
		m := &models[i]
		at := slices.Index(sources, m.Source)
		if at < 0 && m.Source != "" {
			at = len(sources)
			sources = append(sources, m.Source)
		}
		name, window, rest := m.ID, shortTokens(m.ContextWindow), "  "+left(m.AsOf, 10)
		if at >= 0 {
			rest += right(fmt.Sprintf("[%d]", at+1), 5)
		}
		tiers := m.Tiers
		if len(tiers) == 0 {
			b.WriteString(left(name, 22) + right(window, 7) + left("  unpriced", 34) + rest + "\n")
		}
		for n, t := range tiers {
			if n > 0 {
				name, window, rest = "  above "+shortTokens(t.AboveTokens), "", ""
			}
			b.WriteString(strings.TrimRight(left(name, 22)+right(window, 7)+right(rateOf(t.Input), 7)+right(rateOf(t.Read), 7)+right(rateOf(t.Write5m), 7)+right(rateOf(t.Write1h), 6)+right(rateOf(t.Output), 7)+rest, " ") + "\n")
		}
		if m.EffectiveFrom != "" {
			b.WriteString(p.Paint(Gray, "  from "+m.EffectiveFrom) + "\n")
		}
	}
	b.WriteString("\n" + p.Paint(Gray, "US dollars per million tokens; short and long are cache writes by lifetime") + "\n")
	for i, s := range sources {
		for n, l := range Wrap(s, p.columns()-6) {
			head := "     "
			if n == 0 {
				head = left(fmt.Sprintf("[%d]", i+1), 5)
			}
			b.WriteString(p.Paint(Gray, head+l) + "\n")
		}
	}
	return flush(w, &b)
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
