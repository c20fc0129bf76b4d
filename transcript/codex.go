package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// This file reads and writes the Responses API, and reads the rollouts in which Codex records its
// items. It also pairs calls and results of unknown kinds.

// codexRecords are the types of a rollout's records.
var codexRecords = textutil.Set("session_meta response_item event_msg turn_context compacted")

// codexItems are the types of Responses items in rollouts, except those of codexCalls and
// codexAnswers.
var codexItems = textutil.Set(`message reasoning function_call function_call_output custom_tool_call custom_tool_call_output
	local_shell_call local_shell_call_output web_search_call file_search_call code_interpreter_call
	image_generation_call mcp_call mcp_list_tools mcp_approval_request mcp_approval_response compaction
	compaction_summary compaction_trigger ghost_snapshot item_reference configuration_update ` + additionalTools)

// isItemType reports whether rollouts hold Responses items of a type.
func isItemType(typ string) bool {
	return codexItems[typ] || codexCalls[typ] || codexAnswers[typ]
}

// codexItem holds the members of a Responses item.
type codexItem struct {
	typ, role, name, callID, approval, id, execution, status, input, encrypted, turn string
	text                                                                             string // reasoning summary
	parts                                                                            []memkernel.Part
	plain, isErr                                                                     bool
}

func codexParse(e *Record) error {
	var typ, at, id string
	var payload, state jsonText
	_, err := readObject(e.Raw, "type", &typ, "timestamp", &at, "id", &id, "payload", &payload, "record_type", &state)
	if err != nil {
		return err
	}
	e.Type, e.Kind = typ, kindUnknown
	switch typ {
	case "session_meta", "turn_context":
		e.Kind = kindMeta
		return readCodexMeta(e, string(payload))
	case "compacted":
		e.Kind = kindCompaction
		return readCodexCompaction(e, string(payload), at)
	case "event_msg":
		e.Kind = kindIgnored
		return readCodexEvent(e, string(payload))
	case "response_item":
		return readCodexResponse(e, strings.Clone(string(payload)), at)
	case "":
		// Rollouts of early versions begin with a bare header.
		if id != "" || state != "" {
			e.Kind, e.about.ID = kindMeta, strings.Clone(id)
		}
	default:
		if payload == "" && isItemType(typ) {
			return readCodexResponse(e, strings.Clone(e.Raw), at)
		}
	}
	return nil
}

func readCodexMeta(e *Record, payload string) error {
	c := scan(strings.Clone(payload))
	a := &e.about
	c.Read("id", &a.ID, "cwd", &a.Cwd, "model", &a.Model, "base_instructions", func() {
		if c.Peek() == '"' {
			a.System = textParts(c.Str())
		} else {
			a.System = textParts(c.Text("text"))
		}
	})
	if e.Type == "turn_context" {
		a.ID = ""
	}
	return c.Err
}

// codexExtra holds further facts of an entry for the assembler.
type codexExtra struct {
	history  jsonText // replacement history
	at       time.Time
	billed   jsonText // running total, which tells repeated usage from new
	usage    *memkernel.Usage
	rollback int
}

func readCodexCompaction(e *Record, payload, at string) error {
	c := scan(strings.Clone(payload))
	own, summary := &codexExtra{at: parseTime(at)}, ""
	e.own = own
	if c.Read("message", &summary, "replacement_history", &own.history); own.history == "null" {
		own.history = ""
	}
	if summary != "" {
		e.Message = &memkernel.Message{Role: memkernel.RoleUser, Time: own.at, Origin: memkernel.OriginSummary, Parts: textParts(summary)}
	}
	return c.Err
}

// readCodexEvent reads token counts, rollbacks and the ends of turns. Other events are ignored.
func readCodexEvent(e *Record, payload string) error {
	var typ string
	var info jsonText
	own := &codexExtra{}
	c := scan(payload)
	c.Read("type", &typ, "info", &info, "num_turns", &own.rollback)
	switch typ {
	case "token_count":
		u := scan(string(info))
		u.Read("total_token_usage", &own.billed, "last_token_usage", &own.usage)
		own.billed, own.rollback = jsonText(strings.Clone(string(own.billed))), 0
		e.Kind, e.own, e.unread = kindUsage, own, u.Unread
	case "task_complete", "turn_complete", "turn_aborted":
		e.ends = true
	case "thread_rolled_back":
		e.Kind, e.own = kindMeta, own
	}
	return c.Err
}

func readCodexResponse(e *Record, raw, at string) error {
	e.Kind = kindMessage
	m, err := readCodexMessage(raw)
	if err != nil {
		return err
	}
	if m == nil {
		e.Kind = kindIgnored
		return nil
	}
	m.Time = parseTime(at)
	e.Message, e.ID = m, m.Key
	return nil
}

