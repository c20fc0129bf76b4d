package dialect

import (
	"cmp"
	"errors"

	"github.com/memkernel/memkernel"
)

// parseMessage reads a message of a request. read must read the members.
func parseMessage(e *Entry, read func(*Cursor) *memkernel.Message) error {
	c, err := Object(e.Raw)
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
func parseField(e *Entry, content func(*Cursor) []memkernel.Part) error {
	c := Scan(e.Raw)
	switch e.Type {
	case "model":
		e.About.Model = c.Str()
	case "system":
		e.About.System = content(&c)
	case "tools":
		e.About.Tools = ReadTools(&c)
	case "id", "session_id":
		e.About.ID = c.Str()
	default:
		c.Skip()
	}
	return c.End()
}

// ReadTools reads tool definitions of any shape.
func ReadTools(c *Cursor) (tools []memkernel.Tool) {
	for range c.Elems {
		raw := c.Raw()
		if d := readTool(raw); c.Err == nil {
			tools = append(tools, memkernel.Tool{Name: cmp.Or(d.name, d.typ), Raw: raw})
		}
	}
	return tools
}

// readContent reads the content of a message: a string, or a list of blocks.
func readContent(c *Cursor, block func(*Cursor) memkernel.Part) (parts []memkernel.Part) {
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

// assembleRequests assembles the values of a request body. With lead, system messages that open the
// conversation are its system prompt.
func assembleRequests(l *Log, lead bool) (add func(*Entry), finish func()) {
	add = func(e *Entry) {
		l.Adopt(&e.About)
		if e.Kind != KindMessage {
			return
		}
		m := e.Message
		if lead && IsSystemRole(m.Role) && len(l.Messages) == 0 {
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
		l.Push(*m, flags{})
	}
	return add, func() { // the request's model wrote the answers in it
		for i := range l.Messages {
			if m := &l.Messages[i]; m.Role == memkernel.RoleAssistant && m.Model == "" {
				m.Model = l.Model
			}
		}
	}
}
