package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"pgregory.net/rapid"
)

// Each kind of item as a request, and a rollout, has it: what is a call, what answers
// one, and what is by itself.
func TestItemKinds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		items []string
		want  string
	}{
		{"tool search", []string{`{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{"query":"q"}}`,
			`{"type":"tool_search_output","call_id":"c","execution":"client","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f","defer_loading":true}]}]}`},
			"assistant: call c tool_search {\"query\":\"q\"}\ntool: result c <other>\n"},
		{"tool search of the provider's", []string{`{"type":"tool_search_call","call_id":null,"execution":"server","arguments":{}}`,
			`{"type":"tool_search_output","call_id":null,"execution":"server","tools":[]}`}, "assistant: <other> <other>\n"},
		{"its ids", []string{`{"type":"tool_search_call","call_id":"c","execution":"server"}`, `{"type":"tool_search_output","call_id":"c","execution":"server","tools":[]}`},
			"assistant: <other> <other>\n"},
		{"computer", []string{`{"type":"computer_call","id":"i","call_id":"c","action":{"type":"click","x":1},"status":"completed"}`,
			`{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"https://x/y.png"}}`},
			"assistant: call c computer {\"type\":\"click\",\"x\":1}\ntool: result c <image>\n"},
		{"shell", []string{`{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}`,
			`{"type":"shell_call_output","call_id":"c","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}},{"stdout":"b","stderr":"c"}]}`},
			"assistant: call c shell {\"commands\":[\"ls\"]}\ntool: result c a b\nc\n"},
		{"patch", []string{`{"type":"apply_patch_call","call_id":"c","operation":{"type":"delete_file","path":"a"}}`,
			`{"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no such file"}`},
			"assistant: call c apply_patch {\"type\":\"delete_file\",\"path\":\"a\"}\ntool: result c failed no such file\n"},
		{"free form", []string{`{"type":"custom_tool_call","call_id":"c","name":"f","input":"x y"}`, `{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"r"}]}`},
			"assistant: call c f x y\ntool: result c r\n"},
		{"local shell, known by its id", []string{`{"type":"local_shell_call","id":"i","action":{"command":["ls"]}}`, `{"type":"local_shell_call_output","id":"i","output":"r"}`},
			"assistant: call i local_shell {\"command\":[\"ls\"]}\ntool: result i r\n"},
		{"arguments that are no string", []string{`{"type":"function_call","call_id":"c","name":"f","arguments":{"a":1}}`, `{"type":"function_call_output","call_id":"c","output":{"content":"r","success":false}}`},
			"assistant: call c f {\"a\":1}\ntool: result c failed r\n"},
		{"output that is neither text nor a list", []string{`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":{"rows":[1]}}`},
			"assistant: call c f {}\ntool: result c <other>\n"},
		{"output that is a number", []string{`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":7}`},
			"assistant: call c f {}\ntool: result c <other>\n"},
		{"approval", []string{`{"type":"mcp_approval_request","id":"m","server_label":"s","name":"f","arguments":"{}"}`, `{"type":"mcp_approval_response","approval_request_id":"m","approve":true}`,
			`{"type":"mcp_call","id":"x","approval_request_id":"m","name":"f","arguments":"{}","output":"r"}`},
			"assistant: call m f {}\ntool: result m <other>\nassistant: <other>\n"},
		{"approval that nobody gave", []string{`{"type":"mcp_approval_request","id":"m","server_label":"s","name":"f","arguments":"{}"}`}, "assistant: <other>\n"},
		{"what the provider ran", []string{`{"type":"web_search_call","id":"a","status":"completed","action":{"type":"search"}}`, `{"type":"file_search_call","id":"b","results":[]}`,
			`{"type":"code_interpreter_call","id":"c","code":"1","outputs":[]}`, `{"type":"image_generation_call","id":"d","result":"aaaa"}`, `{"type":"mcp_list_tools","id":"e","tools":[]}`},
			"assistant: <other> <other> <other> <other> <other>\n"},
		{"compaction", []string{`{"type":"compaction","encrypted_content":"e"}`}, "user(summary): <other>\n"},
		{"unknown, named", []string{`{"type":"browse_call","call_id":"c","url":"u"}`, `{"type":"browse_output","call_id":"c","page":{"a":[1,2]}}`},
			"assistant: call c browse {\"url\":\"u\"}\ntool: result c <other>\n"},
		{"unknown, of another script", []string{`{"type":"запрос","call_id":"c", "a":1 , "status":"x" }`, `{"type":"ответ","call_id":"c","output":""}`}, "assistant: call c ______ {\"a\":1 }\ntool: result c \n"},
		{"unknown, of no name", []string{`{"type":"x","call_id":"c","input":"i"}`, `{"type":"x","call_id":"c","output":"r"}`}, "assistant: call c x {\"input\":\"i\"}\ntool: result c r\n"},
		{"unknown and alone", []string{`{"type":"x","call_id":"c"}`}, "assistant: <other>\n"},
		{"unknown without an id", []string{`{"role":"user","content":"go"}`, `{"type":"x"}`, `{"type":"x_output"}`}, "user: go\ndeveloper: <other>\ndeveloper: <other>\n"},
		{"unknown without an id in an answer", []string{`{"role":"assistant","content":"so"}`, `{"type":"x"}`}, "assistant: so <other>\n"},
		{"unknown call, known output", []string{`{"type":"x","call_id":"c","input":"i"}`, `{"type":"function_call_output","call_id":"c","output":"r"}`}, "assistant: call c x {\"input\":\"i\"}\ntool: result c r\n"},
		{"known call, unknown output", []string{`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"type":"x","call_id":"c","output":"r"}`}, "assistant: call c f {}\ntool: result c r\n"},
		{"progress before the output", []string{`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"type":"progress","call_id":"c","output":"half"}`, `{"type":"function_call_output","call_id":"c","output":"r"}`},
			"assistant: call c f {}\ntool: <other>\ntool: result c r\n"},
		{"progress of an unknown kind", []string{`{"type":"x_call","call_id":"c","input":"i"}`, `{"type":"x_progress","call_id":"c","output":"half"}`, `{"type":"x_output","call_id":"c","output":"r"}`},
			"assistant: call c x {\"input\":\"i\"}\ntool: <other>\ntool: result c r\n"},
		{"word after the answer", []string{`{"type":"x_call","call_id":"c","input":"i"}`, `{"type":"x_output","call_id":"c","output":"r"}`, `{"role":"assistant","content":"done"}`, `{"type":"x_late","call_id":"c"}`},
			"assistant: call c x {\"input\":\"i\"}\ntool: result c r\nassistant: done\ntool: <other>\n"},
		{"two at once", []string{`{"type":"x_call","call_id":"a","input":"1"}`, `{"type":"x_call","call_id":"b","input":"2"}`, `{"type":"x_output","call_id":"b","output":"B"}`, `{"type":"x_output","call_id":"a","output":"A"}`},
			"assistant: call a x {\"input\":\"1\"} call b x {\"input\":\"2\"}\ntool: result b B\ntool: result a A\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := readBody(t, FormatResponses, `{"model":"m","input":[`+strings.Join(tc.items, ",")+`]}`)
			if diff := cmp.Diff(tc.want, calls(body.Messages)); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			lines := `{"type":"session_meta","payload":{"id":"s"}}` + "\n"
			for _, it := range tc.items {
				lines += `{"type":"response_item","payload":` + typed(it) + "}\n"
			}
			if diff := cmp.Diff(tc.want, calls(load(t, lines, nil).Messages)); diff != "" {
				t.Errorf("rollout (-want +got):\n%s", diff)
			}
			in, _ := NewIntake(Codex)
			for _, it := range tc.items {
				if err := in.Append([]string{it}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, calls(in.Messages())); diff != "" {
				t.Errorf("handed in one by one (-want +got):\n%s", diff)
			}
		})
	}
}

