// Package lex has the text reading that pagevm's packages share: line numbers of listings, and JSON
// that is skimmed and not checked. It keeps no state.
package lex

import "strings"

// Unnumbered returns a line of a file listing without its line number.
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
