package lex

import (
	"iter"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// RawString decodes a JSON string. It returns "" if raw is no JSON string.
func RawString(raw string) string {
	if n := len(raw); n < 2 || raw[0] != '"' {
		return ""
	} else if body := raw[1 : n-1]; strings.IndexByte(body, '\\') < 0 {
		return body
	}
	s, _ := Unquote(raw)
	return s
}

// Unquote decodes a JSON string, given with its quotes, as encoding/json does. It returns false if
// quoted is no JSON string.
func Unquote(quoted string) (string, bool) {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return "", false
	}
	s := quoted[1 : n-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, w := utf8.DecodeRuneInString(s[i:])
			out = utf8.AppendRune(out, r)
			i += w
			continue
		}
		if c < ' ' || c == '"' || c == '\\' && i+1 == len(s) {
			return "", false
		}
		if i++; c != '\\' {
			out = append(out, c)
			continue
		}
		c = s[i]
		if i++; c == 'u' {
			r := hexRune(s[i:])
			if r < 0 {
				return "", false
			}
			if i += 4; utf16.IsSurrogate(r) && strings.HasPrefix(s[i:], `\u`) {
				if both := utf16.DecodeRune(r, hexRune(s[i+2:])); both != utf8.RuneError {
					r, i = both, i+6
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		at := strings.IndexByte(`"\/bfnrt`, c)
		if at < 0 {
			return "", false
		}
		out = append(out, "\"\\/\b\f\n\r\t"[at])
	}
	return string(out), true
}

// hexRune returns the character whose code is the four hexadecimal digits at the start of s, -1 if
// there are no such digits.
func hexRune(s string) (r rune) {
	if len(s) < 4 {
		return -1
	}
	for i := range 4 {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// Members yields the keys and raw values of a JSON object without checking it. It ends where the
// text stops being an object. For a text that was cut off it yields the complete members.
func Members(input string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		t := strings.TrimLeft(input, " \t\r\n")
		if t == "" || t[0] != '{' {
			return
		}
		for t = t[1:]; ; {
			t = strings.TrimLeft(t, " \t\r\n,")
			n := StringEnd(t)
			if n < 0 {
				return
			}
			key := t[1 : n-1]
			t = strings.TrimLeft(t[n:], " \t\r\n")
			if t == "" || t[0] != ':' {
				return
			}
			t = strings.TrimLeft(t[1:], " \t\r\n")
			if n = ValueLen(t); n <= 0 || !yield(key, t[:n]) {
				return
			}
			t = t[n:]
		}
	}
}

// StringEnd returns the length of the JSON string that t starts with, -1 if
// it starts with none.
func StringEnd(t string) int {
	if t == "" || t[0] != '"' {
		return -1
	}
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// ValueLen returns the length of the JSON value that t starts with, -1 if it
// is cut off.
func ValueLen(t string) int {
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '"':
			n := StringEnd(t[i:])
			if n < 0 {
				return -1
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
