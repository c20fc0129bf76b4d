package transcript

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
)

// This file reads the session logs of Copilot CLI: an event a line, in events.jsonl of
// a session's folder.

// copilotDialect are the session logs of Copilot CLI.
var copilotDialect = dialectRow{Name: "copilot", Sniff: copilotSniff, Parse: copilotParse, Assemble: copilotAssemble,
	Notices: []string{"<current_datetime>", "<system_reminder>"}}

// copilotSilent are the events that never reach the model, and copilotSpoken the others.
var (
	copilotSilent = setOf(`assistant.turn_start assistant.turn_end assistant.intent assistant.reasoning
		tool.execution_start tool.execution_partial_result tool.execution_progress tool.user_requested
		hook.start hook.end abort skill.invoked permission.requested permission.completed
		subagent.started subagent.completed subagent.failed subagent.selected subagent.deselected
		session.info session.warning session.error session.idle session.shutdown
		session.compaction_start session.truncation session.usage_info session.mode_changed
		session.handoff session.title_changed session.context_changed session.plan_changed
		session.workspace_file_changed session.task_complete`)
	copilotSpoken = setOf(`session.start session.resume session.model_change session.usage_record
		session.compaction_complete session.snapshot_rewind system.message user.message
		assistant.message tool.execution_complete`)
)

func copilotSniff(typ string, has map[string]bool) int {
	switch {
	case !has["data"] || !copilotSpoken[typ] && !copilotSilent[typ]:
		return 0
	case has["parentId"]:
		return 4
	}
	return 2
}

// copilotEvent holds the members of an event's data that make a message.
type copilotEvent struct {
	content, sent, summary, source, model, newModel, cwd, session string
	call, parent, reasoning, opaque, failure, upTo                string
	calls                                                         []memkernel.Part
	failed                                                        bool
	usage                                                         *memkernel.Usage
}

// copilotExtra holds further facts of an entry for the assembler.
type copilotExtra struct {
	usage *memkernel.Usage
	upTo  string
}

func copilotParse(e *Record) error {
	var d copilotEvent
	var at, agent string
	c, err := scanObject(e.Raw)
	if err != nil {
		return err
	}
	c.Read("type", &e.Type, "id", &e.ID, "parentId", &e.Parent, "timestamp", &at, "agentId", &agent, "data", func() {
		c.Read("content", &d.content, "transformedContent", &d.sent, "summaryContent", &d.summary, "source", &d.source,
			"model", &d.model, "selectedModel", &d.model, "newModel", &d.newModel, "sessionId", &d.session,
			"toolCallId", &d.call, "parentToolCallId", &d.parent, "reasoningText", &d.reasoning, "reasoningOpaque", &d.opaque,
			"upToEventId", &d.upTo,
			"success", func() { d.failed = !c.Boolean() },
			"context", func() { d.cwd = c.Text("cwd") },
			"result", func() { d.content = c.Text("content") },
			"error", func() { d.failure = c.Text("message") },
			"usage", func() { d.usage = readCopilotUsage(&c) },
			"toolRequests", func() {
				for range c.Elems {
					d.calls = append(d.calls, readCopilotCall(&c))
				}
			})
	})
	if err := c.End(); err != nil {
		return err
	}
	e.ID, e.Parent = strings.Clone(e.ID), strings.Clone(e.Parent)
	m := &memkernel.Message{Key: e.ID, Time: parseTime(at), Branch: strings.Clone(cmp.Or(d.parent, agent))}
	e.Kind, e.unread, e.own = kindIgnored, c.Unread, &copilotExtra{d.usage, strings.Clone(d.upTo)}
	d.entry(e, m)
	return nil
}

