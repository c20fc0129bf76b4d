package kernel

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// userTurn finds the user's newest words: the key of the message, what it says,
// and whether nothing was answered yet.
func (w *work) userTurn() (key, text string, fresh bool) {
	fresh = true
	for i := len(w.msgs) - 1; i >= 0; i-- {
		m := &w.msgs[i]
		if m.Role == memkernel.RoleAssistant {
			fresh = false
		}
		if m.Origin == memkernel.OriginHost && transcript.PlainUser(*m) {
			return m.Key, wordsOf(m), fresh
		}
	}
	return "", "", false
}

// wordsOf is what the user wrote in a message, without what hosts put beside it.
func wordsOf(m *memkernel.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == memkernel.PartText {
			b.WriteString(withoutReminders(p.Text))
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}

// withoutReminders takes out what Claude Code adds to the user's words.
func withoutReminders(s string) string {
	const begin, end = "<system-reminder>", "</system-reminder>"
	for {
		from := strings.Index(s, begin)
		if from < 0 {
			return s
		}
		to := strings.Index(s[from:], end)
		if to < 0 {
			return s[:from]
		}
		s = s[:from] + s[from+to+len(end):]
	}
}
