// Package lex has the text reading that pagevm's packages share: classes of bytes, and JSON that is
// skimmed and not checked. It keeps no state.
package lex

import "strings"

// The classes of a byte, as bits.
const (
	CWord  = 1 << iota // letter, digit, underscore, or a byte of a rune
	CUpper             //
	CLower             //
	CDigit             //
	CHex               // hex digit
	CJoin              // joins words into paths: / . - @ + ~
	CHigh              // byte of a multi-byte rune
)

// ByteClass has the classes of every byte.
var ByteClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = CWord | CLower
		case c >= 'A' && c <= 'Z':
			t[c] = CWord | CUpper
		case c >= '0' && c <= '9':
			t[c] = CWord | CDigit | CHex
		case c == '_':
			t[c] = CWord
		case c >= 0x80:
			t[c] = CWord | CHigh
		case strings.IndexByte("/.-@+~", byte(c)) >= 0:
			t[c] = CJoin
		}
		if c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			t[c] |= CHex
		}
	}
	return t
}()

// Unnumbered cuts the line number of a file read off a line.
func Unnumbered(line string) string {
	number := strings.TrimLeft(line, " ")
	rest := strings.TrimLeft(number, "0123456789")
	if n := len(number) - len(rest); n == 0 || n > 7 {
		return line
	}
	for _, mark := range [...]string{"→", "\t"} {
		if text, ok := strings.CutPrefix(rest, mark); ok {
			return text
		}
	}
	return line
}

// AllDigits reports whether s consists only of digits. It returns false for "".
func AllDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
