// Package pi reads the session logs of Pi and OpenClaw, version 1 (a chain) and 3 (a tree),
// and the messages that these hosts hold, which it also writes.
package pi

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// How Pi shows its own entries to the model. The texts are part of the format:
// a planner that renders them otherwise would not predict the host's prompt.
const (
	summaryOpen  = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	summaryClose = "\n</summary>"
	branchOpen   = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	branchClose  = "</summary>"
)

func isType(t string) bool {
	switch t {
	case "session", "message", "compaction", "branch_summary", "custom_message":
		return true
	}
	return isSilent(t)
}

// isSilent lists the entries that never reach the model.
func isSilent(t string) bool {
	switch t {
	case "model_change", "thinking_level_change", "custom", "label", "session_info":
		return true
	}
	return false
}

// extra is what the assembler makes something of: what a compaction keeps first.
type extra struct {
	keepHead  string
	keepIndex int // -1 if absent
}

// line holds the fields of a Pi entry, still in the line's own memory.
type line struct {
	typ, id, parent, time, cwd, model, summary, message, content, firstKept string
	keepIndex                                                               int
}

func parse(e *wire.Entry) error {
	c, err := wire.Object(e.Raw)
	if err != nil {
		return err
	}
	l := line{keepIndex: -1}
	for k := range c.Fields {
		l.field(k, &c)
	}
	if err := c.End(); err != nil {
		return err
	}
	e.Type = l.typ
	e.ID, e.Parent = strings.Clone(l.id), strings.Clone(l.parent)
	own := &extra{keepIndex: -1}
	e.Own = own
	switch l.typ {
	case "session":
		e.Kind = wire.KindMeta
		e.About = wire.About{ID: l.id, Cwd: l.cwd, Model: l.model}
	case "model_change":
		e.Kind = wire.KindMeta
		e.About.Model = l.model
	case "compaction":
		e.Kind = wire.KindCompaction
		own.keepHead, own.keepIndex = strings.Clone(l.firstKept), l.keepIndex
		e.Message = l.built(e, summaryOpen+l.summary+summaryClose, memkernel.OriginSummary)
	case "branch_summary":
		e.Kind = wire.KindMessage
		e.Flags.Unsent = l.summary == ""
		e.Message = l.built(e, branchOpen+l.summary+branchClose, memkernel.OriginMeta)
	case "custom_message":
		e.Kind = wire.KindMessage
		cc := wire.Scan(strings.Clone(l.content))
		e.Message = l.built(e, "", memkernel.OriginMeta)
		e.Message.Parts = content(&cc)
	case "message":
		e.Kind = wire.KindMessage
		return l.toMessage(e)
	default:
		e.Kind = wire.KindUnknown
		if isSilent(l.typ) {
			e.Kind = wire.KindIgnored
		}
	}
	return nil
}

func (l *line) field(key string, c *wire.Cursor) {
	switch key {
	case "type":
		l.typ = c.Str()
	case "id":
		l.id = c.Str()
	case "parentId":
		l.parent = c.Str()
	case "timestamp":
		l.time = c.Str()
	case "cwd":
		l.cwd = c.Str()
	case "modelId":
		l.model = c.Str()
	case "summary":
		l.summary = c.Str()
	case "firstKeptEntryId":
		l.firstKept = c.Str()
	case "firstKeptEntryIndex":
		l.keepIndex = c.Num()
	case "message":
		l.message = c.Raw()
	case "content":
		l.content = c.Raw()
	}
}

// built makes a user message of the host's own words.
func (l *line) built(e *wire.Entry, text string, origin memkernel.Origin) *memkernel.Message {
	return &memkernel.Message{
		Key: e.ID, Role: memkernel.RoleUser, Time: wire.ParseTime(l.time), Origin: origin,
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text}},
	}
}

