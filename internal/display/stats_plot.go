package display

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// series is one line or one part of the bars of a plot: a value per call.
type series struct {
	name, colour string
	values       []float64
}

// The plot's size in its own units, and how many points it shows at most.
const (
	plotWidth, plotHeight    = 800.0, 220.0
	plotLeft, plotBottom     = 60.0, 20.0
	plotPoints, plotGridRows = 400, 4
)

// linePlot draws series as lines over one axis.
func linePlot(unit string, all []series) string {
	top := 0.0
	for i := range all {
		all[i].values = thinned(all[i].values)
		for _, v := range all[i].values {
			top = max(top, v)
		}
	}
	top = roundUp(top)
	return plot(unit, all, top, func(b *strings.Builder) {
		for _, s := range all {
			b.WriteString(`<polyline fill="none" stroke="` + s.colour + `" stroke-width="1.5" points="`)
			for i, v := range s.values {
				fmt.Fprintf(b, "%.1f,%.1f ", plotX(i, max(len(s.values)-1, 1)), plotY(v, top))
			}
			b.WriteString("\"/>\n")
		}
	})
}

// barPlot stacks series, the first at the bottom.
func barPlot(unit string, all []series) string {
	n, top := 0, 0.0
	for i := range all {
		all[i].values = thinned(all[i].values)
		n = len(all[i].values)
	}
	for i := range n {
		sum := 0.0
		for _, s := range all {
			sum += s.values[i]
		}
		top = max(top, sum)
	}
	top = roundUp(top)
	return plot(unit, all, top, func(b *strings.Builder) {
		base := make([]float64, n)
		for _, s := range all {
			b.WriteString(`<path fill="` + s.colour + `" d="`)
			for i, v := range s.values {
				x0, x1 := plotX(i, n), plotX(i+1, n)
				fmt.Fprintf(b, "M%.1f %.1fH%.1fV%.1fH%.1fZ", x0, plotY(base[i], top), x1, plotY(base[i]+v, top), x0)
				base[i] += v
			}
			b.WriteString("\"/>\n")
		}
	})
}

// plot draws the frame, the grid and the key round what draw draws.
func plot(unit string, all []series, top float64, draw func(*strings.Builder)) string {
	var b strings.Builder
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.name
	}
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s: %s">`+"\n", plotWidth, plotHeight, html.EscapeString(unit), html.EscapeString(strings.Join(names, ", ")))
	for i := range plotGridRows + 1 {
		v := top * float64(i) / plotGridRows
		fmt.Fprintf(&b, `<line class="axis" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="%.0f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, plotWidth, plotY(v, top), plotY(v, top), plotLeft-6, plotY(v, top)+4, tick(v, unit))
	}
	draw(&b)
	b.WriteString("</svg>\n<p class=\"key\">")
	for _, s := range all {
		fmt.Fprintf(&b, `<i style="background:%s"></i>%s`, s.colour, html.EscapeString(s.name))
	}
	b.WriteString("</p>\n")
	return b.String()
}

func plotX(i, n int) float64 { return plotLeft + (plotWidth-plotLeft)*float64(i)/float64(n) }

func plotY(v, top float64) float64 {
	const head = 10
	return plotHeight - plotBottom - (plotHeight-plotBottom-head)*v/top
}

// tick labels a grid line.
func tick(v float64, unit string) string {
	if unit == "dollars" {
		return fmt.Sprintf("$%.3g", v)
	}
	return compact(int(math.Round(v)))
}

// roundUp is the next larger number of one or two leading digits.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 4, 6, 8} {
		if v <= f*unit {
			return f * unit
		}
	}
	return 10 * unit
}

// thinned keeps so many values as can be told apart: the last of each share. All
// series of a plot are as long, so that parts of one bar stay those of one call.
func thinned(v []float64) []float64 {
	if len(v) <= plotPoints {
		return v
	}
	out := make([]float64, plotPoints)
	for i := range out {
		out[i] = v[(i+1)*len(v)/plotPoints-1]
	}
	return out
}
