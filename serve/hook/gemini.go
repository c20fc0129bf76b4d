package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// maxGemini is the largest session file that is read, in bytes: Gemini CLI writes
// records again as they grow, so that the whole of it has to be seen.
const maxGemini = 128 << 20 // 128 MiB

// geminiRecord is a line of a session file, or the one document that older versions
// wrote: the session's head, a message, a change of the head, or a rewind.
type geminiRecord struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Content   json.RawMessage `json:"content"`
	Model     string          `json:"model"`
	ToolCalls []geminiCall    `json:"toolCalls"`
	Tokens    json.RawMessage `json:"tokens"`

	SessionID string         `json:"sessionId"`
	Messages  []geminiRecord `json:"messages"`
	Set       *struct {
		SessionID string         `json:"sessionId"`
		Messages  []geminiRecord `json:"messages"`
	} `json:"$set"`
	RewindTo string `json:"$rewindTo"`

	// rewritten: it came with a list by which the program replaced its own, and not as
	// a line for itself.
	rewritten bool
	// content is what the record holds, read once: a file lists its messages often.
	content *geminiContent
}

type geminiCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
	Status string          `json:"status"`
}

// geminiNews reads a session file whole and returns what follows from the seam on.
func geminiNews(f io.ReaderAt, path string, size int64, from seam) (*news, error) {
	if size > maxGemini {
		return nil, fmt.Errorf("%s: it has %d bytes; at most %d are read", path, size, maxGemini)
	}
	p, err := readGemini(io.NewSectionReader(f, 0, size), path)
	if err != nil {
		return nil, err
	}
	n := &news{size: size, next: seam{Path: path, Message: from.Message}, compactions: p.compactions, broken: p.broken, lost: p.lost}
	records := p.records()
	n.msgs = geminiConversation(records)
	n.all = n.msgs
	for i := range records {
		if records[i].Model != "" {
			n.model = records[i].Model
		}
	}
	if i := slices.IndexFunc(n.msgs, func(m memkernel.Message) bool { return m.Key == from.Message && opensTurn(&m) }); i > 0 {
		n.msgs = n.msgs[i:]
	}
	if n.ended() {
		for _, m := range n.msgs {
			if opensTurn(&m) {
				n.next.Message = m.Key
			}
		}
	}
	return n, nil
}

// geminiConversation returns what records are in a conversation: the user's words, the
// model's with its calls, and behind these their results. A result may be in the
// record of its call, in a row of type user behind it, or in both; it is one message
// under one key wherever it is, since records are written again as they grow. What
// the program told its user is none of it.
func geminiConversation(records []geminiRecord) []memkernel.Message {
	var out []memkernel.Message
	var open []geminiOpen
	for i := range records {
		r := &records[i]
		switch r.Type {
		case "gemini":
			m, calls := r.answer()
			if len(m.Parts) == 0 {
				continue
			}
			out = append(out, m)
			if len(calls) > 0 {
				out = append(out, memkernel.Message{Key: r.ID + "_response", Role: memkernel.RoleTool, Time: r.Timestamp})
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
				n := callOf(open, p.Result)
				if n < 0 {
					lone = append(lone, p)
					continue
				}
				if p.Result.CallID = open[n].id; open[n].result == nil {
					open[n].result = &p
					out[open[n].at].Parts = append(out[open[n].at].Parts, p)
				}
				open[n].echoed = true
			}
			if len(lone) > 0 {
				out = append(out, memkernel.Message{Key: r.ID + "_response", Role: memkernel.RoleTool, Time: r.Timestamp, Parts: lone})
			}
			if len(m.Parts) > 0 {
				out = append(out, m)
			}
		}
	}
	return slices.DeleteFunc(out, func(m memkernel.Message) bool { return len(m.Parts) == 0 })
}

// geminiOpen is a call on the way to its result: at is the message of the results,
// echoed reports whether a row of type user had it.
type geminiOpen struct {
	id, name string
	at       int
	result   *memkernel.Part
	echoed   bool
}

// callOf returns the call that a result answers: the one of its id, else the first of its
// name that no row has answered; -1 if there is none.
func callOf(open []geminiOpen, r *memkernel.ToolResult) int {
	if r.CallID != "" {
		for n := len(open) - 1; n >= 0; n-- {
			if open[n].id == r.CallID {
				return n
			}
		}
		return -1
	}
	return slices.IndexFunc(open, func(o geminiOpen) bool { return !o.echoed && (o.name == r.Name || r.Name == "") })
}

