package recall

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// Action is a tool call judged by the input that it needed from its prompt. An input token is a
// path, identifier, number, hash or quoted string of the call's input that occurs earlier in the
// session, however recently. A string that occurs nowhere earlier is the model's own, so no
// prompt needs to have it.
type Action struct {
	Tool string
	// Tokens counts the input tokens.
	Tokens int
	// Lacked lists the input tokens that are nowhere in the prompt. An action without input
	// tokens is in no share.
	Lacked []string
	// Edits counts the edits of the call that replace a line which was seen before. Blind counts
	// the Edits with such a line that is not in the prompt word for word.
	Edits, Blind int
	// Fresh has the edits of files that were not edited since the agent last read them. Changed
	// has the others.
	Fresh, Changed Quoted
}

// Quoted counts Edits, their Blind ones, and the lines that were seen before and that the edits
// replace. Shown counts the Lines that are in the prompt.
type Quoted struct{ Edits, Blind, Lines, Shown int }

// Add adds the counts of o.
func (q *Quoted) Add(o Quoted) {
	q.Edits, q.Blind, q.Lines, q.Shown = q.Edits+o.Edits, q.Blind+o.Blind, q.Lines+o.Lines, q.Shown+o.Shown
}

// Ready reports whether all the action's input tokens were in its prompt.
func (a *Action) Ready() bool { return len(a.Lacked) == 0 }

// leastAnchor is the least length, in characters, of a line that must be shown for an edit not to
// be blind. A shorter line, such as a brace alone, reveals nothing about the replaced text.
const leastAnchor = 4

// Actions judges the tool calls of m, an assistant's message that is not yet in the
// history, against the prompt of its call.
func (t *Tracker) Actions(p *Prompt, m memkernel.Message) []Action {
	var out []Action
	c := call{Tracker: t, prompt: p}
	for i := range m.Parts {
		in := m.Parts[i].Call
		if m.Parts[i].Kind != memkernel.PartToolUse || in == nil {
			continue
		}
		a := Action{Tool: in.Name}
		for _, tok := range distinct(strings.Join(inputLeaves(in), "\n")) {
			seen := false
			c.occurrences(tok.text, tok.quoted, func(int) bool { seen = true; return false })
			if !seen {
				continue
			}
			a.Tokens++
			if !p.Contains(tok.text) {
				a.Lacked = append(a.Lacked, tok.text)
			}
		}
		for _, old := range oldTexts(in) {
			q := t.edit(p, old.lines)
			a.Edits, a.Blind = a.Edits+q.Edits, a.Blind+q.Blind
			if t.files.file(old.file).changed() {
				a.Changed.Add(q)
			} else {
				a.Fresh.Add(q)
			}
		}
		out = append(out, a)
	}
	return out
}

// edit counts the lines that an edit replaces and that were seen before.
func (t *Tracker) edit(p *Prompt, old []string) (q Quoted) {
	for _, line := range old {
		line = strings.TrimSpace(line)
		if utf8.RuneCountInString(line) < leastAnchor || !t.hist.contains(line) {
			continue
		}
		q.Lines, q.Shown = q.Lines+1, q.Shown+one(p.Contains(line))
	}
	q.Edits, q.Blind = one(q.Lines > 0), one(q.Shown < q.Lines)
	return q
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// oldText is the lines of a file that an edit replaces.
type oldText struct {
	file  string
	lines []string
}

// oldTexts lists the old text of each edit of a call. Edits are tool inputs with an old text,
// lists of them under "edits", and hunks of patches in the "*** Begin Patch" format.
func oldTexts(c *memkernel.ToolCall) (out []oldText) {
	calls, _ := toolcall.Unwrap(c.Name, c.Input)
	for _, in := range calls {
		for _, lines := range inputOld(json.RawMessage(in.Input)) {
			out = append(out, oldText{toolcall.Read(in.Name, in.Input).Path(), lines})
		}
		for _, s := range leavesOf(in) {
			out = append(out, patchOld(s)...)
		}
	}
	return out
}

// oldKeys are the input fields that hold an edit's old text.
var oldKeys = [...]string{"old_string", "oldString", "oldText", "old_text", "old_str"}

func inputOld(raw json.RawMessage) [][]string {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return nil
	}
	var out [][]string
	for _, k := range oldKeys {
		var s string
		if json.Unmarshal(in[k], &s) == nil && s != "" {
			out = append(out, strings.Split(s, "\n"))
		}
	}
	var edits []json.RawMessage
	if json.Unmarshal(in["edits"], &edits) == nil {
		for _, e := range edits {
			out = append(out, inputOld(e)...)
		}
	}
	return out
}

// patchOld reads the hunks of a patch. The lines that stay and the lines that go are the old
// text.
func patchOld(s string) []oldText {
	_, s, ok := strings.Cut(s, "*** Begin Patch\n")
	if !ok {
		return nil
	}
	var out []oldText
	var old oldText
	for line := range strings.SplitSeq(s, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "*** "):
			out, old.lines = append(out, old), nil
			if file, ok := strings.CutPrefix(line, "*** Update File: "); ok {
				old.file = path.Clean(file)
			}
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "-"):
			old.lines = append(old.lines, line[1:])
		}
	}
	out = append(out, old)
	return slices.DeleteFunc(out, func(o oldText) bool { return len(o.lines) == 0 })
}