// readCodexItem reads the members of an item.
func readCodexItem(raw string) (it codexItem, err error) {
	c := scan(raw)
	input := func() { it.input = c.TextOrJSON() }
	c.Read("type", &it.typ, "role", &it.role, "id", &it.id, "name", &it.name, "call_id", &it.callID,
		"approval_request_id", &it.approval, "execution", &it.execution, "status", &it.status, "encrypted_content", &it.encrypted,
		"arguments", input, "input", input, "action", input, "actions", input, "operation", input,
		"content", func() {
			if c.Peek() == 'n' {
				c.Skip()
			} else {
				it.parts = openAIContent(&c)
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

// readCodexMessage makes a message of one item. The assembler joins the items of one assistant turn.
// It returns nil for items that never reach the model.
func readCodexMessage(raw string) (*memkernel.Message, error) {
	it, err := readCodexItem(raw)
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
		m.Parts = []memkernel.Part{callPart(call, raw)}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{resultPart(memkernel.ToolResult{
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
		switch {
		case it.pairID() == "":
		case codexCalls[it.typ]:
			m.Parts[0] = it.call(raw)
		case codexAnswers[it.typ]:
			m.Role, m.Parts[0] = memkernel.RoleTool, it.result(raw)
		}
	}
	return m, nil
}

// output reads a call's output: a string, a list of content parts, one content part, or the
// object {content, success} of early versions. Any other output is kept as an unknown part.
func (it *codexItem) output(c *cursor) {
	switch it.plain = c.Peek() == '"'; c.Peek() {
	case '"', '[', 'n':
		it.parts = openAIContent(c)
		return
	}
	raw := c.Raw()
	it.parts = []memkernel.Part{it.other(raw)}
	if rawType(raw) != "" {
		list := scan("[" + raw + "]")
		it.parts = openAIContent(&list)
		return
	}
	in := scan(raw)
	in.Read("content", func() { it.plain, it.parts = in.Peek() == '"', openAIContent(&in) }, "success", func() { it.isErr = in.Raw() == "false" })
}

func summaryText(c *cursor) string {
	var texts []string
	for range c.Elems {
		c.Read("text", func() { texts = append(texts, c.Str()) })
	}
	return strings.Join(texts, "\n\n")
}

func (it *codexItem) message(m *memkernel.Message) {
	m.Role, m.Parts = memkernel.Role(it.role), it.parts
	switch m.Role {
	case memkernel.RoleAssistant:
		// An assistant item carries more than its text (id, phase), which the
		// provider wants back: the block's exact JSON is then the item.
		if len(m.Parts) == 1 {
			m.Parts[0].Raw = m.Raw
		}
	case memkernel.RoleUser:
		if len(m.Parts) > 0 && !slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool { return p.Kind != memkernel.PartText || !isHostContext(p.Text) }) {
			m.Origin = memkernel.OriginMeta
		}
		markTyped(m, false)
	}
}

// codexLines are signs of rollouts, and of bare items, which early versions wrote.
var codexLines = []sign{{4, "", codexRecords}, {4, "payload type", nil}, {4, "record_type", nil}, {4, "instructions id timestamp", nil},
	{1, "", codexItems}, {1, "", codexCalls}, {1, "", codexAnswers}}

// codexDialect are Codex's rollouts, and the items of the Responses API that they hold.
var codexDialect = dialectRow{Name: "codex", Lines: codexLines, Parse: codexParse, Assemble: codexAssemble,
	Known: `reasoning web_search_call file_search_call code_interpreter_call image_generation_call
		computer_call computer_call_output mcp_call mcp_list_tools tool_search_call tool_search_output
		refusal local_shell_call local_shell_call_output`,
	Notices: []string{"# AGENTS.md instructions", "<permissions instructions>", "<INSTRUCTIONS>",
		"Another language model started to solve this problem", "You are performing a CONTEXT CHECKPOINT COMPACTION"},
	Items: &items{Read: readCodexValue, Assemble: codexAssemble, Write: writeCodexItems, Reworded: codexFunctions},
	API:   codexAPI}

var codexAPI = &api{Format: "responses", List: "input", System: "instructions", Lead: true, Instructions: openAIContent,
	Element: readCodexElement, Join: joinItem, Offers: codexOffers,
	Pair:   func() func([]memkernel.Message, *memkernel.Message) { return new(codexPairs).take },
	Render: codexRender, Append: appendCodexPart, Takes: codexTakes, Refuses: codexRefuses,
	Tools: toolFlat, Rewrite: codexRewrite}
