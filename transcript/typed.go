package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Typed returns the words that a person typed in m: own are the person's words, quoted are the
// pasted or quoted texts among them (code fences, quotations, mails). It looks only at texts that a
// dialect marked ([memkernel.Part]), and removes the blocks, notices and files that hosts add, and
// the kernel's own words if a host returned them. A text of unknown origin is not the person's.
// Both are "" if no person spoke. No other function decides this.
func Typed(m memkernel.Message) (own, quoted string) {
	if !ofPerson(&m) || strings.HasPrefix(m.Key, "memkernel:") {
		return "", ""
	}
	var mine, others strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Typed && p.Kind == memkernel.PartText {
			o, q := split(spoken(p.Text))
			paragraph(&mine, o)
			paragraph(&others, q)
		}
	}
	return mine.String(), others.String()
}

// Words returns the text of m without the blocks and notices that hosts add, whoever wrote the
// text. Use it for search, and not as a person's instruction.
func Words(m memkernel.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == memkernel.PartText {
			paragraph(&b, spoken(p.Text))
		}
	}
	return b.String()
}

// MarkedTyped reports whether a dialect said that a person typed something in m.
func MarkedTyped(m memkernel.Message) bool {
	return anyPart(&m, func(p *memkernel.Part) bool { return p.Typed })
}

// Untyped returns m without the marks of typed text, for the conversation of a subagent, whose
// user is an agent. The parts of m stay unchanged.
func Untyped(m memkernel.Message) memkernel.Message {
	if !MarkedTyped(m) {
		return m
	}
	m.Parts = append([]memkernel.Part(nil), m.Parts...)
	for i := range m.Parts {
		m.Parts[i].Typed = false
	}
	return m
}

// Refusal reports whether r says that a person refused the call of a tool, and returns the words
// that they typed with it. A tool whose failure texts others choose could pose as a person, so
// Refusal returns no words for such a tool.
func Refusal(tool string, r *memkernel.ToolResult) (own string, ok bool) {
	text, ok := refusedText(r)
	if _, said, found := strings.Cut(text, saidWith); ok && found && worded[tool] {
		own, _ = split(spoken(said))
	}
	return own, ok
}

// worded lists the tools whose failure texts Claude Code writes itself.
var worded = textutil.Set(`Bash BashOutput KillShell Read Write Edit MultiEdit NotebookEdit Glob Grep LS Task
	Agent WebFetch WebSearch TodoWrite TaskCreate TaskUpdate Skill ExitPlanMode EnterPlanMode AskUserQuestion`)

// split separates a person's words from their quotations. A quotation ends a paragraph of the words.
func split(text string) (own, quoted string) {
	var mine, others strings.Builder
	var f fences
	code, last := true, "" // indented lines are code; the last line that wasn't
	for len(text) > 0 {
		line, rest, _ := strings.Cut(text, "\n")
		t := strings.TrimSpace(line)
		code = t == "" && !listed.MatchString(last) || code && indented(line)
		if t != "" && !code {
			last = line
		}
		switch {
		case f.line(t), strings.HasPrefix(t, ">"), code && t != "":
			others.WriteString(line + "\n")
			line = ""
		case mailBegins(t, rest):
			others.WriteString(text)
			line, rest = "", ""
		case t == PlanAccepted:
			others.WriteString(rest)
			line, rest = t+" “"+titleOf(rest)+"”", ""
		}
		if line != "" || !strings.HasSuffix(mine.String(), "\n\n") {
			mine.WriteString(line + "\n")
		}
		text = rest
	}
	return strings.TrimSpace(mine.String()), strings.TrimSpace(others.String())
}

// listed matches an item of a list. Indented lines after it belong to it.
var listed = textutil.LazyRegexp(`^\s*(?:[-*+•]|\d{1,3}[.)])\s`)

func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// PlanAccepted is the text that Claude Code writes for a user who accepts an agent's plan and
// starts a new session with it. The plan follows.
const PlanAccepted = "Implement the following plan:"

// titleOf returns the first line of a plan, which names it.
func titleOf(plan string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(plan, "# \t\n"), "\n")
	r := []rune(strings.NewReplacer("“", "", "”", "").Replace(strings.TrimSpace(line)))
	return string(r[:min(len(r), 120)])
}

// fences tracks fenced code blocks. A fence with a language opens a block even within another
// block, because pasted text may hold fences.
type fences struct {
	mark  string
	depth int
}

// line reports whether a trimmed line is part of a block. A block may open after words on a line.
func (f *fences) line(t string) bool {
	if !strings.HasPrefix(t, "```") && !strings.HasPrefix(t, "~~~") {
		if f.depth > 0 {
			return true
		}
		if strings.Count(t, "```")%2 == 1 {
			f.mark, f.depth = "```", 1
		}
		return false
	}
	n := len(t) - len(strings.TrimLeft(t, t[:1]))
	switch bare := strings.TrimSpace(t[n:]) == ""; {
	case f.depth == 0:
		if strings.Contains(t[n:], t[:3]) {
			return true // opened and closed on one line
		}
		f.mark, f.depth = t[:n], 1
	case !strings.HasPrefix(t[:n], f.mark): // of another kind, or shorter
	case bare:
		f.depth--
	case !strings.Contains(t[n:], t[:3]):
		f.depth++
	}
	return true
}

func paragraph(b *strings.Builder, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	b.WriteString(text)
}
