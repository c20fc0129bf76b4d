// Package openai reads and writes requests of chat completions, which many providers speak.
package openai

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// parse reads a value of a chat completions request.
func parse(e *wire.Entry) error {
	if e.Kind == wire.KindField {
		return wire.ParseField(e, content)
	}
	var m message
	err := wire.ParseMessage(e, func(c *wire.Cursor) *memkernel.Message {
		m.read(c)
		return m.message(strings.TrimSpace(e.Raw))
	})
	if err == nil {
		e.Type = m.role
	}
	return err
}

// message holds the members of a chat completions message.
type message struct {
	role, id, name, callID, reasoning, reasoningField, refusal string
	parts, calls                                               []memkernel.Part
	plain                                                      bool
	usage                                                      *memkernel.Usage
}

func (m *message) read(c *wire.Cursor) {
	reasoning := func(member string) func() {
		return func() {
			if s := c.Str(); s != "" {
				m.reasoning, m.reasoningField = s, member
			}
		}
	}
	c.Read("role", &m.role, "id", &m.id, "name", &m.name, "tool_call_id", &m.callID, "refusal", &m.refusal, "usage", &m.usage,
		"reasoning_content", reasoning("reasoning_content"), "reasoning", reasoning("reasoning"),
		"content", func() { m.plain, m.parts = c.Peek() == '"', content(c) },
		"tool_calls", func() {
			for range c.Elems {
				if p := readCall(c); c.Err == nil {
					m.calls = append(m.calls, p)
				}
			}
		})
}

// message makes the canonical message. Reasoning is a thinking part whose Signature names the
// member that it came from, since providers take it back under that name.
func (m *message) message(raw string) *memkernel.Message {
	out := &memkernel.Message{Key: m.id, Role: memkernel.Role(m.role), Raw: raw}
	switch m.role {
	case "tool":
		out.Parts = []memkernel.Part{wire.ResultPart(memkernel.ToolResult{CallID: m.callID, Name: m.name, Content: m.parts, Text: m.plain}, raw)}
		return out
	case "assistant":
		out.Usage = m.usage
		if m.reasoning != "" {
			out.Parts = append(out.Parts, memkernel.Part{Kind: memkernel.PartThinking, Text: m.reasoning, Signature: m.reasoningField})
		}
		if m.refusal != "" {
			m.parts = append(m.parts, memkernel.Part{Kind: memkernel.PartOther, Text: m.refusal,
				Raw: string(wire.Put(nil, `{"type":"refusal","refusal":`, m.refusal, "}"))})
		}
	}
	out.Parts = append(append(out.Parts, keepText(m.parts, len(m.calls))...), m.calls...)
	wire.Person(out, false)
	return out
}

// keepText drops the empty string that accompanies tool calls.
func keepText(parts []memkernel.Part, calls int) []memkernel.Part {
	if calls > 0 && len(parts) == 1 && parts[0].Kind == memkernel.PartText && parts[0].Text == "" {
		return nil
	}
	return parts
}

func readCall(c *wire.Cursor) memkernel.Part {
	var call memkernel.ToolCall
	var typ string
	start := c.Start()
	function := func() { readFunction(c, &call) }
	c.Read("id", &call.ID, "type", &typ, "function", function, "custom", function)
	call.Custom = typ == "custom"
	return wire.CallPart(call, c.Since(start))
}

func readFunction(c *wire.Cursor, call *memkernel.ToolCall) {
	input := func() { call.Input = c.TextOrJSON() }
	c.Read("name", &call.Name, "arguments", input, "input", input)
}

func content(c *wire.Cursor) []memkernel.Part { return wire.Content(c, readPart) }

func readPart(c *wire.Cursor) memkernel.Part {
	var typ, text, url, data, name string
	start := c.Start()
	file := func() { c.Read("url", &url, "file_id", &url, "file_data", &data, "filename", &name) }
	c.Read("type", &typ, "text", &text, "image_url", file, "file", file)
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.Since(start)}
	switch typ {
	case "text":
		p.Kind, p.Text = memkernel.PartText, text
	case "image_url":
		p.Kind, p.Media = memkernel.PartImage, wire.MediaOf(url)
	case "file":
		p.Kind, p.Text, p.Media = memkernel.PartDocument, name, wire.MediaOf(cmp.Or(data, url))
	}
	return p
}

// signs are members and values that only requests of chat completions have. The Messages API takes
// system messages too, but never as the first.
const signs = `"(?:max_completion_tokens|response_format|stream_options|frequency_penalty|presence_penalty|reasoning_effort|parallel_tool_calls|logprobs|seed|` +
	`function|tool_calls|tool_call_id|refusal|function_call|reasoning_content)"\s*:|"role"\s*:\s*"(?:tool|function|developer)"|\[\s*\{\s*"role"\s*:\s*"system"|` +
	`"type"\s*:\s*"(?:image_url|input_audio|file|refusal)"|"model"\s*:\s*"[^"]*(?:gpt|deepseek|gemini)`

// write returns a message as a host holds it.
func write(m memkernel.Message, raw string, _ map[string]bool) []string {
	return wire.Written(api, m, raw, "content")
}

const (
	Name   = "openai"
	Format = "openai"
)

// Dialect are requests of chat completions.
var Dialect = wire.Dialect{Name: Name, Signs: signs, Parse: parse, Assemble: assemble, Known: []string{"refusal", "input_audio"},
	Items: &wire.Items{Read: wire.One(parse), Assemble: assemble, Write: write},
	API:   api}

var api = &wire.API{Format: Format, List: "messages", Lead: true, Element: wire.One(parse), Pair: wire.Answers,
	Render: render, Append: appendPart, Takes: Takes, Refuses: refuses,
	Tools: wire.ToolNested, Rewrite: rewrite}

func assemble(l *wire.Log) (add func(*wire.Entry), finish func()) { return wire.Requests(l, true) }
