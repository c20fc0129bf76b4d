package transcript

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRenderGolden renders every sample in every format.
func TestRenderGolden(t *testing.T) {
	var out strings.Builder
	for _, path := range testdata(t) {
		s, err := LoadFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		msgs, _ := Repair(s.View(Full), false)
		for _, f := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
			req := &Request{Model: s.Model, Tools: s.Tools, System: s.System, Messages: msgs, Source: s.Dialect, MaxTokens: 100,
				Markers: []Marker{{Message: MarkerTools, Part: LastPart, TTL: "1h"}, {Message: MarkerSystem, Part: LastPart, TTL: "1h"}, {Message: len(msgs) - 1, Part: LastPart, TTL: ""}}}
			body, notes, err := Render(f, req)
			if err != nil || !json.Valid(body) {
				t.Errorf("%s %s: %v\n%s", path, f, err, body)
			}
			out.WriteString("== " + path + " as " + string(f) + "\n" + string(body) + "\n")
			for _, n := range notes {
				out.WriteString("note " + n.Rule + ": " + n.Text + "\n")
			}
		}
	}
	const golden = "testdata/render.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
}

// TestRenderVerbatim: the bytes of a tool's input survive, whatever they look
// like, and only markers are taken out.
func TestRenderVerbatim(t *testing.T) {
	s := loadSample(t, "anthropic.json")
	body, notes, err := Render(FormatAnthropic, &Request{Messages: s.Messages, Source: s.Dialect})
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	for _, want := range []string{
		`{"type": "tool_use", "id": "t1", "name": "get", "input": {"z": "1", "a": "cache_control", "cache_control": true}}`,
		`{"type": "thinking", "thinking": "Fetch.", "signature": "c2ln"}`,
		`{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]}`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("body lacks %s\n%s", want, body)
		}
	}
}

// TestRenderPrefix: appending messages never changes the bytes before.
func TestRenderPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs, _ := Repair(drawMessages(t), false)
		for _, f := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
			for _, a := range Atoms(msgs) {
				if !a.Assistant || a.Start == 0 {
					continue
				}
				short, _, err := Render(f, &Request{Messages: msgs[:a.Start]})
				if err != nil {
					t.Fatal(err)
				}
				long, _, err := Render(f, &Request{Messages: msgs})
				if err != nil || !json.Valid(long) {
					t.Fatalf("%v\n%s", err, long)
				}
				if head := strings.TrimSuffix(string(short), "]}"); !strings.HasPrefix(string(long), head) {
					t.Fatalf("%s: bytes changed by appending\n%s\n%s", f, short, long)
				}
			}
		}
	})
}

// TestRenderHasParts: the bytes of AppendPart are those that Render writes.
func TestRenderHasParts(t *testing.T) {
	for _, name := range []string{"claude-code.jsonl", "pi-v3.jsonl", "codex.jsonl", "anthropic.json"} {
		s := loadSample(t, name)
		msgs, _ := Repair(s.View(Full), false)
		for _, f := range []Format{FormatAnthropic, FormatResponses} {
			body, _, err := Render(f, &Request{Model: s.Model, Messages: msgs})
			if err != nil {
				t.Fatal(err)
			}
			rest := string(body)
			for _, m := range msgs {
				for k := range m.Parts {
					want := string(AppendPart(nil, f, m.Role, &m.Parts[k]))
					if want == "" || isSystemRole(m.Role) {
						continue
					}
					if _, after, ok := strings.Cut(rest, want); ok {
						rest = after
					} else if k > 0 || !strings.Contains(string(body), want) {
						t.Errorf("%s %s: body lacks %s", name, f, want)
					}
				}
			}
		}
	}
}

func TestRenderThinking(t *testing.T) {
	msgs := []memkernel.Message{
		user(textPart("a")),
		{Role: memkernel.RoleAssistant, Model: "claude-opus-4-6", Parts: []memkernel.Part{
			thinkPart("sig"), thinkPart(""), thinkPart("reasoning_content"), textPart("b")}},
		{Role: memkernel.RoleAssistant, Model: "gpt-5.5", Parts: []memkernel.Part{thinkPart("x"), textPart("c")}},
		user(textPart("d")),
	}
	for _, tc := range []struct {
		f     Format
		count int
		word  string
		notes int
	}{
		{FormatAnthropic, 1, `"signature"`, 3},
		{FormatOpenAI, 1, `"reasoning_content"`, 3},
		{FormatResponses, 0, `reasoning`, 4},
	} {
		body, notes, err := Render(tc.f, &Request{Model: "claude-opus-4-8", Messages: msgs})
		if err != nil || strings.Count(string(body), tc.word) != tc.count || len(notes) != tc.notes {
			t.Errorf("%s: %v, notes %v\n%s", tc.f, err, notes, body)
		}
		for _, n := range notes {
			if len(n.Removed) != 1 {
				t.Errorf("%s: note without the part: %+v", tc.f, n)
			}
		}
	}
}

func TestRenderBuiltInput(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"b": 1, "a": 2}`, `{"b": 1, "a": 2}`},
		{``, `{}`},
		{`{"cut": `, `{"input":"{\"cut\": "}`},
		{`[1]`, `{"input":"[1]"}`},
	} {
		p := memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: "a.b:c", Name: "n", Input: tc.in}}
		want := `{"type":"tool_use","id":"a_b_c","name":"n","input":` + tc.want + `}`
		if got := string(AppendPart(nil, FormatAnthropic, memkernel.RoleAssistant, &p)); got != want {
			t.Errorf("input %q: %s, want %s", tc.in, got, want)
		}
	}
}

func TestRenderErrors(t *testing.T) {
	if _, _, err := Render("morse", &Request{}); err == nil {
		t.Error("an unknown format is accepted")
	}
	if _, _, err := Render(FormatAnthropic, &Request{Thinking: "{"}); err == nil {
		t.Error("a broken member is accepted")
	}
}

func TestAppendPartAllocations(t *testing.T) {
	s := loadSample(t, "claude-code.jsonl")
	msgs := s.View(Full)
	buf := make([]byte, 0, 1<<16)
	for _, f := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
		n := testing.AllocsPerRun(20, func() {
			buf = buf[:0]
			for i := range msgs {
				for k := range msgs[i].Parts {
					buf = AppendPart(buf, f, msgs[i].Role, &msgs[i].Parts[k])
				}
			}
		})
		if n > 8 { // the image's data URL and joined result texts
			t.Errorf("%s: %v allocations", f, n)
		}
	}
}
