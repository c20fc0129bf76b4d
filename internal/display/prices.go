package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
)

// Prices lists models with a line per tier, and a numbered list of sources below.
func Prices(w io.Writer, models []cachelayout.Model, p Style) error {
	var b strings.Builder
	b.WriteString(p.Paint(Bold, Left("model", 22)+Right("window", 7)+Right("input", 7)+Right("read", 7)+Right("short", 7)+Right("long", 6)+Right("output", 7)+"  "+Left("as of", 10)+Right("src", 4)) + "\n")
	var sources []string
	for i := range models {
		m := &models[i]
		at := slices.Index(sources, m.Source)
		if at < 0 && m.Source != "" {
			at = len(sources)
			sources = append(sources, m.Source)
		}
		name, window, rest := m.ID, ShortTokens(m.ContextWindow), "  "+Left(m.AsOf, 10)
		if at >= 0 {
			rest += Right(fmt.Sprintf("[%d]", at+1), 5)
		}
		tiers := m.Tiers
		if len(tiers) == 0 {
			b.WriteString(Left(name, 22) + Right(window, 7) + Left("  unpriced", 34) + rest + "\n")
		}
		for n, t := range tiers {
			if n > 0 {
				name, window, rest = "  above "+ShortTokens(t.AboveTokens), "", ""
			}
			b.WriteString(strings.TrimRight(Left(name, 22)+Right(window, 7)+Right(rateOf(t.Input), 7)+Right(rateOf(t.Read), 7)+Right(rateOf(t.Write5m), 7)+Right(rateOf(t.Write1h), 6)+Right(rateOf(t.Output), 7)+rest, " ") + "\n")
		}
		if m.EffectiveFrom != "" {
			b.WriteString(p.Paint(Gray, "  from "+m.EffectiveFrom) + "\n")
		}
	}
	b.WriteString("\n" + p.Paint(Gray, "US dollars per million tokens; short and long are cache writes by lifetime") + "\n")
	for i, s := range sources {
		for n, l := range Wrap(s, p.Columns()-6) {
			head := "     "
			if n == 0 {
				head = Left(fmt.Sprintf("[%d]", i+1), 5)
			}
			b.WriteString(p.Paint(Gray, head+l) + "\n")
		}
	}
	return Flush(w, &b)
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
func ShortTokens(n int) string {
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
