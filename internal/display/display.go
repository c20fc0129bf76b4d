// Package display draws text for people: lines, paragraphs and tables on a [Sheet], in the width and
// the colours of a [Style]. [Style.Say] spells every value in a text. The package never opens a
// kernel, reads a file or decides which data to show. Text fits the width of its style, and no
// information is in colour alone. Callers must pass foreign text through a screen before a
// terminal.
package display

import (
	"crypto/rand"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Columns is the largest width of a line, except on a wider terminal.
const Columns = 80

// Style is how a drawing looks.
type Style struct {
	// Color is set if text is coloured.
	Color bool
	// Width is the number of columns that a drawing may take. Drawings that can't be narrower
	// take at least Columns.
	Width int
	// Rows is the number of lines that the terminal shows, 0 without a terminal.
	Rows int
	// All is set if tables have every row, and findings every place.
	All bool
	// Command, if not nil, adds the workspace to the commands of this program in a text.
	Command func(string) string
}

// Columns returns the width of a drawing that can't be narrower than [Columns].
func (p Style) Columns() int { return max(p.Width, Columns) }

// inks has the ANSI attribute of each ink.
var inks = map[string]string{"": "", "bold": "1", "red": "31", "green": "32", "yellow": "33", "blue": "34", "purple": "35", "cyan": "36", "white": "37", "gray": "90"}

// Paint writes text in an ink, such as "bold" or "red", or returns it unchanged without colour. The
// ink "" is plain. Paint panics for an unknown ink.
func (p Style) Paint(ink, text string) string {
	code, known := inks[ink]
	if !known {
		panic("display: unknown ink " + ink)
	}
	if !p.Color || text == "" || code == "" {
		return text
	}
	return ours("\x1b["+code+"m") + text + ours("\x1b[0m")
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
