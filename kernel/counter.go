package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// counter counts the parts of a message for one model.
type counter struct {
	counter budget.Counter
	cache   *budget.Cache // nil counts each time
	over    budget.Overheads
	kind    budget.Kind
	family  string // the tokenizer's name
}

// newCounter takes the price book's tokenizer, or guesses by the model's name.
func newCounter(tokenizer, model string) (counter, error) {
	if tokenizer == "" {
		tokenizer = budget.Family(model)
	}
	c, err := budget.For(tokenizer)
	if err != nil {
		return counter{}, err
	}
	return counter{counter: c, over: budget.OverheadsFor(model), kind: c.Count("a").Kind, family: tokenizer}, nil
}

// text counts the expected tokens of a text.
func (c *counter) text(s string) int { return c.cache.Count(c.counter, s).Tokens }

// part counts a content block with its framing.
func (c *counter) part(p *memkernel.Part) int {
	switch {
	case p.Call != nil:
		return c.over.PerToolUse + c.text(p.Call.Name) + c.text(budget.ToolInput(c.family, p.Call.Input))
	case p.Result != nil:
		n := c.over.PerToolResult
		for i := range p.Result.Content {
			n += c.part(&p.Result.Content[i])
		}
		return n
	case p.Media != nil:
		return c.over.Image(p.Media.Width, p.Media.Height).Tokens + c.text(p.Text)
	case p.Kind == memkernel.PartOther:
		return c.text(p.Raw)
	case p.Kind == memkernel.PartThinking && c.claude():
		return c.text(p.Text) + budget.HiddenThinking(p.Text, p.Signature).Tokens
	case p.Kind == memkernel.PartRedactedThinking && c.claude():
		return budget.HiddenThinking("", p.Signature).Tokens
	case p.Kind == memkernel.PartRedactedThinking:
		return c.text(p.Signature)
	}
	return c.text(p.Text)
}

// claude tells whether thinking is signed as Claude's is; what others sign says
// nothing of its size.
func (c *counter) claude() bool {
	return c.family == budget.ClaudeOld || c.family == budget.ClaudeNew
}

// tools counts the tool definitions and the system prompt that they bring.
func (c *counter) tools(tools []memkernel.Tool) int {
	n := c.over.Tools(len(tools), false)
	for i := range tools {
		n += c.text(tools[i].Raw)
	}
	return n
}

func (c *counter) system(parts []memkernel.Part) int {
	n := 0
	for i := range parts {
		n += c.part(&parts[i])
	}
	return n
}

// MessageCounter counts messages as plans for a model do, so that others can
// compare with a plan on equal terms.
type MessageCounter struct{ c counter }

// NewMessageCounter makes the counter of a model as prices describe it; nil is
// the embedded price book.
func NewMessageCounter(prices *cachelayout.Book, model string) (*MessageCounter, error) {
	if prices == nil {
		prices = cachelayout.DefaultBook()
	}
	m, _ := prices.Lookup(model, time.Time{})
	c, err := newCounter(m.Tokenizer, model)
	return &MessageCounter{c}, err
}

// Message is the expected number of tokens of a message with its framing.
func (c *MessageCounter) Message(m *memkernel.Message) int {
	n := c.c.over.PerMessage
	for i := range m.Parts {
		n += c.c.part(&m.Parts[i])
	}
	return n
}

// Fixed is the size of the system prompt and the tools that a transcript does not hold:
// what the first call with recorded usage was billed, less the messages before it and
// what of system prompt and tools is known. 0 if no usage is recorded. What stands behind
// a summary that is younger was billed for another prompt, and says nothing.
func (c *MessageCounter) Fixed(msgs []memkernel.Message, system []memkernel.Part, tools []memkernel.Tool) int {
	var summed time.Time
	before := 0
	for i := range msgs {
		m := &msgs[i]
		if m.Origin == memkernel.OriginSummary && m.Time.After(summed) {
			summed = m.Time
		}
		call := m.Role == memkernel.RoleAssistant && m.Origin != memkernel.OriginSynthetic
		if call && m.Usage != nil && m.Usage.InputTotal() > 0 && !m.Time.Before(summed) {
			return max(0, m.Usage.InputTotal()-before-c.c.system(system)-c.c.tools(tools))
		}
		before += c.Message(m)
	}
	return 0
}

// Kind says how far the counts can be trusted.
func (c *MessageCounter) Kind() budget.Kind { return c.c.kind }

// spread is the ratio of upper bound to expected count, judged on a text that is
// prose, code and JSON by turns.
func (c *counter) spread() float64 {
	n := c.counter.Count(spreadSample)
	if n.Tokens == 0 {
		return 1
	}
	return max(1, float64(n.Bound)/float64(n.Tokens))
}

const spreadSample = `The worker takes a job from the queue, and retries it three times before it gives up.
func (w *Worker) Take(ctx context.Context, id int64) error { return w.queue.Take(ctx, id+1) }
{"id": 4711, "state": "done", "took_ms": 182, "path": "/var/lib/queue/4711.json"}
`
