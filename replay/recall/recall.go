package recall

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
)

// recentChars is the length of the text that the model has just seen: 8,000 tokens at three
// characters each. References into this text need no memory.
const recentChars = 8000 * 3

// side is the most characters of a line that must be shown on either side of an occurrence.
const side = 80

// Score counts the references of one call, or of many.
type Score struct {
	// References = Shown + Named + Pointer + Missing.
	References int `json:"references"`
	Shown      int `json:"shown"`
	Named      int `json:"named"`
	Pointer    int `json:"pointer"`
	Missing    int `json:"missing"`
	// Anchors counts edit anchors that occur earlier and not within the last 8,000 tokens.
	Anchors int `json:"anchors"`
	// AnchorsShown counts the Anchors that are in the prompt.
	AnchorsShown int `json:"anchors_shown"`
	// Edits counts all edit anchors that occur earlier, however recently.
	Edits      int `json:"edits"`
	EditsShown int `json:"edits_shown"`
}

// Add adds the counts of o.
func (s *Score) Add(o Score) {
	s.References += o.References
	s.Shown += o.Shown
	s.Named += o.Named
	s.Pointer += o.Pointer
	s.Missing += o.Missing
	s.Anchors += o.Anchors
	s.AnchorsShown += o.AnchorsShown
	s.Edits += o.Edits
	s.EditsShown += o.EditsShown
}

// Recall returns the share of references that are shown, between 0 and 1. It is 1 if there are no
// references.
func (s Score) Recall() float64 {
	if s.References == 0 {
		return 1
	}
	return float64(s.Shown) / float64(s.References)
}

// Tracker holds a session's history and scores calls against it. Callers must call Judge for an
// assistant's message first, then Append for the same message. One Tracker serves any number of
// prompts.
type Tracker struct {
	hist     corpus
	messages []message
	parts    []part
	// newest maps a token to 1 + the index of its newest occurrence.
	newest map[string]int32
	occs   []occurrence
	files  fileHistory
}

// message is a message of the history. start is where its text starts, and chars is how many
// characters it has.
type message struct{ start, chars int }

// part is a piece of a message with its start.
type part struct {
	start int
	place Place
}

// occurrence is one place of a token. prev is 1 + the index of the token's previous occurrence.
type occurrence struct{ pos, prev int32 }

// New returns a Tracker of an empty session.
func New() *Tracker {
	return &Tracker{newest: map[string]int32{}, files: fileHistory{calls: map[string]*memkernel.ToolCall{}}}
}

// Append extends the history by a message of any role.
func (t *Tracker) Append(m memkernel.Message) {
	msg := message{start: len(t.hist.text)}
	for i, p := range pieces(m) {
		if i > 0 {
			msg.chars++ // the line break between two pieces
		}
		start := t.hist.append(p.text)
		t.parts = append(t.parts, part{start, Place{len(t.messages), m.Key, p.call}})
		msg.chars += utf8.RuneCountInString(p.text)
		tokens(p.text, func(i, j int) {
			pos := int32(start + i)
			prev := t.newest[p.text[i:j]]
			if prev > 0 && t.occs[prev-1].pos == pos {
				return
			}
			t.occs = append(t.occs, occurrence{pos, prev})
			t.newest[p.text[i:j]] = int32(len(t.occs))
		})
	}
	t.files.note(len(t.messages), &m)
	t.messages = append(t.messages, msg)
}

// Judge scores the prompt of the call that produced m, an assistant's message that is not yet in
// the history. behind reports whether the prompt has a pointer to a place instead of its text. A
// nil behind means that the prompt has no pointers.
func (t *Tracker) Judge(p *Prompt, m memkernel.Message, behind func(Place) bool) Score {
	c := call{Tracker: t, prompt: p, behind: behind, recent: t.recent()}
	for _, tok := range distinct(useOf(m)) {
		c.token(tok.text, tok.quoted)
	}
	for _, a := range anchorsOf(m) {
		c.anchor(a)
	}
	return c.score
}

