package predict

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
)

// measure is a message's size by the counter alone. Thinking is the part of its tokens that
// some models drop when the user speaks again.
type measure struct{ tokens, bytes, thinking int }

func (m *measure) add(tokens, bytes int) { m.tokens, m.bytes = m.tokens+tokens, m.bytes+bytes }

// measureOf counts a message with its framing.
func measureOf(model *budget.Model, m *memkernel.Message) measure {
	out := measure{tokens: model.Message(m), bytes: bytesOf(m.Parts)}
	for i := range m.Parts {
		if k := m.Parts[i].Kind; k == memkernel.PartThinking || k == memkernel.PartRedactedThinking {
			out.thinking += model.Part(&m.Parts[i])
		}
	}
	return out
}

// bytesOf returns the size of the texts of parts.
func bytesOf(parts []memkernel.Part) (n int) {
	for i := range parts {
		switch p := &parts[i]; {
		case p.Call != nil:
			n += len(p.Call.Name) + len(p.Call.Input)
		case p.Result != nil:
			n += bytesOf(p.Result.Content)
		case p.Media != nil:
		case p.Kind == memkernel.PartOther:
			n += len(p.Raw)
		default:
			n += len(p.Text)
		}
	}
	return n
}

// recordedOutput returns the number of tokens that the provider billed for writing a message,
// whose counted size is given. It returns 0 if the host recorded no figure, or one far below the
// message's size, as some streaming hosts do.
func recordedOutput(m *memkernel.Message, counted int) int {
	if m.Role != memkernel.RoleAssistant || m.Usage == nil || 2*m.Usage.OutputTokens < counted {
		return 0
	}
	return m.Usage.OutputTokens
}

// positions returns how many positions of the provider's look-back a message takes. A run of
// calls counts as one position, and so does a run of results.
func positions(m *memkernel.Message) int {
	n := 0
	last := memkernel.PartKind("")
	for i := range m.Parts {
		k := m.Parts[i].Kind
		if k == last && (k == memkernel.PartToolUse || k == memkernel.PartToolResult) {
			continue
		}
		last = k
		n++
	}
	return max(n, 1)
}

// markable reports whether a marker can be at the message's end.
func markable(m *memkernel.Message) bool {
	if len(m.Parts) == 0 {
		return false
	}
	switch last := &m.Parts[len(m.Parts)-1]; last.Kind {
	case memkernel.PartThinking, memkernel.PartRedactedThinking:
		return false
	case memkernel.PartText:
		return last.Text != ""
	}
	return true
}

func hasImage(parts []memkernel.Part) bool {
	for i := range parts {
		if parts[i].Kind == memkernel.PartImage || parts[i].Result != nil && hasImage(parts[i].Result.Content) {
			return true
		}
	}
	return false
}
