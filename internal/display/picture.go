package display

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/replay"
)

// PictureMost is the largest number of policies in a picture.
const PictureMost = 3

// The picture's size in its own units. It is small so that its text can still be read when a page
// shows it at half the size. The labels are to the right of the plots.
const (
	picWidth            = 720.0
	picLeft, picRight   = 16.0, 584.0
	picLabels           = picRight + 10
	picHead             = 104.0 // title, subtitle, key
	picPanel, picBill   = 104.0, 128.0
	picName, picGap     = 24.0, 14.0 // the line above a plot, and the free space below it
	picFoot             = 30.0
	picPause            = 5.0 // the width of a pause, if there are few
	picLeastPause       = 1.5
	picColumns          = 200 // the largest number of columns, each for one call or several
	picCuts             = 80  // the largest number of marked cuts in a plot: more can't be told apart
	picOver             = 3.0 // the largest height of a prompt in a plot, in windows
	picLabel            = 42.0
	picText, picCaption = 18, 16
)

// pictureTheme holds the colours of a picture. The colours for the cost of tokens are from the
// palette of Okabe and Ito, which colour-blind people can tell apart.
type pictureTheme struct {
	back, ink, muted, pause, read, write, uncached string
	lines                                          [PictureMost]string
}

var pictureThemes = map[string]pictureTheme{
	"light": {"#ffffff", "#1f2328", "#59636e", "#e4e8ec", "#56b4e9", "#d55e00", "#cc79a7", [...]string{"#009e73", "#59636e", "#0072b2"}},
	"dark":  {"#0d1117", "#f0f6fc", "#9198a1", "#2a313a", "#3f95c9", "#e8731a", "#cc79a7", [...]string{"#1fbf92", "#9198a1", "#56b4e9"}},
}

// pictureSays describes a policy in few enough words to fit next to its name.
func pictureSays(policy string) string {
	for _, p := range replay.About() {
		if p.Name == policy {
			return p.Says
		}
	}
	return ""
}

// PictureThemes returns the names of the themes, the default one first.
func PictureThemes() []string { return []string{"light", "dark"} }

// pictureColumn is the drawn data of a call, or the mean of several, and the bill after them.
type pictureColumn struct {
	read, write, uncached float64
	bill                  float64
	cut, pause            bool
}

// top returns the height of a column in tokens.
func (c pictureColumn) top() float64 { return c.read + c.write + c.uncached }

// drawing is an unfinished picture.
type drawing struct {
	strings.Builder
	theme   pictureTheme
	results []*replay.Result
	columns [][]pictureColumn
	// x holds the start of each column, and at last the end of the last column. pause is the free
	// width before a column that follows a pause, 0 if there are too many pauses.
	x     []float64
	width float64
	pause float64
	marks bool // cuts are marked
}

// Picture draws a session under one to three policies as an SVG in one of the [PictureThemes]. It
// shows the prompt of every call, coloured by the cost of its tokens, and the growing bill.
// Callers must align the results ([replay.Align]). Picture returns an error if the results hold
// no call.
func Picture(w io.Writer, results []*replay.Result, theme string) error {
	colours, ok := pictureThemes[theme]
	if !ok {
		return fmt.Errorf("there is no theme %q for a picture, but %s", theme, strings.Join(PictureThemes(), " and "))
	}
	if len(results) == 0 || len(results) > PictureMost {
		return fmt.Errorf("a picture shows one to %d policies, not %d", PictureMost, len(results))
	}
	if len(results[0].Calls) == 0 {
		return fmt.Errorf("there is nothing to draw: no call of the session could be planned")
	}
	p := &drawing{theme: colours, results: results}
	for _, r := range results {
		p.columns = append(p.columns, pictureColumns(r.Calls))
	}
	p.place()
	p.draw()
	_, err := io.WriteString(w, p.String())
	return err
}

// pictureColumns merges calls if there are too many to tell apart. Heights are means, so that an
// area still shows the sent tokens. A cut or a pause among the merged calls is kept.
func pictureColumns(calls []replay.Call) []pictureColumn {
	n := min(len(calls), picColumns)
	out := make([]pictureColumn, n)
	bill := 0.0
	for k := range out {
		part := calls[k*len(calls)/n : (k+1)*len(calls)/n]
		c := &out[k]
		for _, call := range part {
			c.read += float64(call.Read) / float64(len(part))
			c.write += float64(call.Write) / float64(len(part))
			c.uncached += float64(call.Uncached) / float64(len(part))
			c.cut, c.pause = c.cut || call.Cut != "", c.pause || call.Gap
			if call.CostUSD != nil {
				bill += *call.CostUSD
			}
		}
		c.bill = bill
	}
	return out
}

