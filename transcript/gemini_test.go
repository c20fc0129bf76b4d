package transcript

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

const geminiBody = `{ "contents":[
 {"role":"user","parts":[{"text":"<env>"}]},
 {"role":"user","parts":[{"text":"look"}]},
 {"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"look","args":{"path":"a"}},"thoughtSignature":"QQ=="},{"function_call":{"name":"look","args":{"path":"a"}}},{"functionCall":{"id":"own","name":"find"}}]},
 {"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"first"}}},{"functionResponse":{"name":"look","response":{"error":"second"}}},{"functionResponse":{"id":"own","name":"find","response":{"a":1,"b":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]},
 {"role":"model","parts":[{"text":"done"}]},
 {"role":"user","parts":[{"text":"thanks"},{"fileData":{"mimeType":"application/pdf","fileUri":"files/1"}}]}
],"system_instruction":{"parts":[{"text":"be brief"}]}, "tools":[{"functionDeclarations":[{"name":"look"},{"name":"find"}]},{"googleSearch":{}}],"x-own":[1, 2] }`

func readGemini(t *testing.T) *Body {
	t.Helper()
	b, err := new(BodyReader).Read(FormatGemini, "gemini-3-flash", []byte(geminiBody))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGeminiBody(t *testing.T) {
	b := readGemini(t)
	if b.Model != "gemini-3-flash" || len(b.System) != 1 || b.System[0].Text != "be brief" {
		t.Errorf("model %q, system %+v", b.Model, b.System)
	}
	var names []string
	for _, tool := range b.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"look", "find", "googleSearch"}; !slices.Equal(names, want) {
		t.Errorf("tools %v", names)
	}
	calls, results := b.Messages[2].Parts, b.Messages[3].Parts
	if calls[0].Kind != memkernel.PartThinking || calls[1].Signature != "QQ==" || calls[1].Call.ID == calls[2].Call.ID {
		t.Errorf("calls %+v", calls)
	}
	for i := range 3 {
		if calls[i+1].Call.ID != results[i].Result.CallID {
			t.Errorf("result %d answers %s, want %s", i, results[i].Result.CallID, calls[i+1].Call.ID)
		}
	}
	if r := results[1].Result; !r.IsError || r.Content[0].Text != "second" {
		t.Errorf("%+v", r)
	}
	if r := results[2].Result; len(r.Content) != 2 || r.Content[0].Text != `{"a":1,"b":"x"}` || r.Content[1].Kind != memkernel.PartImage {
		t.Errorf("%+v", r)
	}
	if v := Validate(FormatGemini, &Request{Model: "gemini-3-flash", Messages: b.Messages}); len(v) > 0 {
		t.Errorf("%v", v)
	}
	if out, _ := b.Write(BodyEdit{Messages: b.Messages}); string(out) != strings.Replace(strings.ReplaceAll(geminiBody, "},\n {\"role\"", "},{\"role\""), "[\n {\"role\"", "[{\"role\"", 1) && !strings.Contains(string(out), `"x-own":[1, 2] }`) {
		t.Errorf("%s", out)
	}
}

// What is made takes its place among the client's contents without two of a role in a row
// that were not there before.
func TestGeminiWrite(t *testing.T) {
	b := readGemini(t)
	msgs := slices.Clone(b.Messages)
	r := *msgs[3].Parts[0].Result
	r.Content = []memkernel.Part{{Kind: memkernel.PartText, Text: "short"}}
	parts := slices.Clone(msgs[3].Parts)
	parts[0] = memkernel.Part{Kind: memkernel.PartToolResult, Result: &r}
	msgs[3].Parts, msgs[3].Raw = parts, ""
	say := func(text string) memkernel.Message {
		return memkernel.Message{Key: "memkernel:x", Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text}}}
	}
	msgs = slices.Insert(msgs, 4, say("note"))
	msgs = append(msgs, say("recall"))
	out, notes := b.Write(BodyEdit{Messages: msgs})
	if len(notes) > 0 {
		t.Error(notes)
	}
	var got struct {
		Contents []struct {
			Role  string
			Parts []map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	var shape []string
	for _, c := range got.Contents {
		shape = append(shape, c.Role+string(rune('0'+len(c.Parts))))
	}
	if want := "user1 user1 model4 user4 model1 user3"; strings.Join(shape, " ") != want {
		t.Errorf("shape %s, want %s", strings.Join(shape, " "), want)
	}
	text := string(out)
	for _, want := range []string{`{"functionResponse":{"name":"look","response":{"output":"short"}}}`, `{"functionResponse":{"name":"look","response":{"error":"second"}}}`,
		`"parts":[{"text":"thanks"},{"fileData":{"mimeType":"application/pdf","fileUri":"files/1"}},{"text":"recall"}]`, `"x-own":[1, 2] }`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if again, err := new(BodyReader).Read(FormatGemini, "", out); err != nil || len(again.Messages) != len(got.Contents) {
		t.Errorf("%v", err)
	}
	// The messages between two of the user's left: they are one.
	out, _ = b.Write(BodyEdit{Messages: []memkernel.Message{say("carry"), b.Messages[1], b.Messages[5]}})
	if !strings.Contains(string(out), `"contents":[{"role":"user","parts":[{"text":"carry"},{"text":"look"},{"text":"thanks"},{"fileData"`) {
		t.Errorf("%s", out)
	}
}

func TestGeminiRender(t *testing.T) {
	in := intake(t, anthropic, intakes[anthropic])
	out, notes, err := Render(FormatGemini, &Request{Model: "gemini-3-flash", MaxTokens: 10, System: []memkernel.Part{{Kind: memkernel.PartText, Text: "s"}},
		Tools: []memkernel.Tool{{Name: "look", Raw: `{"name":"look","input_schema":{"type":"object"}}`}}, Messages: in.Messages(), Source: anthropic})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"t1","name":"look","args":{"path":"a"}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"look","response":{"output":"long text"}}}]},{"role":"model","parts":[{"text":"done"}]}],` +
		`"tools":[{"functionDeclarations":[{"name":"look","parameters":{"type":"object"}}]}],"generationConfig":{"maxOutputTokens":10}}`
	if string(out) != want {
		t.Errorf("%s\nwant %s", out, want)
	}
	if len(notes) != 1 || notes[0].Rule != "not-sent" {
		t.Errorf("%+v", notes)
	}
}

// Ids that are made are the same when the client left out what was before.
func TestGeminiMadeIDs(t *testing.T) {
	b := readGemini(t)
	cut := strings.Replace(geminiBody, `{"role":"user","parts":[{"text":"<env>"}]},`, "", 1)
	again, err := new(BodyReader).Read(FormatGemini, "", []byte(cut))
	if err != nil {
		t.Fatal(err)
	}
	if b.Messages[2].Parts[2].Call.ID != again.Messages[1].Parts[2].Call.ID {
		t.Error("the id of a call moved with its place")
	}
}

func FuzzGeminiBody(f *testing.F) {
	f.Add([]byte(geminiBody))
	f.Add([]byte(`{"contents":[{"parts":[{"functionCall":{"name":"a","args":"x"}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := new(BodyReader).Read(FormatGemini, "", data)
		if err != nil {
			return
		}
		out, _ := b.Write(BodyEdit{Messages: b.Messages})
		if !json.Valid(out) && json.Valid(data) {
			t.Errorf("%q became %q", data, out)
		}
		for i := range b.Messages {
			b.Messages[i].Raw = ""
		}
		if out, _ = b.Write(BodyEdit{Messages: b.Messages}); !json.Valid(out) && json.Valid(data) {
			t.Errorf("%q became %q", data, out)
		}
	})
}
