package markdownstore

import "strings"

// RulesSection names the section that memkernel writes into a file for a host's model. The
// section is between the lines "<!-- NAME:begin … -->" and "<!-- NAME:end -->".
const RulesSection = "memkernel"

// BlankRules replaces the lines of the section named RulesSection by blank lines, because rules for the
// use of memory are not memory. All other lines keep their numbers.
func BlankRules(text string) string {
	begin, end := "<!-- "+RulesSection+":begin", "<!-- "+RulesSection+":end -->"
	if !strings.Contains(text, begin) || !strings.Contains(text, end) {
		return text
	}
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		at := strings.TrimSpace(line)
		inside = inside || strings.HasPrefix(at, begin)
		if !inside {
			b.WriteString(line)
			continue
		}
		b.WriteString(line[len(strings.TrimRight(line, "\r\n")):])
		inside = at != end
	}
	return b.String()
}
