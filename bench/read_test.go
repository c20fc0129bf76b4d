package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// BenchmarkRead loads the sample session, as each dialect would hold it, against
// bare encoding/json decoding of the same lines.
func BenchmarkRead(b *testing.B) {
	for _, d := range transcript.Dialects() {
		data := inDialect(b, d)
		b.Run(string(d), func(b *testing.B) { read(b, d, data) })
	}
}

func read(b *testing.B, d transcript.Dialect, data []byte) {
	s, err := transcript.Load(bytes.NewReader(data), "", nil)
	if err != nil {
		b.Fatal(err)
	}
	if s.Dialect != d || len(s.Messages) < 300 {
		b.Fatalf("%d messages of %s", len(s.Messages), s.Dialect)
	}
	lines := [][]byte{data}
	if d != "anthropic" && d != transcript.OpenAI {
		lines = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	}
	var untyped, typed time.Duration
	compare := func() {
		untyped += perRun(200*time.Millisecond, func() { decode[any](b, lines) })
		typed += perRun(200*time.Millisecond, func() { decode[record](b, lines) })
	}
	compare()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transcript.Load(bytes.NewReader(data), "", nil); err != nil {
			b.Fatal(err)
		}
	}
	own := b.Elapsed() / time.Duration(b.N)
	compare()
	b.ReportMetric(float64(untyped)/2/float64(own), "x-json-any")
	b.ReportMetric(float64(typed)/2/float64(own), "x-json-struct")
}

// record is the least that a reader of any dialect would declare.
type record struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	UUID      string          `json:"uuid"`
	Timestamp string          `json:"timestamp"`
	Message   json.RawMessage `json:"message"`
	Payload   json.RawMessage `json:"payload"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

func decode[T any](b *testing.B, lines [][]byte) {
	for _, line := range lines {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			b.Fatal(err)
		}
	}
}

// inDialect is the sample session in a dialect.
func inDialect(b *testing.B, d transcript.Dialect) []byte {
	b.Helper()
	switch d {
	case transcript.ClaudeCode:
		raw, err := os.ReadFile(samplePath)
		if err != nil {
			b.Fatal(err)
		}
		return raw
	case "anthropic":
		return body(b, transcript.FormatAnthropic)
	case transcript.OpenAI:
		return body(b, transcript.FormatOpenAI)
	case transcript.Codex:
		return rollout(b)
	case "copilot":
		return events(b)
	case transcript.Pi:
		return piSession(b)
	}
	b.Fatalf("no sample in dialect %s", d)
	return nil
}

// body is the session as a request.
func body(b *testing.B, f transcript.Format) []byte {
	b.Helper()
	raw, _, err := transcript.Render(f, &transcript.Request{Model: "model", Messages: sample(b)})
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

type object map[string]any

// lines writes a JSONL file.
func lines(b *testing.B, objects ...object) []byte {
	b.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, o := range objects {
		if err := e.Encode(o); err != nil {
			b.Fatal(err)
		}
	}
	return out.Bytes()
}

// events is the session in the JSONL of Copilot CLI.
func events(b *testing.B) []byte {
	b.Helper()
	var out []object
	event := func(typ string, data object) {
		out = append(out, object{"type": typ, "data": data, "id": strconv.Itoa(len(out)), "timestamp": time.Date(2026, 3, 9, 8, 0, len(out), 0, time.UTC), "parentId": nil})
	}
	event("session.start", object{"sessionId": "sample", "context": object{"cwd": "/w"}})
	for _, m := range sample(b) {
		var calls []object
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				calls = append(calls, object{"toolCallId": p.Call.ID, "name": p.Call.Name, "arguments": json.RawMessage(p.Call.Input)})
			case p.Result != nil:
				event("tool.execution_complete", object{"toolCallId": p.Result.CallID, "success": !p.Result.IsError, "result": object{"content": transcript.Text(memkernel.Message{Parts: p.Result.Content})}})
			}
		}
		switch text := transcript.Text(m); {
		case m.Role == memkernel.RoleAssistant:
			event("assistant.message", object{"content": text, "toolRequests": calls})
		case text != "":
			event("user.message", object{"content": text})
		}
	}
	return lines(b, out...)
}

// rollout is the session in the JSONL of Codex, one item of the Responses API per
// line.
func rollout(b *testing.B) []byte {
	b.Helper()
	var req struct {
		Input []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body(b, transcript.FormatResponses), &req); err != nil {
		b.Fatal(err)
	}
	at := time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)
	out := []object{{"timestamp": at, "type": "session_meta", "payload": object{"id": "sample", "cwd": "/w"}}}
	for _, item := range req.Input {
		at = at.Add(time.Second)
		out = append(out, object{"timestamp": at, "type": "response_item", "payload": item})
	}
	return lines(b, out...)
}
