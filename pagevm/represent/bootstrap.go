package represent

import (
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/pagevm"
)

// Bootstrap makes the structured representation of a bootstrap file
// (AGENTS.md, SOUL.md, TOOLS.md, a section of a system prompt): its headings,
// the sections on session startup and red lines verbatim, and every line that
// commands something, verbatim. name is the file's name.
func Bootstrap(name, text string) []pagevm.Rep {
	text = strings.ToValidUTF8(text, "\uFFFD")
	reps := repChain{left: len(text)}
	reps.addFields(&pagevm.Fields{Bootstrap: &pagevm.BootstrapFields{Name: name, Sections: outline(text, startupNames(text))}})
	return reps.reps
}

// outline cuts a Markdown text into its sections, with the parts of each that must stay. A
// section with one of the names in roles stays whole, including its subsections.
func outline(text string, roles map[string]string) []pagevm.Outline {
	out := []pagevm.Outline{{}}
	depth := 0 // of the section that is kept whole
	for l := range eachLine(text) {
		if l.heading > 0 && (depth == 0 || l.heading <= depth) {
			depth = 0
			role := roleOf(l.text, roles)
			if role != "" {
				depth = l.heading
			}
			out = append(out, pagevm.Outline{Heading: l.text, Role: role})
			continue
		}
		switch s := &out[len(out)-1]; {
		case depth > 0:
			s.Whole += l.text + "\n"
		case !l.code && (imperative(l) || modal(l.text)):
			s.Commands = append(s.Commands, l.text)
		case !blank(l.text):
			s.Left++
		}
	}
	if first := &out[0]; first.Left == 0 && first.Commands == nil {
		out = out[1:]
	}
	return out
}

// startupNames returns the headings of the sections that stay whole, by role. Older
// workspaces named the two sections otherwise.
func startupNames(text string) map[string]string {
	names := map[string]string{"session startup": pagevm.RoleStartup, "red lines": pagevm.RoleRedLines}
	for l := range eachLine(text) {
		if l.heading > 0 && roleOf(l.text, names) != "" {
			return names
		}
	}
	return map[string]string{"every session": pagevm.RoleStartup, "safety": pagevm.RoleRedLines}
}

// roleOf compares a heading with names, without its marks and symbols.
func roleOf(heading string, roles map[string]string) string {
	h := strings.TrimFunc(heading, func(r rune) bool { return !unicode.IsLetter(r) })
	for n, role := range roles {
		if len(h) >= len(n) && strings.EqualFold(h[:len(n)], n) {
			return role
		}
	}
	return ""
}

// line is one line of a Markdown text.
type line struct {
	text string // without its line break
	// heading is the depth of a heading, 0 if the line is not a heading.
	heading int
	// item is the text of a list item without its mark, "" if the line is not a list item.
	item string
	// code reports whether the line is in a fenced block.
	code       bool
	start, end int
}

// eachLine walks the lines of a Markdown text.
func eachLine(text string) func(yield func(line) bool) {
	return func(yield func(line) bool) {
		fence := ""
		for pos := 0; pos < len(text); {
			end := len(text)
			if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
				end = pos + n
			}
			l := line{text: strings.TrimSuffix(text[pos:end], "\r"), start: pos, end: end}
			pos = end + 1
			t := strings.TrimLeft(l.text, " \t")
			switch {
			case fence != "":
				l.code = true
				if strings.HasPrefix(t, fence) {
					fence = ""
				}
			case strings.HasPrefix(t, "```"), strings.HasPrefix(t, "~~~"):
				l.code, fence = true, t[:3]
			default:
				l.heading, l.item = headingDepth(l.text), listItem(t)
			}
			if !yield(l) {
				return
			}
		}
	}
}

func headingDepth(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func listItem(t string) string {
	if len(t) > 2 && (t[0] == '-' || t[0] == '*' || t[0] == '+') && t[1] == ' ' {
		return strings.TrimSpace(t[2:])
	}
	n := 0
	for n < len(t) && n < 4 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(t) && (t[n] == '.' || t[n] == ')') && t[n+1] == ' ' {
		return strings.TrimSpace(t[n+2:])
	}
	return ""
}

// FileExcerpts are excerpts of a workspace file for a file that is larger than its room. If
// instructions is set, the commands and the sections on session startup and red lines are kept
// first.
func FileExcerpts(id, text, resolver string, instructions bool) *Excerpts {
	in := EvidenceInput{Text: text, PageID: id, Resolver: resolver}
	if instructions {
		in.Own = rules(strings.ToValidUTF8(text, "\uFFFD"))
	}
	return NewExcerpts(in)
}

// rules are the places of the text that outline keeps word for word.
func rules(text string) (out []Range) {
	names, depth := startupNames(text), 0
	for l := range eachLine(text) {
		if l.heading > 0 && (depth == 0 || l.heading <= depth) {
			depth = 0
			if roleOf(l.text, names) != "" {
				depth = l.heading
			}
		}
		if depth > 0 || !l.code && l.heading == 0 && (imperative(l) || modal(l.text)) {
			out = append(out, Range{Start: l.start, End: l.end})
		}
	}
	return out
}
