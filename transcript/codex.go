package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

func isCodexType(t string) bool {
	switch t {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted":
		return true
	}
	return false
}

// isResponsesItem lists the item types of the Responses API that rollouts hold.
func isResponsesItem(t string) bool {
	switch t {
	case "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
		"custom_tool_call_output", "local_shell_call", "local_shell_call_output", "web_search_call",
		"file_search_call", "code_interpreter_call", "image_generation_call",
		"mcp_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
		"compaction", "compaction_summary", "compaction_trigger", "ghost_snapshot", "item_reference":
		return true
	}
	_, ok := clientItem(t)
	return ok
}

// codexItem holds the fields of a Responses item.
type codexItem struct {
	typ, role, name, callID, approval, id, execution, status, input, encrypted, turn string
	text                                                                             string // reasoning summary
	parts                                                                            []memkernel.Part
	plain, isErr                                                                     bool
}

func parseCodex(e *Entry) error {
	c, err := object(e.Raw)
	if err != nil {
		return err
	}
	var typ, at, payload, id string
	state := false
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
		case "timestamp":
			at = c.str()
		case "payload":
			payload = c.raw()
		case "id":
			id = c.str()
		default:
			state = state || k == "record_type"
			c.skip()
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	e.Type, e.Kind = typ, KindUnknown
	switch typ {
	case "session_meta", "turn_context":
		e.Kind = KindMeta
		return codexMeta(e, payload)
	case "compacted":
		e.Kind = KindCompaction
		return codexCompacted(e, payload, at)
	case "event_msg":
		e.Kind = KindIgnored
		return codexEvent(e, payload)
	case "response_item":
		return codexResponse(e, strings.Clone(payload), at)
	case "":
		// Rollouts of early versions begin with a bare header.
		if id != "" || state {
			e.Kind, e.About.ID = KindMeta, strings.Clone(id)
		}
	default:
		if payload == "" && isResponsesItem(typ) {
			return codexResponse(e, strings.Clone(e.Raw), at)
		}
	}
	return nil
}

func codexMeta(e *Entry, payload string) error {
	c := scan(strings.Clone(payload))
	for k := range c.fields {
		switch k {
		case "id":
			e.About.ID = c.str()
		case "cwd":
			e.About.Cwd = c.str()
		case "model":
			e.About.Model = c.str()
		case "base_instructions":
			e.About.System = codexInstructions(&c)
		default:
			c.skip()
		}
	}
	if e.Type == "turn_context" {
		e.About.ID = ""
	}
	return c.err
}

func codexInstructions(c *cursor) []memkernel.Part {
	text := ""
	if c.peek() == '"' {
		text = c.str()
	} else {
		text = c.text("text")
	}
	if text == "" {
		return nil
	}
	return []memkernel.Part{{Kind: memkernel.PartText, Text: text}}
}

// codexOwn is what the assembler makes something of.
type codexOwn struct {
	history  string // raw replacement history
	at       time.Time
	billed   string // raw running total, tells repeated usage apart
	usage    *memkernel.Usage
	rollback int
}

func codexCompacted(e *Entry, payload, at string) error {
	c := scan(strings.Clone(payload))
	own, summary := &codexOwn{at: parseTime(at)}, ""
	e.Own = own
	for k := range c.fields {
		switch k {
		case "message":
			summary = c.str()
		case "replacement_history":
			own.history = c.raw()
		default:
			c.skip()
		}
	}
	if own.history == "null" {
		own.history = ""
	}
	if summary != "" {
		e.Message = &memkernel.Message{
			Role: memkernel.RoleUser, Time: own.at, Origin: memkernel.OriginSummary,
			Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: summary}},
		}
	}
	return c.err
}

// codexEvent reads the events that matter: token counts and rollbacks.
func codexEvent(e *Entry, payload string) error {
	c := scan(payload)
	var typ, info string
	turns := 0
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
		case "info":
			info = c.raw()
		case "num_turns":
			turns = c.num()
		default:
			c.skip()
		}
	}
	switch typ {
	case "token_count":
		e.Kind = KindUsage
		codexUsage(e, info)
	case "task_complete", "turn_complete", "turn_aborted":
		e.Ends = true
	case "thread_rolled_back":
		e.Kind, e.Own = KindMeta, &codexOwn{rollback: turns}
	}
	return c.err
}

// codexUsage reads a token_count event.
func codexUsage(e *Entry, info string) {
	own := &codexOwn{}
	e.Own = own
	c := scan(info)
	for k := range c.fields {
		switch k {
		case "total_token_usage":
			own.billed = strings.Clone(c.raw())
		case "last_token_usage":
			own.usage = c.usage()
		default:
			c.skip()
		}
	}
	e.Unread = c.unread
}

func codexResponse(e *Entry, raw, at string) error {
	e.Kind = KindMessage
	m, err := codexMessage(raw)
	if err != nil {
		return err
	}
	if m == nil {
		e.Kind = KindIgnored
		return nil
	}
	m.Time = parseTime(at)
	e.Message, e.ID = m, m.Key
	return nil
}

// readCodexItem reads the members of an item.
func readCodexItem(raw string) (it codexItem, err error) {
	c := scan(raw)
	for k := range c.fields {
		it.field(k, &c)
	}
	if it.typ == "" && it.role != "" {
		it.typ = "message" // requests may leave it out
	}
	return it, c.end()
}

// codexMessage makes a message of one item; the assembler joins the items of
// one assistant turn. It is nil for items that say nothing to the model.
func codexMessage(raw string) (*memkernel.Message, error) {
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
		call := &memkernel.ToolCall{ID: it.callID, Name: it.name, Input: it.input, Custom: it.typ == "custom_tool_call"}
		if it.typ == "local_shell_call" {
			call.Name = "local_shell"
		}
		if call.ID == "" {
			call.ID = it.id
		}
		m.Parts = []memkernel.Part{{Kind: memkernel.PartToolUse, Call: call, Raw: raw}}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{{Kind: memkernel.PartToolResult, Raw: raw, Result: &memkernel.ToolResult{
			CallID: it.callID, Name: it.name, Content: it.parts, Text: it.plain, IsError: it.isErr}}}
		if it.callID == "" {
			m.Parts[0].Result.CallID = it.id
		}
	case "compaction", "compaction_summary":
		m.Role, m.Origin = memkernel.RoleUser, memkernel.OriginSummary
		m.Parts = []memkernel.Part{{Kind: memkernel.PartOther, Signature: it.encrypted, Raw: raw}}
	case "ghost_snapshot", "compaction_trigger":
		return nil, nil
	default:
		// Calls that the provider ran itself, and items yet to be invented: pairs tells
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

func (it *codexItem) field(key string, c *cursor) {
	switch key {
	case "type":
		it.typ = c.str()
	case "role":
		it.role = c.str()
	case "id":
		it.id = c.str()
	case "name":
		it.name = c.str()
	case "call_id":
		it.callID = c.str()
	case "approval_request_id":
		it.approval = c.str()
	case "execution":
		it.execution = c.str()
	case "status":
		it.status = c.str()
	case "arguments", "input", "action", "actions", "operation":
		switch c.peek() {
		case '"':
			it.input = c.str()
		case 'n':
			c.skip()
		default:
			it.input = c.raw()
		}
	case "encrypted_content":
		it.encrypted = c.str()
	case "content":
		if c.peek() == 'n' {
			c.skip()
		} else {
			it.parts = responsesContent(c)
		}
	case "output":
		it.output(c)
	case "summary":
		it.text = summaryText(c)
	case "internal_chat_message_metadata_passthrough":
		it.turn = cmp.Or(c.text("turn_id"), it.turn)
	default:
		c.skip()
	}
}

// output reads a call's output: a string, a list of content parts, one of them, or the
// object {content, success} of early versions. Anything else is what it is.
func (it *codexItem) output(c *cursor) {
	switch it.plain = c.peek() == '"'; c.peek() {
	case '"', '[', 'n':
		it.parts = responsesContent(c)
		return
	}
	raw := c.raw()
	it.parts = []memkernel.Part{it.other(raw)}
	in := scan(raw)
	for k := range in.fields {
		switch k {
		case "type":
			list := scan("[" + raw + "]")
			it.parts = responsesContent(&list)
			return
		case "content":
			it.plain = in.peek() == '"'
			it.parts = responsesContent(&in)
		case "success":
			it.isErr = in.raw() == "false"
		default:
			in.skip()
		}
	}
}

func summaryText(c *cursor) string {
	var texts []string
	for range c.elems {
		for k := range c.fields {
			if k == "text" {
				texts = append(texts, c.str())
			} else {
				c.skip()
			}
		}
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
		person(m, false)
	}
}

// responsesContent reads the content of a Responses message or output.
func responsesContent(c *cursor) []memkernel.Part { return Content(c, responsesBlock) }

func responsesBlock(c *cursor) (memkernel.Part, bool) {
	var typ, text, url, data, name string
	start := c.start()
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
		case "text", "refusal":
			text = c.str()
		case "stdout", "stderr": // of a shell, which has no type
			typ = cmp.Or(typ, "output_text")
			if s := c.str(); text == "" || s == "" {
				text += s
			} else {
				text += "\n" + s
			}
		case "image_url", "file_url", "file_id":
			url = c.str()
		case "file_data":
			data = c.str()
		case "filename":
			name = c.str()
		default:
			c.skip()
		}
	}
	return responsesPart(typ, text, url, data, name, c.since(start)), c.err == nil
}

func responsesPart(typ, text, url, data, name, raw string) memkernel.Part {
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: raw}
	switch typ {
	case "input_text", "output_text", "text":
		p.Kind, p.Text = memkernel.PartText, text
	case "refusal":
		p.Text = text
	case "input_image", "computer_screenshot":
		p.Kind, p.Media = memkernel.PartImage, mediaOf(url)
	case "input_file":
		p.Kind, p.Text = memkernel.PartDocument, name
		if p.Media = mediaOf(url); data != "" {
			p.Media = mediaOf(data)
		}
	}
	return p
}

// sniffCodex knows a line of a rollout by its type, and one of an early version, which
// is a bare item, less surely.
func sniffCodex(typ string, has map[string]bool) int {
	switch {
	case isCodexType(typ), has["payload"] && has["type"], has["record_type"],
		has["instructions"] && has["id"] && has["timestamp"]:
		return 4
	case isResponsesItem(typ):
		return 1
	}
	return 0
}

const (
	codexName   = "codex"
	codexFormat = "responses"
)

// codexRow are Codex's rollouts, and the items of the Responses API that they hold.
var codexRow = row{Name: codexName, Sniff: sniffCodex, Parse: parseCodex, Assemble: assembleCodex,
	Notices: []string{"# AGENTS.md instructions", "<permissions instructions>", "<INSTRUCTIONS>",
		"Another language model started to solve this problem", "You are performing a CONTEXT CHECKPOINT COMPACTION"},
	Items: &Items{Read: readItem, Assemble: assembleCodex, Write: writeItems, Reworded: functions},
	API:   codexAPI}

var codexAPI = &API{Format: codexFormat, List: "input", System: "instructions", Instructions: responsesContent,
	Element: readBodyItem, Join: joinItem,
	Pair:   func() func([]memkernel.Message, *memkernel.Message) { return new(pairs).take },
	Render: renderResponses, Append: appendResponses, Takes: takesResponses, Refuses: refusesResponses,
	Tools: ToolFlat, Rewrite: rewriteResponses}