// typed is an item as a rollout has it.
func typed(item string) string {
	if rawType(item) == "" {
		return strings.Replace(item, "{", `{"type":"message",`, 1)
	}
	return item
}

// calls is sketch with what calls ask for.
func calls(msgs []memkernel.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		line := strings.TrimSuffix(sketch([]memkernel.Message{{Role: m.Role, Origin: m.Origin}}), "\n")
		b.WriteString(line)
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				b.WriteString(" call " + p.Call.ID + " " + p.Call.Name + " " + p.Call.Input)
			case p.Result != nil:
				b.WriteString(" result " + p.Result.CallID)
				if p.Result.IsError {
					b.WriteString(" failed")
				}
				for _, c := range p.Result.Content {
					if c.Kind == memkernel.PartText {
						b.WriteString(" " + c.Text)
					} else {
						b.WriteString(" <" + string(c.Kind) + ">")
					}
				}
			case p.Kind == memkernel.PartText:
				b.WriteString(" " + p.Text)
			default:
				b.WriteString(" <" + string(p.Kind) + ">")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// drawItems draws a conversation of items, half of them of kinds that nobody has made
// yet, and returns which ids are of pairs.
func drawItems(t *rapid.T) (items []string, paired map[string]bool) {
	paired = map[string]bool{}
	word := rapid.StringMatching(`[a-z]{1,6}(_[a-z]{1,6})?`)
	value := rapid.SampledFrom([]string{`"text"`, `"ünï \" \u00e9 \n"`, `{"a":[1,{"b":null}] }`, `[{"type":"function","name":"f","defer_loading":true}]`, `[ ]`, `7`, `true`, `null`,
		`{"type":"computer_screenshot","image_url":"data:image/png;base64,AAAA"}`, `[{"stdout":"x"}]`, `""`})
	members := func() string {
		s := ""
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			name := rapid.OneOf(rapid.SampledFrom([]string{"output", "arguments", "input", "action", "tools", "status", "namespace", "name", "id", "content", "cache_control"}), word).Draw(t, "name")
			if !strings.Contains(s, `"`+name+`":`) && name != "type" && name != "role" {
				s += fmt.Sprintf(`, "%s" :%s`, name, value.Draw(t, "value"))
			}
		}
		return s
	}
	items = append(items, `{"role":"user","content":"go"}`)
	for n := range rapid.IntRange(1, 6).Draw(t, "turns") {
		var outputs []string
		for k := range rapid.IntRange(0, 3).Draw(t, "calls") {
			stem := word.Draw(t, "kind")
			pair := rapid.SampledFrom([][2]string{{stem, stem}, {stem + "_call", stem + "_output"}, {stem + "_call", stem + "_call_output"}, {stem + "_request", stem + "_response"},
				{stem, "function_call_output"}, {"function_call", stem}, {"tool_search_call", "tool_search_output"}, {"shell_call", "shell_call_output"}, {"function_call", "function_call_output"}}).Draw(t, "kinds")
			id := fmt.Sprintf("call_%d_%d", n, k)
			paired[id] = true
			with := members()
			if pair[0] == "function_call" { // which no API takes without these
				if strings.Contains(with, `"name" :`) || strings.Contains(with, `"arguments" :`) || strings.Contains(with, `"input" :`) || strings.Contains(with, `"action" :`) {
					with = ""
				}
				with += `,"name":"f","arguments":"{}"`
			}
			items = append(items, fmt.Sprintf(`{"type":"%s","call_id":"%s"%s}`, pair[0], id, with))
			outputs = append(outputs, fmt.Sprintf(`{"type":"%s"%s,"call_id":"%s"}`, pair[1], members(), id))
		}
		if rapid.Bool().Draw(t, "alone") {
			items = append(items, rapid.SampledFrom([]string{`{"type":"` + word.Draw(t, "kind") + `_thing","x":1}`, fmt.Sprintf(`{"type":"lone_call","call_id":"lone_%d"}`, n),
				`{"type":"web_search_call","id":"ws"}`}).Draw(t, "item"))
		}
		items = append(items, rapid.Permutation(outputs).Draw(t, "outputs")...)
		if len(outputs) == 0 || rapid.Bool().Draw(t, "says") {
			items = append(items, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]}`)
		}
		if rapid.Bool().Draw(t, "speaks") {
			items = append(items, fmt.Sprintf(`{"role":"user","content":"and %d"}`, n))
		}
	}
	return append(items, `{"role":"user","content":"end"}`), paired
}

// Items of any kind go through a request with the bytes that they came with, and their
// calls are cut from it with their results or not at all.
func TestItemsOfUnknownKinds(t *testing.T) {
	cuts, found := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		items, paired := drawItems(t)
		text := `{"model":"m", "input":[` + strings.Join(items, ",") + `],"x":1}`
		var r BodyReader
		for range 2 { // also as it is remembered
			b, err := r.Read(FormatResponses, "", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, notes := b.Write(BodyEdit{Messages: b.Messages}); string(got) != text || len(notes) > 0 {
				t.Fatalf("%v\ngot  %s\nwant %s", notes, got, text)
			}
		}
		b, _ := new(BodyReader).Read(FormatResponses, "", []byte(text))
		for id := range paired {
			if !slices.ContainsFunc(b.Messages, func(m memkernel.Message) bool { return hasCallIn(m, map[string]bool{id: true}) }) {
				t.Fatalf("%s is no call of %s", id, calls(b.Messages))
			}
			found++
		}
		checkAtoms(t, b.Messages)
		if repaired, notes := Repair(b.Messages, false); len(notes) > 0 && !onlyMoved(notes) {
			t.Fatalf("%v\n%s", notes, calls(repaired))
		}
		for _, a := range Atoms(b.Messages) {
			left := slices.Concat(b.Messages[:1], b.Messages[max(1, a.End):])
			cut, notes := b.Write(BodyEdit{Messages: left})
			if len(notes) > 0 || !json.Valid(cut) {
				t.Fatalf("%v: %s", notes, cut)
			}
			for id := range paired {
				if n := strings.Count(string(cut), `"`+id+`"`); n != 0 && n != 2 {
					t.Fatalf("%d halves of %s are left of\n%s\nin %s", n, id, text, cut)
				}
			}
			for _, it := range items {
				if n := strings.Count(string(cut), it); strings.Contains(string(cut), rawID(it)) && n == 0 {
					t.Fatalf("%s is not written as it was in %s", it, cut)
				}
			}
			cuts++
		}
	})
	if cuts < 50 || found < 50 {
		t.Errorf("%d cuts, %d pairs", cuts, found)
	}
}

func onlyMoved(notes []Note) bool {
	return !slices.ContainsFunc(notes, func(n Note) bool { return n.Rule != "moved-result" })
}

// rawID is an item's call id in quotes, or something that is nowhere.
func rawID(item string) string {
	if id := memberOf(item, "call_id"); id != "" {
		return id
	}
	return "\x00"
}

// A pair of another kind than functions', of which one half is no longer as it was, goes
// out as a function's, whichever half it is; its neighbours keep their bytes.
func TestRewordedItems(t *testing.T) {
	const call, output = `{"type":"x_call","call_id":"c","input":{"q":1}}`, `{"type":"x_output","call_id":"c","output":"long"}`
	const other = `{"type":"y_call","call_id":"d"},{"type":"y_output","call_id":"d","z":1}`
	b := readBody(t, FormatResponses, `{"model":"m","input":[{"role":"user","content":"hi"},`+call+`,`+output+`,`+other+`]}`)
	for name, change := range map[string]func(m *memkernel.Message){
		"result": func(m *memkernel.Message) {
			if m.Parts[0].Result != nil && m.Parts[0].Result.CallID == "c" {
				r := *m.Parts[0].Result
				r.Content = []memkernel.Part{textPart("short")}
				m.Raw, m.Parts = "", []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &r}}
			}
		},
		"call": func(m *memkernel.Message) {
			if m.Parts[0].Call != nil && m.Parts[0].Call.ID == "c" {
				c := *m.Parts[0].Call
				c.Input = "{}"
				m.Raw, m.Parts = "", []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &c}}
			}
		},
	} {
		msgs := slices.Clone(b.Messages)
		for i := range msgs {
			change(&msgs[i])
		}
		want := map[string]string{
			"result": `{"type":"function_call","call_id":"c","name":"x","arguments":"{\"q\":1}"},{"type":"function_call_output","call_id":"c","output":"short"}`,
			"call":   `{"type":"function_call","call_id":"c","name":"x","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"long"}`,
		}[name]
		want = `{"model":"m","input":[{"role":"user","content":"hi"},` + want + `,` + other + `]}`
		if got, notes := b.Write(BodyEdit{Messages: msgs}); string(got) != want || len(notes) > 0 {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, notes, got, want)
		}
		got, notes, err := Render(FormatResponses, &Request{Model: "m", Messages: msgs, Source: Codex})
		if err != nil || len(notes) > 0 || !strings.Contains(string(got), want[strings.Index(want, `{"type":"function_call"`):len(want)-1]) {
			t.Errorf("%s rendered: %v %v\n%s", name, notes, err, got)
		}
	}
}

