// Package tokencount counts the parts of messages for a model: their texts, their framing, and
// hidden thinking and media. It sends nothing anywhere.
package tokencount

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// Counter counts the parts of a message for one model. Overheads is the cost of framing. Kind is
// the reliability of the counts.
type Counter struct {
	Overheads budget.Overheads
	Kind      budget.Kind

	counter budget.Counter
	cache   *budget.Cache // nil counts each time
	family  string        // the tokenizer's name
}

// New takes the price book's tokenizer, or guesses it by the model's name. A nil cache makes it
// count each time.
func New(tokenizer, model string, cache *budget.Cache) (Counter, error) {
	c, err := budget.ForModel(tokenizer, model)
	if err != nil {
		return Counter{}, err
	}
	return Counter{Overheads: budget.OverheadsFor(model), Kind: c.Count("a").Kind, counter: c, cache: cache, family: c.Name()}, nil
}

// ForModel returns the counter of a model as prices describe the model, or as the embedded price
// book does if prices is nil. It counts each time.
func ForModel(prices *cachelayout.Book, model string) (Counter, error) {
	if prices == nil {
		prices = cachelayout.DefaultBook()
	}
	m, _ := prices.Lookup(model, time.Time{})
	return New(m.Tokenizer, model, nil)
}

// Text counts the expected tokens of a text.
func (c *Counter) Text(s string) int { return c.cache.Count(c.counter, s).Tokens }

// Part counts a content block with its framing.
func (c *Counter) Part(p *memkernel.Part) int {
	switch {
	case p.Call != nil:
		return c.Overheads.PerToolUse + c.Text(p.Call.Name) + c.Text(budget.ToolInput(c.family, p.Call.Input))
	case p.Result != nil:
		n := c.Overheads.PerToolResult
		for i := range p.Result.Content {
			n += c.Part(&p.Result.Content[i])
		}
		return n
	case p.Media != nil:
		return c.Overheads.Image(p.Media.Width, p.Media.Height) + c.Text(p.Text)
	case p.Kind == memkernel.PartOther:
		return c.Text(p.Raw)
	case p.Kind == memkernel.PartRedactedThinking && c.family != budget.ClaudeOld && c.family != budget.ClaudeNew:
		return c.Text(p.Signature)
	case p.Kind == memkernel.PartThinking || p.Kind == memkernel.PartRedactedThinking:
		return c.Text(p.Text) + budget.HiddenThinking(c.family, p.Text, p.Signature)
	}
	return c.Text(p.Text)
}

// Message returns the expected number of tokens of a message with its framing.
func (c *Counter) Message(m *memkernel.Message) int {
	n := c.Overheads.PerMessage
	for i := range m.Parts {
		n += c.Part(&m.Parts[i])
	}
	return n
}

// Fixed returns the size of the system prompt and the tools that a transcript lacks. It takes the
// bill of the first call with recorded usage, less the messages before the call and the known
// part of system prompt and tools. It returns 0 if no usage is recorded. Usage after a younger
// summary does not count, since it was billed for another prompt.
func (c *Counter) Fixed(msgs []memkernel.Message, system []memkernel.Part, tools []memkernel.Tool) int {
	var summed time.Time
	before := 0
	for i := range msgs {
		m := &msgs[i]
		if m.Origin == memkernel.OriginSummary && m.Time.After(summed) {
			summed = m.Time
		}
		call := m.Role == memkernel.RoleAssistant && m.Origin != memkernel.OriginSynthetic
		if call && m.Usage != nil && m.Usage.InputTotal() > 0 && !m.Time.Before(summed) {
			return max(0, m.Usage.InputTotal()-before-c.System(system)-c.Tools(tools))
		}
		before += c.Message(m)
	}
	return 0
}

// Tools counts the tool definitions and the system prompt that they bring.
func (c *Counter) Tools(tools []memkernel.Tool) int {
	n := c.Overheads.Tools(len(tools))
	for i := range tools {
		n += c.Text(tools[i].Raw)
	}
	return n
}

// System counts the system prompt.
func (c *Counter) System(parts []memkernel.Part) int {
	n := 0
	for i := range parts {
		n += c.Part(&parts[i])
	}
	return n
}

// Spread returns the ratio of upper bound to expected count, measured on a text of prose, code
// and JSON.
func (c *Counter) Spread() float64 {
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
