package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// This file reads the session files of Gemini CLI: a record a line, or the one
// document that older versions wrote.

// geminiCLIDialect are the session files of Gemini CLI.
var geminiCLIDialect = dialectRow{Name: "gemini-cli", Lines: []sign{{5, "sessionId projectHash", nil}, {3, "$set", nil}, {3, "$rewindTo", nil}, {3, "content", textutil.Set("gemini")}},
	Spread: true, Parse: geminiCLIParse, Assemble: geminiCLIAssemble}

// geminiCLIRecord is a line of a session file, or the one document that older versions wrote: the
// session's head, a message, a change of the head, or a rewind.
type geminiCLIRecord struct {
	ID        string              `json:"id"`
	Type      string              `json:"type"`
	Timestamp time.Time           `json:"timestamp"`
	Content   json.RawMessage     `json:"content"`
	Model     string              `json:"model"`
	ToolCalls []geminiCLIToolCall `json:"toolCalls"`
	Tokens    json.RawMessage     `json:"tokens"`
	Thoughts  []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`

	geminiCLIHead
	Set      *geminiCLIHead `json:"$set"`
	RewindTo string         `json:"$rewindTo"`

	// rewritten reports whether the record came in a list by which the program replaced its own
	// list. summary reports whether it is the program's summary of messages that the list lacks.
	rewritten, summary bool
	// back reports whether the message was taken back.
	back bool
	// read caches the content, since a file lists its messages often.
	read *geminiCLIContent
}

// geminiCLIHead describes a session. It has messages if the record replaces the list of messages,
// or if the file is one document.
type geminiCLIHead struct {
	SessionID   string            `json:"sessionId"`
	Directories []string          `json:"directories"`
	Messages    []geminiCLIRecord `json:"messages"`
}

// about returns the session's facts.
func (h *geminiCLIHead) about() about {
	a := about{ID: h.SessionID}
	if len(h.Directories) > 0 {
		a.Cwd = h.Directories[0]
	}
	for i := range h.Messages {
		a.Model = cmp.Or(h.Messages[i].Model, a.Model)
	}
	return a
}

type geminiCLIToolCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
	Status string          `json:"status"`
}

func geminiCLIParse(e *Record) error {
	var r geminiCLIRecord
	if err := json.Unmarshal([]byte(e.Raw), &r); err != nil {
		return err
	}
	e.Type, e.ID, e.Kind, e.own = r.Type, r.ID, kindMeta, &r
	switch {
	case r.RewindTo != "":
		e.Type = "$rewindTo"
	case r.Set != nil:
		e.Type, e.about = "$set", r.Set.about()
	case r.SessionID != "":
		e.about = r.about()
	case r.Type == "gemini" && r.ID != "":
		m, calls, unread := r.answer()
		e.about.Model, e.unread, e.ends = r.Model, unread, len(calls) == 0
		e.Kind, e.Message = kindMessage, &m
	case r.Type == "user" && r.ID != "":
		m, results := r.said()
		m.Parts = append(m.Parts, results...)
		e.Kind, e.Message = kindMessage, &m
	case r.ID != "" && geminiCLINotices[r.Type]:
		e.Kind = kindIgnored
	case r.Type != "":
		e.Kind = kindUnknown
	default:
		return errors.New("it is no record of a session")
	}
	return nil
}

// geminiCLINotices are the types of messages from the program to its user.
var geminiCLINotices = textutil.Set("info warning error")

// geminiCLIDialogue is a message of the conversation, and how many rows are before its own.
type geminiCLIDialogue struct {
	memkernel.Message
	row int
}

// geminiCLIConversation returns the messages of records: the user's words, the model's words with
// its calls, and their results. A result may be in the record of its call, in a later row of type
// user, or in both, since records are written again as they grow. It is one message under one key
// in each case. The program's words to its user are left out.
func geminiCLIConversation(records []*geminiCLIRecord) []geminiCLIDialogue {
	var out []geminiCLIDialogue
	var open []geminiCLIOpenCall
	for n, r := range records {
		switch r.Type {
		case "gemini":
			m, calls, _ := r.answer()
			if len(m.Parts) == 0 {
				continue
			}
			out = append(out, geminiCLIDialogue{m, n})
			if len(calls) > 0 {
				out = append(out, geminiCLIDialogue{memkernel.Message{Key: r.ID + "_response", Role: memkernel.RoleTool, Time: r.Timestamp}, n})
			}
			for _, c := range calls {
				c.at = len(out) - 1
				if c.result != nil {
					out[c.at].Parts = append(out[c.at].Parts, *c.result)
				}
				open = append(open, c)
			}
		case "user":
			m, results := r.said()
			var lone []memkernel.Part
			for _, p := range results {
				c := geminiCLICallOf(open, p.Result)
				if c < 0 {
					lone = append(lone, p)
					continue
				}
				if p.Result.CallID = open[c].id; open[c].result == nil {
					open[c].result = &p
					out[open[c].at].Parts = append(out[open[c].at].Parts, p)
				}
				open[c].echoed = true
			}
			if len(lone) > 0 {
				out = append(out, geminiCLIDialogue{memkernel.Message{Key: r.ID + "_response", Role: memkernel.RoleTool, Time: r.Timestamp, Parts: lone}, n})
			}
			if len(m.Parts) > 0 {
				out = append(out, geminiCLIDialogue{m, n})
			}
		}
	}
	return slices.DeleteFunc(out, func(d geminiCLIDialogue) bool { return len(d.Parts) == 0 })
}

// geminiCLIOpenCall is a call whose result may follow. at is the message of the results. echoed
// reports whether a row of type user held the result.
type geminiCLIOpenCall struct {
	id, name string
	at       int
	result   *memkernel.Part
	echoed   bool
}

// geminiCLICallOf returns the index of the call that a result answers. It is the first unanswered
// call in the newest record with a call of the result's id. For a result without a call id it is
// the first unanswered call of the result's name. geminiCLICallOf returns -1 if there is no such
// call.
func geminiCLICallOf(open []geminiCLIOpenCall, r *memkernel.ToolResult) int {
	at := -1
	if r.CallID != "" {
		for n := range open {
			if open[n].id == r.CallID {
				at = open[n].at
			}
		}
		if at < 0 {
			return -1
		}
	}
	return slices.IndexFunc(open, func(o geminiCLIOpenCall) bool {
		if at >= 0 {
			return o.at == at && o.id == r.CallID && !o.echoed
		}
		return !o.echoed && (o.name == r.Name || r.Name == "")
	})
}

// answer returns the model's message and its calls. unread is the reason why the usage can't be
// read.
func (r *geminiCLIRecord) answer() (m memkernel.Message, calls []geminiCLIOpenCall, unread error) {
	m = memkernel.Message{Key: r.ID, Time: r.Timestamp, Model: r.Model, Role: memkernel.RoleAssistant}
	call := func(id, name, input string) *geminiCLIOpenCall {
		if id == "" {
			id = fmt.Sprintf("%s_call_%d", r.ID, len(calls))
		}
		m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: name, Input: input}})
		calls = append(calls, geminiCLIOpenCall{id: id, name: name})
		return &calls[len(calls)-1]
	}
	for _, t := range r.Thoughts {
		m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartThinking, Text: strings.TrimSpace(t.Subject + "\n" + t.Description)})
	}
	parts, text := geminiCLIParts(r.Content), ""
	for _, p := range parts {
		switch p.Kind {
		case memkernel.PartText:
			text += p.Text
		case memkernel.PartToolUse:
		default:
			m.Parts = append(m.Parts, p)
		}
	}
	if text != "" {
		m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartText, Text: text})
	}
	m.Usage, unread = memkernel.ReadUsage(r.Tokens)
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		var input bytes.Buffer
		if json.Compact(&input, c.Args) != nil {
			input.WriteString("{}") // it has none
		}
		o := call(c.ID, c.Name, input.String())
		o.result = c.result(o.id)
	}
	for _, p := range parts {
		if c := p.Call; c != nil && len(r.ToolCalls) == 0 {
			call(c.ID, c.Name, c.Input)
		}
	}
	if !slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool { return !isThinking(&p) }) {
		m.Parts = nil // the program writes it again as it grows
	}
	return m, calls, unread
}

// said returns a row of type user: a message of its words, and the results of calls. The words are
// the program's if the row has results, or if the row occurs only in a rewritten list. Otherwise
// they are the user's. Files that the program shows for an @ are separate parts and not the user's.
func (r *geminiCLIRecord) said() (m memkernel.Message, results []memkernel.Part) {
	m = memkernel.Message{Key: r.ID, Time: r.Timestamp, Role: memkernel.RoleUser}
	shown := false
	for _, p := range geminiCLIParts(r.Content) {
		if p.Result != nil {
			results = append(results, p)
			continue
		}
		shown = shown || strings.HasPrefix(strings.TrimSpace(p.Text), geminiCLIFiles)
		p.Typed = p.Kind == memkernel.PartText && !shown && !geminiCLIHooked(p.Text) && !r.rewritten
		m.Parts = append(m.Parts, p)
	}
	switch {
	case r.summary:
		m.Origin = memkernel.OriginSummary
	case len(results) > 0 || r.rewritten:
		m = Untyped(m)
		m.Origin = memkernel.OriginMeta
	}
	return m, results
}

// geminiCLIHooked reports whether Gemini CLI put the output of a hook into a part.
func geminiCLIHooked(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<hook_context>") && strings.HasSuffix(text, "</hook_context>")
}

// geminiCLIFiles begins the files that Gemini CLI shows after a prompt.
const geminiCLIFiles = "--- Content from referenced files ---"

// result returns the result of the call, nil while the call runs.
func (c *geminiCLIToolCall) result(id string) *memkernel.Part {
	if !c.answered() {
		return nil
	}
	r := &memkernel.ToolResult{CallID: id, Name: c.Name, IsError: c.Status == "error"}
	text := ""
	for _, p := range geminiCLIParts(c.Result) {
		of := []memkernel.Part{p}
		if p.Result != nil {
			of = p.Result.Content
		}
		for _, p := range of {
			if p.Kind == memkernel.PartText {
				text += p.Text
			} else {
				r.Content = append(r.Content, p)
			}
		}
	}
	r.Text = len(r.Content) == 0
	r.Content = append(memkernel.Text(text), r.Content...)
	return &memkernel.Part{Kind: memkernel.PartToolResult, Result: r}
}

// answered reports whether the call's own record has its result.
func (c *geminiCLIToolCall) answered() bool { return len(c.Result) > 0 && string(c.Result) != "null" }

// geminiCLIParts returns the parts of a content: a string, a part or a list of parts. Texts, calls
// and results have no Raw, since the program also writes them in other shapes.
func geminiCLIParts(raw json.RawMessage) []memkernel.Part {
	c := scanGemini(string(raw))
	list := geminiParts(&c)
	kept := list[:0]
	for _, p := range list {
		switch p.Kind {
		case memkernel.PartOther:
			if text := memberOf(p.Raw, "text"); text != "" && strings.TrimSpace(strings.Trim(text, `"`)) == "" {
				continue
			}
		case memkernel.PartText, memkernel.PartToolUse, memkernel.PartToolResult:
			if p.Raw = ""; p.Kind == memkernel.PartText && p.Text == "" {
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept
}
