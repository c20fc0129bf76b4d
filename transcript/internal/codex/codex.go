// Package codex reads and writes the Responses API, and reads the rollouts in which Codex records
// its items. It finds out which items of unknown kinds are pairs.
package codex

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// records are the types of a rollout's records.
var records = wire.Set("session_meta response_item event_msg turn_context compacted")

// items are the types of Responses items in rollouts, except those of clientItem.
var items = wire.Set(`message reasoning function_call function_call_output custom_tool_call custom_tool_call_output
	local_shell_call local_shell_call_output web_search_call file_search_call code_interpreter_call
	image_generation_call mcp_call mcp_list_tools mcp_approval_request mcp_approval_response compaction
	compaction_summary compaction_trigger ghost_snapshot item_reference configuration_update ` + additionalTools)

// isResponsesItem reports whether rollouts hold Responses items of a type.
func isResponsesItem(typ string) bool {
	_, ok := clientItem(typ)
	return ok || items[typ]
}

// item holds the members of a Responses item.
type item struct {
	typ, role, name, callID, approval, id, execution, status, input, encrypted, turn string
	text                                                                             string // reasoning summary
	parts                                                                            []memkernel.Part
	plain, isErr                                                                     bool
}

func parse(e *wire.Entry) error {
	var typ, at, id string
	var payload, state wire.JSON
	_, err := wire.ReadObject(e.Raw, "type", &typ, "timestamp", &at, "id", &id, "payload", &payload, "record_type", &state)
	if err != nil {
		return err
	}
	e.Type, e.Kind = typ, wire.KindUnknown
	switch typ {
	case "session_meta", "turn_context":
		e.Kind = wire.KindMeta
		return readMeta(e, string(payload))
	case "compacted":
		e.Kind = wire.KindCompaction
		return readCompaction(e, string(payload), at)
	case "event_msg":
		e.Kind = wire.KindIgnored
		return readEvent(e, string(payload))
	case "response_item":
		return readResponse(e, strings.Clone(string(payload)), at)
	case "":
		// Rollouts of early versions begin with a bare header.
		if id != "" || state != "" {
			e.Kind, e.About.ID = wire.KindMeta, strings.Clone(id)
		}
	default:
		if payload == "" && isResponsesItem(typ) {
			return readResponse(e, strings.Clone(e.Raw), at)
		}
	}
	return nil
}

func readMeta(e *wire.Entry, payload string) error {
	c := wire.Scan(strings.Clone(payload))
	a := &e.About
	c.Read("id", &a.ID, "cwd", &a.Cwd, "model", &a.Model, "base_instructions", func() {
		if c.Peek() == '"' {
			a.System = wire.Texts(c.Str())
		} else {
			a.System = wire.Texts(c.Text("text"))
		}
	})
	if e.Type == "turn_context" {
		a.ID = ""
	}
	return c.Err
}

// extra holds further facts of an entry for the assembler.
type extra struct {
	history  wire.JSON // replacement history
	at       time.Time
	billed   wire.JSON // running total, which tells repeated usage from new
	usage    *memkernel.Usage
	rollback int
}

func readCompaction(e *wire.Entry, payload, at string) error {
	c := wire.Scan(strings.Clone(payload))
	own, summary := &extra{at: wire.ParseTime(at)}, ""
	e.Own = own
	if c.Read("message", &summary, "replacement_history", &own.history); own.history == "null" {
		own.history = ""
	}
	if summary != "" {
		e.Message = &memkernel.Message{Role: memkernel.RoleUser, Time: own.at, Origin: memkernel.OriginSummary, Parts: wire.Texts(summary)}
	}
	return c.Err
}

// readEvent reads token counts, rollbacks and the ends of turns. Other events are ignored.
func readEvent(e *wire.Entry, payload string) error {
	var typ string
	var info wire.JSON
	own := &extra{}
	c := wire.Scan(payload)
	c.Read("type", &typ, "info", &info, "num_turns", &own.rollback)
	switch typ {
	case "token_count":
		u := wire.Scan(string(info))
		u.Read("total_token_usage", &own.billed, "last_token_usage", &own.usage)
		own.billed, own.rollback = wire.JSON(strings.Clone(string(own.billed))), 0
		e.Kind, e.Own, e.Unread = wire.KindUsage, own, u.Unread
	case "task_complete", "turn_complete", "turn_aborted":
		e.Ends = true
	case "thread_rolled_back":
		e.Kind, e.Own = wire.KindMeta, own
	}
	return c.Err
}

