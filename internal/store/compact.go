package store

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// plain marks the bytes that mean nothing within a JSON string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// compactJSON reports whether b is one valid JSON value without white space between its tokens. It
// does not pass the plain bytes of strings to encoding/json, which would be much slower on an
// ingest of several megabytes.
func compactJSON(b []byte) bool {
	rest := make([]byte, 0, 128)
	inString := false
	for i := 0; i < len(b); i++ {
		for inString && i < len(b)-1 && plain[b[i]] {
			i++
		}
		switch c := b[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return false
			}
			i += n - 1
			continue
		case !inString && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return false
		}
		rest = append(rest, b[i])
	}
	return json.Valid(rest)
}

// escapeLen returns the length of the escape that a JSON string continues with, 0 if it is none.
func escapeLen(b []byte) int {
	switch {
	case len(b) > 1 && strings.IndexByte(`"\/bfnrt`, b[1]) >= 0:
		return 2
	case len(b) > 5 && b[1] == 'u' && !slices.ContainsFunc(b[2:6], func(c byte) bool { return !unicode.Is(unicode.ASCII_Hex_Digit, rune(c)) }):
		return 6
	}
	return 0
}
