package transcript

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

func readBody(t *testing.T, f Format, text string) *Body {
	t.Helper()
	b, err := new(BodyReader).Read(f, "", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const bodyAnthropic = `{
  "stream": true, "x": {"b":1, "a":[2 ]}, "model":"claude-sonnet-4-6",
  "system":"be brief", "tools":[{"name":"f","input_schema":{}}],
  "messages": [ {"role":"user","content":"hello"} ,
     {"content":[{"type":"tool_use","id":"c1","name":"f","input":{"z":1, "a":2}}],"role":"assistant"},
     {"role":"user","content":[{"tool_use_id":"c1","type":"tool_result","content":"r","cache_control":{"type":"ephemeral"}}]} ], "tail":null }
`

// All but the conversation keeps its bytes, and so does every message that is kept.
func TestBodyKeepsBytes(t *testing.T) {
	b := readBody(t, FormatAnthropic, bodyAnthropic)
	if b.Model != "claude-sonnet-4-6" || len(b.Messages) != 3 || len(b.Tools) != 1 || b.Member("x") != `{"b":1, "a":[2 ]}` || !b.Same(b.Messages) {
		t.Fatalf("%+v", b)
	}
	note := memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "a note"}}}
	got, notes := b.Write(BodyEdit{Messages: append(b.Messages[:3:3], note)})
	want := `{
  "stream": true, "x": {"b":1, "a":[2 ]}, "model":"claude-sonnet-4-6",
  "system":"be brief", "tools":[{"name":"f","input_schema":{}}],
  "messages": [{"role":"user","content":"hello"},{"content":[{"type":"tool_use","id":"c1","name":"f","input":{"z":1, "a":2}}],"role":"assistant"},{"role":"user","content":[{"tool_use_id":"c1","type":"tool_result","content":"r"}]},{"role":"user","content":[{"type":"text","text":"a note"}]}], "tail":null }
`
	if string(got) != want || len(notes) > 0 {
		t.Errorf("%v, got %s", notes, got)
	}
}

// Markers of the plan take the room that the client's own leave, newest first.
func TestBodyMarkers(t *testing.T) {
	all := []Marker{{Message: MarkerTools, Part: LastPart, TTL: "1h"}, {Message: MarkerSystem, Part: LastPart, TTL: "1h"}, {Message: 0, Part: LastPart, TTL: "1h"}, {Message: 2, Part: LastPart, TTL: "1h"}}
	for name, tt := range map[string]struct {
		from, to string
		want     []string // in order
		n        int
	}{
		"none of its own": {"", "", []string{`"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral","ttl":"1h"}}]`,
			`"tools":[{"name":"f","input_schema":{},"cache_control"`,
			`"content":[{"type":"text","text":"hello","cache_control"`, `"content":"r","cache_control"`}, 4},
		"on the tools": {`"input_schema":{}}`, `"input_schema":{},"cache_control":{"type":"ephemeral"}}`,
			[]string{`"system":"be brief"`, `"hello","cache_control":{"type":"ephemeral"}}`, `"content":"r","cache_control":{"type":"ephemeral"}}`}, 3},
		"automatic": {`"x": `, `"cache_control":{"type":"ephemeral","ttl":"1h"}, "x": `,
			[]string{`"system":[`, `"hello","cache_control":{"type":"ephemeral","ttl":"1h"}}`, `"content":"r"}`}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := readBody(t, FormatAnthropic, strings.Replace(bodyAnthropic, tt.from, tt.to, 1))
			got, _ := b.Write(BodyEdit{Messages: b.Messages, Markers: all})
			rest := string(got)
			for _, w := range tt.want {
				i := strings.Index(rest, w)
				if i < 0 {
					t.Fatalf("no %s in %s", w, got)
				}
				rest = rest[i:]
			}
			if n := strings.Count(string(got), "cache_control"); n != tt.n || !json.Valid(got) {
				t.Errorf("%d markers in %s", n, got)
			}
		})
	}
}

func TestBodyThinking(t *testing.T) {
	for from, want := range map[string]string{
		`{"model":"m","thinking":{"type":"enabled"},"messages":[]} `: `{"model":"m","thinking":{"type":"disabled"},"messages":[]} `,
		`{"model":"m","messages":[]}`:                                `{"model":"m","messages":[],"thinking":{"type":"disabled"}}`,
	} {
		got, _ := readBody(t, FormatAnthropic, from).Write(BodyEdit{Thinking: `{"type":"disabled"}`})
		if string(got) != want {
			t.Errorf("got %s", got)
		}
	}
}