func readResponse(e *wire.Entry, raw, at string) error {
	e.Kind = wire.KindMessage
	m, err := readMessage(raw)
	if err != nil {
		return err
	}
	if m == nil {
		e.Kind = wire.KindIgnored
		return nil
	}
	m.Time = wire.ParseTime(at)
	e.Message, e.ID = m, m.Key
	return nil
}

// readItem reads the members of an item.
func readItem(raw string) (it item, err error) {
	c := wire.Scan(raw)
	input := func() { it.input = c.TextOrJSON() }
	c.Read("type", &it.typ, "role", &it.role, "id", &it.id, "name", &it.name, "call_id", &it.callID,
		"approval_request_id", &it.approval, "execution", &it.execution, "status", &it.status, "encrypted_content", &it.encrypted,
		"arguments", input, "input", input, "action", input, "actions", input, "operation", input,
		"content", func() {
			if c.Peek() == 'n' {
				c.Skip()
			} else {
				it.parts = content(&c)
			}
		},
		"output", func() { it.output(&c) },
		"summary", func() { it.text = summaryText(&c) },
		"internal_chat_message_metadata_passthrough", func() { it.turn = cmp.Or(c.Text("turn_id"), it.turn) })
	if it.typ == "" && it.role != "" {
		it.typ = "message" // requests may leave it out
	}
	return it, c.End()
}

// readMessage makes a message of one item. The assembler joins the items of one assistant turn.
// It returns nil for items that never reach the model.
func readMessage(raw string) (*memkernel.Message, error) {
	it, err := readItem(raw)
	if err != nil {
		return nil, err
	}
	m := &memkernel.Message{Key: it.id, Turn: it.turn, Raw: raw}
	switch it.typ {
	case "message":
		it.message(m)
	case "reasoning":
		m.Role = memkernel.RoleAssistant
		m.Parts = []memkernel.Part{{Kind: memkernel.PartThinking, Text: it.text, Signature: it.encrypted, Raw: raw}}
	case "function_call", "custom_tool_call", "local_shell_call":
		m.Role = memkernel.RoleAssistant
		call := memkernel.ToolCall{ID: cmp.Or(it.callID, it.id), Name: it.name, Input: it.input, Custom: it.typ == "custom_tool_call"}
		if it.typ == "local_shell_call" {
			call.Name = "local_shell"
		}
		m.Parts = []memkernel.Part{wire.CallPart(call, raw)}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{wire.ResultPart(memkernel.ToolResult{
			CallID: cmp.Or(it.callID, it.id), Name: it.name, Content: it.parts, Text: it.plain, IsError: it.isErr}, raw)}
	case "compaction", "compaction_summary":
		m.Role, m.Origin = memkernel.RoleUser, memkernel.OriginSummary
		m.Parts = []memkernel.Part{{Kind: memkernel.PartOther, Signature: it.encrypted, Raw: raw}}
	case additionalTools, "configuration_update", "compaction_trigger":
		m.Role, m.Parts = memkernel.RoleDeveloper, []memkernel.Part{it.other(raw)}
	case "ghost_snapshot":
		return nil, nil
	default:
		// Calls that the provider ran itself, and items yet to be invented: pairs determines
		// which of these are calls.
		m.Role = memkernel.RoleAssistant
		m.Parts = []memkernel.Part{it.other(raw)}
		switch call, ok := clientItem(it.typ); {
		case !ok || it.pairID() == "":
		case call:
			m.Parts[0] = it.call(raw)
		default:
			m.Role, m.Parts[0] = memkernel.RoleTool, it.result(raw)
		}
	}
	return m, nil
}

