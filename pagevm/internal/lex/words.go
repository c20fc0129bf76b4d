package lex

import (
	"fmt"
	"strconv"
)

// Plural writes a count with its noun: 1 line, 2 lines.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// SizeText writes a number of bytes for people: 512 B, 4.1 KB, 50.0 MB, with
// a factor of 1024.
func SizeText(n int64) string {
	switch {
	case n < 1024:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/1024)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
}