// In another provider's format a pair is a call of a tool and what came of it.
func TestItemsElsewhere(t *testing.T) {
	b := readBody(t, FormatResponses, `{"model":"m","input":[{"role":"user","content":"hi"},{"type":"tool_search_call","call_id":"c","arguments":{"query":"q"}},`+
		`{"type":"tool_search_output","call_id":"c","tools":[{"type":"function","name":"f"}]},{"role":"user","content":"so"}]}`)
	for _, f := range []Format{FormatAnthropic, FormatOpenAI} {
		got, notes, err := Render(f, &Request{Model: "m", Messages: b.Messages, Source: Codex})
		if err != nil || len(notes) > 0 {
			t.Fatalf("%s: %v %v", f, notes, err)
		}
		again, err := new(BodyReader).Read(f, "", got)
		if err != nil {
			t.Fatal(err)
		}
		if v := Validate(f, &Request{Messages: again.Messages}); len(v) > 0 {
			t.Errorf("%s: %v", f, v)
		}
		if s := calls(again.Messages); !strings.Contains(s, "call c tool_search") || !strings.Contains(s, `"name":"f"`) {
			t.Errorf("%s shows\n%s", f, s)
		}
	}
}

// A host that hands items in one by one gets a result back in other words in its own
// item, if that has a place for them, and nothing of what it held before.
func TestItemsHandedIn(t *testing.T) {
	for _, tc := range []struct{ output, want string }{
		{`{"type":"x_output","call_id":"c","output":"long","z":1}`, `{"type":"x_output","call_id":"c","output":"short","z":1}`},
		{`{"type":"shell_call_output","call_id":"c","output":[{"stdout":"long"}]}`, `{"type":"function_call_output","call_id":"c","output":"short"}`},
		{`{"type":"x_output","call_id":"c","tools":["long"]}`, `{"type":"function_call_output","call_id":"c","output":"short"}`},
	} {
		in, _ := NewIntake(Codex)
		if err := in.Append([]string{`{"role":"user","content":"hi"}`, `{"type":"x_call","call_id":"c","input":"q"}`, tc.output}, nil); err != nil {
			t.Fatal(err)
		}
		planned := slices.Clone(in.Messages())
		if items, _ := in.Items(planned); len(items) != 1 || items[0].To != 3 {
			t.Errorf("untouched: %+v", items)
		}
		r := *planned[2].Parts[0].Result
		r.Content = []memkernel.Part{textPart("short")}
		planned[2].Raw, planned[2].Parts = "", []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &r}}
		items, _ := in.Items(planned)
		var got string
		for _, it := range items {
			if it.JSON == "" {
				got += strings.Join(in.Values()[it.From:it.To], "\n") + "\n"
			} else {
				got += it.JSON + "\n"
			}
		}
		if !strings.Contains(got, tc.want+"\n") || strings.Contains(got, "long") || strings.Contains(tc.want, "function") != strings.Contains(got, `"type":"function_call",`) {
			t.Errorf("got\n%s", got)
		}
	}
}
