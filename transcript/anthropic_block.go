package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// anthropicBlock holds the members of a content block. Their order is free, so that the kind is
// known after the last one only.
type anthropicBlock struct {
	typ, text, thinking, signature, data string
	id, name, callID                     string
	input                                jsonText
	content                              []memkernel.Part
	plain, isErr                         bool
	source                               anthropicSource
}

// anthropicSource is the source of an image or a document.
type anthropicSource struct{ typ, media, data, url string }

// anthropicContent reads message content: a string or a list of blocks.
func anthropicContent(c *cursor) []memkernel.Part { return readContent(c, readAnthropicBlock) }

// readAnthropicBlock reads a content block. A string in a list of blocks is a text.
func readAnthropicBlock(c *cursor) memkernel.Part {
	start := c.Start()
	if c.Peek() == '"' {
		return textPart(c.Str())
	}
	var b anthropicBlock
	c.Read("type", &b.typ, "text", &b.text, "thinking", &b.thinking, "signature", &b.signature, "data", &b.data,
		"id", &b.id, "name", &b.name, "input", &b.input, "tool_use_id", &b.callID, "is_error", &b.isErr,
		"content", func() { b.plain, b.content = c.Peek() == '"', anthropicContent(c) },
		"source", func() {
			s := &b.source
			c.Read("type", &s.typ, "media_type", &s.media, "data", &s.data, "url", &s.url, "file_id", &s.url)
		})
	return b.part(c.Since(start))
}

// part makes the canonical part. raw is the block's JSON.
func (b *anthropicBlock) part(raw string) memkernel.Part {
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: raw}
	switch b.typ {
	case "text":
		p.Kind, p.Text = memkernel.PartText, b.text
	case "thinking":
		p.Kind, p.Text, p.Signature = memkernel.PartThinking, b.thinking, b.signature
	case "redacted_thinking":
		p.Kind, p.Signature = memkernel.PartRedactedThinking, b.data
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return callPart(memkernel.ToolCall{ID: b.id, Name: b.name, Input: string(b.input), Server: b.typ != "tool_use"}, raw)
	case "image":
		p.Kind, p.Media = memkernel.PartImage, b.source.medium()
	case "document":
		p.Kind, p.Media = memkernel.PartDocument, b.source.medium()
		if b.source.typ == "text" {
			p.Media.Data, p.Text = "", b.source.data
		}
	default:
		opaque := strings.HasSuffix(b.typ, "_tool_result") && b.callID != ""
		if opaque || b.typ == "tool_result" {
			return resultPart(memkernel.ToolResult{CallID: b.callID, Content: b.content, Text: b.plain && !opaque, IsError: b.isErr, Opaque: opaque}, raw)
		}
	}
	return p
}

func (s anthropicSource) medium() *memkernel.Media {
	m := &memkernel.Media{Type: s.media, Data: s.data, URL: s.url}
	if s.typ == "base64" {
		m.Width, m.Height = pixels(m.Type, m.Data)
	}
	return m
}
