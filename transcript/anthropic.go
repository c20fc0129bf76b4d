package transcript

import (
	"fmt"

	"github.com/memkernel/memkernel"
)

// parseAnthropic reads a value of a Messages request.
func parseAnthropic(rec *Record) error {
	if rec.Kind == KindField {
		return parseField(rec, anthropicContent)
	}
	m := &memkernel.Message{}
	c := scan(rec.Raw)
	if c.peek() != '{' {
		c.skip()
		return cmpErr(c.end(), errNoObject)
	}
	m.Key, _ = anthropicMessage(&c, m)
	if err := cmpErr(c.end(), c.unread); err != nil {
		return err
	}
	if m.Role == "" {
		return fmt.Errorf("message has no role")
	}
	person(m, false)
	rec.Type, rec.ID, rec.Message, rec.x = string(m.Role), m.Key, m, &extra{}
	return nil
}

// parseField reads a member of a request other than its messages.
func parseField(rec *Record, content func(*cursor) []memkernel.Part) error {
	c := scan(rec.Raw)
	x := &extra{}
	rec.x = x
	switch rec.Type {
	case "model":
		x.model = c.str()
	case "system":
		x.system = content(&c)
	case "tools":
		x.tools = readTools(&c)
	case "id", "session_id":
		x.session = c.str()
	default:
		c.skip()
	}
	return c.end()
}

// readTools reads tool definitions of any dialect.
func readTools(c *cursor) (tools []memkernel.Tool) {
	for range c.elems {
		start := c.start()
		var name, typ string
		for k := range c.fields {
			switch k {
			case "name":
				name = c.str()
			case "type":
				typ = c.str()
			case "function", "custom":
				for k := range c.fields {
					if k == "name" {
						name = c.str()
					} else {
						c.skip()
					}
				}
			default:
				c.skip()
			}
		}
		if name == "" {
			name = typ
		}
		if c.err == nil {
			tools = append(tools, memkernel.Tool{Name: name, Raw: c.since(start)})
		}
	}
	return tools
}
