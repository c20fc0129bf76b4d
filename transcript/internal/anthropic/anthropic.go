// Package anthropic reads and writes requests of the Messages API, and its content blocks, which
// hosts write into their logs too.
package anthropic

import (
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

// ReadMessage reads a message of the Messages API into m. It returns the message's id and why it
// ended.
func ReadMessage(c *wire.Cursor, m *memkernel.Message) (id, stop string) {
	start := c.Start()
	var transformations, diagnostics wire.JSON
	c.Read("id", &id, "stop_reason", &stop, "role", (*string)(&m.Role), "model", &m.Model, "usage", &m.Usage,
		"input_transformations", &transformations, "diagnostics", &diagnostics,
		"content", func() { m.Parts = Content(c) })
	if c.Err == nil {
		told := memkernel.ReportMembers{Transformations: []byte(transformations), Diagnostics: []byte(diagnostics)}
		m.Raw, m.Reported = c.Since(start), told.Read()
	}
	return id, stop
}

// signs are members and values that only requests of the Messages API have.
const signs = `"(?:system|anthropic_version|anthropic_beta|stop_sequences|top_k|thinking|input_schema|cache_control|source|tool_use_id)"\s*:|` +
	`"type"\s*:\s*"(?:tool_use|tool_result|thinking|redacted_thinking|document)"|"model"\s*:\s*"[^"]*claude`

// write returns a message of the Messages API. A message of the host's keeps all members but its
// content.
func write(m memkernel.Message, raw string, _ map[string]bool) []string {
	content := string(wire.AppendList(nil, m.Parts, appendPart))
	role := "user"
	switch {
	case content == "[]":
		return nil // nothing of it can be sent
	case raw != "":
		return []string{wire.WithMember(raw, "content", content)}
	case m.Role == memkernel.RoleAssistant:
		role = "assistant"
	}
	return []string{`{"role":"` + role + `","content":` + content + "}"}
}

const (
	Name   = "anthropic"
	Format = "anthropic"
)

// Dialect are requests of the Messages API.
var Dialect = wire.Dialect{Name: Name, Signs: signs, Parse: parse, Assemble: assemble,
	Known: []string{"server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "mcp_tool_use", "mcp_tool_result",
		"tool_search_tool_result", "tool_reference", "search_result", "container_upload"},
	Items: &wire.Items{Read: wire.One(parse), Assemble: assemble, Apart: true, Write: write},
	API: &wire.API{Format: Format, List: "messages", System: "system", Instructions: Content,
		Element: wire.One(parse), Pair: wire.Answers,
		Render: render, Append: func(dst []byte, _ memkernel.Role, p *memkernel.Part) []byte { return appendPart(dst, p) },
		Takes: takes, Refuses: refuses,
		Tools: wire.ToolSchema, Rewrite: rewrite, Markers: findMarkers}}

func assemble(l *wire.Log) (add func(*wire.Entry), finish func()) { return wire.Requests(l, false) }
