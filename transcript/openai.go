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
	return parseMessage(e, func(c *cursor) *memkernel.Message { return readOpenAIMessage(c, strings.TrimSpace(e.Raw)) })
}

// readOpenAIMessage reads a message. Reasoning is a thinking part whose Signature names the member
// that it came from, since providers take it back under that name.
func readOpenAIMessage(c *cursor, raw string) *memkernel.Message {
	m := &memkernel.Message{Raw: raw}
	var name, callID, refusal string
	var thought, parts, calls []memkernel.Part
	var plain bool
	var usage *memkernel.Usage
	reasoning := func(member string) func() {
		return func() {
			if s := c.Str(); s != "" {
				thought = []memkernel.Part{{Kind: memkernel.PartThinking, Text: s, Signature: member}}
			}
		}
	}
	c.Read("role", (*string)(&m.Role), "id", &m.Key, "name", &name, "tool_call_id", &callID, "refusal", &refusal, "usage", &usage,
		"reasoning_content", reasoning("reasoning_content"), "reasoning", reasoning("reasoning"),
		"content", func() { plain, parts = c.Peek() == '"', openAIContent(c) },
		"tool_calls", func() {
			for range c.Elems {
				if p := readOpenAICall(c); c.Err == nil {
					calls = append(calls, p)
				}
			}
		})
	switch m.Role {
	case memkernel.RoleTool:
		m.Parts = []memkernel.Part{resultPart(memkernel.ToolResult{CallID: callID, Name: name, Content: parts, Text: plain}, raw)}
		return m
	case memkernel.RoleAssistant:
		m.Usage, m.Parts = usage, thought
		if refusal != "" {
			parts = append(parts, memkernel.Part{Kind: memkernel.PartOther, Text: refusal,
				Raw: string(put(nil, `{"type":"refusal","refusal":`, refusal, "}"))})
		}
	}
	if len(calls) > 0 && len(parts) == 1 && parts[0].Kind == memkernel.PartText && parts[0].Text == "" {
		parts = nil // an empty string accompanies calls
	}
	m.Parts = append(append(m.Parts, parts...), calls...)
	markTyped(m, false)
	return m
}

func readOpenAICall(c *cursor) memkernel.Part {
	var call memkernel.ToolCall
	var typ string
	start := c.Start()
	input := func() { call.Input = c.TextOrJSON() }
	function := func() { c.Read("name", &call.Name, "arguments", input, "input", input) }
	c.Read("id", &call.ID, "type", &typ, "function", function, "custom", function)
	call.Custom = typ == "custom"
	return callPart(call, c.Since(start))
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

// openAIDialect are requests of chat completions.
var openAIDialect = dialectRow{Name: "openai", Signs: openAISigns, Parse: openAIParse, Assemble: assembleRequests, Known: "refusal input_audio",
	Items: &items{Read: readOne(openAIParse), Assemble: assembleRequests, Write: func(m memkernel.Message, raw string, _ map[string]bool) []string {
		return writtenItems(openAIAPI, m, raw, "content")
	}},
	API: openAIAPI}

var openAIAPI = &api{Format: "openai", List: "messages", Lead: true, Element: readOne(openAIParse), Pair: pairByID,
	Render: openAIRender, Append: appendOpenAIPart, Takes: openAITakes, Refuses: openAIRefuses,
	Tools: toolNested, Rewrite: openAIRewrite}
