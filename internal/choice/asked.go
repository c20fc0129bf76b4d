package choice

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/lazyregexp"
	"github.com/memkernel/memkernel/transcript"
)

// Asked is the end of an agent's text, which a person's next message may answer.
type Asked struct {
	// Text holds the sentences that ask, else the last ones of the text, word for word and
	// bounded.
	Text string
	// Question reports whether they ask.
	Question bool
	// Options are the labels and titles of the list that the text offers, "A. Redis".
	Options []string
}

// The most characters that a decision takes of a question, of the options that it lists, of
// one option, and of the reply. A longer reply is a text of its own and no answer.
const (
	QuestionRunes = 180
	optionsRunes  = 200
	optionRunes   = 60
	ReplyRunes    = 180
)

// textBytes is how much of a text is looked at, from its end, maxOptions the longest list
// that offers a choice, and replyLines the most lines of a reply.
const (
	textBytes  = 16 << 10
	maxOptions = 12
	replyLines = 4
)

// answersMark separates a question from its answer in the text of a decision.
const answersMark = " → "

// Ask returns the end of an agent's text: its question if one of its last two paragraphs
// asks, else its last paragraph.
func Ask(text string) Asked {
	lines := readable(tailBytes(text, textBytes))
	a := Asked{Options: options(lines)}
	last, looked := "", 0
	for i := len(lines) - 1; i >= 0 && looked < 2; i-- {
		t := unmarked(lines[i])
		if t == "" || inList(lines[i]) && (looked > 0 || !Asking(t) || len(a.Options) > 0) {
			continue
		}
		if looked++; Asking(t) {
			a.Text, a.Question = focused(lines, i), true
			return a
		}
		if last == "" {
			last = t
		}
	}
	a.Text = Cut(last, QuestionRunes)
	return a
}

// inList reports whether a line is an item, a row of a table or a labelled line.
func inList(line string) bool {
	t, bullet := unbulleted(line)
	return bullet || strings.HasPrefix(t, "|") || label.MatchString(unmarked(t))
}

// focused returns the question of line i: all of the line if it fits, else its last sentence
// that asks, with as many sentences before that as fit. A few words ("Shall I?") follow the
// sentence before them.
func focused(lines []string, i int) string {
	q := unmarked(lines[i])
	if utf8.RuneCountInString(q) > QuestionRunes {
		s := splitSentences(q)
		last := len(s) - 1
		for last > 0 && !Asking(s[last]) {
			last--
		}
		q = s[last]
		for last--; last >= 0 && utf8.RuneCountInString(s[last]+q) < QuestionRunes; last-- {
			q = s[last] + " " + q
		}
	}
	if utf8.RuneCountInString(q) < shortQuestion && i > 0 {
		for i--; i > 0 && strings.TrimSpace(lines[i]) == ""; i-- {
		}
		t := unmarked(lines[i])
		if s := lastSentence(t); t != "" && !inList(lines[i]) && !strings.HasPrefix(lines[i], "#") && !strings.HasSuffix(t, ":") && utf8.RuneCountInString(s+q) < QuestionRunes {
			q = s + " " + q
		}
	}
	if r := []rune(q); len(r) > QuestionRunes {
		q = string(r[len(r)-QuestionRunes+1:]) // a long question asks at its end
		if _, rest, ok := strings.Cut(q, " "); ok {
			q = rest
		}
		q = "…" + q
	}
	return q
}

// shortQuestion is the length, in characters, below which a question needs what precedes it.
const shortQuestion = 24

// label matches the label of an option and what follows: "2. Redis", "(b) Redis", "Option 2:
// Redis".
var label = lazyregexp.New(`^((?:\p{L}+ )?#?[(\[（]?(\d{1,2}|[A-Za-zА-Яа-я])[.)\]:：、．）]+)\s*(\S.*)$`)

