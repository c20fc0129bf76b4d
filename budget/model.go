package budget

import (
	"cmp"
	"time"

	"github.com/memkernel/memkernel"
)

// Model counts the parts of messages for one model: their texts, their framing, and hidden thinking
// and media. It is safe for concurrent use.
type Model struct {
	overheads
	// Counter counts texts. Kind is the reliability of its counts.
	Counter Counter
	Kind    Kind

	id     string
	family string // the tokenizer's name
	cache  *Cache // nil counts each time
}

// NewModel returns the counts of a model. tokenizer is the tokenizer's name from the price book. If
// it is "", NewModel guesses the tokenizer by the model's id. A nil cache makes it count each time.
func NewModel(tokenizer, id string, cache *Cache) (Model, error) {
	name := cmp.Or(tokenizer, familyOf(id))
	c, err := For(name)
	if err != nil {
		return Model{}, err
	}
	return Model{overheads: overheadsFor(id), Counter: c, Kind: c.Count("a").Kind, id: id, family: name, cache: cache}, nil
}

// Text counts the expected tokens of a text.
func (m *Model) Text(s string) int { return m.cache.Count(m.Counter, s).Tokens }

// Part counts a content block with its framing.
func (m *Model) Part(p *memkernel.Part) int {
	switch {
	case p.Call != nil:
		return m.PerToolUse + m.Text(p.Call.Name) + m.Text(toolInput(m.family, p.Call.Input))
	case p.Result != nil:
		n := m.PerToolResult
		for i := range p.Result.Content {
			n += m.Part(&p.Result.Content[i])
		}
		return n
	case p.Media != nil:
		return m.Image(p.Media.Width, p.Media.Height) + m.Text(p.Text)
	case p.Kind == memkernel.PartOther:
		return m.Text(p.Raw)
	case p.Kind == memkernel.PartRedactedThinking && m.family != claudeOld && m.family != claudeNew:
		return m.Text(p.Signature)
	case p.Kind == memkernel.PartThinking || p.Kind == memkernel.PartRedactedThinking:
		return m.Text(p.Text) + hiddenThinking(m.family, p.Text, p.Signature)
	}
	return m.Text(p.Text)
}

// Message returns the expected number of tokens of a message with its framing.
func (m *Model) Message(msg *memkernel.Message) int {
	n := m.PerMessage
	for i := range msg.Parts {
		n += m.Part(&msg.Parts[i])
	}
	return n
}

// Fixed returns the size of the system prompt and the tools that a transcript lacks. It takes the
// bill of the first call with recorded usage, less the messages before the call and the known
// part of system prompt and tools. It returns 0 if no usage is recorded. Usage after a younger
// summary does not count, since it was billed for another prompt.
func (m *Model) Fixed(msgs []memkernel.Message, system []memkernel.Part, tools []memkernel.Tool) int {
	var summed time.Time
	before := 0
	for i := range msgs {
		msg := &msgs[i]
		if msg.Origin == memkernel.OriginSummary && msg.Time.After(summed) {
			summed = msg.Time
		}
		call := msg.Role == memkernel.RoleAssistant && msg.Origin != memkernel.OriginSynthetic
		if call && msg.Usage != nil && msg.Usage.InputTotal() > 0 && !msg.Time.Before(summed) {
			return max(0, msg.Usage.InputTotal()-before-m.System(system)-m.Tools(tools))
		}
		before += m.Message(msg)
	}
	return 0
}

// Tools counts the tool definitions and the system prompt that they bring.
func (m *Model) Tools(tools []memkernel.Tool) int {
	n := m.framing(len(tools))
	for i := range tools {
		n += m.Text(tools[i].Raw)
	}
	return n
}

// System counts the system prompt.
func (m *Model) System(parts []memkernel.Part) int {
	n := 0
	for i := range parts {
		n += m.Part(&parts[i])
	}
	return n
}

// Spread returns the ratio of upper bound to expected count, measured on a text of prose, code
// and JSON.
func (m *Model) Spread() float64 {
	n := m.Counter.Count(spreadSample)
	if n.Tokens == 0 {
		return 1
	}
	return max(1, float64(n.Bound)/float64(n.Tokens))
}

const spreadSample = `The worker takes a job from the queue, and retries it three times before it gives up.
func (w *Worker) Take(ctx context.Context, id int64) error { return w.queue.Take(ctx, id+1) }
{"id": 4711, "state": "done", "took_ms": 182, "path": "/var/lib/queue/4711.json"}
`
