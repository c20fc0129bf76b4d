package ui

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"github.com/memkernel/memkernel/internal/display"
)

// plot draws values by call. It draws lines, or stacked bars with the first series at the bottom.
// All series have the same length. The unit is tokens or dollars.
type plot struct {
	unit   string
	lines  bool
	series []plotSeries
}

// plotSeries is one line, or one part of the bars. The colour is CSS.
type plotSeries struct {
	name, colour string
	values       []float64
}

// The plot's size in its own units.
const (
	plotWidth, plotHeight = 800.0, 220.0
	plotLeft, plotBottom  = 60.0, 20.0
	plotHead              = 10
	plotGridRows          = 4
)

// svg draws the plot with its grid and key. It escapes names and the unit.
func (p *plot) svg() template.HTML {
	top := p.top()
	y := func(v float64) float64 {
		return plotHeight - plotBottom - (plotHeight-plotBottom-plotHead)*v/top
	}
	var b, key strings.Builder
	for _, s := range p.series {
		fmt.Fprintf(&key, `<i style="background:%s"></i>%s`, s.colour, html.EscapeString(s.name))
	}
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n", plotWidth, plotHeight, html.EscapeString(p.unit))
	for i := range plotGridRows + 1 {
		v := top * float64(i) / plotGridRows
		fmt.Fprintf(&b, `<line class="axis" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="%.0f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, plotWidth, y(v), y(v), plotLeft-6, y(v)+4, p.tick(v))
	}
	base := map[int]float64{}
	for _, s := range p.series {
		style, step := `fill="`+s.colour+`"`, (plotWidth-plotLeft)/float64(max(len(s.values), 1))
		if p.lines {
			style, step = `fill="none" stroke-width="1.5" stroke="`+s.colour+`"`, (plotWidth-plotLeft)/float64(max(len(s.values)-1, 1))
		}
		b.WriteString(`<path ` + style + ` d="`)
		for i, v := range s.values {
			x := plotLeft + step*float64(i)
			switch {
			case !p.lines:
				fmt.Fprintf(&b, "M%.1f %.1fH%.1fV%.1fH%.1fZ", x, y(base[i]), x+step, y(base[i]+v), x)
				base[i] += v
			case i == 0:
				fmt.Fprintf(&b, "M%.1f %.1f", x, y(v))
			default:
				fmt.Fprintf(&b, "L%.1f %.1f", x, y(v))
			}
		}
		b.WriteString("\"/>\n")
	}
	return template.HTML(b.String() + "</svg>\n<p class=\"key\">" + key.String() + "</p>\n")
}

// top returns the end of the axis: the largest value, rounded up to one leading digit.
func (p *plot) top() float64 {
	most, sums := 0.0, map[int]float64{}
	for _, s := range p.series {
		for i, v := range s.values {
			if !p.lines {
				sums[i] += v
				v = sums[i]
			}
			most = max(most, v)
		}
	}
	if most <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, f := range []float64{1, 2, 4, 6, 8} {
		if most <= f*unit {
			return f * unit
		}
	}
	return 10 * unit
}

// tick labels a grid line.
func (p *plot) tick(v float64) string {
	switch {
	case p.unit == "dollars":
		return fmt.Sprintf("$%.3g", v)
	case v == 0:
		return "0"
	}
	return display.ShortTokens(int(math.Round(v)))
}
