package summary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
)

// sessions reads the shared transcripts, just well enough for these tests.
func sessions(t *testing.T) map[string][]memkernel.Message {
	t.Helper()
	files, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no transcripts in ../../shared/data: nothing to run on")
	}
	out := map[string][]memkernel.Message{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = readSession(data)
	}
	return out
}

type record struct {
	Type             string
	UUID             string
	ID               string
	Timestamp        time.Time
	IsMeta           bool
	IsCompactSummary bool
	IsSidechain      bool
	Message          json.RawMessage
	Payload          json.RawMessage
}

type block struct {
	Type, Text, Name, ID string
	Input, Arguments     json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	CallID               string `json:"call_id"`
	Content, Output      json.RawMessage
	IsError              bool `json:"is_error"`
	Role                 string
}

func readSession(data []byte) []memkernel.Message {
	var out []memkernel.Message
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var r record
		if json.Unmarshal(sc.Bytes(), &r) != nil || r.IsSidechain {
			continue
		}
		m := memkernel.Message{Key: r.UUID + r.ID, Time: r.Timestamp}
		switch {
		case r.IsCompactSummary:
			m.Origin = memkernel.OriginSummary
		case r.IsMeta:
			m.Origin = memkernel.OriginMeta
		}
		if r.Type == "response_item" {
			readCodex(&m, r.Payload)
		} else if len(r.Message) > 0 {
			readMessage(&m, r.Message)
		}
		if len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	return out
}

func readMessage(m *memkernel.Message, raw json.RawMessage) {
	var msg struct {
		Role, ToolCallID, ToolName string
		IsError                    bool
		Content                    json.RawMessage
	}
	if json.Unmarshal(raw, &msg) != nil {
		return
	}
	m.Role = memkernel.Role(msg.Role)
	if msg.Role == "toolResult" {
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{result(msg.ToolCallID, msg.IsError, msg.Content)}
		return
	}
	for _, b := range blocks(msg.Content) {
		switch b.Type {
		case "text":
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartText, Text: b.Text})
		case "tool_use", "toolCall":
			in := string(b.Input) + string(b.Arguments)
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: b.ID, Name: b.Name, Input: in}})
		case "tool_result":
			m.Parts = append(m.Parts, result(b.ToolUseID, b.IsError, b.Content))
		}
	}
}

func readCodex(m *memkernel.Message, raw json.RawMessage) {
	var b block
	if json.Unmarshal(raw, &b) != nil {
		return
	}
	switch b.Type {
	case "message":
		m.Role = memkernel.Role(b.Role)
		for _, c := range blocks(b.Content) {
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartText, Text: c.Text})
		}
	case "function_call", "custom_tool_call":
		m.Role = memkernel.RoleAssistant
		c := &memkernel.ToolCall{ID: b.CallID, Name: b.Name, Custom: b.Type == "custom_tool_call"}
		if c.Custom {
			_ = json.Unmarshal(b.Input, &c.Input)
		} else {
			_ = json.Unmarshal(b.Arguments, &c.Input)
		}
		m.Parts = []memkernel.Part{{Kind: memkernel.PartToolUse, Call: c}}
	case "function_call_output", "custom_tool_call_output":
		m.Role = memkernel.RoleTool
		m.Parts = []memkernel.Part{result(b.CallID, false, b.Output)}
	}
}

func blocks(raw json.RawMessage) []block {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []block{{Type: "text", Text: s}}
	}
	var bs []block
	_ = json.Unmarshal(raw, &bs)
	return bs
}

func result(id string, isError bool, content json.RawMessage) memkernel.Part {
	r := &memkernel.ToolResult{CallID: id, IsError: isError}
	for _, b := range blocks(content) {
		r.Content = append(r.Content, memkernel.Part{Kind: memkernel.PartText, Text: b.Text})
	}
	return memkernel.Part{Kind: memkernel.PartToolResult, Result: r}
}

func TestSharedTranscripts(t *testing.T) {
	const limit = 1200
	for name, msgs := range sessions(t) {
		whole := Update(State{}, msgs)
		var step State
		for i := 0; i < len(msgs); {
			n := min(1+i%7, len(msgs)-i)
			step = roundTrip(t, Update(step, msgs[i:i+n]))
			i += n
		}
		diffStates(t, name, whole, step)
		text := Render(whole, limit, nil, pointer)
		if again := Render(step, limit, nil, pointer); again != text {
			t.Errorf("%s: text differs after an incremental update:\n%s\nwant\n%s", name, again, text)
		}
		checkText(t, text, limit)
		if whole.Goal.Text == "" || len(whole.Artifacts) == 0 || len(whole.Decisions) == 0 {
			t.Errorf("%s: goal, files or decisions are empty", name)
		}
		full := Render(whole, 1<<20, nil, nil)
		data, _ := json.Marshal(whole)
		t.Logf("%-60s %4d messages, state of %5d bytes: %4d tokens at cap, %5d in full; %d rules, %d decisions, %d open, %d files", name, len(msgs), len(data), tokens(text),
			tokens(full), len(whole.Constraints), len(whole.Decisions)+whole.Evicted.Decisions, len(whole.OpenThreads()), len(whole.Artifacts)+whole.Evicted.Artifacts)
		if os.Getenv("SHOW_SUMMARY") != "" && strings.Contains(name, os.Getenv("SHOW_SUMMARY")) {
			t.Log("\n" + text)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	files, _ := filepath.Glob("../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) == 0 {
		b.Skip("no transcripts in ../../shared/data: nothing to run on")
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	msgs := readSession(data)
	size := 0
	for _, m := range msgs {
		for _, p := range m.Parts {
			size += len(p.Text)
			if p.Call != nil {
				size += len(p.Call.Input)
			}
			if p.Result != nil {
				size += len(resultText(p.Result))
			}
		}
	}
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			Update(State{}, msgs)
		}
	})
	s := Update(State{}, msgs[:len(msgs)-1])
	b.Run("one message", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Update(s, msgs[len(msgs)-1:])
		}
	})
	b.Run("render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Render(s, 1200, nil, nil)
		}
	})
}
