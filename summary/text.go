package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/choice"
)

// Excerpt lengths, in runes.
const (
	goalRunes       = 280
	requestRunes    = 400
	constraintRunes = 220
	questionRunes   = choice.QuestionRunes
	replyRunes      = choice.ReplyRunes
	optionRunes     = 120
	commandRunes    = 140
	errorRunes      = 180
	todoRunes       = 120
	pathRunes       = 240
	nameRunes       = 120
	reportRunes     = 400
)

// DecisionRunes is the most runes of a decision, which is a question, the options that it lists,
// and a reply.
const DecisionRunes = 600

// The sizes, in bytes, of the windows of text that are read. Everything in a summary is near the
// start or the end of its source.
const (
	userWindow    = 64 << 10
	sayWindow     = 16 << 10
	resultWindow  = 4 << 10
	commandWindow = 4 << 10
)

const header = "[SESSION_SUMMARY v1]"

// oneLine turns s into one line of at most max runes. A run of white space becomes one space.
// Terminal escapes, control characters and bidirectional-override characters are removed. Invalid
// UTF-8 becomes U+FFFD. oneLine stops reading after max runes.
func oneLine(s string, max int) string {
	if len(s) <= max && clean(s) {
		return disarm(s)
	}
	var b strings.Builder
	if max > 0 {
		b.Grow(min(len(s), max+len("…")))
	}
	n, space := 0, false
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escapeLen(s[i:])
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		i += w
		if unicode.IsSpace(r) || r == '\u0085' {
			space = n > 0
			continue
		}
		if hidden(r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		if n >= max-1 && strings.TrimSpace(s[i:]) != "" {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
		n++
	}
	return disarm(strings.TrimRight(b.String(), " "))
}

// clean reports whether s is visible ASCII with single spaces between its words.
func clean(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' && (s[i] != ' ' || i == 0 || i == len(s)-1 || s[i-1] == ' ') || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// hidden reports whether r is a character that changes how text is shown without being seen.
// Joiners are not hidden, since scripts and emoji need them.
func hidden(r rune) bool {
	return unicode.IsControl(r) || r == '\ufeff' || r == '\u200b' ||
		'\u200e' <= r && r <= '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// escapeLen returns the length of the terminal escape that s starts with.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 {
			return i
		}
	}
	return len(s)
}

// disarm changes the summary's own header in an excerpt, so that an excerpt can't pass for a
// summary.
func disarm(s string) string {
	if !strings.Contains(s, "[SESSION_SUMMARY") {
		return s
	}
	return strings.ReplaceAll(s, "[SESSION_SUMMARY", `[\SESSION_SUMMARY`)
}

// fence reports whether a line opens or closes a fenced code block.
func fence(line string) bool {
	t := strings.TrimLeft(line, " ")
	return strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")
}

// unmark takes Markdown's emphasis, quote and heading marks off a line.
func unmark(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "#>| ")
	if strings.Contains(line, "**") {
		line = strings.ReplaceAll(line, "**", "")
	}
	return strings.TrimSpace(line)
}

// substantial reports whether s is a request rather than a word of assent: at least two words and
// ten letters, or four ideographs or kana.
func substantial(s string) bool {
	letters, wide := 0, 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			wide++
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			letters++
		}
	}
	return wide >= 4 || letters >= 10 && strings.ContainsAny(s, " \t\n")
}