// output reads a call's output: a string, a list of content parts, one content part, or the
// object {content, success} of early versions. Any other output is kept as an unknown part.
func (it *item) output(c *wire.Cursor) {
	switch it.plain = c.Peek() == '"'; c.Peek() {
	case '"', '[', 'n':
		it.parts = content(c)
		return
	}
	raw := c.Raw()
	it.parts = []memkernel.Part{it.other(raw)}
	if wire.RawType(raw) != "" {
		list := wire.Scan("[" + raw + "]")
		it.parts = content(&list)
		return
	}
	in := wire.Scan(raw)
	in.Read("content", func() { it.plain, it.parts = in.Peek() == '"', content(&in) }, "success", func() { it.isErr = in.Raw() == "false" })
}

func summaryText(c *wire.Cursor) string {
	var texts []string
	for range c.Elems {
		c.Read("text", func() { texts = append(texts, c.Str()) })
	}
	return strings.Join(texts, "\n\n")
}

func (it *item) message(m *memkernel.Message) {
	m.Role, m.Parts = memkernel.Role(it.role), it.parts
	switch m.Role {
	case memkernel.RoleAssistant:
		// An assistant item carries more than its text (id, phase), which the
		// provider wants back: the block's exact JSON is then the item.
		if len(m.Parts) == 1 {
			m.Parts[0].Raw = m.Raw
		}
	case memkernel.RoleUser:
		if len(m.Parts) > 0 && !slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool { return p.Kind != memkernel.PartText || !wire.IsHostContext(p.Text) }) {
			m.Origin = memkernel.OriginMeta
		}
		wire.Person(m, false)
	}
}

// content reads the content of a Responses message or output.
func content(c *wire.Cursor) []memkernel.Part { return wire.Content(c, readBlock) }

func readBlock(c *wire.Cursor) memkernel.Part {
	var typ, text, url, data, name string
	start := c.Start()
	printed := func() { // by a shell, whose blocks have no type
		typ = cmp.Or(typ, "output_text")
		if s := c.Str(); text == "" || s == "" {
			text += s
		} else {
			text += "\n" + s
		}
	}
	c.Read("type", &typ, "text", &text, "refusal", &text, "stdout", printed, "stderr", printed,
		"image_url", &url, "file_url", &url, "file_id", &url, "file_data", &data, "filename", &name)
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.Since(start)}
	switch typ {
	case "input_text", "output_text", "text":
		p.Kind, p.Text = memkernel.PartText, text
	case "refusal":
		p.Text = text
	case "input_image", "computer_screenshot":
		p.Kind, p.Media = memkernel.PartImage, wire.MediaOf(url)
	case "input_file":
		p.Kind, p.Text, p.Media = memkernel.PartDocument, name, wire.MediaOf(cmp.Or(data, url))
	}
	return p
}

// sniff knows a line of a rollout by its type. It is less sure of a bare item, which early
// versions wrote.
func sniff(typ string, has map[string]bool) int {
	switch {
	case records[typ], has["payload"] && has["type"], has["record_type"],
		has["instructions"] && has["id"] && has["timestamp"]:
		return 4
	case isResponsesItem(typ):
		return 1
	}
	return 0
}

const (
	Name   = "codex"
	Format = "responses"
)

// Dialect are Codex's rollouts, and the items of the Responses API that they hold.
var Dialect = wire.Dialect{Name: Name, Sniff: sniff, Parse: parse, Assemble: assemble,
	Known: []string{"reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
		"computer_call", "computer_call_output", "mcp_call", "mcp_list_tools", "tool_search_call", "tool_search_output",
		"refusal", "local_shell_call", "local_shell_call_output"},
	Notices: []string{"# AGENTS.md instructions", "<permissions instructions>", "<INSTRUCTIONS>",
		"Another language model started to solve this problem", "You are performing a CONTEXT CHECKPOINT COMPACTION"},
	Items: &wire.Items{Read: readValue, Assemble: assemble, Write: writeItems, Reworded: functions},
	API:   api}

var api = &wire.API{Format: Format, List: "input", System: "instructions", Lead: true, Instructions: content,
	Element: readElement, Join: joinItem, Offers: offers,
	Pair:   func() func([]memkernel.Message, *memkernel.Message) { return new(pairs).take },
	Render: render, Append: appendPart, Takes: takes, Refuses: refuses,
	Tools: wire.ToolFlat, Rewrite: rewrite}