// options returns the last labelled list of at least two lines in a text, nil if that has
// more than maxOptions.
func options(lines []string) []string {
	var out, list []string
	next := ""
	for _, l := range append(lines, "") {
		t, _ := unbulleted(l)
		m := label.FindStringSubmatch(unmarked(t))
		if m == nil {
			continue
		}
		switch first := strings.ContainsAny(m[2], "1aAаА") && utf8.RuneCountInString(m[2]) == 1; {
		case m[2] == next:
			list = append(list, m[1]+" "+Cut(titleOf(m[3]), optionRunes))
		case first:
			list = []string{m[1] + " " + Cut(titleOf(m[3]), optionRunes)}
		default:
			continue
		}
		if n, err := strconv.Atoi(m[2]); err == nil {
			next = strconv.Itoa(n + 1)
		} else {
			r, _ := utf8.DecodeRuneInString(m[2])
			next = string(r + 1)
		}
		if len(list) > 1 {
			out = list
		}
	}
	if len(out) > maxOptions {
		return nil
	}
	return out
}

// titleOf returns what a line states before it explains that.
func titleOf(line string) string {
	end := len(line)
	for _, sep := range [...]string{": ", " — ", " – ", " - ", " -- ", " | ", ". ", "; ", "。", "：", "；", "—"} {
		if i := strings.Index(line, sep); i > 0 {
			end = min(end, i)
		}
	}
	if strings.Count(line[:end], "`")%2 > 0 {
		end = len(line) // the mark is in code
	}
	return strings.TrimRight(strings.TrimSpace(line[:end]), ".:;。?？")
}

// Answered returns the decision that a person's reply makes of what an agent asked: the
// question, the options if the reply points at them, and the reply, each word for word. It is
// false if the reply answers nothing. A reply is an answer if two of three things are so:
// the agent asked; the reply begins as an answer does; it takes up a word, a figure or a
// label of the question.
func (a Asked) Answered(reply string) (string, bool) {
	reply = strings.TrimSpace(reply)
	if a.Text == "" || reply == "" || utf8.RuneCountInString(reply) > ReplyRunes || strings.Count(reply, "\n") >= replyLines || strings.Contains(reply, "```") {
		return "", false
	}
	labels, begins := a.labels(reply), Settles(reply)
	if Wonders(reply) || Asking(reply) && !begins {
		return "", false
	}
	n := 0
	for _, sign := range [...]bool{a.Question, begins, labels || a.shares(reply)} {
		if sign {
			n++
		}
	}
	if n < 2 {
		return "", false
	}
	text := a.Text
	if labels || strings.HasSuffix(text, ":") || utf8.RuneCountInString(reply) <= pointingRunes && slices.ContainsFunc(scan(reply), func(t token) bool { return t.is(isPoint) }) {
		for i, sep, room := 0, " ", optionsRunes; i < len(a.Options); i++ {
			if room -= utf8.RuneCountInString(a.Options[i]) + 2; room < 0 {
				text += "; …"
				break
			}
			text, sep = text+sep+a.Options[i], "; "
		}
	}
	return text + answersMark + strings.Join(strings.Fields(reply), " "), true
}

// pointingRunes is the length of the longest reply that needs the options if it points at one
// without its label ("the second").
const pointingRunes = 40

// named matches a figure or a single letter in a reply.
var named = lazyregexp.New(`(?:^|[^\p{L}\p{N}])(\d{1,2}|\p{L})(?:[^\p{L}\p{N}]|$)`)

// labels reports whether a reply names an option by its label. A small letter does so only if
// the reply is little else.
func (a Asked) labels(reply string) bool {
	for _, m := range named.FindAllStringSubmatch(strings.ReplaceAll(reply, " ", "  "), -1) {
		for _, o := range a.Options {
			own := label.FindStringSubmatch(o)
			if own != nil && (own[2] == m[1] || strings.EqualFold(own[2], m[1]) && (len(reply) < 4 || m[1] != strings.ToLower(m[1]))) {
				return true
			}
		}
	}
	return false
}

// sharedRunes is the length of a word that counts if a reply takes it up; shorter words are
// in too many texts. Any word counts of a reply of at most fewWords.
const sharedRunes, fewWords = 6, 4

