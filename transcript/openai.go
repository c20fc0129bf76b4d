package transcript

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
)

// This file reads and writes requests of chat completions, which many providers speak.

// openAIParse reads a value of a chat completions request.
func openAIParse(e *Record) error {
	if e.Kind == kindField {
		return parseField(e, openAIContent)
	}
	var m openAIMessage
	err := parseMessage(e, func(c *cursor) *memkernel.Message {
		m.read(c)
		return m.message(strings.TrimSpace(e.Raw))
	})
	if err == nil {
		e.Type = m.role
	}
	return err
}

// openAIMessage holds the members of a chat completions message.
type openAIMessage struct {
	role, id, name, callID, reasoning, reasoningField, refusal string
	parts, calls                                               []memkernel.Part
	plain                                                      bool
	usage                                                      *memkernel.Usage
}

func (m *openAIMessage) read(c *cursor) {
	reasoning := func(member string) func() {
		return func() {
			if s := c.Str(); s != "" {
				m.reasoning, m.reasoningField = s, member
			}
		}
	}
	c.Read("role", &m.role, "id", &m.id, "name", &m.name, "tool_call_id", &m.callID, "refusal", &m.refusal, "usage", &m.usage,
		"reasoning_content", reasoning("reasoning_content"), "reasoning", reasoning("reasoning"),
		"content", func() { m.plain, m.parts = c.Peek() == '"', openAIContent(c) },
		"tool_calls", func() {
			for range c.Elems {
				if p := readOpenAICall(c); c.Err == nil {
					m.calls = append(m.calls, p)
				}
			}
		})
}

// openAIMessage makes the canonical message. Reasoning is a thinking part whose Signature names the
// member that it came from, since providers take it back under that name.
func (m *openAIMessage) message(raw string) *memkernel.Message {
	out := &memkernel.Message{Key: m.id, Role: memkernel.Role(m.role), Raw: raw}
	switch m.role {
	case "tool":
		out.Parts = []memkernel.Part{resultPart(memkernel.ToolResult{CallID: m.callID, Name: m.name, Content: m.parts, Text: m.plain}, raw)}
		return out
	case "assistant":
		out.Usage = m.usage
		if m.reasoning != "" {
			out.Parts = append(out.Parts, memkernel.Part{Kind: memkernel.PartThinking, Text: m.reasoning, Signature: m.reasoningField})
		}
		if m.refusal != "" {
			m.parts = append(m.parts, memkernel.Part{Kind: memkernel.PartOther, Text: m.refusal,
				Raw: string(put(nil, `{"type":"refusal","refusal":`, m.refusal, "}"))})
		}
	}
	out.Parts = append(append(out.Parts, keepText(m.parts, len(m.calls))...), m.calls...)
	markTyped(out, false)
	return out
}

// keepText drops the empty string that accompanies tool calls.
func keepText(parts []memkernel.Part, calls int) []memkernel.Part {
	if calls > 0 && len(parts) == 1 && parts[0].Kind == memkernel.PartText && parts[0].Text == "" {
		return nil
	}
	return parts
}

func readOpenAICall(c *cursor) memkernel.Part {
	var call memkernel.ToolCall
	var typ string
	start := c.Start()
	function := func() { readOpenAIFunction(c, &call) }
	c.Read("id", &call.ID, "type", &typ, "function", function, "custom", function)
	call.Custom = typ == "custom"
	return callPart(call, c.Since(start))
}

func readOpenAIFunction(c *cursor, call *memkernel.ToolCall) {
	input := func() { call.Input = c.TextOrJSON() }
	c.Read("name", &call.Name, "arguments", input, "input", input)
}

// openAIContent reads the content of a message, or of an output: a string, or a list of blocks.
func openAIContent(c *cursor) []memkernel.Part { return readContent(c, readOpenAIBlock) }

// readOpenAIBlock reads a block of chat completions or of the Responses API. The blocks of a shell
// have no type.
func readOpenAIBlock(c *cursor) memkernel.Part {
	var typ, text, url, data, name string
	start := c.Start()
	file := func() { c.Read("url", &url, "file_id", &url, "file_data", &data, "filename", &name) }
	printed := func() {
		typ = cmp.Or(typ, "output_text")
		if s := c.Str(); text == "" || s == "" {
			text += s
		} else {
			text += "\n" + s
		}
	}
	c.Read("type", &typ, "text", &text, "refusal", &text, "stdout", printed, "stderr", printed,
		"image_url", func() {
			if c.Peek() == '"' {
				url = c.Str()
			} else {
				file()
			}
		},
		"file", file, "file_url", &url, "file_id", &url, "file_data", &data, "filename", &name)
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.Since(start)}
	switch typ {
	case "text", "input_text", "output_text":
		p.Kind, p.Text = memkernel.PartText, text
	case "refusal":
		p.Text = text
	case "image_url", "input_image", "computer_screenshot":
		p.Kind, p.Media = memkernel.PartImage, mediaOf(url)
	case "file", "input_file":
		p.Kind, p.Text, p.Media = memkernel.PartDocument, name, mediaOf(cmp.Or(data, url))
	}
	return p
}

// openAISigns are members and values that only requests of chat completions have. The Messages API
// takes system messages too, but never as the first.
const openAISigns = `"(?:max_completion_tokens|response_format|stream_options|frequency_penalty|presence_penalty|reasoning_effort|parallel_tool_calls|logprobs|seed|` +
	`function|tool_calls|tool_call_id|refusal|function_call|reasoning_content)"\s*:|"role"\s*:\s*"(?:tool|function|developer)"|\[\s*\{\s*"role"\s*:\s*"system"|` +
	`"type"\s*:\s*"(?:image_url|input_audio|file|refusal)"|"model"\s*:\s*"[^"]*(?:gpt|deepseek|gemini)`

// openAIWrite returns a message as a host holds it.
func openAIWrite(m memkernel.Message, raw string, _ map[string]bool) []string {
	return writtenItems(openAIAPI, m, raw, "content")
}

// openAIDialect are requests of chat completions.
var openAIDialect = dialectRow{Name: "openai", Signs: openAISigns, Parse: openAIParse, Assemble: openAIAssemble, Known: []string{"refusal", "input_audio"},
	Items: &items{Read: readOne(openAIParse), Assemble: openAIAssemble, Write: openAIWrite},
	API:   openAIAPI}

var openAIAPI = &api{Format: "openai", List: "messages", Lead: true, Element: readOne(openAIParse), Pair: pairByID,
	Render: openAIRender, Append: appendOpenAIPart, Takes: openAITakes, Refuses: openAIRefuses,
	Tools: toolNested, Rewrite: openAIRewrite}

func openAIAssemble(l *Session) (add func(*Record), finish func()) {
	return assembleRequests(l, true)
}
