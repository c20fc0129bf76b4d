// Package claudecode reads the session logs of Claude Code: JSONL, a record per content
// block, with sidechains, forks and compactions.
package claudecode

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/anthropic"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// clearedResult is what Claude Code sends in place of a tool result that a
// micro-compaction cleared.
const clearedResult = "[Old tool result content cleared]"

func isType(t string) bool {
	switch t {
	case "user", "assistant", "system", "attachment", "fork-context-ref":
		return true
	}
	return isSilent(t) || t == "summary"
}

// isSilent lists the records that never reach the model.
func isSilent(t string) bool {
	switch t {
	case "progress", "file-history-snapshot", "queue-operation", "pr-link", "attachment",
		"custom-title", "ai-title", "tag", "agent-name", "agent-color", "agent-setting", "last-prompt",
		"mode", "permission-mode", "worktree-state", "content-replacement", "attribution-snapshot",
		"task-summary", "speculation-accept", "marble-origami-commit", "marble-origami-snapshot":
		return true
	}
	return false
}

// line holds the fields of a Claude Code record, still in the line's
// own memory.
type line struct {
	typ, subtype, id, parent, time, session, cwd, agent, turn, request string
	message, content, compact, micro, from                             string
	side, meta, summary, hidden, apiError                              bool
}

func parse(e *wire.Entry) error {
	c, err := wire.Object(e.Raw)
	if err != nil {
		return err
	}
	var l line
	for k := range c.Fields {
		l.field(k, &c)
	}
	if err := c.End(); err != nil {
		return err
	}
	e.Type, e.ID, e.Parent = l.typ, l.id, l.parent
	e.Kind = l.kind()
	e.Ends = l.typ == "system" && l.subtype == "turn_duration" && !l.side
	if e.Kind == wire.KindIgnored || e.Kind == wire.KindUnknown || e.Kind == wire.KindSummary {
		return nil
	}
	e.ID, e.Parent = strings.Clone(l.id), strings.Clone(l.parent)
	e.About = wire.About{ID: l.session, Cwd: l.cwd}
	own := &extra{}
	e.Own = own
	if l.side {
		own.branch = cmp.Or(strings.Clone(l.agent), unknownBranch)
	}
	switch e.Kind {
	case wire.KindCompaction:
		l.compaction(own)
	case wire.KindMicrocompaction:
		own.cleared = clearedIDs(l.micro)
	case wire.KindMessage:
		return l.toMessage(e, own)
	}
	return nil
}

// extra is what the assembler makes something of.
type extra struct {
	branch             string // sidechain id; "?" if only parents show it
	group              string // records of one group are one message
	request            string // the call that a message came by, "" if that is not known
	fork               bool   // a plain user message that may open a fork
	cleared            []string
	keepHead, keepTail string
	keepIDs            []string
}

// unknownBranch marks a sidechain record that names no agent; its parents do.
const unknownBranch = "?"

func (l *line) field(key string, c *wire.Cursor) {
	switch key {
	case "type":
		l.typ = c.Str()
	case "subtype":
		l.subtype = c.Str()
	case "uuid":
		l.id = c.Str()
	case "parentUuid":
		l.parent = c.Str()
	case "timestamp":
		l.time = c.Str()
	case "sessionId":
		l.session = c.Str()
	case "cwd":
		l.cwd = c.Str()
	case "agentId":
		l.agent = c.Str()
	case "requestId":
		l.request = c.Str()
	case "promptId":
		l.turn = c.Str()
	case "origin":
		l.from = c.Text("kind")
	case "isSidechain":
		l.side = c.Boolean()
	case "isMeta":
		l.meta = c.Boolean()
	case "isCompactSummary":
		l.summary = c.Boolean()
	case "isVisibleInTranscriptOnly":
		l.hidden = c.Boolean()
	case "isApiErrorMessage":
		l.apiError = c.Boolean()
	case "message":
		l.message = c.Raw()
	case "content":
		l.content = c.Raw()
	case "compactMetadata":
		l.compact = c.Raw()
	case "microcompactMetadata":
		l.micro = c.Raw()
	}
}

