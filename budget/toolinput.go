package budget

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// ToolInput returns the text as which a model of a family sees the arguments of a tool call.
// input is the arguments as JSON. Claude writes and reads arguments as plain values under their
// names, where a line break is one character and not an escape of two. Recorded calls that write
// whole files are billed a fifth to a third less than their JSON would be. For other families,
// and for input that is not a JSON object, ToolInput returns input.
func ToolInput(family, input string) string {
	if family != ClaudeOld && family != ClaudeNew || !strings.HasPrefix(strings.TrimSpace(input), "{") || !json.Valid([]byte(input)) {
		return input
	}
	var b strings.Builder
	b.Grow(len(input))
	for rest := input; rest != ""; {
		if strings.IndexByte("{}[]:, \t\r\n", rest[0]) >= 0 {
			rest = rest[1:]
			continue
		}
		n := valueLen(rest)
		b.WriteString(plainValue(rest[:n]))
		b.WriteByte('\n')
		rest = rest[n:]
	}
	return b.String()
}

// valueLen returns the length of the string, number or word that valid JSON begins with.
func valueLen(s string) int {
	if s[0] != '"' {
		return strings.IndexAny(s, "}], \t\r\n")
	}
	n := 1
	for ; s[n] != '"'; n++ {
		if s[n] == '\\' {
			n++
		}
	}
	return n + 1
}

// plainValue returns a value of valid JSON as plain text.
func plainValue(raw string) string {
	if raw[0] != '"' {
		return raw
	}
	if strings.IndexByte(raw, '\\') < 0 && utf8.ValidString(raw) {
		return raw[1 : len(raw)-1]
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return raw
	}
	return s
}
