package represent

import "strings"

// The classes of a byte, as bits.
const (
	cWord  = 1 << iota // letter, digit, underscore, or a byte of a rune
	cUpper             //
	cLower             //
	cDigit             //
	cHex               // hex digit
	cJoin              // joins words into paths: / . - @ + ~
	cHigh              // byte of a multi-byte rune
)

// byteClass has the classes of every byte.
var byteClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = cWord | cLower
		case c >= 'A' && c <= 'Z':
			t[c] = cWord | cUpper
		case c >= '0' && c <= '9':
			t[c] = cWord | cDigit | cHex
		case c == '_':
			t[c] = cWord
		case c >= 0x80:
			t[c] = cWord | cHigh
		case strings.IndexByte("/.-@+~", byte(c)) >= 0:
			t[c] = cJoin
		}
		if c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			t[c] |= cHex
		}
	}
	return t
}()

// allDigits reports whether s consists only of digits. It returns false for "".
func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