// answer returns what the model said, and its calls.
func (r *geminiRecord) answer() (memkernel.Message, []geminiOpen) {
	m := memkernel.Message{Key: r.ID, Time: r.Timestamp, Model: r.Model, Role: memkernel.RoleAssistant}
	var calls []geminiOpen
	call := func(id, name string, args json.RawMessage) *geminiOpen {
		if id == "" {
			id = fmt.Sprintf("%s_call_%d", r.ID, len(calls))
		}
		m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: name, Input: argsOf(args)}})
		calls = append(calls, geminiOpen{id: id, name: name})
		return &calls[len(calls)-1]
	}
	text := ""
	parts := geminiParts(r.Content)
	for _, p := range parts {
		if !p.Thought {
			text += p.Text
		}
	}
	if text != "" {
		m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartText, Text: text})
	}
	m.Usage, _ = memkernel.ReadUsage(r.Tokens) // of one that can't be read nothing is known
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		o := call(c.ID, c.Name, c.Args)
		o.result = c.result(o.id)
	}
	for _, p := range parts {
		if c := p.Call; c != nil && len(r.ToolCalls) == 0 {
			call(c.ID, c.Name, c.Args)
		}
	}
	return m, calls
}

// said returns what a row of type user holds: words, and the results of calls. Beside results
// are the program's words, and so they are in a row that only its rewriting has;
// otherwise they are the user's, but for the files that the program shows for an @,
// which are in parts of their own.
func (r *geminiRecord) said() (m memkernel.Message, results []memkernel.Part) {
	m = memkernel.Message{Key: r.ID, Time: r.Timestamp, Role: memkernel.RoleUser}
	parts := geminiParts(r.Content)
	shown := false
	for _, p := range parts {
		if a := p.Response; a != nil {
			results = append(results, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: a.ID, Name: a.Name, Text: true,
				IsError: a.failed(), Content: []memkernel.Part{{Kind: memkernel.PartText, Text: a.text()}}}})
			continue
		}
		shown = shown || strings.HasPrefix(strings.TrimSpace(p.Text), geminiFiles)
		if p.Text != "" {
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartText, Text: p.Text, Typed: !shown && !hooked(p.Text)})
		}
	}
	if len(results) > 0 || r.rewritten {
		m = transcript.Untyped(m)
		m.Origin = memkernel.OriginMeta
	}
	return m, results
}

// hooked reports whether a part is one in which Gemini CLI puts what a hook said.
func hooked(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<hook_context>") && strings.HasSuffix(text, "</hook_context>")
}

// geminiFiles begins the files that Gemini CLI shows behind a prompt.
const geminiFiles = "--- Content from referenced files ---"

func argsOf(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	return string(raw)
}

// result returns the result of the call, none while it runs.
func (c *geminiCall) result(id string) *memkernel.Part {
	if !c.answered() {
		return nil
	}
	text := memkernel.Part{Kind: memkernel.PartText, Text: geminiText(c.Result)}
	return &memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Name: c.Name, Text: true,
		IsError: c.Status == "error", Content: []memkernel.Part{text}}}
}

// answered reports whether a call's result stands with it.
func (c *geminiCall) answered() bool { return len(c.Result) > 0 && string(c.Result) != "null" }

// geminiPart is a part of a content.
type geminiPart struct {
	Text     string          `json:"text"`
	Thought  bool            `json:"thought"`
	Call     *geminiCall     `json:"functionCall"`
	Response *geminiResponse `json:"functionResponse"`
}

type geminiResponse struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// geminiParts returns the parts of a content: a string, a part or a list of them.
func geminiParts(raw json.RawMessage) []geminiPart {
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); {
	case bytes.HasPrefix(raw, []byte{'"'}):
		var s string
		_ = json.Unmarshal(raw, &s) // raw was parsed before
		return []geminiPart{{Text: s}}
	case bytes.HasPrefix(raw, []byte{'['}):
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // as above
		var out []geminiPart
		for _, item := range list {
			out = append(out, geminiParts(item)...)
		}
		return out
	}
	var p geminiPart
	_ = json.Unmarshal(raw, &p) // what is none leaves it empty
	return []geminiPart{p}
}

// geminiText returns the text of a result: that of its parts.
func geminiText(raw json.RawMessage) string {
	var b strings.Builder
	for _, p := range geminiParts(raw) {
		if b.WriteString(p.Text); p.Response != nil {
			b.WriteString(p.Response.text())
		}
	}
	return b.String()
}

// said returns the output or the error of a function that names it so.
func (r *geminiResponse) said() (output, failure *string) {
	var out struct{ Output, Error *string }
	if json.Unmarshal(r.Response, &out) != nil {
		return nil, nil
	}
	return out.Output, out.Error
}

func (r *geminiResponse) failed() bool {
	output, failure := r.said()
	return output == nil && failure != nil
}

// text returns what a function gave: its output, its error, or else the whole as JSON.
func (r *geminiResponse) text() string {
	switch output, failure := r.said(); {
	case output != nil:
		return *output
	case failure != nil:
		return *failure
	}
	return string(r.Response)
}
