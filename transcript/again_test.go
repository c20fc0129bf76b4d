package transcript

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
)

// scribe writes a conversation as one host does.
type scribe struct {
	dialect Dialect
	n       int
	lines   []string
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (s *scribe) add(format string, args ...any) {
	s.n++
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// record is a record of Claude Code with an id of its own.
func (s *scribe) record(typ, message string) {
	s.add(`{"type":%q,"uuid":"u%d","parentUuid":"u%d","sessionId":"s","timestamp":"2026-10-01T08:%02d:%02dZ","message":%s}`, typ, s.n+1, s.n, s.n/60, s.n%60, message)
}

// event is an event of Copilot CLI.
func (s *scribe) event(typ, data string) {
	s.add(`{"type":%q,"data":%s,"id":"v%d","timestamp":"2026-10-01T08:%02d:%02d.000Z","parentId":null}`, typ, data, s.n+1, s.n/60, s.n%60)
}

// row is a message of Gemini CLI.
func (s *scribe) row(typ, members string) {
	s.add(`{"id":"g%d","timestamp":"2026-10-01T08:%02d:%02d.000Z","type":%q,%s}`, s.n+1, s.n/60, s.n%60, typ, members)
}

// said is a message of OpenCode's with parts.
func (s *scribe) said(role, parts string) {
	s.add(`{"info":{"id":"o%d","role":%q,"time":{"created":%d}},"parts":[%s]}`, s.n+1, role, 1790000000000+s.n*1000, parts)
}

func (s *scribe) says(text string) {
	switch s.dialect {
	case "opencode":
		s.said("user", `{"type":"text","text":`+quote(text)+`}`)
	case ClaudeCode:
		s.record("user", `{"role":"user","content":`+quote(text)+`}`)
	case Pi:
		s.add(`{"type":"message","id":"e%d","parentId":"e%d","message":{"role":"user","content":%s}}`, s.n+1, s.n, quote(text))
	case GeminiCLI:
		s.row("user", `"content":[{"text":`+quote(text)+`}]`)
	case "copilot":
		s.event("user.message", `{"content":`+quote(text)+`}`)
	case Codex:
		s.add(`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}}`, quote(text))
	default:
		s.add(`{"role":"user","content":%s}`, quote(text))
	}
}

// calls writes an answer of calls, each an id, a name and an input, and their results.
func (s *scribe) calls(calls [][3]string, results []string) {
	var list []string
	for i, c := range calls {
		switch s.dialect {
		case "opencode":
			list = append(list, fmt.Sprintf(`{"type":"tool","callID":%q,"tool":%s,"state":{"status":"completed","input":%s,"output":%q}}`, c[0], quote(c[1]), c[2], results[i]))
		case ClaudeCode, anthropic:
			list = append(list, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%s,"input":%s}`, c[0], quote(c[1]), c[2]))
		case GeminiCLI:
			list = append(list, fmt.Sprintf(`{"id":%q,"name":%s,"args":%s}`, c[0], quote(c[1]), c[2]))
		case "copilot":
			list = append(list, fmt.Sprintf(`{"toolCallId":%q,"name":%s,"arguments":%s,"type":"function"}`, c[0], quote(c[1]), c[2]))
		case Pi:
			list = append(list, fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%s,"arguments":%s}`, c[0], quote(c[1]), c[2]))
		case Codex:
			s.add(`{"type":"response_item","payload":{"type":"function_call","call_id":%q,"name":%s,"arguments":%s}}`, c[0], quote(c[1]), quote(c[2]))
		default:
			list = append(list, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%s,"arguments":%s}}`, c[0], quote(c[1]), quote(c[2])))
		}
	}
	content := strings.Join(list, ",")
	switch s.dialect {
	case "opencode":
		s.said("assistant", content)
		return // with their results
	case ClaudeCode:
		s.record("assistant", fmt.Sprintf(`{"role":"assistant","id":"m%d","content":[%s]}`, s.n, content))
	case Pi:
		s.add(`{"type":"message","id":"e%d","parentId":"e%d","message":{"role":"assistant","content":[%s]}}`, s.n+1, s.n, content)
	case GeminiCLI:
		s.row("gemini", `"content":"","toolCalls":[`+content+`]`)
	case "copilot":
		s.event("assistant.message", `{"content":"","toolRequests":[`+content+`]}`)
	case anthropic:
		s.add(`{"role":"assistant","content":[%s]}`, content)
	case OpenAI:
		s.add(`{"role":"assistant","content":null,"tool_calls":[%s]}`, content)
	}
	for i, text := range results {
		id, named := calls[i][0], calls[i][1]
		if named == "" {
			named = "x" // without a name it were no result
		}
		switch s.dialect {
		case ClaudeCode:
			s.record("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, text))
		case GeminiCLI:
			s.row("user", fmt.Sprintf(`"content":[{"functionResponse":{"id":%q,"name":%s,"response":{"output":%q}}}]`, id, quote(named), text))
		case "copilot":
			s.event("tool.execution_complete", fmt.Sprintf(`{"toolCallId":%q,"success":true,"result":{"content":%q}}`, id, text))
		case Pi:
			s.add(`{"type":"message","id":"e%d","parentId":"e%d","message":{"role":"toolResult","toolCallId":%q,"content":[{"type":"text","text":%q}]}}`, s.n+1, s.n, id, text)
		case Codex:
			s.add(`{"type":"response_item","payload":{"type":"function_call_output","call_id":%q,"output":%q}}`, id, text)
		case anthropic:
			s.add(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, text)
		default:
			s.add(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
		}
	}
}

func (s *scribe) load(t *testing.T) []memkernel.Message {
	t.Helper()
	text := strings.Join(s.lines, "\n")
	switch {
	case s.dialect == "opencode":
		text = `{"info":{"id":"ses_1"},"messages":[` + strings.Join(s.lines, ",") + `]}`
	case s.dialect.Document():
		text = `{"model":"m","messages":[` + strings.Join(s.lines, ",") + `]}`
	}
	return load(t, text, &Options{Dialect: s.dialect}).View(Full)
}

// TestNumberedAnew: some servers number the calls of each answer anew, or give calls that are
// made at once one id, or none. In every dialect each call has an id of its own and its
// own result, and the messages of a longer conversation begin with those of a shorter one.
func TestNumberedAnew(t *testing.T) {
	for _, d := range Dialects() {
		for _, id := range []string{"call_0", "functions.ls:0", ""} {
			s := scribe{dialect: d}
			before := []memkernel.Message{}
			for turn := range 4 {
				s.says(fmt.Sprint("look ", turn))
				calls := [][3]string{{id, "ls", fmt.Sprintf(`{"dir":"a%d"}`, turn)}, {id, "ls", fmt.Sprintf(`{"dir":"b%d"}`, turn)}, {id, "pwd", `{}`}}
				s.calls(calls, []string{fmt.Sprint("in a", turn), fmt.Sprint("in b", turn), "at home"})
				msgs, _ := Repair(s.load(t), false)
				if len(msgs) < len(before) || !cmp.Equal(before, msgs[:len(before)]) {
					t.Errorf("%s, %q: with turn %d what was before changed", d, id, turn)
				}
				before = msgs
			}
			asked, answered := map[string]string{}, 0
			for _, m := range before {
				for _, p := range m.Parts {
					switch {
					case p.Call != nil:
						if _, twice := asked[p.Call.ID]; twice || p.Call.ID == "" {
							t.Errorf("%s, %q: the id %q is another call's, too", d, id, p.Call.ID)
						}
						asked[p.Call.ID] = p.Call.Input
					case p.Result != nil:
						dir, _ := strings.CutPrefix(Text(memkernel.Message{Parts: []memkernel.Part{p}}), "in ")
						if dir == "at home" {
							dir = "{}"
						}
						if answered++; !strings.Contains(asked[p.Result.CallID], dir) {
							t.Errorf("%s, %q: the call for %s is answered by %s", d, id, asked[p.Result.CallID], dir)
						}
					}
				}
			}
			if len(asked) != 12 || answered != 12 {
				t.Errorf("%s, %q: %d calls, %d results\n%s", d, id, len(asked), answered, sketch(before))
			}
			for _, p := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
				if v := Validate(p, &Request{Messages: append(before[:len(before):len(before)], user(textPart("and now?")))}); v != nil {
					t.Errorf("%s, %q, for %s: %v", d, id, p, v)
				}
			}
		}
	}
}

// TestSnapshots: a message that was written several times while it streamed is there once, in
// its last form, and billed once. A half-written record under the same id gives way.
func TestSnapshots(t *testing.T) {
	usage := func(out int) string { return fmt.Sprintf(`"usage":{"input_tokens":7,"output_tokens":%d}`, out) }
	claude := func(request bool, uuids bool, contents ...string) string {
		s := scribe{dialect: ClaudeCode}
		s.says("Which port?")
		for i, c := range contents {
			s.record("assistant", `{"role":"assistant","id":"m","content":[`+c+`],`+usage(i+1)+`}`)
			last := &s.lines[len(s.lines)-1]
			if request {
				*last = strings.Replace(*last, `"sessionId"`, `"requestId":"r","sessionId"`, 1)
			}
			if uuids {
				*last = regexp.MustCompile(`"uuid":"u\d+"`).ReplaceAllString(*last, `"uuid":"same"`)
			}
		}
		return strings.Join(s.lines, "\n")
	}
	text := func(s string) string { return `{"type":"text","text":` + quote(s) + `}` }
	call := func(input string) string {
		return `{"type":"tool_use","id":"c","name":"look","input":` + input + `}`
	}
	thought := `{"type":"thinking","thinking":"Hm","signature":"s"}`
	want := "user: Which port?\nassistant: I look: call c\n"
	for name, in := range map[string]string{
		"growing":             claude(true, false, text("I"), text("I look:"), text("I look:")+","+call(`{}`), text("I look:")+","+call(`{"dir":"etc"}`)),
		"without a request":   claude(false, false, text("I lo"), text("I look:"), call(`{"dir":"e"}`), call(`{"dir":"etc"}`)),
		"an older one late":   claude(false, false, text("I look:"), text("I"), call(`{"dir":"etc"}`), call(`{}`)),
		"whole, then blocks":  claude(false, false, text("I look:")+","+call(`{"dir":"etc"}`), text("I look:"), call(`{"dir":"etc"}`)),
		"thinking first":      claude(false, false, thought, text("I"), thought+","+text("I look:"), call(`{"dir":"etc"}`)),
		"under the same uuid": claude(true, true, text("I"), text("I look:"), text("I look:")+","+call(`{"dir":"etc"}`)),
	} {
		msgs := load(t, in, nil).View(Full)
		if got := strings.ReplaceAll(sketch(msgs), " thinking", ""); strings.ReplaceAll(got, " hm", "") != want && !strings.Contains(got, "I look: call c\n") || strings.Count(got, "I") != 1 {
			t.Errorf("%s:\n%s", name, got)
			continue
		}
		last := msgs[len(msgs)-1]
		if p := last.Parts[len(last.Parts)-1]; p.Call == nil || p.Call.Input != `{"dir":"etc"}` || last.Usage == nil || last.Usage.OutputTokens == 0 {
			t.Errorf("%s: the call is %+v, the usage %+v", name, p.Call, last.Usage)
		}
	}
	for d, in := range map[Dialect]string{
		Pi: `{"type":"message","id":"a","message":{"role":"user","content":"Which port?"}}` + "\n" +
			`{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"Port 8"}],"stopReason":"aborted"}}` + "\n" +
			`{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"Port 8443."}],"stopReason":"stop"}}`,
		Codex: `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Which port?"}]}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"Port 8"}]}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"Port 8443."}]}}`,
		OpenAI: `[{"role":"user","content":"Which port?"},{"role":"assistant","id":"m","content":"Port 8"},{"role":"assistant","id":"m","content":"Port 8443."}]`,
	} {
		s := load(t, in, &Options{Dialect: d})
		if got := sketch(s.View(Host)); got != "user: Which port?\nassistant: Port 8443.\n" {
			t.Errorf("%s:\n%s", d, got)
		}
	}
}