func (l *line) kind() wire.Kind {
	switch {
	case (l.typ == "user" || l.typ == "assistant") && strings.HasPrefix(l.message, "{"):
		return wire.KindMessage
	case l.typ == "summary":
		return wire.KindSummary
	case isSilent(l.typ):
		return wire.KindIgnored
	case l.typ != "system":
		return wire.KindUnknown
	}
	switch l.subtype {
	case "compact_boundary":
		return wire.KindCompaction
	case "microcompact_boundary":
		return wire.KindMicrocompaction
	case "local_command":
		// The host shows a local command's output to the model as a user's text.
		return wire.KindMessage
	}
	return wire.KindIgnored
}

func (l *line) toMessage(e *wire.Entry, own *extra) error {
	m := &memkernel.Message{Key: e.ID, Time: wire.ParseTime(l.time), Turn: strings.Clone(l.turn)}
	e.Message = m
	if l.typ == "system" {
		c := wire.Scan(strings.Clone(l.content))
		m.Role, m.Origin, m.Parts = memkernel.RoleUser, memkernel.OriginMeta, anthropic.Content(&c)
		return c.Err
	}
	c := wire.Scan(strings.Clone(l.message))
	id, stop := anthropic.ReadMessage(&c, m)
	own.request = strings.Clone(l.request)
	id = cmp.Or(id, own.request)
	if c.Err != nil {
		return c.Err
	}
	if m.Role == "" {
		m.Role = memkernel.Role(l.typ)
	}
	// The host shows its own error messages to the user only.
	e.Unread = c.Unread
	e.Flags.Unsent = l.apiError || l.hidden && !l.summary
	switch {
	case l.typ == "assistant" && (m.Model == "<synthetic>" || l.apiError):
		m.Origin, m.Usage = memkernel.OriginSynthetic, nil
		own.group = id
	case l.typ == "assistant":
		own.group = id
		// Each block has a line of its own; what was only thought is followed by more.
		e.Ends = (stop == "end_turn" || stop == "stop_sequence" || stop == "max_tokens" || stop == "refusal") && wire.Text(*m) != ""
	case l.summary:
		m.Origin = memkernel.OriginSummary
	case l.meta:
		m.Origin = memkernel.OriginMeta
	default:
		own.fork = e.Parent != "" && !wire.HasResults(*m)
		if !l.side && !l.hidden && (l.from == "" || l.from == "human") {
			wire.Person(m, true) // what was said with a permission is beside the result
		}
	}
	return nil
}

func (l *line) compaction(own *extra) {
	c := wire.Scan(strings.Clone(l.compact))
	if l.compact == "" {
		return
	}
	for k := range c.Fields {
		if k != "preservedSegment" && k != "preservedMessages" {
			continue
		}
		for k := range c.Fields {
			switch k {
			case "headUuid":
				own.keepHead = c.Str()
			case "tailUuid":
				own.keepTail = c.Str()
			case "uuids":
				for range c.Elems {
					own.keepIDs = append(own.keepIDs, c.Str())
				}
			}
		}
	}
}

func clearedIDs(raw string) (ids []string) {
	c := wire.Scan(strings.Clone(raw))
	if raw == "" {
		return nil
	}
	for k := range c.Fields {
		if k != "compactedToolIds" {
			continue
		}
		for range c.Elems {
			ids = append(ids, c.Str())
		}
	}
	return ids
}

// sniff knows a line by the members that all have.
func sniff(typ string, has map[string]bool) int {
	if has["uuid"] || has["parentUuid"] || has["sessionId"] || has["isSidechain"] || has["leafUuid"] || isType(typ) {
		return 3
	}
	return 0
}

const Name = "claude-code"

// Dialect are Claude Code's session logs: JSONL, a record per content block.
var Dialect = wire.Dialect{Name: Name, Sniff: sniff, Parse: parse, Assemble: assemble, Blocks: anthropic.Name,
	Notices: []string{"This session is being continued from a previous conversation", "Base directory for this skill:",
		"Stop hook feedback:", "Your task is to create a detailed summary of", "CRITICAL: Respond with TEXT ONLY"}}
