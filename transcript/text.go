package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// hex4 reads the four hexadecimal digits that s begins with.
func hex4(s string) rune {
	n, _ := strconv.ParseUint(s[:4], 16, 32) // the cursor has checked them
	return rune(n)
}

// unescape decodes the inside of a valid JSON string. Invalid UTF-8 stays, and half a surrogate
// pair becomes U+FFFD, as in encoding/json.
func unescape(in string) string {
	var out strings.Builder
	out.Grow(len(in))
	for {
		i := strings.IndexByte(in, '\\')
		if i < 0 {
			out.WriteString(in)
			return out.String()
		}
		out.WriteString(in[:i])
		if in[i+1] != 'u' {
			b := in[i+1]
			if at := strings.IndexByte("bfnrt", b); at >= 0 {
				b = "\b\f\n\r\t"[at]
			}
			out.WriteByte(b)
			in = in[i+2:]
			continue
		}
		r := hex4(in[i+2:])
		in = in[i+6:]
		if utf16.IsSurrogate(r) {
			second := rune(-1)
			if len(in) >= 6 && in[0] == '\\' && in[1] == 'u' {
				second = hex4(in[2:])
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				in = in[6:]
			}
		}
		out.WriteRune(r)
	}
}

// appendString appends s as a JSON string, without escaping HTML. Invalid UTF-8 becomes U+FFFD,
// since no provider takes it.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for start := 0; ; {
		i := plainRun(s, start)
		dst = appendValid(dst, s[start:i])
		if i == len(s) {
			return append(dst, '"')
		}
		if at := strings.IndexByte("\"\\\n\r\t", s[i]); at >= 0 {
			dst = append(dst, '\\', `"\nrt`[at])
		} else {
			dst = fmt.Appendf(dst, `\u%04x`, s[i])
		}
		start = i + 1
	}
}

// appendValid appends s with every run of invalid UTF-8 replaced.
func appendValid(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	return append(dst, strings.ToValidUTF8(s, "\uFFFD")...)
}

// put appends JSON. The arguments are by turns JSON that is appended as it is, and strings that
// are quoted.
func put(dst []byte, parts ...string) []byte {
	for i, s := range parts {
		if i%2 == 0 {
			dst = append(dst, s...)
		} else {
			dst = appendString(dst, s)
		}
	}
	return dst
}
