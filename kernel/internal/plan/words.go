package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// wordsRoom returns the size in tokens that persons' words may have in a window, both in remaining
// messages and in the carry block. The share is our choice: in two of three long sessions, persons
// typed at most 3 % of the messages.
func wordsRoom(window int) int { return window * 3 / 100 }

// turnTokens is the size of a turn's number and line in tokens.
const turnTokens = 6

// absent reports, by message, whether the message has left the prompt.
type absent []bool

func (a absent) lead() bool { return len(a) > 0 && a[0] }

// leftBy returns the messages that the prompt lacks if a wish is granted. The wish may be nil.
func leftBy(c *call, seen []pagevm.Seen, wish *pagevm.CutWish) absent {
	out := make(absent, len(c.Msgs))
	for i := range out {
		out[i] = i < len(seen) && seen[i].Gone || wish != nil && wish.Leave[c.Places[i].Atom]
	}
	return out
}

// spoken holds the words of one message of a person, in paragraphs.
type spoken struct {
	at, turn int
	// corrects is the turn that these words correct, and corrected is the turn that corrects them.
	// 0 is no turn.
	corrects, corrected int
	parts               []paragraph
}

// paragraph is a part of a person's message that is shown or left out as a whole.
type paragraph struct {
	text string
	// quoted reports that the person pasted the text.
	quoted bool
	tokens int
	// short is the text that is shown if there is no room for text.
	short string
}

// words returns what persons typed in the conversation, masked, oldest first.
func (c *call) words() []spoken {
	var out []spoken
	tools, turn := map[string]string{}, 0
	for i := range c.Msgs {
		m := &c.Msgs[i]
		own, quoted := transcript.Typed(*m)
		if own != "" || quoted != "" {
			turn++
		}
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Call != nil {
				tools[p.Call.ID] = p.Call.Name
			} else if p.Result != nil {
				if said, ok := transcript.Refusal(tools[p.Result.CallID], p.Result); ok && said != "" {
					own = strings.TrimSpace(own + "\n\n" + said)
				}
			}
		}
		s := spoken{at: i, turn: turn}
		s.parts = append(c.paragraphs(i, own, false), c.paragraphs(i, quoted, true)...)
		if s.parts != nil {
			out = append(out, s)
		}
	}
	return corrected(out)
}

// paragraphs cuts a text of message i at its blank lines.
func (c *call) paragraphs(i int, text string, quoted bool) (out []paragraph) {
	for t := range strings.SplitSeq(c.Maker.Mask.Text(text), "\n\n") {
		if t = strings.Trim(t, "\n"); strings.TrimSpace(t) != "" {
			out = append(out, paragraph{text: t, quoted: quoted, tokens: c.Maker.Count.Text(t), short: c.beginning(i, t)})
		}
	}
	return out
}

// shortBytes is the length of the shown beginning of a paragraph that is left out.
const shortBytes = 80

// beginning returns the beginning of a paragraph of message i, and the page with the rest. It
// returns "" if the beginning is hardly shorter than the paragraph.
func (c *call) beginning(i int, text string) string {
	first, _, _ := strings.Cut(text, "\n")
	first = textutil.Head(strings.TrimSpace(first), shortBytes)
	rest := len(text) - len(first)
	if rest < 2*shortBytes {
		return ""
	}
	at := ""
	for j := range c.Hosts[i].Segments {
		if s := &c.Hosts[i].Segments[j]; s.Kind == pagevm.ItemHost && c.Request.Resolver != "" {
			at = ": " + s.Page
		}
	}
	return fmt.Sprintf("%s… [%d bytes more%s]", first, rest, at)
}

// maxRestated is the longest paragraph, in bytes, that may restate another one.
const maxRestated = 400

// corrected marks messages in which one paragraph restates a paragraph of an earlier message with
// another value. The later message corrects the earlier one.
func corrected(said []spoken) []spoken {
	ends := map[string][]int{} // the messages by the first and the last word of a paragraph
	for i := range said {
		for _, p := range said[i].parts {
			f := strings.Fields(p.text)
			if p.quoted || len(p.text) > maxRestated || len(f) < 4 {
				continue
			}
			for _, key := range [...]string{"<" + f[0], ">" + f[len(f)-1]} {
				for _, j := range slices.Backward(ends[key]) {
					if said[i].corrects == 0 && j < i && said[j].corrected == 0 && restates(said[j].parts, p.text) {
						said[i].corrects, said[j].corrected = said[j].turn, said[i].turn
					}
				}
				ends[key] = append(ends[key], i)
			}
		}
	}
	return said
}

func restates(was []paragraph, now string) bool {
	return slices.ContainsFunc(was, func(p paragraph) bool {
		return !p.quoted && len(p.text) <= maxRestated && summary.Restates(p.text, now)
	})
}

// fitWords shortens paragraphs until all words fit in room tokens. It first shortens pasted text,
// then the longest paragraphs. A message and its correction are shortened together. Words of
// messages that remain in the prompt count, too.
func fitWords(said []spoken, room int, left absent, count func(string) int) []spoken {
	total := 0
	var groups []*group
	joined := map[int]*group{} // the group of a corrected message, by turn
	out := slices.Clone(said)
	for i := range out {
		s := &out[i]
		s.parts = slices.Clone(s.parts)
		total += turnTokens
		for j := range s.parts {
			p := &s.parts[j]
			total += p.tokens
			g := joined[s.turn]
			if g == nil {
				g = joined[s.corrects]
			}
			if g == nil || p.quoted {
				g = &group{quoted: p.quoted}
				groups = append(groups, g)
			}
			if !p.quoted && (s.corrected > 0 || s.corrects > 0) {
				joined[s.turn] = g
			}
			g.parts, g.inPrompt = append(g.parts, p), append(g.inPrompt, !left[s.at])
			g.longest = max(g.longest, p.tokens)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		switch {
		case a.quoted == b.quoted:
			return b.longest - a.longest
		case a.quoted:
			return -1
		}
		return 1
	})
	for _, drop := range [...]bool{false, true} {
		for _, g := range groups {
			if total <= room {
				return out
			}
			for k, p := range g.parts {
				short := p.short
				if drop || g.inPrompt[k] {
					short = ""
				} else if short == "" {
					continue
				}
				total += count(short) - p.tokens
				p.text, p.tokens = short, count(short)
			}
		}
	}
	return out
}

// group holds paragraphs that are shortened together.
type group struct {
	parts    []*paragraph
	inPrompt []bool
	quoted   bool
	longest  int
}

// nextToSummary returns the content that the prompt shows next to the summary: persons' words in
// messages that left (at most room tokens), the messages that remain, and the files under work.
func (c *call) nextToSummary(left absent, room int) summary.Beside {
	out := summary.Beside{}
	for _, s := range fitWords(c.typed(), room, left, c.Maker.Count.Text) {
		if !left[s.at] {
			continue
		}
		var texts []string
		for _, p := range s.parts {
			if p.text != "" {
				texts = append(texts, p.text)
			}
		}
		if texts != nil {
			out.Said = append(out.Said, summary.Said{Key: c.Msgs[s.at].Key, Turn: s.turn, Corrects: s.corrects, Corrected: s.corrected, Text: strings.Join(texts, "\n")})
		}
	}
	remaining := map[string]bool{}
	for i := range c.Msgs {
		if !left[i] {
			remaining[c.Msgs[i].Key] = true
		}
	}
	out.Stands = func(key string) bool { return remaining[key] }
	if w := c.worked(); len(w.files)+len(w.commands) > 0 {
		out.Files = func(room int) string { return c.workedText(left, room) }
	}
	return out
}
