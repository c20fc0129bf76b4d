package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// This file reads the session logs of Pi and OpenClaw, version 1 (a chain) and 3 (a tree),
// and the messages that these hosts hold, which it also writes.

// The texts in which Pi shows its own entries to the model. They are part of the format: a
// planner that wrote them differently would not predict the host's prompt.
const (
	piSummaryOpen  = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	piSummaryClose = "\n</summary>"
	piBranchOpen   = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	piBranchClose  = "</summary>"
)

// The model never sees entries of the types in piSilent. It sees those in piSpoken.
var (
	piSilent = textutil.Set("model_change thinking_level_change custom label session_info")
	piSpoken = textutil.Set("session message compaction branch_summary custom_message")
)

// piExtra names the first entry that a compaction keeps.
type piExtra struct {
	keepHead  string // its id, "" if the compaction names none
	keepIndex int    // its place in the file, -1 if the compaction names none
}

// piLine holds the members of an entry. The strings share the memory of the line.
type piLine struct {
	typ, id, parent, time, cwd, model, summary, firstKept string
	message, content                                      jsonText
}

func piParse(e *Record) error {
	var l piLine
	own := &piExtra{keepIndex: -1}
	_, err := readObject(e.Raw, "type", &l.typ, "id", &l.id, "parentId", &l.parent, "timestamp", &l.time, "cwd", &l.cwd,
		"modelId", &l.model, "summary", &l.summary, "firstKeptEntryId", &l.firstKept, "firstKeptEntryIndex", &own.keepIndex,
		"message", &l.message, "content", &l.content)
	if err != nil {
		return err
	}
	e.Type, e.ID, e.Parent, e.own = l.typ, strings.Clone(l.id), strings.Clone(l.parent), own
	switch l.typ {
	case "session":
		e.Kind = kindMeta
		e.about = about{ID: l.id, Cwd: l.cwd, Model: l.model}
	case "model_change":
		e.Kind = kindMeta
		e.about.Model = l.model
	case "compaction":
		e.Kind = kindCompaction
		own.keepHead = strings.Clone(l.firstKept)
		e.Message = l.built(e, piSummaryOpen+l.summary+piSummaryClose, memkernel.OriginSummary)
	case "branch_summary":
		e.Kind = kindMessage
		e.flags.Unsent = l.summary == ""
		e.Message = l.built(e, piBranchOpen+l.summary+piBranchClose, memkernel.OriginMeta)
	case "custom_message":
		e.Kind = kindMessage
		c := scan(strings.Clone(string(l.content)))
		e.Message = l.built(e, "", memkernel.OriginMeta)
		e.Message.Parts = piContent(&c)
	case "message":
		e.Kind = kindMessage
		return l.toMessage(e)
	default:
		e.Kind = kindUnknown
		if piSilent[l.typ] {
			e.Kind = kindIgnored
		}
	}
	if l.typ != "compaction" {
		own.keepIndex = -1
	}
	return nil
}

// built makes a user message of the host's own words.
func (l *piLine) built(e *Record, text string, origin memkernel.Origin) *memkernel.Message {
	return &memkernel.Message{Key: e.ID, Role: memkernel.RoleUser, Time: parseTime(l.time), Origin: origin, Parts: textParts(text)}
}

func (l *piLine) toMessage(e *Record) error {
	raw := strings.Clone(string(l.message))
	c := scan(raw)
	if c.Peek() != '{' {
		return fmt.Errorf("message entry holds no message object")
	}
	// from is the kind of provenance that OpenClaw gives a message of the user's.
	var role, model, stop, callID, tool, command, output, fullPath, from string
	var parts []memkernel.Part
	var plain, isErr, cancelled, truncated, excluded, hasExit bool
	var exit, millis int
	var usage *memkernel.Usage
	c.Read("role", &role, "model", &model, "stopReason", &stop, "toolCallId", &callID, "toolName", &tool,
		"isError", &isErr, "timestamp", &millis, "usage", &usage, "command", &command, "output", &output,
		"cancelled", &cancelled, "truncated", &truncated, "fullOutputPath", &fullPath, "excludeFromContext", &excluded,
		"content", func() { plain, parts = c.Peek() == '"', piContent(&c) },
		"provenance", func() { from = c.Text("kind") },
		"exitCode", func() { hasExit, exit = c.Peek() != 'n', c.Num() })
	if c.Err != nil {
		return c.Err
	}
	m := &memkernel.Message{Key: e.ID, Role: memkernel.RoleUser, Time: parseTime(l.time), Raw: raw, Parts: parts}
	if millis > 0 {
		m.Time = time.UnixMilli(int64(millis)).UTC()
	}
	e.Message, e.unread = m, c.Unread
	switch role {
	case "user":
		if from == "" || from == "external_user" {
			markTyped(m, false)
		}
	case "assistant":
		m.Role, m.Model, m.Usage = memkernel.RoleAssistant, model, usage
		// The host leaves unfinished turns out of later requests.
		e.flags.HostSkip = stop == "aborted" || stop == "error"
		e.ends = stop != "" && stop != "toolUse"
	case "toolResult":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{resultPart(memkernel.ToolResult{
			CallID: callID, Name: tool, Content: parts, Text: plain, IsError: isErr}, "")}
	case "bashExecution": // a command that the user ran, as the host shows it
		shown := "(no output)"
		if output != "" {
			shown = "```\n" + output + "\n```"
		}
		shown = "Ran `" + command + "`\n" + shown
		switch {
		case cancelled:
			shown += "\n\n(command cancelled)"
		case hasExit && exit != 0:
			shown += fmt.Sprintf("\n\nCommand exited with code %d", exit)
		}
		if truncated && fullPath != "" {
			shown += "\n\n[Output truncated. Full output: " + fullPath + "]"
		}
		m.Parts = textParts(shown)
		e.flags.Unsent = excluded
	default: // custom, hookMessage and the roles of extensions
		m.Origin = memkernel.OriginMeta
	}
	return nil
}

func piContent(c *cursor) []memkernel.Part { return readContent(c, readPiBlock) }

func readPiBlock(c *cursor) memkernel.Part {
	var typ, text, thinking, sig, id, name, data, mime string
	var args jsonText
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
		return callPart(memkernel.ToolCall{ID: id, Name: name, Input: string(args)}, p.Raw)
	case "image":
		p.Kind, p.Media = memkernel.PartImage, inlineMedia(mime, data)
	}
	return p
}

// piDialect are the session logs of Pi and OpenClaw, and the messages that these hold.
var piDialect = dialectRow{Name: "pi", Lines: []sign{{2, "", piSpoken}, {2, "", piSilent}}, Parse: piParse, Assemble: piAssemble,
	Notices: []string{piSummaryOpen[:60], piBranchOpen[:60],
		"[cron:", "[CronResult]", "[Subagent Context]", "[Subagent Task]", "[Inter-session message]", "[System Message]",
		"Read HEARTBEAT.md if it exists", "A new session was started", "Pre-compaction memory flush"},
	Items: &items{Read: piRead, Assemble: assemblePlain, Write: piWrite}}
