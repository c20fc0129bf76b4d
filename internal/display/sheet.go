package display

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Sheet collects the lines of one answer. A screen shows each write as one text, so a sheet is
// written with one call.
type Sheet struct {
	Style
	b strings.Builder
}

// Text returns the text that a function draws on an empty sheet.
func (p Style) Text(draw func(*Sheet)) string {
	s := &Sheet{Style: p}
	draw(s)
	return s.b.String()
}

// inked is a value in an ink.
type inked struct {
	ink  string
	cell any
}

// Inked returns a value that a hole or a cell spells in an ink.
func Inked(ink string, value any) any { return inked{ink, value} }

// Say fills the holes of a form with values, in their order. {} spells a value: a number with
// commas, a cost in dollars, a moment after a blank, a list with commas, any text on one line.
// {page} counts: 1 page, 7 pages. {bytes} is a size. {?text} is the text if the value is true, and
// {%3d} is a verb of package fmt. Without values the text is the form itself.
func (p Style) Say(form string, values ...any) string {
	var b strings.Builder
	for _, v := range values {
		head, rest, _ := strings.Cut(form, "{")
		hole, after, _ := strings.Cut(rest, "}")
		b.WriteString(head)
		if form = after; hole == "" {
			b.WriteString(p.spell(v))
		} else {
			b.WriteString(fill(hole, v))
		}
	}
	return b.String() + form
}

// fill returns the text for a hole that says how to spell its value.
func fill(hole string, v any) string {
	switch {
	case hole[0] == '%':
		return fmt.Sprintf(hole, v)
	case hole[0] == '?' && v.(bool):
		return hole[1:]
	case hole[0] == '?':
		return ""
	case hole == "bytes":
		return Size(reflect.ValueOf(v).Int())
	}
	return Plural(int(reflect.ValueOf(v).Int()), hole)
}

// Say is [Style.Say] without colour.
func Say(form string, values ...any) string { return Style{}.Say(form, values...) }

// spell returns a value as text.
func (p Style) spell(v any) string {
	switch v := v.(type) {
	case inked:
		return p.Paint(v.ink, p.spell(v.cell))
	case *float64:
		return dollars(v)
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return " " + v.UTC().Format("2006-01-02 15:04:05 UTC")
	case []string:
		return Printable(strings.Join(v, ", "))
	case int, int64:
		return Thousands(int(reflect.ValueOf(v).Int()))
	}
	return Printable(fmt.Sprint(v))
}

// Line writes a text that [Style.Say] makes, on a line of its own.
func (s *Sheet) Line(form string, values ...any) { s.b.WriteString(s.Say(form, values...) + "\n") }

// Raw writes a line that may be coloured, without blanks at its end.
func (s *Sheet) Raw(line string) { s.b.WriteString(strings.TrimRight(line, " ") + "\n") }

// Para writes a text that [Style.Say] makes, wrapped to the style's width. The parameter indent is
// the number of blanks before each line. If ink is "", the text has no colour.
func (s *Sheet) Para(indent int, ink, form string, values ...any) {
	s.Hang(strings.Repeat(" ", indent), indent, ink, form, values...)
}

// Hang writes a text as [Sheet.Para] does, but its first line begins with a head, which takes
// indent columns and may be coloured.
func (s *Sheet) Hang(head string, indent int, ink, form string, values ...any) {
	for _, l := range Wrap(s.Say(form, values...), s.Columns()-indent) {
		s.Raw(head + s.Paint(ink, l))
		head = strings.Repeat(" ", indent)
	}
}

// Row returns a line of a table whose columns have these widths. A column of a negative width is
// aligned to the right.
func (p Style) Row(columns []int, cells ...any) string {
	var line strings.Builder
	for i, c := range cells {
		in, ok := c.(inked)
		if !ok {
			in.cell = c
		}
		text, n := p.spell(in.cell), columns[i]
		if n < 0 {
			text = Right(text, -n)
		} else {
			text = Left(text, n)
		}
		line.WriteString(p.Paint(in.ink, text))
	}
	return strings.TrimRight(line.String(), " ")
}

// Table writes the head of a table in gray, and returns the function that writes its rows. Every
// line is indented. A column of a negative width is aligned to the right.
func (s *Sheet) Table(indent int, columns []int, head ...any) func(cells ...any) {
	lead := strings.Repeat(" ", indent)
	if len(head) > 0 {
		s.Raw(lead + s.Paint("gray", s.Row(columns, head...)))
	}
	return func(cells ...any) { s.Raw(lead + s.Row(columns, cells...)) }
}

// Section begins a part of the sheet, with a remark at the right edge.
func (s *Sheet) Section(title, remark string) {
	remark = Clip(remark, s.Columns()-Width(title)-2)
	gap := s.Columns() - Width(title) - Width(remark)
	s.Line("")
	s.Raw(s.Paint("bold", title) + strings.Repeat(" ", max(gap, 1)) + s.Paint("gray", remark))
}

// Thousands writes 1234567 as 1,234,567.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural returns "1 call" or "7 calls", "1 entry" or "7 entries".
func Plural(n int, noun string) string {
	switch stem, y := strings.CutSuffix(noun, "ry"); {
	case n == 1:
		return "1 " + noun
	case y:
		return Thousands(n) + " " + stem + "ries"
	}
	return Thousands(n) + " " + noun + "s"
}

// Size formats a number of bytes for people.
func Size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// Share formats a number between 0 and 1 as a percentage.
func Share(v float64) string {
	if p := 100 * v; p < 1000 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// OptionalShare is Share for a number that may be unknown.
func OptionalShare(v *float64) string {
	if v == nil {
		return "-"
	}
	return Share(*v)
}

// dollars formats a price. An unknown price is "unpriced", never $0.
func dollars(v *float64) string {
	switch {
	case v == nil:
		return "unpriced"
	case *v == 0:
		return "$0"
	case *v < 0.01 && *v > -0.01:
		return fmt.Sprintf("$%.5f", *v)
	}
	return fmt.Sprintf("$%.4f", *v)
}
