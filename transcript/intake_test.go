package transcript

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
)

var intakes = map[Dialect][]string{
	anthropic: {
		`{"role":"user","content":"hi","x-own":{"a":1}}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t1","name":"look","input":{"path":"a"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"long text"}],"x-own":2}`,
		`{"role":"assistant","content":"done"}`,
	},
	OpenAI: {
		`{"role":"system","content":"be brief"}`,
		`{"role":"user","content":"hi"}`,
		`{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"t1","type":"function","function":{"name":"look","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"t1","content":"long text","x-own":2}`,
		`{"role":"assistant","content":"done"}`,
	},
	Codex: {
		`{"role":"user","content":"hi"}`,
		`{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"e"}`,
		`{"type":"function_call","call_id":"t1","name":"look","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"t1","output":"long text","x-own":2}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`,
	},
	Pi: {
		`{"role":"compactionSummary","summary":"before","tokensBefore":10,"timestamp":1}`,
		`{"role":"user","content":"hi","timestamp":1,"__openclaw":{"id":7}}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"toolCall","id":"t1","name":"look","arguments":{}}],"stopReason":"toolUse","usage":{"input":5,"output":1},"timestamp":2}`,
		`{"role":"toolResult","toolCallId":"t1","toolName":"look","content":[{"type":"text","text":"long text"}],"details":{"z":1},"isError":false,"timestamp":3}`,
		`{"role":"assistant","content":[{"type":"text","text":"done"}],"stopReason":"stop","timestamp":4}`,
	},
}

func intake(t *testing.T, d Dialect, values []string) *Intake {
	t.Helper()
	in, err := NewIntake(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Append(values, nil); err != nil {
		t.Fatal(err)
	}
	return in
}

// TestIntakePieceByPiece: messages are the same however they were handed in, and
// after some were taken back.
func TestIntakePieceByPiece(t *testing.T) {
	for d, values := range intakes {
		want := intake(t, d, values).Messages()
		for cut := range values {
			in := intake(t, d, values[:cut])
			if err := in.Append(values[cut:], nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, in.Messages()); diff != "" {
				t.Errorf("%s cut at %d: %s", d, cut, diff)
			}
			in.Truncate(cut)
			if diff := cmp.Diff(intake(t, d, values[:cut]).Messages(), in.Messages(), cmp.Transformer("nil", func(m []memkernel.Message) []memkernel.Message { return slices.Concat(m, []memkernel.Message{}) })); diff != "" || in.Len() != cut {
				t.Errorf("%s truncated to %d: %s", d, cut, diff)
			}
		}
	}
}

// TestItemsOfUntouchedMessages: the host is asked to send what it has.
func TestItemsOfUntouchedMessages(t *testing.T) {
	for d, values := range intakes {
		in := intake(t, d, values)
		items, at := in.Items(in.Messages())
		if len(items) != 1 || items[0] != (item{To: len(values)}) || at[len(at)-1] != len(values)-1 {
			t.Errorf("%s: items %+v at %v", d, items, at)
		}
	}
}

// TestItemsOfTouchedMessages: a result that is shown shorter keeps all but its
// content, what is new is spelled in the host's dialect, and what left is covered by
// no item.
func TestItemsOfTouchedMessages(t *testing.T) {
	for d, values := range intakes {
		in := intake(t, d, values)
		planned := slices.Clone(in.Messages())
		i := slices.IndexFunc(planned, HasResults)
		r := *planned[i].Parts[0].Result
		r.Content, r.Text = []memkernel.Part{{Kind: memkernel.PartText, Text: "short"}}, true
		planned[i].Raw, planned[i].Parts = "", []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &r}}
		carry := memkernel.Message{Key: "memkernel:carry", Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "carried"}}}
		planned = slices.Insert(planned, 0, carry)
		items, at := in.Items(planned)
		var out []string
		for _, it := range items {
			if it.JSON == "" {
				out = append(out, values[it.From:it.To]...)
				continue
			}
			if !json.Valid([]byte(it.JSON)) {
				t.Errorf("%s: not JSON: %s", d, it.JSON)
			}
			out = append(out, it.JSON)
		}
		if len(out) != len(values)+1 || len(at) != len(planned) || at[len(at)-1] != len(out)-1 {
			t.Fatalf("%s: %d messages of %d, at %v", d, len(out), len(values), at)
		}
		text := strings.Join(out, "\n")
		if strings.Contains(text, "long text") || strings.Count(text, "short") != 1 || strings.Count(text, "carried") != 1 {
			t.Errorf("%s: %s", d, text)
		}
		for _, own := range []string{`"x-own":2`, `"details":{"z":1}`} {
			if strings.Contains(strings.Join(values, ""), own) && !strings.Contains(text, own) {
				t.Errorf("%s: the member %s is lost in\n%s", d, own, text)
			}
		}
		again := intake(t, d, out)
		if got := len(again.Messages()); got != len(planned) {
			t.Errorf("%s: what was written reads as %d messages, want %d", d, got, len(planned))
		}
		items, _ = in.Items(planned[len(planned)-1:])
		if n := items[len(items)-1]; n.JSON != "" || n.To != len(values) {
			t.Errorf("%s: the last message alone: %+v", d, items)
		}
	}
}

// TestIntakeRefuses what is no message, and keeps what it had.
func TestIntakeRefuses(t *testing.T) {
	if _, err := NewIntake(ClaudeCode); err == nil {
		t.Error("claude-code is a dialect of records")
	}
	for d, values := range intakes {
		in := intake(t, d, values)
		for _, bad := range []string{`1`, `{}`, `{"role":5}`, `{"content":"x"}`, `{"role":"user","content":`, `null`} {
			if err := in.Append([]string{values[0], bad}, nil); err == nil {
				t.Errorf("%s took %s", d, bad)
			}
			if in.Len() != len(values) {
				t.Fatalf("%s: %s: %d values are left of %d", d, bad, in.Len(), len(values))
			}
		}
	}
}

// TestIntakeOfRecordedRequests reads requests message by message as Load reads them
// whole.
func TestIntakeOfRecordedRequests(t *testing.T) {
	files, _ := os.ReadDir("testdata")
	n := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		s, err := LoadFile("testdata/"+f.Name(), nil)
		if err != nil || s.Dialect != anthropic && s.Dialect != OpenAI {
			continue
		}
		data, _ := os.ReadFile("testdata/" + f.Name())
		var body struct{ Messages []json.RawMessage }
		if json.Unmarshal(data, &body) != nil {
			continue
		}
		var values []string
		for _, m := range body.Messages {
			values = append(values, string(m))
		}
		in := intake(t, s.Dialect, values)
		if len(in.Messages()) != len(s.Messages) {
			t.Errorf("%s: %d messages, want %d", f.Name(), len(in.Messages()), len(s.Messages))
		}
		for i, m := range in.Messages() {
			if diff := cmp.Diff(s.Messages[i].Parts, m.Parts); diff != "" {
				t.Errorf("%s message %d: %s", f.Name(), i, diff)
			}
		}
		n++
	}
	if n == 0 {
		t.Skip("no requests in testdata")
	}
}
