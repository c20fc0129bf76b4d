// Package display draws the results of the kernel and the judges for people: explanations of
// plans, tables, progress. Its functions take plain data, a writer and a
// style. They write the drawing with one call and return the writer's error. The package never
// opens a kernel, reads a file or decides which data to show. Text fits the width of its style,
// and no information is in colour alone. Callers must pass foreign text through a screen before a
// terminal.
package display

import (
	"crypto/rand"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/memkernel/memkernel/internal/textutil"
)

const (
	// Columns is the largest width of a line, except on a wider terminal.
	Columns = 80
	// MaxColumns is the largest width of a line, because longer lines are hard to read.
	MaxColumns = 140
	// MinWidth is the smallest width that a table can be drawn in.
	MinWidth = 44
)

// Style is how a drawing looks.
type Style struct {
	// Color is set if text is coloured.
	Color bool
	// Width is the number of columns that a drawing may take. Drawings that can't be narrower
	// take at least Columns.
	Width int
	// Rows is the number of lines that the terminal shows, 0 without a terminal.
	Rows int
	// Command, if not nil, adds the workspace to the commands of this program in a text.
	Command func(string) string
}

// command returns a text after [Style.Command].
func (p Style) command(text string) string {
	if p.Command == nil {
		return text
	}
	return p.Command(text)
}

// Columns returns the width of a drawing that can't be narrower than [Columns].
func (p Style) Columns() int { return max(p.Width, Columns) }

// ink is an ANSI attribute.
type ink string

const (
	Bold   ink = "1"
	dim    ink = "2"
	red    ink = "31"
	green  ink = "32"
	yellow ink = "33"
	blue   ink = "34"
	purple ink = "35"
	cyan   ink = "36"
	white  ink = "37"
	Gray   ink = "90"
)

