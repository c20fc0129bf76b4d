package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
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
	Tokens    *geminiTokens   `json:"tokens"`

	SessionID string         `json:"sessionId"`
	Messages  []geminiRecord `json:"messages"`
	Set       *struct {
		Messages []geminiRecord `json:"messages"`
	} `json:"$set"`
	RewindTo string `json:"$rewindTo"`
}

type geminiCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
	Status string          `json:"status"`
}

// geminiTokens are a call's; input has the cached ones in it.
type geminiTokens struct {
	Input, Output, Cached int
}

// geminiNews reads a session file whole and gives what stands from the seam on.
func geminiNews(f io.ReaderAt, path string, size int64, from seam) (*news, error) {
	if size > maxGemini {
		return nil, fmt.Errorf("%s: it has %d bytes; at most %d are read", path, size, maxGemini)
	}
	records, err := readGemini(io.NewSectionReader(f, 0, size), path)
	if err != nil {
		return nil, err
	}
	n := &news{size: size, next: seam{Path: path, Message: from.Message}}
	for i := range records {
		n.msgs = append(n.msgs, records[i].messages()...)
		if records[i].Model != "" {
			n.model = records[i].Model
		}
	}
	opens := func(m memkernel.Message) bool { return m.Role == memkernel.RoleUser }
	if i := slices.IndexFunc(n.msgs, func(m memkernel.Message) bool { return m.Key == from.Message && opens(m) }); i > 0 {
		n.msgs = n.msgs[i:]
	}
	if n.ended() {
		for _, m := range n.msgs {
			if opens(m) {
				n.next.Message = m.Key
			}
		}
	}
	return n, nil
}

// readGemini plays the records of a file: the last of an id counts, at the place of
// its first.
func readGemini(r io.Reader, path string) ([]geminiRecord, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var whole geminiRecord
	if json.Unmarshal(data, &whole) == nil && whole.Messages != nil {
		return whole.Messages, nil
	}
	p := geminiPlayer{at: map[string]int{}}
	lines := bufio.NewReader(bytes.NewReader(data))
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			var rec geminiRecord
			switch bad := json.Unmarshal(trimmed, &rec); {
			case bad == nil:
				p.play(rec)
			case err == nil: // a last line that is cut off comes again
				return nil, fmt.Errorf("%s:%d: %w", path, n, bad)
			}
		}
		if errors.Is(err, io.EOF) {
			return p.records, nil
		}
	}
}

type geminiPlayer struct {
	records []geminiRecord
	at      map[string]int
}

func (p *geminiPlayer) play(rec geminiRecord) {
	switch {
	case rec.RewindTo != "":
		i, ok := p.at[rec.RewindTo]
		if !ok {
			i = 0
		}
		p.keep(p.records[:i])
	case rec.Set != nil:
		if rec.Set.Messages != nil {
			p.keep(rec.Set.Messages)
		}
	case rec.SessionID != "":
		for _, m := range rec.Messages {
			p.play(m)
		}
	case rec.ID != "":
		if i, ok := p.at[rec.ID]; ok {
			p.records[i] = rec
			return
		}
		p.at[rec.ID] = len(p.records)
		p.records = append(p.records, rec)
	}
}

// keep begins anew with some records.
func (p *geminiPlayer) keep(records []geminiRecord) {
	records = slices.Clone(records)
	p.records, p.at = nil, map[string]int{}
	for _, r := range records {
		p.play(r)
	}
}

// messages are what a record is in a conversation: the user's words, or the model's
// with its calls and behind them their results. What the program told its user is
// neither.
func (r *geminiRecord) messages() []memkernel.Message {
	text := memkernel.Part{Kind: memkernel.PartText, Text: geminiText(r.Content)}
	m := memkernel.Message{Key: r.ID, Time: r.Timestamp, Model: r.Model}
	switch r.Type {
	case "user":
		m.Role, m.Parts = memkernel.RoleUser, []memkernel.Part{text}
		return []memkernel.Message{m}
	case "gemini":
		m.Role = memkernel.RoleAssistant
	default:
		return nil
	}
	if text.Text != "" {
		m.Parts = append(m.Parts, text)
	}
	if t := r.Tokens; t != nil {
		m.Usage = &memkernel.Usage{InputTokens: max(t.Input-t.Cached, 0), CacheReadTokens: t.Cached, OutputTokens: t.Output}
	}
	results := memkernel.Message{Key: r.ID + "_response", Role: memkernel.RoleTool, Time: r.Timestamp}
	for _, c := range r.ToolCalls {
		m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: c.ID, Name: c.Name, Input: argsOf(c.Args)}})
		results.Parts = append(results.Parts, c.result()...)
	}
	if len(m.Parts) == 0 {
		return nil
	}
	if len(results.Parts) == 0 {
		return []memkernel.Message{m}
	}
	return []memkernel.Message{m, results}
}

func argsOf(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	return string(raw)
}

// result is the call's, none while it runs.
func (c *geminiCall) result() []memkernel.Part {
	if len(c.Result) == 0 || string(c.Result) == "null" {
		return nil
	}
	text := memkernel.Part{Kind: memkernel.PartText, Text: geminiText(c.Result)}
	return []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: c.ID, Name: c.Name, Text: true,
		IsError: c.Status == "error", Content: []memkernel.Part{text}}}}
}

// geminiText is the text of a content: a string, a part or a list of them. A function's
// response counts with its output, and whatever else it holds as JSON.
func geminiText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var b bytes.Buffer
		for _, item := range list {
			b.WriteString(geminiText(item))
		}
		return b.String()
	}
	var part struct {
		Text     string `json:"text"`
		Response *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	}
	if json.Unmarshal(raw, &part) != nil || part.Response == nil {
		return part.Text
	}
	var out struct{ Output, Error *string }
	if json.Unmarshal(part.Response.Response, &out) == nil {
		if out.Output != nil {
			return *out.Output
		}
		if out.Error != nil {
			return *out.Error
		}
	}
	return string(part.Response.Response)
}
