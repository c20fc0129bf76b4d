package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const (
	workdir     = "/home/mika/src/harborline"
	hostVersion = "2.1.40"
	modelID     = "claude-opus-4-5-20251101"
	// fixedTokens is the size of the system prompt and tools that no record shows.
	fixedTokens = 25_140
	// cacheLifetime counts from the start of the request that wrote or read.
	cacheLifetime = 5 * time.Minute
)

// record is one line of the file. Fields that a record does not have are left
// out; their order is the host's.
type record struct {
	ParentUUID        *string         `json:"parentUuid"`
	LogicalParentUUID string          `json:"logicalParentUuid,omitempty"`
	IsSidechain       bool            `json:"isSidechain"`
	UserType          string          `json:"userType"`
	CWD               string          `json:"cwd"`
	SessionID         string          `json:"sessionId"`
	Version           string          `json:"version"`
	GitBranch         string          `json:"gitBranch"`
	Type              string          `json:"type"`
	Subtype           string          `json:"subtype,omitempty"`
	Content           string          `json:"content,omitempty"`
	Message           *message        `json:"message,omitempty"`
	RequestID         string          `json:"requestId,omitempty"`
	CompactMetadata   *compactMeta    `json:"compactMetadata,omitempty"`
	IsCompactSummary  bool            `json:"isCompactSummary,omitempty"`
	UUID              string          `json:"uuid"`
	Timestamp         string          `json:"timestamp"`
	ToolUseResult     json.RawMessage `json:"toolUseResult,omitempty"`
}

type compactMeta struct {
	Trigger   string `json:"trigger"`
	PreTokens int    `json:"preTokens"`
}

type message struct {
	Model      string  `json:"model,omitempty"`
	ID         string  `json:"id,omitempty"`
	Type       string  `json:"type,omitempty"`
	Role       string  `json:"role"`
	Content    any     `json:"content"`
	StopReason *string `json:"stop_reason,omitempty"`
	Usage      *usage  `json:"usage,omitempty"`
}

type usage struct {
	Input         int           `json:"input_tokens"`
	Write         int           `json:"cache_creation_input_tokens"`
	Read          int           `json:"cache_read_input_tokens"`
	CacheCreation cacheCreation `json:"cache_creation"`
	Output        int           `json:"output_tokens"`
	ServiceTier   string        `json:"service_tier"`
}

type cacheCreation struct {
	M5 int `json:"ephemeral_5m_input_tokens"`
	H1 int `json:"ephemeral_1h_input_tokens"`
}

// block is one content block of any kind.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

// session plays the agent's work and writes down the records.
type session struct {
	buf    *bytes.Buffer
	r      *rng
	w      *world
	id     string
	branch string
	parent string
	now    time.Time

	context   int // tokens of the prompt so far, fixed part included
	lastStart time.Time
	cached    int // tokens of the entry at the end of the last request
	thought   string
	calls     int
}

func newSession(buf *bytes.Buffer, seed uint64) *session {
	r := &rng{state: seed}
	s := &session{buf: buf, r: r, branch: "main", context: fixedTokens,
		now: time.Date(2026, 3, 9, 8, 12, 31, 417e6, time.UTC)}
	s.id = r.uuid()
	s.w = newWorld(r)
	return s
}

func (s *session) write(rec *record) {
	if rec.Subtype != "compact_boundary" && s.parent != "" {
		p := s.parent
		rec.ParentUUID = &p
	}
	rec.UserType, rec.CWD, rec.SessionID = "external", workdir, s.id
	rec.Version, rec.GitBranch = hostVersion, s.branch
	rec.UUID, rec.Timestamp = s.r.uuid(), s.now.Format("2006-01-02T15:04:05.000Z")
	enc := json.NewEncoder(s.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rec); err != nil {
		panic(err) // every field is plain data made here
	}
	s.parent = rec.UUID
}

func (s *session) wait(d time.Duration) { s.now = s.now.Add(d.Round(time.Millisecond)) }

// jitter passes between lo and hi milliseconds.
func (s *session) jitter(lo, hi int) { s.wait(time.Duration(s.r.between(lo, hi)) * time.Millisecond) }

// user is a prompt typed after a pause.
func (s *session) user(pause time.Duration, text string) {
	s.wait(pause)
	s.jitter(0, 4000)
	s.snapshot()
	s.write(&record{Type: "user", Message: &message{Role: "user", Content: text}})
	s.context += estimate(text) + 6
}

