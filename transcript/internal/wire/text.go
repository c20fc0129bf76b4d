package wire

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func unhex(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

func hex4(s string) rune {
	return rune(unhex(s[0])<<12 | unhex(s[1])<<8 | unhex(s[2])<<4 | unhex(s[3]))
}

// unescape decodes the inside of a valid JSON string. Invalid UTF-8 stays, and half a surrogate pair becomes
// U+FFFD, as in encoding/json.
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
			out.WriteByte(simpleEscape(in[i+1]))
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

func simpleEscape(b byte) byte {
	switch b {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return b
}

// AppendString appends s as a JSON string, without escaping HTML. Invalid UTF-8 becomes U+FFFD, since no provider
// takes it.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for start := 0; ; {
		i := PlainRun(s, start)
		dst = AppendValid(dst, s[start:i])
		if i == len(s) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, s[i])
		start = i + 1
	}
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
}

// AppendValid appends s with every run of invalid UTF-8 replaced.
func AppendValid(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	return append(dst, strings.ToValidUTF8(s, "\uFFFD")...)
}

// Put appends JSON. The arguments are by turns JSON that is appended as it is, and strings that are quoted.
func Put(dst []byte, parts ...string) []byte {
	for i, s := range parts {
		if i%2 == 0 {
			dst = append(dst, s...)
		} else {
			dst = AppendString(dst, s)
		}
	}
	return dst
}
