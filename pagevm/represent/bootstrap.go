package represent

import (
	"cmp"
	"iter"
	"slices"
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
	reps.add(pagevm.Structured, outlineText("[extract of "+cmp.Or(name, "unknown")+"]\n", outline(text)))
	return reps.reps
}

// outline cuts a Markdown text into its sections, with the parts of each that must stay.
func outline(text string) []section {
	out := []section{{}}
	for l := range eachRule(text) {
		switch s := &out[len(out)-1]; {
		case l.opens:
			out = append(out, section{heading: l.text})
		case l.whole:
			s.whole += l.text + "\n"
		case l.command:
			s.commands = append(s.commands, l.text)
		case !blank(l.text):
			s.left++
		}
	}
	if first := &out[0]; first.left == 0 && first.commands == nil {
		out = out[1:]
	}
	return out
}

// rules are the places of the text that outline keeps word for word.
func rules(text string) (out []Range) {
	for l := range eachRule(text) {
		if l.whole || l.command {
			out = append(out, Range{Start: l.start, End: l.end})
		}
	}
	return out
}

// eachRule yields the lines of a text of instructions. It sets the fields opens, whole and command
// of each line.
func eachRule(text string) iter.Seq[line] {
	return func(yield func(line) bool) {
		names, whole, depth := wholeNames(text), false, 0
		for l := range eachLine(text) {
			if l.opens = l.heading > 0 && (!whole || l.heading <= depth); l.opens {
				whole, depth = names.has(l.text), l.heading
			}
			l.whole = whole
			l.command = !l.opens && !l.code && (imperative(l) || modal(l.text))
			if !yield(l) {
				return
			}
		}
	}
}

// headings are the beginnings of headings, in small letters.
type headings []string

// wholeNames returns the headings of the sections that stay whole. Older workspaces named the two
// sections otherwise.
func wholeNames(text string) headings {
	names := headings{"session startup", "red lines"}
	for l := range eachLine(text) {
		if l.heading > 0 && names.has(l.text) {
			return names
		}
	}
	return headings{"every session", "safety"}
}

// has compares a heading with names, without its marks and symbols.
func (names headings) has(heading string) bool {
	h := strings.TrimFunc(heading, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(names, func(n string) bool { return len(h) >= len(n) && strings.EqualFold(h[:len(n)], n) })
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
	// The next fields are set by eachRule. opens reports whether the line is the heading of a
	// section, whole whether the section is shown whole.
	opens, whole bool
	// command reports whether the line commands something.
	command bool
}

// eachLine yields the lines of a Markdown text.
func eachLine(text string) iter.Seq[line] {
	return func(yield func(line) bool) {
		var f fence
		for pos := 0; pos < len(text); {
			end := len(text)
			if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
				end = pos + n
			}
			l := f.line(strings.TrimSuffix(text[pos:end], "\r"))
			l.start, l.end = pos, end
			pos = end + 1
			if !yield(l) {
				return
			}
		}
	}
}

// fence is the mark of the fenced block that the next line is in, "" if it is in none.
type fence string

// line reads the next line of a text.
func (f *fence) line(text string) line {
	l := line{text: text}
	t := strings.TrimLeft(text, " \t")
	switch {
	case *f != "":
		l.code = true
		if strings.HasPrefix(t, string(*f)) {
			*f = ""
		}
	case strings.HasPrefix(t, "```"), strings.HasPrefix(t, "~~~"):
		l.code, *f = true, fence(t[:3])
	default:
		l.heading, l.item = headingDepth(text), listItem(t)
	}
	return l
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

// FileExcerpts prepares excerpts of a workspace file that is larger than its room. If instructions
// is set, the commands and the sections on session startup and red lines are kept first.
func FileExcerpts(id, text, resolver string, instructions bool) *excerpts {
	in := EvidenceInput{Text: text, PageID: id, Resolver: resolver}
	if instructions {
		in.Own = rules(strings.ToValidUTF8(text, "\uFFFD"))
	}
	return NewExcerpts(in)
}
