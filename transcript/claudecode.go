package transcript

import (
	"errors"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// clearedResult is what Claude Code sends in place of a tool result that a
// micro-compaction cleared.
const clearedResult = "[Old tool result content cleared]"

var errNoObject = errors.New("record is not a JSON object")

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

func parseClaude(rec *Record) error {
	c := scan(rec.Raw)
	if c.peek() != '{' {
		c.skip()
		return cmpErr(c.end(), errNoObject)
	}
	var l claudeLine
	for k := range c.fields {
		l.field(k, &c)
	}
	if err := c.end(); err != nil {
		return err
	}
	rec.Type, rec.ID, rec.Parent = l.typ, l.id, l.parent
	rec.Kind = l.kind()
	rec.ends = l.typ == "system" && l.subtype == "turn_duration" && !l.side
	if rec.Kind == KindIgnored || rec.Kind == KindUnknown || rec.Kind == KindSummary {
		return nil
	}
	rec.ID, rec.Parent = strings.Clone(l.id), strings.Clone(l.parent)
	rec.x = &extra{session: l.session, cwd: l.cwd}
	if l.side {
		if rec.x.branch = strings.Clone(l.agent); rec.x.branch == "" {
			rec.x.branch = unknownBranch
		}
	}
	switch rec.Kind {
	case KindCompaction:
		l.compaction(rec.x)
	case KindMicrocompaction:
		rec.x.cleared = clearedIDs(l.micro)
	case KindMessage:
		return l.toMessage(rec)
	}
	return nil
}

// unknownBranch marks a sidechain record that names no agent; its parents do.
const unknownBranch = "?"

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

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
		l.from = kindOf(c)
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

// kindOf is the kind that an object names: who is behind a message.
func kindOf(c *cursor) (kind string) {
	if c.peek() != '{' {
		c.skip()
		return ""
	}
	for k := range c.fields {
		if k == "kind" {
			kind = c.str()
		} else {
			c.skip()
		}
	}
	return kind
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

func (l *claudeLine) toMessage(rec *Record) error {
	m := &memkernel.Message{Key: rec.ID, Time: parseTime(l.time), Turn: strings.Clone(l.turn)}
	rec.Message = m
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
	rec.x.unread = c.unread
	rec.x.unsent = l.apiError || l.hidden && !l.summary
	switch {
	case l.typ == "assistant" && (m.Model == "<synthetic>" || l.apiError):
		m.Origin, m.Usage = memkernel.OriginSynthetic, nil
		rec.x.group = id
	case l.typ == "assistant":
		rec.x.group = id
		// Each block has a line of its own; what was only thought is followed by more.
		rec.ends = (stop == "end_turn" || stop == "stop_sequence" || stop == "max_tokens" || stop == "refusal") && Text(*m) != ""
	case l.summary:
		m.Origin = memkernel.OriginSummary
	case l.meta:
		m.Origin = memkernel.OriginMeta
	default:
		rec.x.fork = rec.Parent != "" && !HasResults(*m)
		if !l.side && !l.hidden && (l.from == "" || l.from == "human") {
			person(m, true) // what was said with a permission stands beside the result
		}
	}
	return nil
}

func (l *claudeLine) compaction(x *extra) {
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
				x.keepHead = c.str()
			case "tailUuid":
				x.keepTail = c.str()
			case "uuids":
				for range c.elems {
					x.keepIDs = append(x.keepIDs, c.str())
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

// parseTime reads the host's time, zero if it is none.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
