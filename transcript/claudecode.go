package transcript

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
)

// This file reads the session logs of Claude Code: JSONL, a record per content
// block, with sidechains, forks and compactions.

// clearedResult replaces a tool result that a micro-compaction cleared in Claude Code's requests.
const clearedResult = "[Old tool result content cleared]"

// claudeTypes are the types of the other records.
var claudeTypes = setOf("user assistant system attachment fork-context-ref summary")

// claudeSilent are the types of records that never reach the model.
var claudeSilent = setOf(`progress file-history-snapshot queue-operation pr-link attachment custom-title ai-title tag
	agent-name agent-color agent-setting last-prompt mode permission-mode worktree-state content-replacement
	attribution-snapshot task-summary speculation-accept marble-origami-commit marble-origami-snapshot`)

// claudeLine holds the members of a record. The strings share the memory of the line.
type claudeLine struct {
	typ, subtype, id, parent, time, session, cwd, agent, turn, request, from string
	message, content, compact, micro                                         jsonText
	queued                                                                   claudeQueued
	side, meta, summary, hidden, apiError                                    bool
}

func claudeParse(e *Record) error {
	c, err := scanObject(e.Raw)
	if err != nil {
		return err
	}
	var l claudeLine
	c.Read("type", &l.typ, "subtype", &l.subtype, "uuid", &l.id, "parentUuid", &l.parent, "timestamp", &l.time,
		"sessionId", &l.session, "cwd", &l.cwd, "agentId", &l.agent, "requestId", &l.request, "promptId", &l.turn,
		"isSidechain", &l.side, "isMeta", &l.meta, "isCompactSummary", &l.summary,
		"isVisibleInTranscriptOnly", &l.hidden, "isApiErrorMessage", &l.apiError,
		"message", &l.message, "content", &l.content, "attachment", func() { l.queued.read(&c) }, "compactMetadata", &l.compact, "microcompactMetadata", &l.micro,
		"origin", func() { l.from = c.Text("kind") })
	if err := c.End(); err != nil {
		return err
	}
	e.Type, e.ID, e.Parent = l.typ, l.id, l.parent
	e.Kind = l.kind()
	e.ends = l.typ == "system" && l.subtype == "turn_duration" && !l.side
	if e.Kind == kindIgnored || e.Kind == kindUnknown || e.Kind == kindSummary {
		return nil
	}
	e.ID, e.Parent = strings.Clone(l.id), strings.Clone(l.parent)
	e.about = about{ID: l.session, Cwd: l.cwd}
	own := &claudeExtra{}
	e.own = own
	if l.side {
		own.branch = cmp.Or(strings.Clone(l.agent), unknownBranch)
	}
	switch e.Kind {
	case KindCompaction:
		own.readKept(string(l.compact))
	case KindMicrocompaction:
		c := scan(strings.Clone(string(l.micro)))
		c.Read("compactedToolIds", func() { own.cleared = c.Strings() })
	case kindMessage:
		return l.toMessage(e, own)
	}
	return nil
}

// claudeQueued is an attachment of the type queued_command: what came while the model was at work,
// and was sent with the next results. A person typed it, or the host or another agent sent it.
type claudeQueued struct {
	typ, mode, from string
	meta            bool
	prompt          jsonText
}

func (q *claudeQueued) read(c *cursor) {
	c.Read("type", &q.typ, "commandMode", &q.mode, "isMeta", &q.meta, "prompt", &q.prompt,
		"origin", func() { q.from = c.Text("kind") })
}

// toMessage makes the user's message of it. The parameter main is set outside of sidechains, where
// a person may have typed it.
func (q *claudeQueued) toMessage(m *memkernel.Message, main bool) error {
	c := scan(strings.Clone(string(q.prompt)))
	m.Role, m.Parts = memkernel.RoleUser, anthropicContent(&c)
	if main && q.mode == "prompt" && !q.meta && (q.from == "" || q.from == "human") {
		markTyped(m, true)
	} else {
		m.Origin = memkernel.OriginMeta
	}
	return c.Err
}

