package transcript

import (
	"regexp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// sniffLine looks at the members of one JSONL record. In a broken record it sees only the members
// before the break.
func sniffLine(line string) (found Dialect) {
	c := scan(line)
	if c.Peek() != '{' {
		return ""
	}
	typ, has := "", map[string]bool{}
	for name := range c.Fields {
		if has[name] = true; name == "type" {
			typ = c.Str()
		}
	}
	best := 0
	for _, d := range table {
		for _, s := range d.Lines {
			lacks := slices.ContainsFunc(strings.Fields(s.members), func(name string) bool { return !has[name] })
			if s.weight > best && !lacks && (s.types == nil || s.types[typ]) {
				best, found = s.weight, d.Name
			}
		}
	}
	return found
}

// roleOfMessage matches the role of a message.
var roleOfMessage = textutil.LazyRegexp(`"role"\s*:\s*"(?:tool|function|developer|system|user|assistant)"`)

// sniffDocument returns the document dialect with the most signs in s, "" for a document without
// messages. A prefix may end before the messages, inside a long system prompt or the tools.
func sniffDocument(s string) (found Dialect) {
	c := scan(s)
	known, fixed := s[0] == '[' && roleOfMessage.MatchString(s), false
	for name := range c.Fields {
		known = known || name == "messages"
		fixed = fixed || slices.Contains([]string{"system", "model", "tools"}, name)
	}
	most := -1
	for i := range table {
		if t := &table[i]; t.Document() && (known || fixed && c.Err != nil) {
			if n := len(regexp.MustCompile(t.Signs).FindAllString(s, -1)); n > most {
				most, found = n, t.Name
			}
		}
	}
	return found
}
