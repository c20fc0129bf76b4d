package transcript

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// This file reads the session logs of Copilot CLI: an event a line, in events.jsonl of
// a session's folder.

// copilotDialect are the session logs of Copilot CLI.
var copilotDialect = dialectRow{Name: "copilot", Lines: []sign{{4, "data parentId", copilotSpoken}, {4, "data parentId", copilotSilent}, {2, "data", copilotSpoken}, {2, "data", copilotSilent}},
	Parse: copilotParse, Assemble: copilotAssemble,
	Notices: []string{"<current_datetime>", "<system_reminder>"}}

// The model never sees events of the types in copilotSilent. It sees those in copilotSpoken.
var (
	copilotSilent = textutil.Set(`assistant.turn_start assistant.turn_end assistant.intent assistant.reasoning
		tool.execution_start tool.execution_partial_result tool.execution_progress tool.user_requested
		hook.start hook.end abort skill.invoked permission.requested permission.completed
		subagent.started subagent.completed subagent.failed subagent.selected subagent.deselected
		session.info session.warning session.error session.idle session.shutdown
		session.compaction_start session.truncation session.usage_info session.mode_changed
		session.handoff session.title_changed session.context_changed session.plan_changed
		session.workspace_file_changed session.task_complete`)
	copilotSpoken = textutil.Set(`session.start session.resume session.model_change session.usage_record
		session.compaction_complete session.snapshot_rewind system.message user.message
		assistant.message tool.execution_complete`)
)

// copilotExtra holds further facts of an entry for the assembler.
type copilotExtra struct {
	usage *memkernel.Usage
	upTo  string
}

func copilotParse(e *Record) error {
	var at, agent, content, sent, summary, source, model, newModel, cwd, session, call, parent, reasoning, opaque, failure string
	var calls []memkernel.Part
	var failed bool
	own := &copilotExtra{}
	c, err := scanObject(e.Raw)
	if err != nil {
		return err
	}
	c.Read("type", &e.Type, "id", &e.ID, "parentId", &e.Parent, "timestamp", &at, "agentId", &agent, "data", func() {
		c.Read("content", &content, "transformedContent", &sent, "summaryContent", &summary, "source", &source,
			"model", &model, "selectedModel", &model, "newModel", &newModel, "sessionId", &session,
			"toolCallId", &call, "parentToolCallId", &parent, "reasoningText", &reasoning, "reasoningOpaque", &opaque,
			"upToEventId", &own.upTo,
			"success", func() { failed = !c.Boolean() },
			"context", func() { cwd = c.Text("cwd") },
			"result", func() { content = c.Text("content") },
			"error", func() { failure = c.Text("message") },
			"usage", func() { own.usage = readCopilotUsage(&c) },
			"toolRequests", func() {
				for range c.Elems {
					calls = append(calls, readCopilotCall(&c))
				}
			})
	})
	if err := c.End(); err != nil {
		return err
	}
	e.ID, e.Parent, own.upTo = strings.Clone(e.ID), strings.Clone(e.Parent), strings.Clone(own.upTo)
	m := &memkernel.Message{Key: e.ID, Time: parseTime(at), Branch: strings.Clone(cmp.Or(parent, agent))}
	e.Kind, e.unread, e.own = kindIgnored, c.Unread, own
	switch e.Type {
	case "session.start", "session.resume":
		e.Kind, e.about = kindMeta, about{ID: session, Cwd: cwd, Model: model}
	case "session.model_change":
		e.Kind, e.about.Model = kindMeta, newModel
	case "system.message":
		e.Kind = kindMeta
		if m.Branch == "" {
			e.about.System = copilotTexts(content)
		}
	case "session.usage_record":
		e.Kind = kindUsage
	case "session.compaction_complete":
		if !failed && summary != "" {
			m.Role, m.Origin, m.Parts = memkernel.RoleUser, memkernel.OriginSummary, copilotTexts(summary)
			e.Kind, e.Message = kindCompaction, m
		}
	case "session.snapshot_rewind":
		e.Kind = kindMeta
	case "user.message":
		m.Role, m.Parts = memkernel.RoleUser, copilotTexts(content)
		if source == "" || source == "user" {
			markTyped(m, false)
		} else {
			m.Origin = memkernel.OriginMeta
		}
		if before, ok := strings.CutSuffix(sent, content); ok && before != "" {
			m.Parts = append(copilotTexts(before), m.Parts...) // the host's text in front
		}
		e.Kind, e.Message = kindMessage, m
	case "assistant.message":
		m.Role, m.Model = memkernel.RoleAssistant, strings.Clone(model)
		if reasoning != "" || opaque != "" {
			m.Parts = []memkernel.Part{{Kind: memkernel.PartThinking, Text: strings.Clone(reasoning), Signature: strings.Clone(opaque)}}
		}
		if m.Parts = append(append(m.Parts, copilotTexts(content)...), calls...); len(m.Parts) > 0 {
			e.Kind, e.Message, e.ends = kindMessage, m, len(calls) == 0
		}
	case "tool.execution_complete":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{resultPart(memkernel.ToolResult{
			CallID: strings.Clone(call), Text: true, IsError: failed, Content: copilotTexts(cmp.Or(content, failure))}, "")}
		e.Kind, e.Message = kindMessage, m
	default:
		if !copilotSilent[e.Type] {
			e.Kind = kindUnknown
		}
	}
	return nil
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
		case kindCompaction:
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
