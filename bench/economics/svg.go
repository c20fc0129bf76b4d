package economics

import (
	"fmt"
	"math"
	"strings"

	"github.com/memkernel/memkernel/bench/policies"
	"github.com/memkernel/memkernel/replay"
)

// The picture's measures, in pixels, and its axes.
const (
	svgWidth, svgHeight          = 860, 520
	svgLeft, svgRight            = 70, 190
	svgTop, svgBottom            = 48, 60
	svgPlotW                     = svgWidth - svgLeft - svgRight
	svgPlotH                     = svgHeight - svgTop - svgBottom
	recallLow, recallHigh        = 0.2, 1.0
	costLow, costHigh            = 0.25, 4.0 // logarithmic
	recallStep                   = 0.1
	svgFont                      = `font-family="sans-serif" font-size="12"`
	svgInk, svgPale, svgLineGray = "#222", "#777", "#ddd"
)

// strokes holds the color and the dashes of each policy's line. The dashes distinguish the lines
// without color too.
var strokes = map[string][2]string{
	replay.Memkernel:    {"#0b6e4f", ""},
	replay.AppendLate:   {"#b23a48", ""},
	policies.Turns:      {"#8d6a9f", "6 3"},
	policies.Sliding:    {"#d98324", "6 3"},
	policies.CacheTTL:   {"#3d6fb4", "2 3"},
	policies.ClearTools: {"#5f5f5f", "2 3"},
	replay.Oracle:       {"#111111", "9 3 2 3"},
}

// svg draws the curves. The x axis has the references shown, and the y axis the cost on a
// logarithmic scale, so that low and right is good. Points outside the axes are drawn at their
// edge.
func svg(curves []curve, title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s" %s>`+"\n", svgWidth, svgHeight, escape(title), svgFont)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", svgWidth, svgHeight)
	text(&b, svgLeft, 24, "start", svgInk, title)
	grid(&b)
	for i, c := range curves {
		line(&b, c)
		legend(&b, i, c.policy)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// grid draws the axes with their marks.
func grid(b *strings.Builder) {
	for v := recallLow; v < recallHigh+1e-9; v += recallStep {
		x := atX(v)
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s"/>`+"\n", x, svgTop, x, svgTop+svgPlotH, svgLineGray)
		text(b, x, svgTop+svgPlotH+18, "middle", svgPale, fmt.Sprintf("%.0f %%", 100*v))
	}
	for v := costLow; v <= costHigh; v *= 2 {
		y := atY(v)
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="%s"/>`+"\n", svgLeft, y, svgLeft+svgPlotW, y, svgLineGray)
		text(b, svgLeft-8, y+4, "end", svgPale, fmt.Sprintf("%g×", v))
	}
	text(b, svgLeft+svgPlotW/2, svgHeight-16, "middle", svgInk, "references shown, median of the sessions")
	fmt.Fprintf(b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle" fill="%s">cost against append-late, net, median</text>`+"\n", svgTop+svgPlotH/2, svgInk)
}

func line(b *strings.Builder, c curve) {
	s := strokes[c.policy]
	var at []string
	for _, p := range c.points {
		at = append(at, fmt.Sprintf("%.1f,%.1f", atX(p.recall), atY(p.cost)))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", strings.Join(at, " "), s[0], s[1])
	for _, p := range c.points {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s-%s: %.2f×, %.1f %%</title></circle>`+"\n",
			atX(p.recall), atY(p.cost), s[0], escape(c.policy), escape(p.figure), p.cost, 100*p.recall)
	}
	for _, p := range []point{c.points[0], c.points[len(c.points)-1]} {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="10" fill="%s">%s</text>`+"\n", atX(p.recall)+5, atY(p.cost)-5, s[0], escape(p.figure))
	}
}

func legend(b *strings.Builder, i int, policy string) {
	s := strokes[policy]
	x, y := svgLeft+svgPlotW+16, svgTop+12+20*i
	fmt.Fprintf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", x, y, x+28, y, s[0], s[1])
	text(b, float64(x+36), float64(y+4), "start", svgInk, policy)
}

func text(b *strings.Builder, x, y float64, anchor, color, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, color, escape(s))
}

func atX(recall float64) float64 {
	v := min(max(recall, recallLow), recallHigh)
	return svgLeft + svgPlotW*(v-recallLow)/(recallHigh-recallLow)
}

func atY(cost float64) float64 {
	v := min(max(cost, costLow), costHigh)
	return svgTop + svgPlotH*(1-math.Log(v/costLow)/math.Log(costHigh/costLow))
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace
