package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// How Pi shows its own entries to the model. The texts are part of the format:
// a planner that renders them otherwise would not predict the host's prompt.
const (
	piSummaryOpen  = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	piSummaryClose = "\n</summary>"
	piBranchOpen   = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	piBranchClose  = "</summary>"
)

func isPiType(t string) bool {
	switch t {
	case "session", "message", "compaction", "branch_summary", "custom_message":
		return true
	}
	return isPiSilent(t)
}

// isPiSilent lists the entries that never reach the model.
func isPiSilent(t string) bool {
	switch t {
	case "model_change", "thinking_level_change", "custom", "label", "session_info":
		return true
	}
	return false
}

// piOwn is what the assembler makes something of: what a compaction keeps first.
type piOwn struct {
	keepHead  string
	keepIndex int // -1 if absent
}

// piLine holds the fields of a Pi entry, still in the line's own memory.
type piLine struct {
	typ, id, parent, time, cwd, model, summary, message, content, firstKept string
	keepIndex                                                               int
}

func parsePi(e *Entry) error {
	c, err := object(e.Raw)
	if err != nil {
		return err
	}
	l := piLine{keepIndex: -1}
	for k := range c.fields {
		l.field(k, &c)
	}
	if err := c.end(); err != nil {
		return err
	}
	e.Type = l.typ
	e.ID, e.Parent = strings.Clone(l.id), strings.Clone(l.parent)
	own := &piOwn{keepIndex: -1}
	e.Own = own
	switch l.typ {
	case "session":
		e.Kind = KindMeta
		e.About = About{ID: l.id, Cwd: l.cwd, Model: l.model}
	case "model_change":
		e.Kind = KindMeta
		e.About.Model = l.model
	case "compaction":
		e.Kind = KindCompaction
		own.keepHead, own.keepIndex = strings.Clone(l.firstKept), l.keepIndex
		e.Message = l.built(e, piSummaryOpen+l.summary+piSummaryClose, memkernel.OriginSummary)
	case "branch_summary":
		e.Kind = KindMessage
		e.Flags.Unsent = l.summary == ""
		e.Message = l.built(e, piBranchOpen+l.summary+piBranchClose, memkernel.OriginMeta)
	case "custom_message":
		e.Kind = KindMessage
		cc := scan(strings.Clone(l.content))
		e.Message = l.built(e, "", memkernel.OriginMeta)
		e.Message.Parts = piContent(&cc)
	case "message":
		e.Kind = KindMessage
		return l.toMessage(e)
	default:
		e.Kind = KindUnknown
		if isPiSilent(l.typ) {
			e.Kind = KindIgnored
		}
	}
	return nil
}

func (l *piLine) field(key string, c *cursor) {
	switch key {
	case "type":
		l.typ = c.str()
	case "id":
		l.id = c.str()
	case "parentId":
		l.parent = c.str()
	case "timestamp":
		l.time = c.str()
	case "cwd":
		l.cwd = c.str()
	case "modelId":
		l.model = c.str()
	case "summary":
		l.summary = c.str()
	case "firstKeptEntryId":
		l.firstKept = c.str()
	case "firstKeptEntryIndex":
		l.keepIndex = c.num()
	case "message":
		l.message = c.raw()
	case "content":
		l.content = c.raw()
	default:
		c.skip()
	}
}

// built makes a user message of the host's own words.
func (l *piLine) built(e *Entry, text string, origin memkernel.Origin) *memkernel.Message {
	return &memkernel.Message{
		Key: e.ID, Role: memkernel.RoleUser, Time: parseTime(l.time), Origin: origin,
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text}},
	}
}

// piMessage holds the fields of a Pi message.
type piMessage struct {
	role, model, stop, callID, toolName, command, output, fullPath string
	// from is the kind of provenance that OpenClaw gives a message of the user's.
	from                                                  string
	parts                                                 []memkernel.Part
	plain, isErr, cancelled, truncated, excluded, hasExit bool
	exit                                                  int
	time                                                  int64
	usage                                                 *memkernel.Usage
}

