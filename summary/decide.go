package summary

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ask reads what an assistant's text ends on. The last line that is not a
// list item, table row or code is its last word; if it asks, it is a
// question. Without one in the last lines, the text's last line stands.
func ask(text string) Ask {
	a := Ask{Options: options(text)}
	rest, code := text, false
	for looked := 0; rest != "" && looked < 24; looked++ {
		i := strings.LastIndexByte(rest, '\n')
		line := strings.TrimSpace(rest[i+1:])
		if rest = rest[:max(i, 0)]; line == "" {
			continue
		}
		if fence(line) {
			code = !code
			continue
		}
		if _, item := unbullet(line); code || item || line[0] == '|' || label(line) != "" {
			continue
		}
		a.Text = oneLine(unmark(line), questionRunes)
		a.Question = asks(unmark(line))
		return a
	}
	a.Text = oneLine(unmark(lastLine(text)), questionRunes)
	a.Question = asks(a.Text)
	return a
}

// options lists the labelled lines of a text: "A. …", "**B)** …", "2: …",
// "| C. … |", after list and table marks. A label that comes again replaces
// the first: the last list is what a reply picks from.
func options(text string) []Option {
	if len(text) > 8<<10 {
		text = tail(text, 8<<10)
	}
	var out []Option
	code := false
	lines(text, func(line string) bool {
		if fence(line) {
			code = !code
		}
		l := label(line)
		if l == "" || code {
			return true
		}
		o := Option{Label: l, Text: oneLine(strings.Trim(unmark(line), "|- *"), optionRunes)}
		for i := range out {
			if out[i].Label == l {
				out = append(out[:i], out[i+1:]...)
				break
			}
		}
		if out = append(out, o); len(out) > maxOptions {
			out = out[1:]
		}
		return true
	})
	return out
}

// label is the option label that a line starts with: one capital letter or a
// number below 100, followed by one of ". ) :" and a space.
func label(line string) string {
	t := strings.TrimLeft(line, " \t|-*+•(")
	if rest, ok := strings.CutPrefix(t, "Option "); ok {
		t = rest
	}
	n := labelLen(t)
	if n == 0 || n >= len(t) || !strings.ContainsRune(".):", rune(t[n])) {
		return ""
	}
	if after := strings.TrimLeft(t[n+1:], "*_"); after == "" || after[0] != ' ' {
		return ""
	}
	return t[:n]
}

// labelLen is the length of the label at the start of s, 0 if there is none.
func labelLen(s string) int {
	if s == "" {
		return 0
	}
	if s[0] >= 'A' && s[0] <= 'Z' {
		return 1
	}
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 2 {
		return 0
	}
	return n
}

// decide records a decision if the user's message settles what the assistant
// said last: it picks one of the offered options, or it is a short reply,
// not itself a question, to a question or to a long text.
func (u *updater) decide(reply string) {
	a := u.s.Ask
	if a.Text == "" {
		return
	}
	short := oneLine(reply, replyRunes)
	if o, ok := pick(a.Options, strings.TrimSpace(reply)); ok {
		text := o.Text
		if short != o.Label {
			text += " → " + short
		}
		u.decision(u.entry("d", "choice", "chose "+text), nil)
		return
	}
	if asks(short) || utf8.RuneCountInString(strings.TrimSpace(reply)) > shortReply {
		return
	}
	if a.Question || a.Long {
		u.decision(u.entry("d", "reply", a.Text+" → "+short), nil)
	}
}

// pick finds the option that a reply names. A letter counts where it stands
// as a word of its own before punctuation or the reply's end; a number only
// at the start of a one-line reply, since numbers mean many things.
func pick(opts []Option, reply string) (Option, bool) {
	if len(opts) < 2 || utf8.RuneCountInString(reply) > 400 {
		return Option{}, false
	}
	for _, o := range opts {
		if _, err := strconv.Atoi(o.Label); err == nil {
			if rest, ok := strings.CutPrefix(reply, o.Label); ok && endsLabel(rest) && len(reply) <= 60 && !strings.Contains(reply, "\n") {
				return o, true
			}
			continue
		}
		for from := 0; ; {
			i := strings.Index(reply[from:], o.Label)
			if i < 0 {
				break
			}
			i += from
			if (i == 0 || strings.ContainsRune(" (*`\"'", rune(reply[i-1]))) && endsLabel(reply[i+1:]) {
				return o, true
			}
			from = i + 1
		}
	}
	return Option{}, false
}

// endsLabel tells whether a label may end where rest begins.
func endsLabel(rest string) bool {
	return rest == "" || strings.ContainsRune(".,;:)!\n*`\"'", rune(rest[0])) ||
		strings.HasPrefix(rest, "。") || strings.HasPrefix(rest, "，")
}