// Paint colours text, or returns it unchanged without colour.
func (p Style) Paint(s ink, text string) string {
	if !p.Color || text == "" || s == "" {
		return text
	}
	return ours("\x1b["+string(s)+"m") + text + ours("\x1b[0m")
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

// percent formats part of whole in per cent, with one digit.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// Share formats a number between 0 and 1 as a percentage.
func Share(v float64) string {
	switch p := 100 * v; {
	case p >= 1000:
		return fmt.Sprintf("%.0f %%", p)
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}

// dollars formats a price. An unknown price is "unpriced", never $0.
func dollars(v *float64) string {
	if v == nil {
		return "unpriced"
	}
	switch {
	case *v == 0:
		return "$0"
	case *v < 0.01 && *v > -0.01:
		return fmt.Sprintf("$%.5f", *v)
	}
	return fmt.Sprintf("$%.4f", *v)
}

// Width returns the number of columns that a text without colour takes on a terminal: two for
// each wide character (CJK, emoji and their sequences) and none for a mark on another letter.
func Width(s string) int { return uniseg.StringWidth(s) }

// Left and Right pad to a width. Text that is too long is cut with a tilde.
func Left(s string, n int) string  { return pad(Clip(s, n), "", " ", n) }
func Right(s string, n int) string { return pad(Clip(s, n), " ", "", n) }

// pad adds before and after to a text until the text is n columns wide. It measures the width
// again after each step, because a letter may take a space next to it into its own column.
func pad(s, before, after string, n int) string {
	s = strings.Repeat(before, max(n-Width(s), 0)) + s + strings.Repeat(after, max(n-Width(s), 0))
	for Width(s) < n {
		s = before + s + after
	}
	return s
}

// Clip shortens a text to n columns.
func Clip(s string, n int) string {
	s = Printable(s)
	if Width(s) <= n {
		return s
	}
	if n < 2 {
		return s[:0]
	}
	head, _ := cut(s, n-1)
	for head != "" && Width(head+"~") > n {
		head, _ = cut(head, Width(head)-1)
	}
	return head + "~"
}

// cut splits a text after the last letter, with its marks, that ends within n columns.
func cut(s string, n int) (head, rest string) {
	end, width, state := 0, 0, -1
	for left := s; left != ""; {
		var cluster string
		var w int
		cluster, left, w, state = uniseg.FirstGraphemeClusterInString(left, state)
		if width += w; width > n {
			break
		}
		end += len(cluster)
	}
	return s[:end], s[end:]
}

// Printable returns a text on one line as a screen shows it, so that its columns can be counted.
func Printable(s string) string {
	return textutil.Visible(spaces.Replace(s))
}

var spaces = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// Wrap breaks a text at spaces into lines of at most n columns.
func Wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(Printable(s)) {
		for {
			head, rest := cut(word, n)
			if rest == "" {
				break
			}
			if head == "" { // a letter that is wider than the line has one of its own
				head, rest, _, _ = uniseg.FirstGraphemeClusterInString(word, -1)
			}
			if line != "" {
				lines, line = append(lines, line), ""
			}
			lines, word = append(lines, head), rest
		}
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Flush writes a drawing with one call, because a screen shows each write as one text.
func Flush(w io.Writer, b *strings.Builder) error {
	_, err := io.WriteString(w, b.String())
	return err
}

// para writes a text, wrapped to the style's width. The parameter indent is the number of blanks
// before each line. If ink is "", the text has no colour.
func (p Style) para(w io.Writer, indent int, ink ink, text string) {
	p.hang(w, strings.Repeat(" ", indent), indent, ink, text)
}

// hang writes a text as [Style.para] does, but its first line begins with a head, which takes
// indent columns.
func (p Style) hang(w io.Writer, head string, indent int, ink ink, text string) {
	for _, l := range Wrap(text, p.Columns()-indent) {
		fmt.Fprintf(w, "%s%s\n", head, p.Paint(ink, l))
		head = strings.Repeat(" ", indent)
	}
}

// inked is a cell of a table in a colour.
type inked struct {
	ink
	cell any
}

// row returns a line of a table whose columns have these widths. A column of a negative width is
// aligned to the right.
func (p Style) row(columns []int, cells ...any) string {
	var line strings.Builder
	for i, c := range cells {
		var shade ink
		if in, ok := c.(inked); ok {
			shade, c = in.ink, in.cell
		}
		if n, ok := c.(int); ok {
			c = Thousands(n)
		}
		text, n := fmt.Sprint(c), columns[i]
		if n < 0 {
			text = Right(text, -n)
		} else {
			text = Left(text, n)
		}
		line.WriteString(p.Paint(shade, text))
	}
	return strings.TrimRight(line.String(), " ")
}

// table writes the head of a table in gray, and returns the function that writes its rows. Every
// line is indented.
func (s *sheet) table(indent int, columns []int, head ...any) func(cells ...any) {
	lead := strings.Repeat(" ", indent)
	if len(head) > 0 {
		s.line(lead, s.Paint(Gray, s.row(columns, head...)))
	}
	return func(cells ...any) { s.line(lead, s.row(columns, cells...)) }
}

// screen is a writer that foreign text must pass through before it is printed. It shows each
// write as one text.
type screen struct {
	io.Writer
	show func(string) string
}

func (s screen) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.Writer, s.show(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// seal encloses this program's own terminal sequences. Nobody else can write it, because it
// differs in every process.
var seal = "\x1b" + rand.Text()

// ours marks a sequence of this program so that it passes a screen for text.
func ours(sequence string) string { return seal + sequence + seal }

// shown returns a text in which all control sequences except ours are visible.
func shown(s string) string {
	parts := strings.Split(s, seal)
	var run textutil.VisibleRun
	for i := 0; i < len(parts); i += 2 {
		parts[i] = run.Text(parts[i])
	}
	return strings.Join(parts, "")
}

// Bare returns the writer that a screen writes to.
func Bare(w io.Writer) io.Writer {
	if s, ok := w.(screen); ok {
		return s.Writer
	}
	return w
}

// TextScreen returns a screen for text in front of a writer.
func TextScreen(w io.Writer) io.Writer { return screen{Bare(w), shown} }

// DocumentScreen returns a screen for a JSON document in front of a writer. The document stays
// JSON.
func DocumentScreen(w io.Writer) io.Writer { return screen{Bare(w), textutil.VisibleJSON} }
