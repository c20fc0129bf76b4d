package transcript

import (
	"github.com/memkernel/memkernel"
)

// This file reads and writes requests of the Messages API, and its content blocks, which
// hosts write into their logs too.

// anthropicParse reads a value of a Messages request.
func anthropicParse(e *Record) error {
	if e.Kind == kindField {
		return parseField(e, anthropicContent)
	}
	return parseMessage(e, func(c *cursor) *memkernel.Message {
		m := &memkernel.Message{}
		m.Key, _ = readAnthropicMessage(c, m)
		markTyped(m, false)
		return m
	})
}

// readAnthropicMessage reads a message of the Messages API into m. It returns the message's id and
// why it ended.
func readAnthropicMessage(c *cursor, m *memkernel.Message) (id, stop string) {
	start := c.Start()
	var transformations, diagnostics jsonText
	c.Read("id", &id, "stop_reason", &stop, "role", (*string)(&m.Role), "model", &m.Model, "usage", &m.Usage,
		"input_transformations", &transformations, "diagnostics", &diagnostics,
		"content", func() { m.Parts = anthropicContent(c) })
	if c.Err == nil {
		told := memkernel.ReportMembers{Transformations: []byte(transformations), Diagnostics: []byte(diagnostics)}
		m.Raw, m.Reported = c.Since(start), told.Read()
	}
	return id, stop
}

// anthropicSigns are members and values that only requests of the Messages API have.
const anthropicSigns = `"(?:system|anthropic_version|anthropic_beta|stop_sequences|top_k|thinking|input_schema|cache_control|source|tool_use_id)"\s*:|` +
	`"type"\s*:\s*"(?:tool_use|tool_result|thinking|redacted_thinking|document)"|"model"\s*:\s*"[^"]*claude`

// anthropicWrite returns a message of the Messages API. If raw is the host's own message, all its
// members except the content stay.
func anthropicWrite(m memkernel.Message, raw string, _ map[string]bool) []string {
	content := string(appendList(nil, m.Parts, appendAnthropicPart))
	role := "user"
	switch {
	case content == "[]":
		return nil // nothing of it can be sent
	case raw != "":
		return []string{withMember(raw, "content", content)}
	case m.Role == memkernel.RoleAssistant:
		role = "assistant"
	}
	return []string{`{"role":"` + role + `","content":` + content + "}"}
}

// anthropicDialect are requests of the Messages API.
var anthropicDialect = dialectRow{Name: "anthropic", Signs: anthropicSigns, Parse: anthropicParse, Assemble: assembleRequests,
	Known: `server_tool_use web_search_tool_result web_fetch_tool_result code_execution_tool_result
		bash_code_execution_tool_result text_editor_code_execution_tool_result mcp_tool_use mcp_tool_result
		tool_search_tool_result tool_reference search_result container_upload`,
	Items: &items{Read: readOne(anthropicParse), Assemble: assembleRequests, Write: anthropicWrite},
	API: &api{Format: "anthropic", List: "messages", System: "system", Instructions: anthropicContent,
		Element: readOne(anthropicParse), Pair: pairByID,
		Render: anthropicRender, Append: func(dst []byte, _ memkernel.Role, p *memkernel.Part) []byte { return appendAnthropicPart(dst, p) },
		Takes: anthropicTakes, Refuses: anthropicRefuses,
		Tools: toolSchema, Rewrite: anthropicRewrite, Markers: anthropicFindMarkers}}
