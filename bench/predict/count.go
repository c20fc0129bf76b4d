package predict

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
)

// measure is a message's size by the counter alone. Thinking is the part of its tokens that
// some models drop when the user speaks again.
type measure struct{ tokens, bytes, thinking int }

func (m *measure) add(tokens, bytes int) { m.tokens, m.bytes = m.tokens+tokens, m.bytes+bytes }

// scale holds the count's corrections for one model.
type scale struct {
	counter budget.Counter
	over    budget.Overheads
	family  string
}

// measure counts a message with its framing.
func (s *scale) measure(m *memkernel.Message) measure {
	var out measure
	for i := range m.Parts {
		s.part(&out, &m.Parts[i])
	}
	out.tokens += s.over.PerMessage
	return out
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

func (s *scale) part(out *measure, q *memkernel.Part) {
	switch {
	case q.Call != nil:
		text := q.Call.Name + "\n" + budget.ToolInput(s.family, q.Call.Input)
		out.add(s.over.PerToolUse+s.text(text), len(q.Call.Name)+len(q.Call.Input))
	case q.Result != nil:
		out.add(s.over.PerToolResult, 0)
		for i := range q.Result.Content {
			s.part(out, &q.Result.Content[i])
		}
	case q.Media != nil:
		out.add(s.over.Image(q.Media.Width, q.Media.Height), 0)
	case q.Kind == memkernel.PartThinking || q.Kind == memkernel.PartRedactedThinking:
		n := s.text(q.Text) + budget.HiddenThinking(s.family, q.Text, q.Signature)
		out.add(n, len(q.Text))
		out.thinking += n
	case q.Kind == memkernel.PartOther:
		out.add(s.text(q.Raw), len(q.Raw))
	default:
		out.add(s.text(q.Text), len(q.Text))
	}
}

func (s *scale) text(text string) int {
	if text == "" {
		return 0
	}
	return s.counter.Count(text).Tokens
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