// The system prompt of chat completions stays in front; a shortened result is written
// anew, its neighbours are not.
func TestBodyChat(t *testing.T) {
	b := readBody(t, FormatOpenAI, `{"messages":[ {"role":"system","content":"s" }, {"role":"user","content":"hi", "k":1},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"long"}],"n":1}`)
	msgs := append([]memkernel.Message(nil), b.Messages...)
	if len(msgs) != 3 || len(b.System) != 1 {
		t.Fatalf("%+v", b)
	}
	short := *msgs[2].Parts[0].Result
	short.Content = []memkernel.Part{{Kind: memkernel.PartText, Text: "short"}}
	msgs[2].Raw, msgs[2].Parts = "", []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &short}}
	got, _ := b.Write(BodyEdit{Messages: msgs})
	want := `{"messages":[{"role":"system","content":"s" },{"role":"user","content":"hi", "k":1},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"short"}],"n":1}`
	if string(got) != want || b.Same(msgs) {
		t.Errorf("got %s", got)
	}
}

// All items of one answer are one message, with the bytes of all.
func TestBodyResponses(t *testing.T) {
	text := `{"model":"gpt-5","input":[{"role":"user","content":"hi"}, {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"} ,
 {"type":"custom_tool_call","call_id":"c","name":"f","input":"x"},{"type":"custom_tool_call_output","call_id":"c","output":"long"}]}`
	b := readBody(t, FormatResponses, text)
	if len(b.Messages) != 3 || len(b.Messages[1].Parts) != 2 || b.Messages[1].Key != "" ||
		b.Messages[1].Raw != text[strings.Index(text, `{"type":"reasoning"`):strings.Index(text, `,{"type":"custom_tool_call_output"`)] {
		t.Fatalf("%+v", b.Messages)
	}
	msgs := append([]memkernel.Message(nil), b.Messages...)
	short := *msgs[2].Parts[0].Result
	short.Content = []memkernel.Part{{Kind: memkernel.PartText, Text: "short"}}
	msgs[2].Raw, msgs[2].Parts = "", []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &short}}
	got, _ := b.Write(BodyEdit{Messages: msgs})
	want := text[:strings.Index(text, `, {"type":"reasoning"`)] + "," + msgs[1].Raw + `,{"type":"custom_tool_call_output","call_id":"c","output":"short"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestBodyRefuses(t *testing.T) {
	for _, text := range []string{``, `[]`, `{`, `{"messages":[]`, `{"messages":{}}`, `{"messages":"x"}`, `{}`, `{"messages":[1]}`, `{"messages":[{"content":"x"}]}`,
		`{"messages":[],"messages":[]}`, `{"model":"a","messages":[],"model":"b"}`, `{"messages":[]} x`, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}"} {
		if _, err := new(BodyReader).Read(FormatAnthropic, "", []byte(text)); err == nil {
			t.Errorf("read %s", text)
		}
	}
}

// What a reader has read before is the same value; what it reads is what a new one
// reads.
func TestBodyReader(t *testing.T) {
	var r BodyReader
	first, err := r.Read(FormatAnthropic, "", []byte(bodyAnthropic))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Read(FormatAnthropic, "", []byte(strings.Replace(bodyAnthropic, `"model":"claude-sonnet-4-6"`, `"model":"claude-opus-4-6"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range first.Messages {
		if &first.Messages[i].Parts[0] != &again.Messages[i].Parts[0] {
			t.Errorf("message %d was read twice", i)
		}
	}
	if again.Messages[1].Model != "claude-opus-4-6" || first.Messages[1].Model != "claude-sonnet-4-6" {
		t.Errorf("models %s, %s", first.Messages[1].Model, again.Messages[1].Model)
	}
	if m, err := r.Read(FormatOpenAI, "", []byte(`{"messages":[{"role":"user","content":"hello"}]}`)); err != nil || m.Messages[0].Raw != first.Messages[0].Raw {
		t.Errorf("%v", err)
	}
}

// Any body that can be read is written with its own messages as the same document.
func FuzzBody(f *testing.F) {
	f.Add(bodyAnthropic)
	f.Add(`{"":null}`)
	f.Add(`{"input":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":[]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
			b, err := new(BodyReader).Read(format, "", []byte(text))
			if err != nil {
				continue
			}
			got, _ := b.Write(BodyEdit{Messages: b.Messages})
			again, err := new(BodyReader).Read(format, "", got)
			if err != nil || len(again.Messages) != len(b.Messages) {
				t.Fatalf("%s: %v: %q became %q", format, err, text, got)
			}
		}
	})
}