// used is a token of U. A token that is quoted somewhere counts as quoted.
type used struct {
	text   string
	quoted bool
}

// distinct lists the tokens of U, each once, in the order of their first appearance. Tokens that
// are only quoted come after all other tokens.
func distinct(use string) []used {
	var out []used
	at := map[string]int{}
	add := func(tok string, quoted bool) {
		if i, ok := at[tok]; ok {
			out[i].quoted = out[i].quoted || quoted
			return
		}
		at[tok] = len(out)
		out = append(out, used{tok, quoted})
	}
	tokens(use, func(i, j int) { add(use[i:j], false) })
	quotes(use, func(i, j int) {
		if strings.TrimSpace(use[i:j]) != "" {
			add(use[i:j], true)
		}
	})
	return out
}

// recent returns where the last 8,000 tokens begin.
func (t *Tracker) recent() int {
	if i := t.Recent(); i < len(t.messages) {
		return t.messages[i].start
	}
	return 0
}

// Recent returns the first message of the last 8,000 tokens. The measure presumes that every
// prompt shows these messages.
func (t *Tracker) Recent() int {
	chars := 0
	for i := len(t.messages) - 1; i >= 0; i-- {
		if chars += t.messages[i].chars; chars >= recentChars {
			return i
		}
	}
	return 0
}

// call is one call being scored.
type call struct {
	*Tracker
	prompt *Prompt
	behind func(Place) bool
	recent int
	score  Score
}

// occurrences calls f with the positions of a token, newest first. A quoted
// string occurs wherever it is a substring.
func (c *call) occurrences(tok string, quoted bool, f func(pos int) bool) {
	if quoted {
		c.hist.each(tok, f)
		return
	}
	for i := c.newest[tok]; i > 0; i = c.occs[i-1].prev {
		if !f(int(c.occs[i-1].pos)) {
			return
		}
	}
}

// token scores one token of U.
func (c *call) token(tok string, quoted bool) {
	named, shown, found, recent := false, false, false, false
	c.occurrences(tok, quoted, func(pos int) bool {
		if !found { // the newest decides whether it is a reference at all
			found = true
			if recent = pos+len(tok) > c.recent; recent {
				return false
			}
			if named = c.prompt.Contains(tok); !named {
				return false
			}
		}
		shown = c.prompt.Contains(c.window(pos, len(tok)))
		return !shown
	})
	if !found || recent {
		return
	}
	c.score.References++
	switch {
	case shown:
		c.score.Shown++
	case named:
		c.score.Named++
	default:
		pointer := false
		c.occurrences(tok, quoted, func(pos int) bool {
			pointer = c.behind != nil && c.behind(c.place(pos))
			return !pointer
		})
		c.score.Pointer += one(pointer)
		c.score.Missing += one(!pointer)
	}
}

// place finds the part that holds a position.
func (t *Tracker) place(pos int) Place {
	after := sort.Search(len(t.parts), func(i int) bool { return t.parts[i].start > pos })
	return t.parts[after-1].place
}

// window returns the trimmed line around an occurrence, with at most side characters on either
// side of the occurrence.
func (t *Tracker) window(pos, n int) string {
	text := t.hist.text
	start, end := pos, pos+n
	for k := 0; k < side && start > 0 && text[start-1] != '\n'; k++ {
		_, w := utf8.DecodeLastRune(text[max(0, start-utf8.UTFMax):start])
		start -= w
	}
	for k := 0; k < side && end < len(text) && text[end] != '\n'; k++ {
		_, w := utf8.DecodeRune(text[end:])
		end += w
	}
	return string(bytes.TrimSpace(text[start:end]))
}

// anchor scores one edit anchor.
func (c *call) anchor(line string) {
	newest := -1
	c.hist.each(line, func(pos int) bool { newest = pos; return false })
	if newest < 0 {
		return
	}
	shown := one(c.prompt.Contains(line))
	c.score.Edits++
	c.score.EditsShown += shown
	if newest+len(line) <= c.recent {
		c.score.Anchors++
		c.score.AnchorsShown += shown
	}
}
