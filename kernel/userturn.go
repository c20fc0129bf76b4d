package kernel

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// userTurn finds the newest message by which a person opened a turn: its key, all that
// they typed, and whether nothing was answered yet. Where nobody is known to have
// spoken, as with a subagent, it is the newest that asks for something.
func (w *work) userTurn() (key, text string, fresh bool) {
	asked, askedFresh := -1, false
	fresh = true
	for i := len(w.Msgs) - 1; i >= 0; i-- {
		m := &w.Msgs[i]
		if m.Role == memkernel.RoleAssistant {
			fresh = false
		}
		if m.Origin != memkernel.OriginHost || !transcript.PlainUser(*m) {
			continue
		}
		if transcript.MarkedTyped(*m) {
			own, quoted := transcript.Typed(*m)
			if text := strings.TrimSpace(own + "\n" + quoted); text != "" || hasMedia(m) {
				return m.Key, text, fresh
			}
		}
		if asked < 0 {
			asked, askedFresh = i, fresh
		}
	}
	if asked < 0 {
		return "", "", false
	}
	return w.Msgs[asked].Key, transcript.Words(w.Msgs[asked]), askedFresh
}

func hasMedia(m *memkernel.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Media != nil {
			return true
		}
	}
	return false
}