// snapshot is a bookkeeping line that is no message.
func (s *session) snapshot() {
	fmt.Fprintf(s.buf, `{"type":"file-history-snapshot","messageId":%q,"snapshot":{"trackedFileBackups":{},"timestamp":%q},"isSnapshotUpdate":false}`+"\n",
		s.r.uuid(), s.now.Format("2006-01-02T15:04:05.000Z"))
}

// think sets the thinking that opens the next turn.
func (s *session) think(text string) { s.thought = text }

// call is a tool call with the result that it will get.
type call struct {
	name   string
	input  []any // key, value, key, value
	result string
	failed bool
	takes  time.Duration
}

// say is an assistant turn of text alone.
func (s *session) say(text string) { s.turn(text) }

// turn is one model call: thinking, text and tool calls, then their results.
func (s *session) turn(text string, calls ...call) {
	u := s.bill()
	blocks := s.blocks(text, calls)
	id, req := s.r.id("msg_"), s.r.id("req_")
	output := 0
	for i := range blocks {
		output += estimate(blocks[i].Text+blocks[i].Thinking+string(blocks[i].Input)) + 8
	}
	s.jitter(1800, 5200)
	interleaved := len(calls) > 1 && s.r.chance(40)
	next := 0
	for i := range blocks {
		v := *u
		v.Output = s.r.between(1, 9)
		if i == len(blocks)-1 {
			v.Output = output
		}
		s.write(&record{Type: "assistant", RequestID: req, Message: &message{Model: modelID, ID: id, Type: "message",
			Role: "assistant", Content: []block{blocks[i]}, Usage: &v}})
		if blocks[i].Type == "tool_use" && interleaved {
			s.result(blocks[i].ID, calls[next])
			next++
		}
		s.jitter(300, 1900)
	}
	s.context += output
	for ; next < len(calls); next++ {
		s.result(blocks[len(blocks)-len(calls)+next].ID, calls[next])
	}
	s.calls++
}

func (s *session) blocks(text string, calls []call) []block {
	var out []block
	if s.thought != "" {
		out = append(out, block{Type: "thinking", Thinking: s.thought, Signature: s.r.signature(180 + 3*s.r.n(40))})
		s.thought = ""
	}
	if text != "" {
		out = append(out, block{Type: "text", Text: text})
	}
	for _, c := range calls {
		out = append(out, block{Type: "tool_use", ID: s.r.id("toolu_"), Name: c.name, Input: object(c.input)})
	}
	return out
}

// object writes key-value pairs as JSON in their order.
func object(pairs []any) json.RawMessage {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", pairs[i], encode(pairs[i+1]))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// encode is JSON without HTML escapes.
func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // v is a string, number, bool or slice of them
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (s *session) result(id string, c call) {
	s.wait(c.takes)
	s.jitter(60, 700)
	s.write(&record{Type: "user", Message: &message{Role: "user",
		Content: []block{{Type: "tool_result", ToolUseID: id, Content: c.result, IsError: c.failed}}}})
	s.context += estimate(c.result) + 14
}

// bill simulates the provider's cache for the call that starts now: one entry
// behind the fixed part, one at the end of the last request.
func (s *session) bill() *usage {
	s.jitter(120, 700)
	read := 0
	if !s.lastStart.IsZero() && s.now.Sub(s.lastStart) < cacheLifetime {
		read = max(s.cached, fixedTokens)
	}
	input := s.r.between(1, 4)
	u := &usage{Input: input, Read: read, Write: s.context - read - input, ServiceTier: "standard"}
	u.CacheCreation.M5 = u.Write
	s.lastStart, s.cached = s.now, s.context-input
	return u
}

// compact ends the conversation so far in a summary.
func (s *session) compact(summary string) {
	s.wait(48 * time.Second)
	pre, last := s.context, s.parent
	s.write(&record{Type: "system", Subtype: "compact_boundary", Content: "Conversation compacted", LogicalParentUUID: last,
		CompactMetadata: &compactMeta{Trigger: "auto", PreTokens: pre}})
	s.jitter(20, 60)
	s.write(&record{Type: "user", IsCompactSummary: true, Message: &message{Role: "user", Content: summary}})
	s.context, s.cached = fixedTokens+estimate(summary)+6, fixedTokens
}