// message holds the fields of a Pi message.
type message struct {
	role, model, stop, callID, toolName, command, output, fullPath string
	// from is the kind of provenance that OpenClaw gives a message of the user's.
	from                                                  string
	parts                                                 []memkernel.Part
	plain, isErr, cancelled, truncated, excluded, hasExit bool
	exit                                                  int
	time                                                  int64
	usage                                                 *memkernel.Usage
}

func (l *line) toMessage(e *wire.Entry) error {
	raw := strings.Clone(l.message)
	c := wire.Scan(raw)
	if c.Peek() != '{' {
		return fmt.Errorf("message entry holds no message object")
	}
	var p message
	for k := range c.Fields {
		p.field(k, &c)
	}
	if c.Err != nil {
		return c.Err
	}
	m := &memkernel.Message{Key: e.ID, Time: wire.ParseTime(l.time), Raw: raw, Parts: p.parts}
	if p.time > 0 {
		m.Time = time.UnixMilli(p.time).UTC()
	}
	e.Message, e.Unread = m, c.Unread
	switch p.role {
	case "user":
		if m.Role = memkernel.RoleUser; p.from == "" || p.from == "external_user" {
			wire.Person(m, false)
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

func (p *message) field(key string, c *wire.Cursor) {
	switch key {
	case "role":
		p.role = c.Str()
	case "content":
		p.plain = c.Peek() == '"'
		p.parts = content(c)
	case "model":
		p.model = c.Str()
	case "provenance":
		p.from = c.Text("kind")
	case "stopReason":
		p.stop = c.Str()
	case "toolCallId":
		p.callID = c.Str()
	case "toolName":
		p.toolName = c.Str()
	case "isError":
		p.isErr = c.Boolean()
	case "timestamp":
		p.time = int64(c.Num())
	case "usage":
		p.usage = c.Usage()
	case "command":
		p.command = c.Str()
	case "output":
		p.output = c.Str()
	case "exitCode":
		p.hasExit = c.Peek() != 'n'
		p.exit = c.Num()
	case "cancelled":
		p.cancelled = c.Boolean()
	case "truncated":
		p.truncated = c.Boolean()
	case "fullOutputPath":
		p.fullPath = c.Str()
	case "excludeFromContext":
		p.excluded = c.Boolean()
	}
}

// bash renders a command that the user ran, as the host shows it.
func (p *message) bash() string {
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

func content(c *wire.Cursor) []memkernel.Part { return wire.Content(c, readBlock) }

func readBlock(c *wire.Cursor) memkernel.Part {
	var typ, text, thinking, sig, id, name, args, data, mime string
	redacted := false
	start := c.Start()
	for k := range c.Fields {
		switch k {
		case "type":
			typ = c.Str()
		case "text":
			text = c.Str()
		case "thinking":
			thinking = c.Str()
		case "thinkingSignature":
			sig = c.Str()
		case "redacted":
			redacted = c.Boolean()
		case "id":
			id = c.Str()
		case "name":
			name = c.Str()
		case "arguments":
			args = c.Raw()
		case "data":
			data = c.Str()
		case "mimeType":
			mime = c.Str()
		}
	}
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.Since(start)}
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
		p.Media.Width, p.Media.Height = wire.Pixels(mime, data)
	}
	return p
}

// sniff knows a line by its type alone.
func sniff(typ string, _ map[string]bool) int {
	if isType(typ) {
		return 2
	}
	return 0
}

const Name = "pi"

// Dialect are the session logs of Pi and OpenClaw, and the messages that these hold.
var Dialect = wire.Dialect{Name: Name, Sniff: sniff, Parse: parse, Assemble: assemble,
	Notices: []string{summaryOpen[:60], branchOpen[:60],
		"[cron:", "[CronResult]", "[Subagent Context]", "[Subagent Task]", "[Inter-session message]", "[System Message]",
		"Read HEARTBEAT.md if it exists", "A new session was started", "Pre-compaction memory flush"},
	Items: &wire.Items{Read: read, Assemble: wire.Plain, Apart: true, Write: write}}