// TestOtherMessages: an id alone makes no snapshot. Answers that a server sends under one id
// are all kept, in their order.
func TestOtherMessages(t *testing.T) {
	s := scribe{dialect: ClaudeCode}
	answer := func(content string) {
		s.record("assistant", `{"role":"assistant","id":"always","content":[`+content+`]}`)
	}
	use := func(dir string) string {
		return `{"type":"tool_use","id":"c","name":"ls","input":{"dir":"` + dir + `"}}`
	}
	result := func(text string) {
		s.record("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"`+text+`"}]}`)
	}
	s.says("one")
	answer(`{"type":"text","text":"Yes"}`)
	s.says("two")
	answer(`{"type":"text","text":"Yes."}`)
	s.says("three")
	answer(use("a"))
	result("A")
	answer(use("b"))
	result("B")
	answer(use("b"))
	result("B again")
	answer(`{"type":"text","text":"Yes"}`)
	msgs, _ := Repair(s.load(t), false)
	wantSketch(t, "one id for all", msgs, "user: one\nassistant: Yes\nuser: two\nassistant: Yes.\nuser: three\n"+
		"assistant: call c\nuser: result c=A\nassistant: call c_2\nuser: result c_2=B\nassistant: call c_3\nuser: result c_3=B again\nassistant: Yes\n")
}

// TestMendedCalls: calls that no API takes become such that all do, are counted, and are the
// same again in a longer conversation.
func TestMendedCalls(t *testing.T) {
	bad := [][3]string{
		{"i1", "ls", `"{\"dir\": \"et"`}, {"i2", "ls", `["etc"]`}, {"i3", "", `{}`}, {"i4", "list files", `{"dir":"etc"}`}, {"i5", "ls", `null`},
		{"i6", strings.Repeat("x", 300), `7`}, {"i7", "ls", `"{\"dir\":\"etc\"}"`}, {"i8", "a.b\n", `{}`},
	}
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, d := range Dialects() {
		s := scribe{dialect: d}
		s.says("look")
		results := make([]string, len(bad))
		for i := range results {
			results[i] = fmt.Sprint("r", i)
		}
		s.calls(bad, results)
		s.says("go on")
		raw := s.load(t)
		for _, p := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses, FormatGemini} {
			n := 0
			for _, v := range Validate(p, &Request{Messages: raw}) {
				if v.Rule == "call-shape" {
					n++
				}
			}
			if n != len(bad) {
				t.Errorf("%s for %s: %d of %d calls are found to be malformed", d, p, n, len(bad))
			}
		}
		first, notes := Repair(raw, false)
		if n := strings.Count(strings.Join(rules(notes), " "), "malformed-call"); n != len(bad) || n != len(notes) {
			t.Errorf("%s: %q", d, rules(notes))
		}
		s.calls([][3]string{{"i9", "ls", `{}`}}, []string{"r9"})
		s.says("and?")
		msgs, _ := Repair(s.load(t), false)
		if !cmp.Equal(first, msgs[:len(first)]) {
			t.Errorf("%s: what was mended changed", d)
		}
		for _, p := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses, FormatGemini} {
			if v := Validate(p, &Request{Messages: msgs}); v != nil {
				t.Errorf("%s for %s: %v", d, p, v)
			}
		}
		for _, f := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses, FormatGemini} {
			body, _, err := Render(f, &Request{Model: "m", Messages: msgs})
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			var look func(v any)
			look = func(v any) {
				switch v := v.(type) {
				case map[string]any:
					input, called := v["input"]
					for _, member := range []string{"arguments", "args"} {
						if a, ok := v[member]; ok {
							input, called = a, true
						}
					}
					if n, ok := v["name"].(string); ok && called {
						if text, ok := input.(string); ok {
							input = nil
							_ = json.Unmarshal([]byte(text), &input)
						}
						if _, object := input.(map[string]any); !object || !name.MatchString(n) {
							t.Errorf("%s as %s: %.60s has the input %v", d, f, n, input)
						}
						found++
					}
					for _, e := range v {
						look(e)
					}
				case []any:
					for _, e := range v {
						look(e)
					}
				}
			}
			var doc any
			if err := json.Unmarshal(body, &doc); err != nil {
				t.Fatal(err)
			}
			if look(doc); found != len(bad)+1 {
				t.Errorf("%s as %s: %d calls in %s", d, f, found, body)
			}
		}
		for _, m := range first {
			for _, p := range m.Parts {
				if p.Call != nil && p.Call.ID == "i7" && p.Call.Input != `{"dir":"etc"}` {
					t.Errorf("%s: an object in a text became %s", d, p.Call.Input)
				}
			}
		}
	}
}