// claudeExtra holds further facts of an entry for the assembler.
type claudeExtra struct {
	branch             string // sidechain id, unknownBranch if only its parents tell
	group              string // records of one group are one message
	request            string // id of the model call that the message came by, "" if unknown
	fork               bool   // a plain user message, which may open a fork
	cleared            []string
	keepHead, keepTail string
	keepIDs            []string
}

// unknownBranch is the branch of a sidechain record that names no agent.
const unknownBranch = "?"

func (l *claudeLine) kind() Kind {
	switch {
	case (l.typ == "user" || l.typ == "assistant") && strings.HasPrefix(string(l.message), "{"):
		return kindMessage
	case l.queued.typ == "queued_command":
		return kindMessage
	case l.typ == "summary":
		return kindSummary
	case claudeSilent[l.typ]:
		return kindIgnored
	case l.typ != "system":
		return kindUnknown
	}
	switch l.subtype {
	case "compact_boundary":
		return KindCompaction
	case "microcompact_boundary":
		return KindMicrocompaction
	case "local_command":
		// The host shows a local command's output to the model as a user's text.
		return kindMessage
	}
	return kindIgnored
}

func (l *claudeLine) toMessage(e *Record, own *claudeExtra) error {
	m := &memkernel.Message{Key: e.ID, Time: parseTime(l.time), Turn: strings.Clone(l.turn)}
	e.Message = m
	if l.typ == "attachment" {
		return l.queued.toMessage(m, !l.side)
	}
	if l.typ == "system" {
		c := scan(strings.Clone(string(l.content)))
		m.Role, m.Origin, m.Parts = memkernel.RoleUser, memkernel.OriginMeta, anthropicContent(&c)
		return c.Err
	}
	c := scan(strings.Clone(string(l.message)))
	id, stop := readAnthropicMessage(&c, m)
	own.request = strings.Clone(l.request)
	id = cmp.Or(id, own.request)
	if c.Err != nil {
		return c.Err
	}
	if m.Role == "" {
		m.Role = memkernel.Role(l.typ)
	}
	// The host shows its own error messages to the user only.
	e.unread = c.Unread
	e.flags.Unsent = l.apiError || l.hidden && !l.summary
	switch {
	case l.typ == "assistant" && (m.Model == "<synthetic>" || l.apiError):
		m.Origin, m.Usage = memkernel.OriginSynthetic, nil
		own.group = id
	case l.typ == "assistant":
		own.group = id
		// Each block has a line of its own, and further lines follow thinking.
		e.ends = (stop == "end_turn" || stop == "stop_sequence" || stop == "max_tokens" || stop == "refusal") && Text(*m) != ""
	case l.summary:
		m.Origin = memkernel.OriginSummary
	case l.meta:
		m.Origin = memkernel.OriginMeta
	default:
		own.fork = e.Parent != "" && !HasResults(*m)
		if !l.side && !l.hidden && (l.from == "" || l.from == "human") {
			markTyped(m, true) // words with a permission are in the result's message
		}
	}
	return nil
}

// readKept reads which messages a compaction keeps.
func (own *claudeExtra) readKept(metadata string) {
	c := scan(strings.Clone(metadata))
	kept := func() {
		c.Read("headUuid", &own.keepHead, "tailUuid", &own.keepTail, "uuids", func() { own.keepIDs = append(own.keepIDs, c.Strings()...) })
	}
	c.Read("preservedSegment", kept, "preservedMessages", kept)
}

// claudeSniff knows a line by the members that all have.
func claudeSniff(typ string, has map[string]bool) int {
	if has["uuid"] || has["parentUuid"] || has["sessionId"] || has["isSidechain"] || has["leafUuid"] || claudeTypes[typ] || claudeSilent[typ] {
		return 3
	}
	return 0
}

// claudeDialect are Claude Code's session logs: JSONL, a record per content block.
var claudeDialect = dialectRow{Name: "claude-code", Sniff: claudeSniff, Parse: claudeParse, Assemble: claudeAssemble, Blocks: "anthropic",
	Notices: []string{"This session is being continued from a previous conversation", "Base directory for this skill:",
		"Stop hook feedback:", "Read the output file to retrieve the result: ", "Your task is to create a detailed summary of", "CRITICAL: Respond with TEXT ONLY"}}
