package transcript

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
)

// parseOpenAI reads a value of a chat completions request.
func parseOpenAI(rec *Record) error {
	if rec.Kind == KindField {
		return parseField(rec, chatContent)
	}
	c := scan(rec.Raw)
	if c.peek() != '{' {
		c.skip()
		return cmpErr(c.end(), errNoObject)
	}
	var cm chatMessage
	for k := range c.fields {
		cm.field(k, &c)
	}
	if err := cmpErr(c.end(), c.unread); err != nil {
		return err
	}
	if cm.role == "" {
		return fmt.Errorf("message has no role")
	}
	m := cm.message(strings.TrimSpace(rec.Raw))
	rec.Type, rec.ID, rec.Message, rec.x = cm.role, m.Key, m, &extra{}
	return nil
}

// functionPrefix marks the made-up id of a call of the early protocol, which
// has none: name and order tie the pair.
const functionPrefix = "function-"

// chatMessage holds the fields of a chat completions message.
type chatMessage struct {
	role, id, name, callID, reasoning, reasoningField, refusal string
	parts, calls                                               []memkernel.Part
	plain                                                      bool
	usage                                                      *memkernel.Usage
}

func (m *chatMessage) field(key string, c *cursor) {
	switch key {
	case "role":
		m.role = c.str()
	case "id":
		m.id = c.str()
	case "name":
		m.name = c.str()
	case "tool_call_id":
		m.callID = c.str()
	case "content":
		m.plain = c.peek() == '"'
		m.parts = chatContent(c)
	case "refusal":
		m.refusal = c.str()
	case "usage":
		m.usage = c.usage()
	case "reasoning_content", "reasoning":
		if s := c.str(); s != "" {
			m.reasoning, m.reasoningField = s, key
		}
	case "tool_calls":
		for range c.elems {
			if p, ok := chatCall(c); ok {
				m.calls = append(m.calls, p)
			}
		}
	case "function_call":
		if c.peek() == '{' {
			var call memkernel.ToolCall
			chatFunction(c, &call)
			call.ID = functionPrefix + call.Name
			m.calls = append(m.calls, memkernel.Part{Kind: memkernel.PartToolUse, Call: &call})
		} else {
			c.skip()
		}
	default:
		c.skip()
	}
}

// message makes the canonical message. Its reasoning, if any, is a thinking
// part whose Signature names the field that it came from: providers that want
// it back want it under that name.
func (m *chatMessage) message(raw string) *memkernel.Message {
	out := &memkernel.Message{Key: m.id, Role: memkernel.Role(m.role), Raw: raw}
	switch m.role {
	case "tool", "function":
		id := m.callID
		if m.role == "function" {
			id = functionPrefix + m.name
		}
		out.Role = memkernel.RoleTool
		out.Parts = []memkernel.Part{{Kind: memkernel.PartToolResult, Raw: raw, Result: &memkernel.ToolResult{
			CallID: id, Name: m.name, Content: m.parts, Text: m.plain}}}
		return out
	case "assistant":
		out.Usage = m.usage
		if m.reasoning != "" {
			out.Parts = append(out.Parts, memkernel.Part{Kind: memkernel.PartThinking, Text: m.reasoning, Signature: m.reasoningField})
		}
		if m.refusal != "" {
			m.parts = append(m.parts, memkernel.Part{Kind: memkernel.PartOther, Text: m.refusal,
				Raw: string(appendString([]byte(`{"type":"refusal","refusal":`), m.refusal)) + "}"})
		}
	}
	out.Parts = append(append(out.Parts, keepText(m.parts, len(m.calls))...), m.calls...)
	person(out, false)
	return out
}

// keepText drops the empty string that stands beside tool calls.
func keepText(parts []memkernel.Part, calls int) []memkernel.Part {
	if calls > 0 && len(parts) == 1 && parts[0].Kind == memkernel.PartText && parts[0].Text == "" {
		return nil
	}
	return parts
}

func chatCall(c *cursor) (memkernel.Part, bool) {
	var call memkernel.ToolCall
	start := c.start()
	for k := range c.fields {
		switch k {
		case "id":
			call.ID = c.str()
		case "type":
			call.Custom = c.str() == "custom"
		case "function", "custom":
			chatFunction(c, &call)
		default:
			c.skip()
		}
	}
	if c.err != nil {
		return memkernel.Part{}, false
	}
	return memkernel.Part{Kind: memkernel.PartToolUse, Call: &call, Raw: c.since(start)}, true
}

func chatFunction(c *cursor, call *memkernel.ToolCall) {
	for k := range c.fields {
		switch k {
		case "name":
			call.Name = c.str()
		case "arguments", "input":
			call.Input = c.str()
		default:
			c.skip()
		}
	}
}

func chatContent(c *cursor) []memkernel.Part {
	if c.peek() == '"' {
		return []memkernel.Part{{Kind: memkernel.PartText, Text: c.str()}}
	}
	var parts []memkernel.Part
	for range c.elems {
		if p, ok := chatPart(c); ok {
			parts = append(parts, p)
		}
	}
	return parts
}

func chatPart(c *cursor) (memkernel.Part, bool) {
	var typ, text, url, data, name string
	start := c.start()
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
		case "text":
			text = c.str()
		case "image_url", "file":
			for k := range c.fields {
				switch k {
				case "url", "file_id":
					url = c.str()
				case "file_data":
					data = c.str()
				case "filename":
					name = c.str()
				default:
					c.skip()
				}
			}
		default:
			c.skip()
		}
	}
	if c.err != nil {
		return memkernel.Part{}, false
	}
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.since(start)}
	switch typ {
	case "text":
		p.Kind, p.Text = memkernel.PartText, text
	case "image_url":
		p.Kind, p.Media = memkernel.PartImage, mediaOf(url)
	case "file":
		p.Kind, p.Text, p.Media = memkernel.PartDocument, name, mediaOf(url)
		if data != "" {
			p.Media = mediaOf(data)
		}
	}
	return p, true
}