func (l *piLine) toMessage(e *Entry) error {
	raw := strings.Clone(l.message)
	c := scan(raw)
	if c.peek() != '{' {
		return fmt.Errorf("message entry holds no message object")
	}
	var p piMessage
	for k := range c.fields {
		p.field(k, &c)
	}
	if c.err != nil {
		return c.err
	}
	m := &memkernel.Message{Key: e.ID, Time: parseTime(l.time), Raw: raw, Parts: p.parts}
	if p.time > 0 {
		m.Time = time.UnixMilli(p.time).UTC()
	}
	e.Message, e.Unread = m, c.unread
	switch p.role {
	case "user":
		if m.Role = memkernel.RoleUser; p.from == "" || p.from == "external_user" {
			person(m, false)
		}
	case "assistant":
		m.Role, m.Model, m.Usage = memkernel.RoleAssistant, p.model, p.usage
		// The host leaves unfinished turns out of later requests.
		e.Flags.HostSkip = p.stop == "aborted" || p.stop == "error"
		e.Ends = p.stop != "" && p.stop != "toolUse"
	case "toolResult":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{
			CallID: p.callID, Name: p.toolName, Content: p.parts, Text: p.plain, IsError: p.isErr}}}
	case "bashExecution":
		m.Role = memkernel.RoleUser
		m.Parts = []memkernel.Part{{Kind: memkernel.PartText, Text: p.bash()}}
		e.Flags.Unsent = p.excluded
	default: // custom, hookMessage and what extensions may add
		m.Role, m.Origin = memkernel.RoleUser, memkernel.OriginMeta
	}
	return nil
}

func (p *piMessage) field(key string, c *cursor) {
	switch key {
	case "role":
		p.role = c.str()
	case "content":
		p.plain = c.peek() == '"'
		p.parts = piContent(c)
	case "model":
		p.model = c.str()
	case "provenance":
		p.from = c.text("kind")
	case "stopReason":
		p.stop = c.str()
	case "toolCallId":
		p.callID = c.str()
	case "toolName":
		p.toolName = c.str()
	case "isError":
		p.isErr = c.boolean()
	case "timestamp":
		p.time = int64(c.num())
	case "usage":
		p.usage = c.usage()
	case "command":
		p.command = c.str()
	case "output":
		p.output = c.str()
	case "exitCode":
		p.hasExit = c.peek() != 'n'
		p.exit = c.num()
	case "cancelled":
		p.cancelled = c.boolean()
	case "truncated":
		p.truncated = c.boolean()
	case "fullOutputPath":
		p.fullPath = c.str()
	case "excludeFromContext":
		p.excluded = c.boolean()
	default:
		c.skip()
	}
}

// bash renders a command that the user ran, as the host shows it.
func (p *piMessage) bash() string {
	s := "Ran `" + p.command + "`\n"
	if p.output != "" {
		s += "```\n" + p.output + "\n```"
	} else {
		s += "(no output)"
	}
	switch {
	case p.cancelled:
		s += "\n\n(command cancelled)"
	case p.hasExit && p.exit != 0:
		s += fmt.Sprintf("\n\nCommand exited with code %d", p.exit)
	}
	if p.truncated && p.fullPath != "" {
		s += "\n\n[Output truncated. Full output: " + p.fullPath + "]"
	}
	return s
}

func piContent(c *cursor) []memkernel.Part { return Content(c, piBlock) }

func piBlock(c *cursor) (memkernel.Part, bool) {
	var typ, text, thinking, sig, id, name, args, data, mime string
	redacted := false
	start := c.start()
	for k := range c.fields {
		switch k {
		case "type":
			typ = c.str()
		case "text":
			text = c.str()
		case "thinking":
			thinking = c.str()
		case "thinkingSignature":
			sig = c.str()
		case "redacted":
			redacted = c.boolean()
		case "id":
			id = c.str()
		case "name":
			name = c.str()
		case "arguments":
			args = c.raw()
		case "data":
			data = c.str()
		case "mimeType":
			mime = c.str()
		default:
			c.skip()
		}
	}
	if c.err != nil {
		return memkernel.Part{}, false
	}
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.since(start)}
	switch typ {
	case "text":
		p.Kind, p.Text = memkernel.PartText, text
	case "thinking":
		p.Kind, p.Text, p.Signature = memkernel.PartThinking, thinking, sig
		if redacted {
			p.Kind = memkernel.PartRedactedThinking
		}
	case "toolCall":
		p.Kind, p.Call = memkernel.PartToolUse, &memkernel.ToolCall{ID: id, Name: name, Input: args}
	case "image":
		p.Kind, p.Media = memkernel.PartImage, &memkernel.Media{Type: mime, Data: data}
		p.Media.Width, p.Media.Height = pixels(mime, data)
	}
	return p, true
}

// sniffPi knows a line by its type alone.
func sniffPi(typ string, _ map[string]bool) int {
	if isPiType(typ) {
		return 2
	}
	return 0
}

const piName = "pi"

// piRow are the session logs of Pi and OpenClaw, and the messages that these hold.
var piRow = row{Name: piName, Sniff: sniffPi, Parse: parsePi, Assemble: assemblePi,
	Notices: []string{piSummaryOpen[:60], piBranchOpen[:60],
		"[cron:", "[CronResult]", "[Subagent Context]", "[Subagent Task]", "[Inter-session message]", "[System Message]",
		"Read HEARTBEAT.md if it exists", "A new session was started via /new or /reset", "Pre-compaction memory flush"},
	Items: &Items{Read: readPi, Assemble: Plain, Apart: true, Write: writePi}}
