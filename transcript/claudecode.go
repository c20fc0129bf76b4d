package transcript

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
)

// clearedResult is what Claude Code sends in place of a tool result that a
// micro-compaction cleared.
const clearedResult = "[Old tool result content cleared]"

func isClaudeType(t string) bool {
	switch t {
	case "user", "assistant", "system", "attachment", "fork-context-ref":
		return true
	}
	return isClaudeSilent(t) || t == "summary"
}

// isClaudeSilent lists the records that never reach the model.
func isClaudeSilent(t string) bool {
	switch t {
	case "progress", "file-history-snapshot", "queue-operation", "pr-link", "attachment",
		"custom-title", "ai-title", "tag", "agent-name", "agent-color", "agent-setting", "last-prompt",
		"mode", "permission-mode", "worktree-state", "content-replacement", "attribution-snapshot",
		"task-summary", "speculation-accept", "marble-origami-commit", "marble-origami-snapshot":
		return true
	}
	return false
}

// claudeLine holds the fields of a Claude Code record, still in the line's
// own memory.
type claudeLine struct {
	typ, subtype, id, parent, time, session, cwd, agent, turn string
	message, content, compact, micro, from                    string
	side, meta, summary, hidden, apiError                     bool
}

func parseClaude(e *Entry) error {
	c, err := object(e.Raw)
	if err != nil {
		return err
	}
	var l claudeLine
	for k := range c.fields {
		l.field(k, &c)
	}
	if err := c.end(); err != nil {
		return err
	}
	e.Type, e.ID, e.Parent = l.typ, l.id, l.parent
	e.Kind = l.kind()
	e.Ends = l.typ == "system" && l.subtype == "turn_duration" && !l.side
	if e.Kind == KindIgnored || e.Kind == KindUnknown || e.Kind == KindSummary {
		return nil
	}
	e.ID, e.Parent = strings.Clone(l.id), strings.Clone(l.parent)
	e.About = About{ID: l.session, Cwd: l.cwd}
	own := &claudeOwn{}
	e.Own = own
	if l.side {
		own.branch = cmp.Or(strings.Clone(l.agent), unknownBranch)
	}
	switch e.Kind {
	case KindCompaction:
		l.compaction(own)
	case KindMicrocompaction:
		own.cleared = clearedIDs(l.micro)
	case KindMessage:
		return l.toMessage(e, own)
	}
	return nil
}

// claudeOwn is what the assembler makes something of.
type claudeOwn struct {
	branch             string // sidechain id; "?" if only parents tell
	group              string // records of one group are one message
	fork               bool   // a plain user message that may open a fork
	cleared            []string
	keepHead, keepTail string
	keepIDs            []string
}

// unknownBranch marks a sidechain record that names no agent; its parents do.
const unknownBranch = "?"

func (l *claudeLine) field(key string, c *cursor) {
	switch key {
	case "type":
		l.typ = c.str()
	case "subtype":
		l.subtype = c.str()
	case "uuid":
		l.id = c.str()
	case "parentUuid":
		l.parent = c.str()
	case "timestamp":
		l.time = c.str()
	case "sessionId":
		l.session = c.str()
	case "cwd":
		l.cwd = c.str()
	case "agentId":
		l.agent = c.str()
	case "promptId":
		l.turn = c.str()
	case "origin":
		l.from = c.text("kind")
	case "isSidechain":
		l.side = c.boolean()
	case "isMeta":
		l.meta = c.boolean()
	case "isCompactSummary":
		l.summary = c.boolean()
	case "isVisibleInTranscriptOnly":
		l.hidden = c.boolean()
	case "isApiErrorMessage":
		l.apiError = c.boolean()
	case "message":
		l.message = c.raw()
	case "content":
		l.content = c.raw()
	case "compactMetadata":
		l.compact = c.raw()
	case "microcompactMetadata":
		l.micro = c.raw()
	default:
		c.skip()
	}
}

