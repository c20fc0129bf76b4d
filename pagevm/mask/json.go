package mask

import (
	"encoding/json"
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// maskDepth is the number of levels of JSON inside JSON strings that are masked, such as the
// arguments of a call in a message in a log.
const maskDepth = 4

// maskStrings masks the strings of JSON in their decoded form, since escapes would hide line
// ends, quotes and letters beyond ASCII. It rewrites only strings with secrets. Text that is not
// JSON stays.
func (m *Masker) maskStrings(s string, found *Secrets, depth int) string {
	e := edit{s: s}
	for i := strings.IndexByte(s, '"'); i >= 0; {
		end := lex.StringEnd(s[i:])
		if end < 0 {
			break
		}
		end += i
		if masked, ok := m.maskString(s[i:end], found, depth); ok {
			e.replace(i, end, masked)
		}
		if i = strings.IndexByte(s[end:], '"'); i >= 0 {
			i += end
		}
	}
	return e.text()
}

// maskRecords applies maskStrings to the lines of a text that are JSON objects.
func (m *Masker) maskRecords(s string, found *Secrets, depth int) string {
	return rewriteLines(s, false, func(line string) bool { return line[0] == '{' && strings.IndexByte(line, '\\') >= 0 }, func(line string) string {
		return m.maskStrings(line, found, depth)
	})
}

// maskString masks a JSON string, which is given with its quotes. ok is false if its decoded form
// shows no more secrets than its escaped form.
func (m *Masker) maskString(quoted string, found *Secrets, depth int) (out string, ok bool) {
	if strings.IndexByte(quoted, '\\') < 0 {
		return "", false
	}
	text, ok := lex.Unquote(quoted)
	if !ok {
		return "", false
	}
	masked, n := m.find(text, depth)
	if masked == text {
		return "", false
	}
	found.Add(n)
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(masked)
	return strings.TrimSuffix(b.String(), "\n"), err == nil
}
