package anthropic

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// block collects the fields of an Anthropic content block. Their order in the
// file is free, so the kind is settled after the last one.
type block struct {
	typ, text, thinking, signature, data string
	id, name, input, callID              string
	content                              []memkernel.Part
	plain, isErr                         bool
	media                                source64
}

// source64 is the source object of an image or document.
type source64 struct{ typ, media, data, url string }

// Content reads message content: a string or a list of blocks.
func Content(c *wire.Cursor) []memkernel.Part { return wire.Content(c, readBlock) }

// readBlock reads one content block. A string in a list of blocks reads
// as text.
func readBlock(c *wire.Cursor) memkernel.Part {
	var b block
	start := c.Start()
	if c.Peek() == '"' {
		return memkernel.Part{Kind: memkernel.PartText, Text: c.Str()}
	}
	for k := range c.Fields {
		b.field(k, c)
	}
	return b.part(c.Since(start))
}

func (b *block) field(key string, c *wire.Cursor) {
	switch key {
	case "type":
		b.typ = c.Str()
	case "text":
		b.text = c.Str()
	case "thinking":
		b.thinking = c.Str()
	case "signature":
		b.signature = c.Str()
	case "data":
		b.data = c.Str()
	case "id":
		b.id = c.Str()
	case "name":
		b.name = c.Str()
	case "input":
		b.input = c.Raw()
	case "tool_use_id":
		b.callID = c.Str()
	case "is_error":
		b.isErr = c.Boolean()
	case "content":
		b.plain = c.Peek() == '"'
		b.content = Content(c)
	case "source":
		b.media = readSource(c)
	}
}

func readSource(c *wire.Cursor) (s source64) {
	for k := range c.Fields {
		switch k {
		case "type":
			s.typ = c.Str()
		case "media_type":
			s.media = c.Str()
		case "data":
			s.data = c.Str()
		case "url", "file_id":
			s.url = c.Str()
		}
	}
	return s
}

// part makes the canonical part of the collected fields.
func (b *block) part(raw string) memkernel.Part {
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: raw}
	switch {
	case b.typ == "text":
		p.Kind, p.Text = memkernel.PartText, b.text
	case b.typ == "thinking":
		p.Kind, p.Text, p.Signature = memkernel.PartThinking, b.thinking, b.signature
	case b.typ == "redacted_thinking":
		p.Kind, p.Signature = memkernel.PartRedactedThinking, b.data
	case b.typ == "tool_use", b.typ == "server_tool_use", b.typ == "mcp_tool_use":
		p.Kind = memkernel.PartToolUse
		p.Call = &memkernel.ToolCall{ID: b.id, Name: b.name, Input: b.input, Server: b.typ != "tool_use"}
	case b.typ == "tool_result":
		p.Kind = memkernel.PartToolResult
		p.Result = &memkernel.ToolResult{CallID: b.callID, Content: b.content, Text: b.plain, IsError: b.isErr}
	case strings.HasSuffix(b.typ, "_tool_result") && b.callID != "":
		p.Kind = memkernel.PartToolResult
		p.Result = &memkernel.ToolResult{CallID: b.callID, Content: b.content, IsError: b.isErr, Opaque: true}
	case b.typ == "image":
		p.Kind, p.Media = memkernel.PartImage, b.media.media64()
	case b.typ == "document":
		p.Kind, p.Media = memkernel.PartDocument, b.media.media64()
		if b.media.typ == "text" {
			p.Media.Data, p.Text = "", b.media.data
		}
	}
	return p
}

func (s source64) media64() *memkernel.Media {
	m := &memkernel.Media{Type: s.media, Data: s.data, URL: s.url}
	if s.typ == "base64" {
		m.Width, m.Height = wire.Pixels(m.Type, m.Data)
	}
	return m
}
