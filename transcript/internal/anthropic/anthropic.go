// Package anthropic is the Messages API: requests as they are read, a client's body
// rewritten, and content blocks, which hosts write into their logs too.
package anthropic

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// parse reads a value of a Messages request.
func parse(e *wire.Entry) error {
	if e.Kind == wire.KindField {
		return wire.ParseField(e, Content)
	}
	return wire.ParseMessage(e, func(c *wire.Cursor) *memkernel.Message {
		m := &memkernel.Message{}
		m.Key, _ = ReadMessage(c, m)
		wire.Person(m, false)
		return m
	})
}

// ReadMessage reads a Messages object into m and returns its id and why it ended.
func ReadMessage(c *wire.Cursor, m *memkernel.Message) (id, stop string) {
	start := c.Start()
	for k := range c.Fields {
		switch k {
		case "id":
			id = c.Str()
		case "stop_reason":
			stop = c.Str()
		case "role":
			m.Role = memkernel.Role(c.Str())
		case "model":
			m.Model = c.Str()
		case "content":
			m.Parts = Content(c)
		case "usage":
			m.Usage = c.Usage()
		default:
			c.Skip()
		}
	}
	if c.Err == nil {
		m.Raw = c.Since(start)
	}
	return id, stop
}

// weigh knows a request of the Messages API by its words.
func weigh(at wire.Place, word string) int {
	switch at {
	case wire.AtMember:
		switch word {
		case "system", "anthropic_version", "anthropic_beta", "stop_sequences", "top_k", "thinking":
			return 2
		}
	case wire.AtModel:
		if strings.Contains(word, "claude") {
			return 1
		}
	case wire.AtTool:
		if word == "input_schema" || word == "cache_control" {
			return 4
		}
	case wire.AtBlock:
		if word == "cache_control" || word == "source" {
			return 4
		}
	case wire.AtType:
		switch word {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "document":
			return 4
		}
	}
	return 0
}

// write spells a message of the Messages API. Of the host's own all members
// but the content stay.
func write(m memkernel.Message, raw string, _ map[string]bool) []string {
	dst := []byte{'['}
	for i := range m.Parts {
		dst = wire.AppendListed(dst, func(dst []byte) []byte { return appendPart(dst, &m.Parts[i]) })
	}
	if len(dst) == 1 {
		return nil // nothing of it can be sent
	}
	content := string(append(dst, ']'))
	switch {
	case raw != "":
		return []string{wire.WithMember(raw, "content", content)}
	case m.Role == memkernel.RoleAssistant:
		return []string{`{"role":"assistant","content":` + content + "}"}
	}
	return []string{`{"role":"user","content":` + content + "}"}
}

const (
	Name   = "anthropic"
	Format = "anthropic"
)

// Dialect are requests of the Messages API.
var Dialect = wire.Dialect{Name: Name, Weigh: weigh, Parse: parse, Assemble: assemble,
	Items: &wire.Items{Read: wire.One(parse), Assemble: assemble, Apart: true, Write: write},
	API: &wire.API{Format: Format, List: "messages", System: "system", Instructions: Content,
		Element: wire.One(parse), Pair: wire.Answers,
		Render: render, Append: appendBlock, Takes: takes, Refuses: refuses,
		Tools: wire.ToolSchema, Rewrite: rewrite, Markers: findMarkers}}

func assemble(l *wire.Log) (add func(*wire.Entry), finish func()) { return wire.Requests(l, false) }
