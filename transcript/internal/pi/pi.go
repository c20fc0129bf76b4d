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

// The texts in which Pi shows its own entries to the model. They are part of the format: a
// planner that wrote them differently would not predict the host's prompt.
const (
	summaryOpen  = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	summaryClose = "\n</summary>"
	branchOpen   = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	branchClose  = "</summary>"
)

// silent are the types of entries that never reach the model, and spoken the types of the others.
var (
	silent = wire.Set("model_change thinking_level_change custom label session_info")
	spoken = wire.Set("session message compaction branch_summary custom_message")
)

// extra is the first entry that a compaction keeps.
type extra struct {
	keepHead  string // its id, "" if the compaction names none
	keepIndex int    // its place in the file, -1 if the compaction names none
}

// line holds the members of an entry. The strings share the memory of the line.
type line struct {
	typ, id, parent, time, cwd, model, summary, firstKept string
	message, content                                      wire.JSON
}

func parse(e *wire.Entry) error {
	var l line
	own := &extra{keepIndex: -1}
	_, err := wire.ReadObject(e.Raw, "type", &l.typ, "id", &l.id, "parentId", &l.parent, "timestamp", &l.time, "cwd", &l.cwd,
		"modelId", &l.model, "summary", &l.summary, "firstKeptEntryId", &l.firstKept, "firstKeptEntryIndex", &own.keepIndex,
		"message", &l.message, "content", &l.content)
	if err != nil {
		return err
	}
	e.Type, e.ID, e.Parent, e.Own = l.typ, strings.Clone(l.id), strings.Clone(l.parent), own
	switch l.typ {
	case "session":
		e.Kind = wire.KindMeta
		e.About = wire.About{ID: l.id, Cwd: l.cwd, Model: l.model}
	case "model_change":
		e.Kind = wire.KindMeta
		e.About.Model = l.model
	case "compaction":
		e.Kind = wire.KindCompaction
		own.keepHead = strings.Clone(l.firstKept)
		e.Message = l.built(e, summaryOpen+l.summary+summaryClose, memkernel.OriginSummary)
	case "branch_summary":
		e.Kind = wire.KindMessage
		e.Flags.Unsent = l.summary == ""
		e.Message = l.built(e, branchOpen+l.summary+branchClose, memkernel.OriginMeta)
	case "custom_message":
		e.Kind = wire.KindMessage
		c := wire.Scan(strings.Clone(string(l.content)))
		e.Message = l.built(e, "", memkernel.OriginMeta)
		e.Message.Parts = content(&c)
	case "message":
		e.Kind = wire.KindMessage
		return l.toMessage(e)
	default:
		e.Kind = wire.KindUnknown
		if silent[l.typ] {
			e.Kind = wire.KindIgnored
		}
	}
	if l.typ != "compaction" {
		own.keepIndex = -1
	}
	return nil
}

// built makes a user message of the host's own words.
func (l *line) built(e *wire.Entry, text string, origin memkernel.Origin) *memkernel.Message {
	return &memkernel.Message{Key: e.ID, Role: memkernel.RoleUser, Time: wire.ParseTime(l.time), Origin: origin, Parts: wire.Texts(text)}
}

// message holds the members of a message.
type message struct {
	role, model, stop, callID, toolName, command, output, fullPath string
	// from is the kind of provenance that OpenClaw gives a message of the user's.
	from                                                  string
	parts                                                 []memkernel.Part
	plain, isErr, cancelled, truncated, excluded, hasExit bool
	exit, time                                            int
	usage                                                 *memkernel.Usage
}

func (l *line) toMessage(e *wire.Entry) error {
	raw := strings.Clone(string(l.message))
	c := wire.Scan(raw)
	if c.Peek() != '{' {
		return fmt.Errorf("message entry holds no message object")
	}
	var p message
	c.Read("role", &p.role, "model", &p.model, "stopReason", &p.stop, "toolCallId", &p.callID, "toolName", &p.toolName,
		"isError", &p.isErr, "timestamp", &p.time, "usage", &p.usage, "command", &p.command, "output", &p.output,
		"cancelled", &p.cancelled, "truncated", &p.truncated, "fullOutputPath", &p.fullPath, "excludeFromContext", &p.excluded,
		"content", func() { p.plain, p.parts = c.Peek() == '"', content(&c) },
		"provenance", func() { p.from = c.Text("kind") },
		"exitCode", func() { p.hasExit, p.exit = c.Peek() != 'n', c.Num() })
	if c.Err != nil {
		return c.Err
	}
	m := &memkernel.Message{Key: e.ID, Time: wire.ParseTime(l.time), Raw: raw, Parts: p.parts}
	if p.time > 0 {
		m.Time = time.UnixMilli(int64(p.time)).UTC()
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
		m.Parts = []memkernel.Part{wire.ResultPart(memkernel.ToolResult{
			CallID: p.callID, Name: p.toolName, Content: p.parts, Text: p.plain, IsError: p.isErr}, "")}
	case "bashExecution":
		m.Role = memkernel.RoleUser
		m.Parts = wire.Texts(p.bash())
		e.Flags.Unsent = p.excluded
	default: // custom, hookMessage and the roles of extensions
		m.Role, m.Origin = memkernel.RoleUser, memkernel.OriginMeta
	}
	return nil
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
	var typ, text, thinking, sig, id, name, data, mime string
	var args wire.JSON
	var redacted bool
	start := c.Start()
	c.Read("type", &typ, "text", &text, "thinking", &thinking, "thinkingSignature", &sig, "redacted", &redacted,
		"id", &id, "name", &name, "arguments", &args, "data", &data, "mimeType", &mime)
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
		return wire.CallPart(memkernel.ToolCall{ID: id, Name: name, Input: string(args)}, p.Raw)
	case "image":
		p.Kind, p.Media = memkernel.PartImage, &memkernel.Media{Type: mime, Data: data}
		p.Media.Width, p.Media.Height = wire.Pixels(mime, data)
	}
	return p
}

// sniff knows a line by its type alone.
func sniff(typ string, _ map[string]bool) int {
	if spoken[typ] || silent[typ] {
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