// TestServersOwnIDs: an id that the Messages API does not have is a legal one in both halves of
// a pair where the request is for that API, and the server's own in a client's request.
func TestServersOwnIDs(t *testing.T) {
	s := scribe{dialect: anthropic}
	s.says("look")
	s.calls([][3]string{{"f:0", "ls", `"etc"`}, {"f:1", "ls", `{"dir":"b"}`}}, []string{"A", "B"})
	s.says("and?")
	s.calls([][3]string{{"f:0", "ls", `{}`}}, []string{"C"})
	ids := func(body []byte) string {
		var doc struct {
			Messages []struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(body, &doc); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range doc.Messages {
			var blocks []struct {
				ID     string
				Result string `json:"tool_use_id"`
			}
			_ = json.Unmarshal(m.Content, &blocks) // a text has none
			for _, b := range blocks {
				if b.ID+b.Result != "" {
					out = append(out, b.ID+b.Result)
				}
			}
		}
		return strings.Join(out, " ")
	}
	msgs, _ := Repair(s.load(t), false)
	body, _, err := Render(FormatAnthropic, &Request{Messages: msgs, Source: anthropic})
	if got := ids(body); err != nil || got != "f_0 f_1 f_0 f_1 f_0_2 f_0_2" {
		t.Errorf("%v: %s", err, got)
	}
	b, err := new(BodyReader).Read(FormatAnthropic, "", []byte(`{"model":"m","messages":[`+strings.Join(s.lines, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	msgs, _ = Repair(b.Messages, false)
	body, _ = b.Write(BodyEdit{Messages: msgs})
	if got := ids(body); got != "f:0 f:1 f:0 f:1 f:0_2 f:0_2" {
		t.Errorf("the client's request: %s in %s", got, body)
	}
}

// TestBrokenParents: parents that were never written, or that lead round in a circle, cost no
// message; the same parent twice is a way back only where that was written.
func TestBrokenParents(t *testing.T) {
	for name, parents := range map[string][4]string{
		"one that was never written": {"gone", "u1", "gone", "u3"}, "a circle": {"u4", "u1", "u2", "u3"}, "itself": {"u1", "u1", "u3", "u3"}, "later ones": {"u3", "u4", "u4", "u3"},
	} {
		var lines []string
		for i, text := range []string{"one", "two", "three", "four"} {
			role := []string{"user", "assistant"}[i%2]
			lines = append(lines, fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":%q,"sessionId":"s","message":{"role":%q,"content":[{"type":"text","text":%q}]}}`, role, i+1, parents[i], role, text))
		}
		wantSketch(t, name, load(t, strings.Join(lines, "\n"), nil).View(Host), "user: one\nassistant: two\nuser: three\nassistant: four\n")
	}
}

// TestArgumentsOutOfTheirText: arguments that are an object, where OpenAI has a text, are kept.
func TestArgumentsOutOfTheirText(t *testing.T) {
	for f, in := range map[Format]string{
		FormatOpenAI:    `{"model":"m","messages":[{"role":"user","content":"look"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":{"dir":"etc"}}}]},{"role":"tool","tool_call_id":"c","content":"x"}]}`,
		FormatResponses: `{"model":"m","input":[{"role":"user","content":"look"},{"type":"function_call","call_id":"c","name":"ls","arguments":{"dir":"etc"}},{"type":"function_call_output","call_id":"c","output":"x"}]}`,
	} {
		b, err := new(BodyReader).Read(f, "", []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		msgs, notes := Repair(b.Messages, false)
		out, _ := b.Write(BodyEdit{Messages: msgs})
		if !strings.Contains(string(out), `"arguments":"{\"dir\":\"etc\"}"`) || !cmp.Equal(rules(notes), []string{"malformed-call"}) {
			t.Errorf("%s: %q, %s", f, rules(notes), out)
		}
	}
}