// entry gives a record its kind, and its message if it has one.
func (d *copilotEvent) entry(e *Record, m *memkernel.Message) {
	switch e.Type {
	case "session.start", "session.resume":
		e.Kind, e.about = kindMeta, about{ID: d.session, Cwd: d.cwd, Model: d.model}
	case "session.model_change":
		e.Kind, e.about.Model = kindMeta, d.newModel
	case "system.message":
		e.Kind = kindMeta
		if m.Branch == "" {
			e.about.System = copilotTexts(d.content)
		}
	case "session.usage_record":
		e.Kind = kindUsage
	case "session.compaction_complete":
		if !d.failed && d.summary != "" {
			m.Role, m.Origin, m.Parts = memkernel.RoleUser, memkernel.OriginSummary, copilotTexts(d.summary)
			e.Kind, e.Message = KindCompaction, m
		}
	case "session.snapshot_rewind":
		e.Kind = kindMeta
	case "user.message":
		m.Role, m.Parts = memkernel.RoleUser, copilotTexts(d.content)
		if d.source == "" || d.source == "user" {
			markTyped(m, false)
		} else {
			m.Origin = memkernel.OriginMeta
		}
		if before, ok := strings.CutSuffix(d.sent, d.content); ok && before != "" {
			m.Parts = append(copilotTexts(before), m.Parts...) // the host's text in front
		}
		e.Kind, e.Message = kindMessage, m
	case "assistant.message":
		m.Role, m.Model = memkernel.RoleAssistant, strings.Clone(d.model)
		if d.reasoning != "" || d.opaque != "" {
			m.Parts = []memkernel.Part{{Kind: memkernel.PartThinking, Text: strings.Clone(d.reasoning), Signature: strings.Clone(d.opaque)}}
		}
		if m.Parts = append(m.Parts, copilotTexts(d.content)...); len(m.Parts)+len(d.calls) > 0 {
			m.Parts = append(m.Parts, d.calls...)
			e.Kind, e.Message, e.ends = kindMessage, m, len(d.calls) == 0
		}
	case "tool.execution_complete":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{resultPart(memkernel.ToolResult{
			CallID: strings.Clone(d.call), Text: true, IsError: d.failed, Content: copilotTexts(cmp.Or(d.content, d.failure))}, "")}
		e.Kind, e.Message = kindMessage, m
	default:
		if !copilotSilent[e.Type] {
			e.Kind = kindUnknown
		}
	}
}

func copilotTexts(s string) []memkernel.Part { return textParts(strings.Clone(s)) }

// readCopilotUsage reads usage by the names that Copilot CLI gives it, whichever API it asks: the
// input includes the figures of the cache.
func readCopilotUsage(c *cursor) *memkernel.Usage {
	named := map[string]string{"inputTokens": "input_tokens", "outputTokens": "output_tokens",
		"cacheReadTokens": "cached_input_tokens", "cacheWriteTokens": "cache_write_input_tokens"}
	var b strings.Builder
	for k := range c.Fields {
		if name := named[k]; name != "" {
			fmt.Fprintf(&b, ",%q:%s", name, c.Raw())
		}
	}
	if b.Len() == 0 {
		return nil
	}
	u := scan("{" + b.String()[1:] + "}")
	usage := u.Usage()
	c.Unread = u.Unread
	return usage
}

func readCopilotCall(c *cursor) memkernel.Part {
	call, typ, args, start := memkernel.ToolCall{}, "", jsonText("{}"), c.Start()
	c.Read("toolCallId", &call.ID, "name", &call.Name, "type", &typ, "arguments", &args)
	call.ID, call.Name, call.Input = strings.Clone(call.ID), strings.Clone(call.Name), strings.Clone(string(args))
	if call.Custom = typ == "custom"; call.Custom {
		text := scan(call.Input)
		call.Input = text.Str()
	}
	return callPart(call, strings.Clone(c.Since(start)))
}

// copilotAssemble builds a session of its events. Usage is written before the answer that it bills.
// A rewind takes its event and all later ones off the main line.
func copilotAssemble(l *Session) (add func(*Record), finish func()) {
	var billed *memkernel.Usage
	begins := map[string]int{} // how long the main line was before an event
	return func(e *Record) {
		l.adopt(&e.about)
		line := l.lines[""]
		begins[e.ID] = len(line.Order)
		own := e.own.(*copilotExtra)
		switch e.Kind {
		case kindUsage:
			billed = own.usage
		case KindCompaction:
			line.Bounds = append(line.Bounds, boundary{Pos: len(line.Order), Lead: []memkernel.Message{*e.Message}})
		case kindMessage:
			if e.Message.Role == memkernel.RoleAssistant {
				e.Message.Usage, billed = billed, nil
			}
			l.push(*e.Message, e.flags)
		case kindMeta:
			if at, ok := begins[own.upTo]; ok && own.upTo != "" && at < len(line.Order) {
				l.fork(line, at, "rewound:"+e.ID)
			}
		}
	}, nil
}
