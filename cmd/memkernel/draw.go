package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/visible"
)

// painter colours text, or leaves it alone.
type painter struct {
	Color bool
	// Width is how many columns a drawing that can be narrower may take.
	Width int
}

// style is an ANSI attribute.
type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	blue   style = "34"
	purple style = "35"
	cyan   style = "36"
	white  style = "37"
	gray   style = "90"
)

func (p painter) do(s style, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return ours("\x1b["+string(s)+"m") + text + ours("\x1b[0m")
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
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

// percent is part of whole in hundredths, with one digit.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// share is a number between 0 and 1 as a percentage.
func share(v float64) string {
	switch p := 100 * v; {
	case p >= 1000:
		return fmt.Sprintf("%.0f %%", p)
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}

// dollars is a price; what is not known is unpriced, never $0.
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

// width is the number of columns that a text without colour takes.
func width(s string) int { return utf8.RuneCountInString(s) }

// left and right pad to a width; text that is too long is cut with a tilde.
func left(s string, n int) string  { s = clip(s, n); return s + strings.Repeat(" ", n-width(s)) }
func right(s string, n int) string { s = clip(s, n); return strings.Repeat(" ", n-width(s)) + s }

// clip shortens a text to n columns.
func clip(s string, n int) string {
	s = printable(s)
	if width(s) <= n {
		return s
	}
	if n < 2 {
		return s[:0]
	}
	r := []rune(s)
	return string(r[:n-1]) + "~"
}

// printable is a text on one line as a screen shows it, so that its columns can be
// counted.
func printable(s string) string {
	return visible.Text(spaces.Replace(s))
}

var spaces = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// wrap breaks a text at spaces into lines of at most n columns.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(printable(s)) {
		for width(word) > n {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			r := []rune(word)
			lines, word = append(lines, string(r[:n])), string(r[n:])
		}
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= n:
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

// flush writes a drawing at once: a screen shows what is written at once as one text.
func flush(w io.Writer, b *strings.Builder) error {
	_, err := io.WriteString(w, b.String())
	return err
}