// place computes the positions of the columns.
func (p *drawing) place() {
	columns, pauses := p.columns[0], 0
	for _, c := range columns {
		pauses += count(c.pause)
	}
	p.pause = picPause
	if pauses > 0 {
		p.pause = min(picPause, (picRight-picLeft)/4/float64(pauses))
	}
	if p.pause < picLeastPause {
		p.pause, pauses = 0, 0
	}
	p.width = (picRight - picLeft - p.pause*float64(pauses)) / float64(len(columns))
	x := picLeft
	for _, c := range columns {
		if c.pause {
			x += p.pause
		}
		p.x = append(p.x, x)
		x += p.width
	}
	p.x = append(p.x, picRight)
	p.marks = true
	for _, columns := range p.columns {
		cuts := 0
		for _, c := range columns {
			cuts += count(c.cut)
		}
		p.marks = p.marks && cuts <= picCuts
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// draw draws the whole picture.
func (p *drawing) draw() {
	bill := picHead + float64(len(p.results))*(picName+picPanel+picGap)
	height := bill + picName + picBill + picFoot
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img" aria-labelledby="title desc" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="%d" fill="%s">`+"\n",
		num(picWidth), num(height), picText, p.theme.ink)
	fmt.Fprintf(p, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n", escaped(p.title()), escaped(p.describe()))
	fmt.Fprintf(p, `<rect width="%s" height="%s" fill="%s"/>`+"\n", num(picWidth), num(height), p.theme.back)
	p.text(picLeft, 30, `font-size="20" font-weight="700"`, p.title())
	p.text(picLeft, 54, p.caption(), p.subtitle())
	p.key()
	p.pauses(picHead+picName, bill+picName+picBill)
	top, window := p.scale()
	for i, r := range p.results {
		y := picHead + float64(i)*(picName+picPanel+picGap)
		p.text(picLeft, y+picName-8, `font-weight="700"`, Clip(r.Policy, 20))
		if base, _, err := replay.ParsePolicy(r.Policy); err == nil {
			p.text(picRight, y+picName-8, p.caption()+` text-anchor="end"`, pictureSays(base))
		}
		p.panel(p.columns[i], y+picName, top)
		p.window(y+picName, top, window)
	}
	p.bills(bill)
	p.text(picLeft, height-10, p.caption(), "call 1")
	if n := len(p.results[0].Calls); n > 1 {
		p.text(picRight, height-10, p.caption()+` text-anchor="end"`, Thousands(n))
	}
	p.WriteString("</svg>\n")
}

func (p *drawing) title() string { return "Every call's prompt, by what its tokens cost" }

// subtitle names the session.
func (p *drawing) subtitle() string {
	calls := p.results[0].Calls
	s := "1 call"
	if len(calls) > 1 {
		s = Thousands(len(calls)) + " calls"
	}
	from, to := calls[0].Time, calls[len(calls)-1].Time
	if d := to.Sub(from); !from.IsZero() && d >= time.Minute {
		s += " in " + spell(d)
	}
	return s + ", " + Clip(p.results[0].Model, 40)
}

// spell formats a duration in its two largest units.
func spell(d time.Duration) string {
	m := int(d.Minutes())
	switch {
	case m < 60:
		return fmt.Sprintf("%d min", m)
	case m < 48*60:
		return fmt.Sprintf("%d h %d min", m/60, m%60)
	}
	return fmt.Sprintf("%s days", Thousands(m/60/24))
}

// describe describes the picture in words.
func (p *drawing) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, in a window of %s tokens.", p.subtitle(), Thousands(p.results[0].ContextWindow))
	for _, r := range p.results {
		most, t := 0, r.Totals
		for _, c := range r.Calls {
			most = max(most, c.Input)
		}
		fmt.Fprintf(&b, " %s: prompts of up to %s tokens, %d cuts, %s tokens read from the cache, %s written to it, %s uncached; the bill is %s.",
			Clip(r.Policy, 40), Thousands(most), t.Cuts, Thousands(t.CacheReadTokens), Thousands(t.CacheWriteTokens), Thousands(t.UncachedTokens), cents(t.CostUSD))
	}
	return b.String()
}

// cents formats a bill for people.
func cents(v *float64) string {
	if v == nil {
		return "unpriced"
	}
	if *v < 0.1 {
		return fmt.Sprintf("$%.4f", *v)
	}
	whole, rest, _ := strings.Cut(fmt.Sprintf("%.2f", *v), ".")
	n, err := strconv.Atoi(whole)
	if err != nil { // more dollars than there are
		return "$" + whole
	}
	return "$" + Thousands(n) + "." + rest
}

// key names the colours and marks that occur.
func (p *drawing) key() {
	var sum pictureColumn
	for _, columns := range p.columns {
		for _, c := range columns {
			sum.read, sum.write, sum.uncached = sum.read+c.read, sum.write+c.write, sum.uncached+c.uncached
			sum.cut, sum.pause = sum.cut || c.cut, sum.pause || c.pause
		}
	}
	x, y := picLeft, 82.0
	entry := func(occurs bool, name, mark string) {
		if !occurs {
			return
		}
		fmt.Fprintf(p, `<g transform="translate(%s %s)">%s</g>`+"\n", num(x), num(y), mark)
		p.text(x+20, y, "", name)
		x += 20 + 0.6*picText*float64(Width(name)) + 12
	}
	box := func(colour string) string {
		return fmt.Sprintf(`<path d="M0-12h14v14H0z" fill="%s"/>`, colour)
	}
	entry(sum.read > 0, "read from cache", box(p.theme.read))
	entry(sum.write > 0, "written to cache", box(p.theme.write))
	entry(sum.uncached > 0, "uncached", box(p.theme.uncached))
	entry(sum.cut && p.marks, "cut", `<path d="M1-11h12l-6 10z"/>`)
	entry(sum.pause && p.pause > 0, "pause", fmt.Sprintf(`<path d="M4-14h6v18H4z" fill="%s"/>`, p.theme.pause))
}

// pauses draws a band through all plots where a cache had the time to expire.
func (p *drawing) pauses(top, bottom float64) {
	if p.pause == 0 {
		return
	}
	var d strings.Builder
	for i, c := range p.columns[0] {
		if c.pause {
			fmt.Fprintf(&d, "M%s %sh%sv%sh-%sz", num(p.x[i]-p.pause), num(top), num(p.pause), num(bottom-top), num(p.pause))
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(p, `<path fill="%s" d="%s"/>`+"\n", p.theme.pause, d.String())
	}
}

// scale returns the number of tokens at the top of the plots, and the window. window is 0 if
// showing it would leave the prompts too little height.
func (p *drawing) scale() (top, window float64) {
	for i, r := range p.results {
		for _, c := range p.columns[i] {
			top = max(top, c.top())
		}
		window = max(window, float64(r.ContextWindow))
	}
	switch {
	case window > 3*top:
		return max(1, 1.15*top), 0
	case window > 0:
		top = min(top, picOver*window)
	}
	return max(1, 1.08*max(top, window)), window
}

// panel draws the prompts of one policy in three layers. The lowest layer is the whole prompt, in
// the colour of uncached tokens. The middle layer is the tokens read from or written to the
// cache. The top layer is the tokens read from the cache.
func (p *drawing) panel(columns []pictureColumn, y, top float64) {
	bottom := y + picPanel
	height := func(v float64) float64 { return bottom - picPanel*min(v/top, 1) }
	p.area(columns, height, p.theme.uncached, func(c pictureColumn) (float64, bool) { return c.top(), c.uncached > 0 })
	p.area(columns, height, p.theme.write, func(c pictureColumn) (float64, bool) { return c.read + c.write, c.write > 0 })
	p.area(columns, height, p.theme.read, func(c pictureColumn) (float64, bool) { return c.read, c.read > 0 })
	fmt.Fprintf(p, `<path d="M%s %sH%s" stroke="%s"/>`+"\n", num(picLeft), num(bottom), num(picRight), p.theme.muted)
	var cuts strings.Builder
	most := 0.0
	for i, c := range columns {
		most = max(most, c.top())
		if c.cut && p.marks {
			high := c.top()
			if i > 0 {
				high = max(high, columns[i-1].top())
			}
			fmt.Fprintf(&cuts, "M%s %sh10l-5 8z", num(p.x[i]+p.width/2-5), num(height(high)-11))
		}
	}
	if cuts.Len() > 0 {
		fmt.Fprintf(p, `<path stroke="%s" d="%s"/>`+"\n", p.theme.back, cuts.String())
	}
	if most > top {
		p.text(picLabels, y+12, p.caption(), "to "+compact(int(most))+" ↑")
	}
}

// area fills the space below the columns' heights, as steps. It leaves out columns without tokens
// of that colour.
func (p *drawing) area(columns []pictureColumn, height func(float64) float64, colour string, of func(pictureColumn) (float64, bool)) {
	var d strings.Builder
	base, open := num(height(0)), false
	for i, c := range columns {
		v, there := of(c)
		if open && (!there || c.pause && p.pause > 0) {
			d.WriteString("V" + base + "z")
			open = false
		}
		if !there {
			continue
		}
		if !open {
			d.WriteString("M" + num(p.x[i]) + " " + base)
			open = true
		}
		d.WriteString("V" + num(height(v)) + "H" + num(p.x[i]+p.width))
	}
	if open {
		d.WriteString("V" + base + "z")
	}
	if d.Len() > 0 {
		fmt.Fprintf(p, `<path fill="%s" d="%s"/>`+"\n", colour, d.String())
	}
}

// window draws the line at the window's limit, or writes the limit if it is above the plot.
func (p *drawing) window(y, top, window float64) {
	if window == 0 {
		p.text(picLabels, y+12, p.caption(), "window")
		p.text(picLabels, y+32, p.caption(), compact(p.results[0].ContextWindow)+" ↑")
		return
	}
	at := y + picPanel - picPanel*window/top
	fmt.Fprintf(p, `<path d="M%s %sH%s" stroke="%s" stroke-width="1.5" stroke-dasharray="2 4"/>`+"\n", num(picLeft), num(at), num(picRight), p.theme.ink)
	p.text(picLabels, at+6, p.caption(), compact(int(window))+" window")
}

// pictureLabel is the label at the end of a line.
type pictureLabel struct {
	y            float64
	colour       string
	amount, name string
}

// bills draws the bills as they grow, with the sums at their ends.
func (p *drawing) bills(y float64) {
	p.text(picLeft, y+picName-8, `font-weight="700"`, "The bill so far")
	y += picName
	bottom, top := y+picBill, 0.0
	for _, r := range p.results {
		if r.Totals.CostUSD != nil {
			top = max(top, *r.Totals.CostUSD)
		}
	}
	top = max(1e-9, 1.05*top)
	height := func(v float64) float64 { return bottom - picBill*v/top }
	var labels []pictureLabel
	others := 0
	for i, r := range p.results {
		colour, dash := p.theme.lines[0], ""
		if r.Policy != replay.Memkernel {
			others++
			colour, dash = p.theme.lines[min(others, PictureMost-1)], fmt.Sprintf(` stroke-dasharray="%d 4"`, 10/others)
		}
		label := pictureLabel{bottom, colour, cents(r.Totals.CostUSD), Clip(r.Policy, 20)}
		if r.Totals.CostUSD != nil {
			label.y = height(*r.Totals.CostUSD)
			fmt.Fprintf(p, `<path fill="none" stroke="%s" stroke-width="3" stroke-linejoin="round"%s d="M%s %s`, colour, dash, num(p.x[0]), num(bottom))
			for k, c := range p.columns[i] {
				fmt.Fprintf(p, "L%s %s", num(p.x[k]+p.width), num(height(c.bill)))
			}
			p.WriteString("\"/>\n")
		}
		labels = append(labels, label)
	}
	fmt.Fprintf(p, `<path d="M%s %sH%s" stroke="%s"/>`+"\n", num(picLeft), num(bottom), num(picRight), p.theme.muted)
	slices.SortStableFunc(labels, func(a, b pictureLabel) int { return int(1000 * (a.y - b.y)) })
	// Labels are placed from the lowest one up. Each label is as near to its line's end as the
	// labels below it allow.
	limit := bottom - 22
	for i := len(labels) - 1; i >= 0; i-- {
		l := &labels[i]
		l.y = max(min(l.y, limit), y+6+float64(i)*picLabel)
		limit = l.y - picLabel
		fmt.Fprintf(p, `<circle cx="%s" cy="%s" r="4" fill="%s"/>`+"\n", num(picLabels+4), num(l.y), l.colour)
		p.text(picLabels+14, l.y+6, fmt.Sprintf(`font-weight="700" font-size="%s"`, fitting(picText, 0.7, l.amount)), l.amount)
		p.text(picLabels+14, l.y+24, fmt.Sprintf(`fill="%s" font-size="%s"`, p.theme.muted, fitting(picCaption, 0.6, l.name)), l.name)
	}
}

// fitting returns size, or the largest smaller letter size at which s fits on a label's line.
// wide is the width of a letter relative to its size.
func fitting(size, wide float64, s string) string {
	return num(min(size, (picWidth-picLabels-18)/(wide*float64(max(1, Width(s))))))
}

// caption returns the look of less important text.
func (p *drawing) caption() string {
	return fmt.Sprintf(`fill="%s" font-size="%d"`, p.theme.muted, picCaption)
}

// text writes a line of text at its base line.
func (p *drawing) text(x, y float64, attributes, s string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(p, `<text x="%s" y="%s"%s>%s</text>`+"\n", num(x), num(y), attributes, escaped(s))
}

// escaped returns foreign text escaped for XML.
func escaped(s string) string { return html.EscapeString(Printable(s)) }

// num formats a length with at most one digit after the point.
func num(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
