package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// parseAnthropic reads a value of a Messages request.
func parseAnthropic(e *Entry) error {
	if e.Kind == KindField {
		return ParseField(e, anthropicContent)
	}
	return ParseMessage(e, func(c *cursor) *memkernel.Message {
		m := &memkernel.Message{}
		m.Key, _ = anthropicMessage(c, m)
		person(m, false)
		return m
	})
}

// anthropicMessage reads a Messages object into m and returns its id and why it ended.
func anthropicMessage(c *cursor, m *memkernel.Message) (id, stop string) {
	start := c.start()
	for k := range c.fields {
		switch k {
		case "id":
			id = c.str()
		case "stop_reason":
			stop = c.str()
		case "role":
			m.Role = memkernel.Role(c.str())
		case "model":
			m.Model = c.str()
		case "content":
			m.Parts = anthropicContent(c)
		case "usage":
			m.Usage = c.usage()
		default:
			c.skip()
		}
	}
	if c.err == nil {
		m.Raw = c.since(start)
	}
	return id, stop
}

// weighAnthropic knows a request of the Messages API by its words.
func weighAnthropic(at Place, word string) int {
	switch at {
	case AtMember:
		switch word {
		case "system", "anthropic_version", "anthropic_beta", "stop_sequences", "top_k", "thinking":
			return 2
		}
	case AtModel:
		if strings.Contains(word, "claude") {
			return 1
		}
	case AtTool:
		if word == "input_schema" || word == "cache_control" {
			return 4
		}
	case AtBlock:
		if word == "cache_control" || word == "source" {
			return 4
		}
	case AtType:
		switch word {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "document":
			return 4
		}
	}
	return 0
}

// writeAnthropic spells a message of the Messages API. Of the host's own all members
// but the content stay.
func writeAnthropic(m memkernel.Message, raw string, _ map[string]bool) []string {
	dst := []byte{'['}
	for i := range m.Parts {
		dst = appendListed(dst, func(dst []byte) []byte { return appendAnthropic(dst, &m.Parts[i]) })
	}
	if len(dst) == 1 {
		return nil // nothing of it can be sent
	}
	content := string(append(dst, ']'))
	switch {
	case raw != "":
		return []string{withMember(raw, "content", content)}
	case m.Role == memkernel.RoleAssistant:
		return []string{`{"role":"assistant","content":` + content + "}"}
	}
	return []string{`{"role":"user","content":` + content + "}"}
}

const (
	anthropicName   = "anthropic"
	anthropicFormat = "anthropic"
)

// anthropicRow are requests of the Messages API.
var anthropicRow = row{Name: anthropicName, Weigh: weighAnthropic, Parse: parseAnthropic, Assemble: assembleAnthropic,
	Items: &Items{Read: One(parseAnthropic), Assemble: assembleAnthropic, Apart: true, Write: writeAnthropic},
	API: &API{Format: anthropicFormat, List: "messages", System: "system", Instructions: anthropicContent,
		Element: One(parseAnthropic), Pair: Answers,
		Render: renderAnthropic, Append: appendBlock, Takes: takesAnthropic, Refuses: refusesAnthropic,
		Tools: ToolSchema, Rewrite: rewriteAnthropic, Markers: findMarkers}}

func assembleAnthropic(l *Log) (add func(*Entry), finish func()) { return Requests(l, false) }
