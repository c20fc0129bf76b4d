package store

import "encoding/json"

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
		case inString && c == '\\' && i+1 < len(b):
			rest = append(rest, c)
			i++
			if b[i] == 'u' { // the digits are plain
				rest = append(rest, b[i:min(i+4, len(b))]...)
				i = min(i+4, len(b)-1)
			}
		case !inString && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return false
		}
		rest = append(rest, b[i])
	}
	return json.Valid(rest)
}
