package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/tokencount"
)

// MessageCounter counts messages in the same way as plans for a model. Its counts can be compared
// with those of a plan.
type MessageCounter struct{ c tokencount.Counter }

// NewMessageCounter returns the counter of a model as prices describe the model. With nil it uses
// the embedded price book.
func NewMessageCounter(prices *cachelayout.Book, model string) (*MessageCounter, error) {
	if prices == nil {
		prices = cachelayout.DefaultBook()
	}
	m, _ := prices.Lookup(model, time.Time{})
	c, err := tokencount.New(m.Tokenizer, model, nil)
	return &MessageCounter{c}, err
}

// Message returns the expected number of tokens of a message with its framing.
func (c *MessageCounter) Message(m *memkernel.Message) int {
	n := c.c.Overheads.PerMessage
	for i := range m.Parts {
		n += c.c.Part(&m.Parts[i])
	}
	return n
}

// Fixed returns the size of the system prompt and the tools that a transcript lacks. It takes the
// bill of the first call with recorded usage, less the messages before the call and the known
// part of system prompt and tools. It returns 0 if no usage is recorded. Usage after a younger
// summary does not count, since it was billed for another prompt.
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
			return max(0, m.Usage.InputTotal()-before-c.c.System(system)-c.c.Tools(tools))
		}
		before += c.Message(m)
	}
	return 0
}

// Kind returns how far the counts can be trusted.
func (c *MessageCounter) Kind() budget.Kind { return c.c.Kind }
