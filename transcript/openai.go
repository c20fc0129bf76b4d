package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// parseOpenAI reads a value of a chat completions request.
func parseOpenAI(e *Entry) error {
	if e.Kind == KindField {
		return ParseField(e, chatContent)
	}
	var cm chatMessage
	err := ParseMessage(e, func(c *cursor) *memkernel.Message {
		for k := range c.fields {
			cm.field(k, c)
		}
		return cm.message(strings.TrimSpace(e.Raw))
	})
	if err == nil {
		e.Type = cm.role
	}
	return err
}

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
			call.ID = MadeID(call.Name)
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
			id = MadeID(m.name)
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

func chatContent(c *cursor) []memkernel.Part { return Content(c, chatPart) }

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

// weighOpenAI knows a request of chat completions by its words.
func weighOpenAI(at Place, word string) int {
	switch at {
	case AtMember:
		switch word {
		case "max_completion_tokens", "response_format", "stream_options", "frequency_penalty",
			"presence_penalty", "reasoning_effort", "parallel_tool_calls", "logprobs", "seed":
			return 2
		}
	case AtModel:
		if !strings.Contains(word, "claude") && (strings.Contains(word, "gpt") || strings.Contains(word, "deepseek") || strings.Contains(word, "gemini")) {
			return 1
		}
	case AtTool:
		if word == "function" {
			return 4
		}
	case AtMessage:
		switch word {
		case "tool_calls", "tool_call_id", "refusal", "function_call", "reasoning_content":
			return 4
		}
	case AtFirst, AtRole:
		switch word {
		case "tool", "function", "developer":
			return 4
		case "system":
			// The Messages API takes system messages too, but never as the first.
			if at == AtFirst {
				return 4
			}
		}
	case AtType:
		switch word {
		case "image_url", "input_audio", "file", "refusal":
			return 4
		}
	}
	return 0
}

// writeChat spells a message for a host.
func writeChat(m memkernel.Message, raw string, _ map[string]bool) []string {
	return Written(openaiAPI, m, raw, "content")
}

const (
	openaiName   = "openai"
	openaiFormat = "openai"
)

// openaiRow are requests of chat completions.
var openaiRow = row{Name: openaiName, Weigh: weighOpenAI, Parse: parseOpenAI, Assemble: assembleOpenAI,
	Items: &Items{Read: One(parseOpenAI), Assemble: assembleOpenAI, Write: writeChat},
	API:   openaiAPI}

var openaiAPI = &API{Format: openaiFormat, List: "messages", Element: One(parseOpenAI), Pair: Answers,
	Render: renderChat, Append: appendChat, Takes: takesChat, Refuses: refusesChat,
	Tools: ToolNested, Rewrite: rewriteChat}

func assembleOpenAI(l *Log) (add func(*Entry), finish func()) { return Requests(l, true) }
