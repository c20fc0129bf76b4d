package textutil

import "unicode"

// Columns returns the length of a text with wide characters counted twice, since each carries as
// much as two letters at least.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			n++
		}
	}
	return n
}