func (l *claudeLine) kind() Kind {
	switch {
	case (l.typ == "user" || l.typ == "assistant") && strings.HasPrefix(l.message, "{"):
		return KindMessage
	case l.typ == "summary":
		return KindSummary
	case isClaudeSilent(l.typ):
		return KindIgnored
	case l.typ != "system":
		return KindUnknown
	}
	switch l.subtype {
	case "compact_boundary":
		return KindCompaction
	case "microcompact_boundary":
		return KindMicrocompaction
	case "local_command":
		// The host shows a local command's output to the model as a user's text.
		return KindMessage
	}
	return KindIgnored
}

func (l *claudeLine) toMessage(e *Entry, own *claudeOwn) error {
	m := &memkernel.Message{Key: e.ID, Time: parseTime(l.time), Turn: strings.Clone(l.turn)}
	e.Message = m
	if l.typ == "system" {
		c := scan(strings.Clone(l.content))
		m.Role, m.Origin, m.Parts = memkernel.RoleUser, memkernel.OriginMeta, anthropicContent(&c)
		return c.err
	}
	c := scan(strings.Clone(l.message))
	id, stop := anthropicMessage(&c, m)
	if c.err != nil {
		return c.err
	}
	if m.Role == "" {
		m.Role = memkernel.Role(l.typ)
	}
	// The host shows its own error messages to the user only.
	e.Unread = c.unread
	e.Flags.Unsent = l.apiError || l.hidden && !l.summary
	switch {
	case l.typ == "assistant" && (m.Model == "<synthetic>" || l.apiError):
		m.Origin, m.Usage = memkernel.OriginSynthetic, nil
		own.group = id
	case l.typ == "assistant":
		own.group = id
		// Each block has a line of its own; what was only thought is followed by more.
		e.Ends = (stop == "end_turn" || stop == "stop_sequence" || stop == "max_tokens" || stop == "refusal") && Text(*m) != ""
	case l.summary:
		m.Origin = memkernel.OriginSummary
	case l.meta:
		m.Origin = memkernel.OriginMeta
	default:
		own.fork = e.Parent != "" && !HasResults(*m)
		if !l.side && !l.hidden && (l.from == "" || l.from == "human") {
			person(m, true) // what was said with a permission stands beside the result
		}
	}
	return nil
}

func (l *claudeLine) compaction(own *claudeOwn) {
	c := scan(strings.Clone(l.compact))
	if l.compact == "" {
		return
	}
	for k := range c.fields {
		if k != "preservedSegment" && k != "preservedMessages" {
			c.skip()
			continue
		}
		for k := range c.fields {
			switch k {
			case "headUuid":
				own.keepHead = c.str()
			case "tailUuid":
				own.keepTail = c.str()
			case "uuids":
				for range c.elems {
					own.keepIDs = append(own.keepIDs, c.str())
				}
			default:
				c.skip()
			}
		}
	}
}

func clearedIDs(raw string) (ids []string) {
	c := scan(strings.Clone(raw))
	if raw == "" {
		return nil
	}
	for k := range c.fields {
		if k != "compactedToolIds" {
			c.skip()
			continue
		}
		for range c.elems {
			ids = append(ids, c.str())
		}
	}
	return ids
}

// sniffClaude knows a line by the members that all have.
func sniffClaude(typ string, has map[string]bool) int {
	if has["uuid"] || has["parentUuid"] || has["sessionId"] || has["isSidechain"] || has["leafUuid"] || isClaudeType(typ) {
		return 3
	}
	return 0
}

const claudeName = "claude-code"

// claudeRow are Claude Code's session logs: JSONL, a record per content block.
var claudeRow = row{Name: claudeName, Sniff: sniffClaude, Parse: parseClaude, Assemble: assembleClaude, Blocks: anthropicName,
	Notices: []string{"This session is being continued from a previous conversation", "Base directory for this skill:",
		"Stop hook feedback:", "Your task is to create a detailed summary of", "CRITICAL: Respond with TEXT ONLY"}}
