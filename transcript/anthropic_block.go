package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// anthropicContent reads message content: a string or a list of blocks.
func anthropicContent(c *cursor) []memkernel.Part { return readContent(c, readAnthropicBlock) }

// readAnthropicBlock reads a content block. A string in a list of blocks is a text. Members may
// have any order, so the kind is known only after the last one.
func readAnthropicBlock(c *cursor) memkernel.Part {
	start := c.Start()
	if c.Peek() == '"' {
		return textPart(c.Str())
	}
	var typ, text, thinking, signature, data, id, name, callID, source string
	var input jsonText
	var content []memkernel.Part
	var plain, isErr bool
	m := &memkernel.Media{}
	c.Read("type", &typ, "text", &text, "thinking", &thinking, "signature", &signature, "data", &data,
		"id", &id, "name", &name, "input", &input, "tool_use_id", &callID, "is_error", &isErr,
		"content", func() { plain, content = c.Peek() == '"', anthropicContent(c) },
		"source", func() {
			c.Read("type", &source, "media_type", &m.Type, "data", &m.Data, "url", &m.URL, "file_id", &m.URL)
		})
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.Since(start)}
	switch typ {
	case "text":
		p.Kind, p.Text = memkernel.PartText, text
	case "thinking":
		p.Kind, p.Text, p.Signature = memkernel.PartThinking, thinking, signature
	case "redacted_thinking":
		p.Kind, p.Signature = memkernel.PartRedactedThinking, data
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return callPart(memkernel.ToolCall{ID: id, Name: name, Input: string(input), Server: typ != "tool_use"}, p.Raw)
	case "image", "document":
		if p.Kind, p.Media = memkernel.PartKind(typ), m; source == "base64" {
			m.Width, m.Height = pixels(m.Type, m.Data)
		}
		if source == "text" && typ == "document" {
			m.Data, p.Text = "", m.Data
		}
	default:
		opaque := strings.HasSuffix(typ, "_tool_result") && callID != ""
		if opaque || typ == "tool_result" {
			return resultPart(memkernel.ToolResult{CallID: callID, Content: content, Text: plain && !opaque, IsError: isErr, Opaque: opaque}, p.Raw)
		}
	}
	return p
}
