package predict

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/transcript"
)

// Classes of content, in the order of reports.
const (
	classUser     = "user"     // what people wrote
	classInjected = "injected" // what the host wrote in their name
	classAnswer   = "answer"   // what the model said
	classThinking = "thinking" // shown or hidden
	classCall     = "call"     // names and arguments of tool calls
	classResult   = "result"   // text of tool results
	classMedia    = "media"    // images and documents, in results too
	classOther    = "other"    // blocks of no known kind
	numClasses    = 8
)

// classes lists them.
func classes() []string {
	return []string{classUser, classInjected, classAnswer, classThinking, classCall, classResult, classMedia, classOther}
}

// measure is a message's size by the counter alone, by class.
type measure struct {
	tokens, bytes, blocks [numClasses]int
}

// thinking returns the part that some models drop when the user speaks again.
func (m *measure) thinking() int { return m.tokens[slices.Index(classes(), classThinking)] }

func (m *measure) total() (tokens, bytes int) {
	for i := range m.tokens {
		tokens += m.tokens[i]
		bytes += m.bytes[i]
	}
	return tokens, bytes
}

func (m *measure) add(class string, tokens, bytes int) {
	i := slices.Index(classes(), class)
	m.tokens[i] += tokens
	m.bytes[i] += bytes
	m.blocks[i]++
}

// scale is what counts for one model.
type scale struct {
	counter budget.Counter
	over    budget.Overheads
	family  string
}

// measure counts a message. Its framing goes with the text of whoever speaks.
func (s *scale) measure(m *memkernel.Message) measure {
	var out measure
	class := classOf(m)
	for i := range m.Parts {
		s.part(&out, class, &m.Parts[i])
	}
	out.tokens[slices.Index(classes(), class)] += s.over.PerMessage
	return out
}

// recordedOutput returns what the provider billed for writing a message of so many
// counted tokens, 0 if the host recorded none or a stub, as streaming hosts do: that
// is far below what is there.
func recordedOutput(m *memkernel.Message, counted int) int {
	if m.Role != memkernel.RoleAssistant || m.Usage == nil || 2*m.Usage.OutputTokens < counted {
		return 0
	}
	return m.Usage.OutputTokens
}

func classOf(m *memkernel.Message) string {
	switch {
	case m.Role == memkernel.RoleAssistant:
		return classAnswer
	case m.Origin != memkernel.OriginHost:
		return classInjected
	case transcript.HasResults(*m):
		return classResult
	}
	return classUser
}

func (s *scale) part(out *measure, class string, q *memkernel.Part) {
	switch {
	case q.Call != nil:
		text := q.Call.Name + "\n" + budget.ToolInput(s.family, q.Call.Input)
		out.add(classCall, s.over.PerToolUse+s.text(text), len(q.Call.Name)+len(q.Call.Input))
	case q.Result != nil:
		out.add(classResult, s.over.PerToolResult, 0)
		for i := range q.Result.Content {
			s.part(out, classResult, &q.Result.Content[i])
		}
	case q.Media != nil:
		out.add(classMedia, s.over.Image(q.Media.Width, q.Media.Height), 0)
	case q.Kind == memkernel.PartThinking || q.Kind == memkernel.PartRedactedThinking:
		out.add(classThinking, s.text(q.Text)+budget.HiddenThinking(s.family, q.Text, q.Signature), len(q.Text))
	case q.Kind == memkernel.PartOther:
		out.add(classOther, s.text(q.Raw), len(q.Raw))
	default:
		out.add(class, s.text(q.Text), len(q.Text))
	}
}

func (s *scale) text(text string) int {
	if text == "" {
		return 0
	}
	return s.counter.Count(text).Tokens
}

// positions returns how many places of the provider's look-back a message takes:
// runs of calls count as one, and so do runs of results.
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
