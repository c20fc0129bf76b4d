package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

// generated makes an invented transcript of a dialect, n rounds of a question,
// a call, a result and an answer.
func generated(d Dialect, n int) []byte {
	code := strings.Repeat("\tif err := boil(ctx, \"kettle\"); err != nil {\n\t\treturn fmt.Errorf(\"boil: %w\", err)\n\t}\n", 25)
	text, _ := json.Marshal(code)
	var b bytes.Buffer
	switch d {
	case Pi:
		b.WriteString(`{"type":"session","version":3,"id":"p","cwd":"/w"}` + "\n")
	case Codex:
		b.WriteString(`{"timestamp":"2026-03-01T08:00:00.000Z","type":"session_meta","payload":{"id":"x","cwd":"/w"}}` + "\n")
	case anthropic:
		b.WriteString(`{"model":"claude-opus-4-6","messages":[`)
	case OpenAI:
		b.WriteString(`{"model":"gpt-5.5","messages":[{"role":"system","content":"Be brief."},`)
	}
	for i := range n {
		fmt.Fprintf(&b, rounds[d], i, i, i, i, text)
	}
	if d == anthropic || d == OpenAI {
		b.Truncate(b.Len() - 2)
		b.WriteString("]}\n")
	}
	return b.Bytes()
}

// rounds holds a format per dialect; the fifth verb takes the result, all
// others the round.
var rounds = map[Dialect]string{
	ClaudeCode: `{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.0","type":"user","message":{"role":"user","content":"Question %[1]d, please?"},"uuid":"u%[1]d","timestamp":"2026-03-01T10:00:01.000Z"}
{"parentUuid":"u%[1]d","isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.0","message":{"model":"claude-opus-4-6","id":"m%[1]d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"Read","input":{"file_path":"/w/boil.go","offset":1,"limit":200}}],"stop_reason":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":900,"cache_read_input_tokens":0,"output_tokens":1}},"type":"assistant","uuid":"a%[1]d","timestamp":"2026-03-01T10:00:03.000Z"}
{"parentUuid":"a%[1]d","isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.0","type":"user","message":{"role":"user","content":[{"tool_use_id":"t%[1]d","type":"tool_result","content":%[5]s}]},"uuid":"r%[1]d","timestamp":"2026-03-01T10:00:05.000Z","toolUseResult":{"type":"text","file":{"content":%[5]s}}}
{"parentUuid":"r%[1]d","isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.0","message":{"model":"claude-opus-4-6","id":"n%[1]d","type":"message","role":"assistant","content":[{"type":"text","text":"Answer %[1]d."}],"usage":{"input_tokens":3,"output_tokens":1}},"type":"assistant","uuid":"b%[1]d","timestamp":"2026-03-01T10:00:06.000Z"}
`,
	Pi: `{"type":"message","id":"u%[1]d","timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Question %[1]d, please?"}],"timestamp":1772355601000}}
{"type":"message","id":"a%[1]d","parentId":"u%[1]d","timestamp":"2026-03-01T09:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"t%[1]d","name":"read","arguments":{"path":"/w/boil.go"}}],"model":"claude-opus-4-6","usage":{"input":4,"output":9,"cacheRead":0,"cacheWrite":700},"stopReason":"toolUse","timestamp":1772355602000}}
{"type":"message","id":"r%[1]d","parentId":"a%[1]d","timestamp":"2026-03-01T09:00:03.000Z","message":{"role":"toolResult","toolCallId":"t%[1]d","toolName":"read","content":[{"type":"text","text":%[5]s}],"isError":false,"timestamp":1772355603000}}
`,
	Codex: `{"timestamp":"2026-03-01T08:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Question %[1]d, please?"}]}}
{"timestamp":"2026-03-01T08:00:03.200Z","type":"response_item","payload":{"type":"function_call","id":"f%[1]d","name":"exec_command","arguments":"{\"cmd\":\"cat boil.go\"}","call_id":"t%[1]d"}}
{"timestamp":"2026-03-01T08:00:04.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"t%[1]d","output":%[5]s}}
`,
	anthropic: `{"role":"user","content":"Question %[1]d, please?"},
{"role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"Read","input":{"file_path":"/w/boil.go"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[5]s}]},
`,
	OpenAI: `{"role":"user","content":"Question %[1]d, please?"},
{"role":"assistant","content":null,"tool_calls":[{"id":"t%[1]d","type":"function","function":{"name":"read","arguments":"{\"path\":\"boil.go\"}"}}]},
{"role":"tool","tool_call_id":"t%[1]d","content":%[5]s},
`,
}

// BenchmarkLoad reads generated and, where present, real transcripts, each
// against bare encoding/json decoding of the same bytes into any and into the
// smallest typed struct.
func BenchmarkLoad(b *testing.B) {
	for _, d := range Dialects() {
		benchData(b, string(d)+"/generated", d, generated(d, 400))
	}
	for _, d := range []Dialect{ClaudeCode, Pi, Codex} {
		var all []byte
		for _, path := range realFiles(d) {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			// One session per measure: the first file represents its dialect.
			all = data
			break
		}
		if all != nil {
			benchData(b, string(d)+"/shared", d, all)
		}
	}
}

func benchData(b *testing.B, name string, d Dialect, data []byte) {
	b.Run(name+"/load", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(bytes.NewReader(data), "", nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(name+"/stream", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range Stream(bytes.NewReader(data), nil) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run(name+"/json-any", func(b *testing.B) { benchJSON[any](b, d, data) })
	b.Run(name+"/json-struct", func(b *testing.B) { benchJSON[minimal](b, d, data) })
}

// minimal is the least that a reader of any dialect would declare.
type minimal struct {
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

func benchJSON[T any](b *testing.B, d Dialect, data []byte) {
	lines := [][]byte{data}
	if d != anthropic && d != OpenAI {
		lines = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkAppendPart(b *testing.B) {
	s, err := Load(bytes.NewReader(generated(ClaudeCode, 200)), "", nil)
	if err != nil {
		b.Fatal(err)
	}
	msgs := s.View(Full)
	for _, f := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
		b.Run(string(f), func(b *testing.B) {
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = dst[:0]
				for i := range msgs {
					for k := range msgs[i].Parts {
						dst = AppendPart(dst, f, msgs[i].Role, &msgs[i].Parts[k])
					}
				}
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}

func BenchmarkRender(b *testing.B) {
	s, err := Load(bytes.NewReader(generated(ClaudeCode, 200)), "", nil)
	if err != nil {
		b.Fatal(err)
	}
	req := &Request{Model: s.Model, Messages: s.View(Full), Source: s.Dialect}
	b.ReportAllocs()
	for b.Loop() {
		body, _, err := Render(FormatAnthropic, req)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
	}
}

func BenchmarkRepair(b *testing.B) {
	s, err := Load(bytes.NewReader(generated(ClaudeCode, 200)), "", nil)
	if err != nil {
		b.Fatal(err)
	}
	msgs := s.View(Full)
	var out []memkernel.Message
	b.ReportAllocs()
	for b.Loop() {
		out, _ = Repair(msgs, false)
	}
	if len(out) != len(msgs) {
		b.Fatalf("%d messages became %d", len(msgs), len(out))
	}
}
