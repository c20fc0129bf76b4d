package transcript

import (
	"cmp"
	"errors"

	"github.com/memkernel/memkernel"
)

// parseMessage reads a message of a request. read must read the members.
func parseMessage(e *Record, read func(*cursor) *memkernel.Message) error {
	c, err := scanObject(e.Raw)
	if err != nil {
		return err
	}
	m := read(&c)
	if err := cmp.Or(c.End(), c.Unread); err != nil {
		return err
	}
	if m.Role == "" {
		return errors.New("message has no role")
	}
	e.Type, e.ID, e.Message = string(m.Role), m.Key, m
	return nil
}

// parseField reads a member of a request other than its messages.
func parseField(e *Record, content func(*cursor) []memkernel.Part) error {
	c := scan(e.Raw)
	switch e.Type {
	case "model":
		e.about.Model = c.Str()
	case "system":
		e.about.System = content(&c)
	case "tools":
		e.about.Tools = readTools(&c)
	case "id", "session_id":
		e.about.ID = c.Str()
	default:
		c.Skip()
	}
	return c.End()
}

// readTools reads tool definitions of any shape.
func readTools(c *cursor) (tools []memkernel.Tool) {
	for range c.Elems {
		raw := c.Raw()
		if d := readTool(raw); c.Err == nil {
			tools = append(tools, memkernel.Tool{Name: cmp.Or(d.name, d.typ), Raw: raw})
		}
	}
	return tools
}

// readContent reads the content of a message: a string, or a list of blocks.
func readContent(c *cursor, block func(*cursor) memkernel.Part) (parts []memkernel.Part) {
	if c.Peek() == '"' {
		return memkernel.Text(c.Str())
	}
	for range c.Elems {
		if p := block(c); c.Err == nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// assembleRequests assembles the values of a request body. System messages that open a chat
// completions conversation are its system prompt.
func assembleRequests(l *Session) (add func(*Record), finish func()) {
	add = func(e *Record) {
		l.adopt(&e.about)
		if e.Kind != kindMessage {
			return
		}
		m := e.Message
		if l.Dialect == OpenAI && isSystemRole(m.Role) && len(l.Messages) == 0 {
			l.System = append(l.System, m.Parts...)
			return
		}
		if m.Role == memkernel.RoleAssistant && m.Model != "" {
			l.Model = m.Model
		}
		if at := len(l.Messages) - 1; at >= 0 && m.Key != "" && l.Messages[at].Key == m.Key && m.Role == memkernel.RoleAssistant {
			if _, again := repeatRecord(&l.Messages[at], m); again {
				return
			}
		}
		l.push(*m, flags{})
	}
	return add, func() { // the request's model wrote the answers in it
		for i := range l.Messages {
			if m := &l.Messages[i]; m.Role == memkernel.RoleAssistant && m.Model == "" {
				m.Model = l.Model
			}
		}
	}
}