// shares reports whether a reply takes up a word or a figure of the question: the same word, or
// a long one that begins alike.
func (a Asked) shares(reply string) bool {
	tells := func(t token) bool { return t.kind == number || t.kind == word && t.class == 0 }
	least := sharedRunes
	if len(strings.Fields(reply)) <= fewWords {
		least = 1
	}
	asked := slices.DeleteFunc(chatting().scan(a.Text), func(t token) bool { return !tells(t) })
	return slices.ContainsFunc(chatting().scan(transcript.Unquoted(reply)), func(t token) bool {
		r, n := utf8.DecodeRuneInString(t.text)
		return tells(t) && slices.ContainsFunc(asked, func(q token) bool {
			switch {
			case t.kind != q.kind:
				return false
			case wide(r):
				return len(t.text) > n && strings.Contains(q.text, t.text) || utf8.RuneCountInString(q.text) > 1 && strings.Contains(t.text, q.text)
			case t.text == q.text:
				return t.kind == number || utf8.RuneCountInString(t.text) >= least
			}
			return t.kind == word && min(utf8.RuneCountInString(q.text), utf8.RuneCountInString(t.text)) >= sharedRunes && (strings.HasPrefix(q.text, t.text) || strings.HasPrefix(t.text, q.text))
		})
	})
}

// Wonders reports whether somebody's words begin with a question or a doubt, or ask to wait.
func Wonders(words string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
	s := splitSentences(line)
	return len(s) > 0 && Asking(s[0]) || doubting.MatchString(line)
}

// Settles reports whether a reply begins as an answer does: with assent or refusal, a verb
// of choosing, or what points at an option. Others begin something else.
func Settles(reply string) bool {
	t := begins(reply)
	if len(t) > 2 && t[0].kind == number && t[1].kind == stop && strings.Contains(reply, "\n") {
		return false // a list of their own
	}
	return len(t) > 0 && (t[0].kind == number || t[0].text == "#" || t[0].is(answering))
}

// agrees reports whether a reply begins with a yes.
func agrees(reply string) bool {
	t := begins(reply)
	return len(t) > 0 && t[0].is(isYes)
}

// answering are the classes of words that an answer begins with.
const answering = isYes | isNeg | isPick | isOption | isPoint

// begins returns the tokens of a reply from its first one that has a meaning.
func begins(reply string) []token {
	tokens := scan(transcript.Unquoted(cutBytes(strings.TrimSpace(reply), textBytes)))
	for i, t := range tokens {
		if t.is(answering) || t.kind != comma && t.kind != stop && !t.is(isFill) {
			return tokens[i:]
		}
	}
	return nil
}

// Words returns the person's own in the text of a decision, "" if it has none: what else
// is in it are an agent's.
func Words(decision string) string {
	_, words, _ := parts(decision)
	return words
}

// parts returns the question of a decision and its answer; ok is false if the text has no
// answer.
func parts(text string) (asked, answer string, ok bool) {
	i := strings.LastIndex(text, answersMark)
	if i < 0 || strings.HasPrefix(text, agentMark) {
		return text, "", false
	}
	return text[:i], strings.TrimSpace(text[i+len(answersMark):]), true
}

// agentMark begins the text of a decision that an agent stated.
const agentMark = "agent: "

// ByAgent reports whether the text of a decision is an agent's statement alone.
func ByAgent(text string) bool { return strings.HasPrefix(text, agentMark) }

// Said returns the text of a decision that an agent stated.
func Said(statement string) string { return agentMark + statement }

// readable returns the lines of a text that speak: what is in code or quoted is empty.
func readable(text string) []string {
	out := strings.Split(strings.ReplaceAll(text, "\r", ""), "\n")
	mark := begunIn(out, len(text) > textBytes-utf8.UTFMax)
	for i, l := range out {
		t := strings.TrimLeft(l, " ")
		switch {
		case mark == "" && (strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")):
			mark = t[:3]
			if strings.Count(t, mark) > 1 {
				mark = ""
			}
			out[i] = ""
		case mark != "":
			if strings.HasPrefix(t, mark) {
				mark = ""
			}
			out[i] = ""
		case strings.HasPrefix(t, ">"):
			out[i] = ""
		}
	}
	return out
}

// begunIn returns the mark of the code block that a text's first line is in, if its start
// was cut off.
func begunIn(lines []string, cut bool) string {
	first, n := "", 0
	for _, l := range lines {
		if t := strings.TrimSpace(l); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			if n++; n == 1 {
				first = t
			}
		}
	}
	if !cut || n%2 == 0 || len(first) != 3 {
		return ""
	}
	return first
}
