package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// This file reads the document that OpenCode's command export writes of a session.

// openCodeDialect are exported sessions of OpenCode.
var openCodeDialect = dialectRow{Name: "opencode", Lines: []sign{{5, "info messages", nil}}, Spread: true, Parse: openCodeParse, Assemble: openCodeAssemble}

type openCodeDocument struct {
	Info struct {
		ID, Directory string
	}
	Messages []struct {
		Info  openCodeMessage
		Parts []json.RawMessage
	}
}

type openCodeMessage struct {
	ID, Role, ModelID, Finish string
	Summary                   any // true on a summary of the assistant's
	Time                      struct{ Created int64 }
	Tokens                    json.RawMessage
}

type openCodePart struct {
	Type, Text, CallID, Tool, Filename, Prompt string
	Synthetic, Ignored                         bool
	State                                      struct {
		Status, Output, Error string
		Input                 json.RawMessage
	}
}

func openCodeParse(e *Record) error {
	var d openCodeDocument
	if err := json.Unmarshal([]byte(e.Raw), &d); err != nil {
		return err
	}
	if !strings.HasPrefix(d.Info.ID, "ses") {
		return errors.New("it is no session of OpenCode")
	}
	e.Kind, e.ID, e.about, e.own = kindMeta, d.Info.ID, about{ID: d.Info.ID, Cwd: d.Info.Directory}, &d
	for i := range d.Messages {
		m := &d.Messages[i].Info
		e.about.Model, e.ends = cmp.Or(m.ModelID, e.about.Model), m.Role == "assistant" && m.Finish != "tool-calls"
	}
	return nil
}

func openCodeAssemble(l *Session) (add func(*Record), finish func()) {
	return func(e *Record) {
		l.adopt(&e.about)
		for i := range e.own.(*openCodeDocument).Messages {
			m := &e.own.(*openCodeDocument).Messages[i]
			said, results := openCodeSaid(l, e, &m.Info, m.Parts)
			for _, m := range []memkernel.Message{said, results} {
				if len(m.Parts) == 0 {
					continue
				}
				l.push(m, flags{})
				if line := l.lines[""]; m.Origin == memkernel.OriginSummary { // it replaces all messages before it
					m.Role, m.Usage = memkernel.RoleUser, nil
					line.Bounds = append(line.Bounds, boundary{Pos: len(line.Order), Lead: []memkernel.Message{m}})
				}
			}
		}
	}, nil
}

// openCodeSaid returns a message, and the results of its calls.
func openCodeSaid(l *Session, e *Record, m *openCodeMessage, parts []json.RawMessage) (said, results memkernel.Message) {
	said = memkernel.Message{Key: m.ID, Role: memkernel.RoleUser, Model: m.ModelID}
	if m.Time.Created > 0 {
		said.Time = time.UnixMilli(m.Time.Created).UTC()
	}
	if m.Role == "assistant" {
		var err error
		if said.Role = memkernel.RoleAssistant; m.Summary == true {
			said.Origin = memkernel.OriginSummary
		}
		if said.Usage, err = memkernel.ReadUsage(m.Tokens); err != nil {
			l.note("unread-usage", e, "message %s: what the call was billed is not known: %v", m.ID, err)
		}
	}
	results = memkernel.Message{Key: m.ID + "_results", Role: memkernel.RoleTool, Time: said.Time}
	for i, raw := range parts {
		var p openCodePart
		if err := json.Unmarshal(raw, &p); err != nil {
			l.note("unread-part", e, "message %s: part %d: %v", m.ID, i+1, err)
			continue
		}
		switch p.Type {
		case "text":
			if strings.TrimSpace(p.Text) != "" && !p.Ignored {
				text := textPart(p.Text)
				text.Typed = said.Role == memkernel.RoleUser && !p.Synthetic
				said.Parts = append(said.Parts, text)
			}
		case "reasoning":
			if p.Text != "" {
				said.Parts = append(said.Parts, memkernel.Part{Kind: memkernel.PartThinking, Text: p.Text})
			}
		case "file":
			said.Parts = append(said.Parts, textPart("["+cmp.Or(p.Filename, "file")+"]"))
		case "subtask":
			said.Parts = append(said.Parts, textPart(p.Prompt))
		case "tool":
			call := memkernel.ToolCall{ID: cmp.Or(p.CallID, fmt.Sprintf("%s_call_%d", m.ID, i)), Name: p.Tool, Input: "{}"}
			if len(p.State.Input) > 0 {
				call.Input = string(p.State.Input)
			}
			said.Parts = append(said.Parts, callPart(call, ""))
			if failed := p.State.Status == "error"; failed || p.State.Status == "completed" {
				text := p.State.Output
				if failed {
					text = p.State.Error
				}
				results.Parts = append(results.Parts, resultPart(memkernel.ToolResult{CallID: call.ID, Name: p.Tool, IsError: failed, Text: true, Content: memkernel.Text(text)}, ""))
			}
		case "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction": // nobody said them
		default:
			l.note("unread-part", e, "message %s: a part of type %q is not known", m.ID, p.Type)
		}
	}
	return said, results
}
