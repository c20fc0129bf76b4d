package mask

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// maskDepth is how deep JSON in strings of JSON is looked into: the arguments of a
// call in a message in a log.
const maskDepth = 4

// looksJSON reports whether a text begins as an object, a list or a string does.
func looksJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return s != "" && (s[0] == '{' || s[0] == '[' || s[0] == '"')
}

// maskStrings masks the strings of JSON decoded: an escape would hide where
// a line ends, a quote, and letters beyond ASCII. Only a string in which something
// is found is written anew; what is no JSON stays.
func (m *Masker) maskStrings(s string, found *Secrets, depth int) string {
	var out []byte
	pos := 0
	for i := strings.IndexByte(s, '"'); i >= 0 && i < len(s); {
		end := lex.StringEnd(s[i:])
		if end < 0 {
			break
		}
		end += i
		if masked, ok := m.maskString(s[i:end], found, depth); ok {
			out = append(append(out, s[pos:i]...), masked...)
			pos = end
		}
		next := strings.IndexByte(s[end:], '"')
		if next < 0 {
			break
		}
		i = end + next
	}
	if pos == 0 {
		return s
	}
	return string(append(out, s[pos:]...))
}

// maskRecords is maskStrings of the lines of a text that are objects.
func (m *Masker) maskRecords(s string, found *Secrets, depth int) string {
	var out []byte
	pos, at := 0, 0
	for line := range strings.Lines(s) {
		if line[0] == '{' && strings.IndexByte(line, '\\') >= 0 {
			if masked := m.maskStrings(line, found, depth); masked != line {
				out = append(append(out, s[pos:at]...), masked...)
				pos = at + len(line)
			}
		}
		at += len(line)
	}
	if pos == 0 {
		return s
	}
	return string(append(out, s[pos:]...))
}

// maskString masks a string with its quotes; ok is false if nothing is found that
// would not be found in it as it is.
func (m *Masker) maskString(quoted string, found *Secrets, depth int) (out []byte, ok bool) {
	if strings.IndexByte(quoted, '\\') < 0 {
		return nil, false
	}
	text, ok := lex.Unquote(quoted)
	if !ok {
		return nil, false
	}
	masked, n := m.find(text, depth)
	if masked == text {
		return nil, false
	}
	found.Add(n)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(masked); err != nil {
		return nil, false
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), true
}
