package transcript

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// This file reads the session logs of Claude Code: JSONL, a record per content
// block, with sidechains, forks and compactions.

// clearedResult replaces a tool result that a micro-compaction cleared in Claude Code's requests.
const clearedResult = "[Old tool result content cleared]"

// claudeTypes are the types of the other records.
var claudeTypes = textutil.Set("user assistant system attachment fork-context-ref summary")

// claudeSilent are the types of records that never reach the model.
var claudeSilent = textutil.Set(`progress file-history-snapshot queue-operation pr-link attachment custom-title ai-title tag
	agent-name agent-color agent-setting last-prompt mode permission-mode worktree-state content-replacement
	attribution-snapshot task-summary speculation-accept marble-origami-commit marble-origami-snapshot`)

func claudeParse(e *Record) error {
	c, err := scanObject(e.Raw)
	if err != nil {
		return err
	}
	// The strings share the memory of the line.
	var typ, subtype, id, parent, at, session, cwd, agent, turn, request, from string
	var message, content, compact, micro jsonText
	var side, meta, summary, hidden, apiError bool
	// An attachment of the type queued_command holds text that arrived while the model was working.
	// The host sent it with the next results. A person, the host or another agent wrote the text.
	var attached, mode, sender string
	var queuedMeta bool
	var prompt jsonText
	c.Read("type", &typ, "subtype", &subtype, "uuid", &id, "parentUuid", &parent, "timestamp", &at,
		"sessionId", &session, "cwd", &cwd, "agentId", &agent, "requestId", &request, "promptId", &turn,
		"isSidechain", &side, "isMeta", &meta, "isCompactSummary", &summary,
		"isVisibleInTranscriptOnly", &hidden, "isApiErrorMessage", &apiError,
		"message", &message, "content", &content, "compactMetadata", &compact, "microcompactMetadata", &micro,
		"attachment", func() {
			c.Read("type", &attached, "commandMode", &mode, "isMeta", &queuedMeta, "prompt", &prompt,
				"origin", func() { sender = c.Text("kind") })
		},
		"origin", func() { from = c.Text("kind") })
	if err := c.End(); err != nil {
		return err
	}
	spoken := (typ == "user" || typ == "assistant") && strings.HasPrefix(string(message), "{")
	e.Type, e.ID, e.Parent = typ, id, parent
	e.ends = typ == "system" && subtype == "turn_duration" && !side
	switch {
	case spoken, attached == "queued_command":
		e.Kind = kindMessage
	case typ == "summary":
		e.Kind = kindSummary
		return nil
	case claudeSilent[typ]:
		e.Kind = kindIgnored
		return nil
	case typ != "system":
		e.Kind = kindUnknown
		return nil
	case subtype == "compact_boundary":
		e.Kind = kindCompaction
	case subtype == "microcompact_boundary":
		e.Kind = kindMicrocompaction
	case subtype == "local_command": // its output is shown to the model as a user's text
		e.Kind = kindMessage
	default:
		e.Kind = kindIgnored
		return nil
	}
	e.ID, e.Parent = strings.Clone(id), strings.Clone(parent)
	e.about = about{ID: session, Cwd: cwd}
	own := &claudeExtra{}
	e.own = own
	if side {
		own.branch = cmp.Or(strings.Clone(agent), unknownBranch)
	}
	m := &memkernel.Message{Key: e.ID, Time: parseTime(at), Turn: strings.Clone(turn)}
	byPerson := func(kind string) bool { return !side && (kind == "" || kind == "human") }
	switch {
	case e.Kind == kindCompaction:
		own.readKept(string(compact))
		return nil
	case e.Kind == kindMicrocompaction:
		c := scan(strings.Clone(string(micro)))
		c.Read("compactedToolIds", func() { own.cleared = c.Strings() })
		return nil
	case typ == "attachment":
		c := scan(strings.Clone(string(prompt)))
		e.Message, m.Role, m.Parts = m, memkernel.RoleUser, anthropicContent(&c)
		if mode == "prompt" && !queuedMeta && byPerson(sender) {
			markTyped(m, true)
		} else {
			m.Origin = memkernel.OriginMeta
		}
		return c.Err
	case typ == "system":
		c := scan(strings.Clone(string(content)))
		e.Message, m.Role, m.Origin, m.Parts = m, memkernel.RoleUser, memkernel.OriginMeta, anthropicContent(&c)
		return c.Err
	}
	c = scan(strings.Clone(string(message)))
	group, stop := readAnthropicMessage(&c, m)
	own.request = strings.Clone(request)
	group = cmp.Or(group, own.request)
	if e.Message = m; c.Err != nil {
		return c.Err
	}
	m.Role = cmp.Or(m.Role, memkernel.Role(typ))
	// The host shows its own error messages to the user only.
	e.unread = c.Unread
	e.flags.Unsent = apiError || hidden && !summary
	switch {
	case typ == "assistant" && (m.Model == "<synthetic>" || apiError):
		m.Origin, m.Usage = memkernel.OriginSynthetic, nil
		own.group = group
	case typ == "assistant":
		own.group = group
		// Each block has a line of its own, and further lines follow thinking.
		e.ends = (stop == "end_turn" || stop == "stop_sequence" || stop == "max_tokens" || stop == "refusal") && Text(*m) != ""
	case summary:
		m.Origin = memkernel.OriginSummary
	case meta:
		m.Origin = memkernel.OriginMeta
	default:
		own.fork = e.Parent != "" && !HasResults(*m)
		if !hidden && byPerson(from) {
			markTyped(m, true) // words with a permission are in the result's message
		}
	}
	return nil
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

// readKept reads which messages a compaction keeps.
func (own *claudeExtra) readKept(metadata string) {
	c := scan(strings.Clone(metadata))
	kept := func() {
		c.Read("headUuid", &own.keepHead, "tailUuid", &own.keepTail, "uuids", func() { own.keepIDs = append(own.keepIDs, c.Strings()...) })
	}
	c.Read("preservedSegment", kept, "preservedMessages", kept)
}

// claudeLines are the members that all lines have, and their types.
var claudeLines = []sign{{3, "uuid", nil}, {3, "parentUuid", nil}, {3, "sessionId", nil}, {3, "isSidechain", nil}, {3, "leafUuid", nil},
	{3, "", claudeTypes}, {3, "", claudeSilent}}

// claudeDialect are Claude Code's session logs: JSONL, a record per content block.
var claudeDialect = dialectRow{Name: "claude-code", Lines: claudeLines, Parse: claudeParse, Assemble: claudeAssemble, Blocks: "anthropic",
	Notices: []string{"This session is being continued from a previous conversation", "Base directory for this skill:",
		"Stop hook feedback:", "Read the output file to retrieve the result: ", "Your task is to create a detailed summary of", "CRITICAL: Respond with TEXT ONLY"}}
