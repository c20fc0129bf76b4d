package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/transcript"
)

// searched is a request with every kind of definition that matters.
const searched = `{"model":"claude-opus-5", "tools":[ {"name":"Bash","input_schema":{}},
  {"name":"mcp__jira__search","description":"d","input_schema":{"type":"object"}},  {"type":"bash_20250124","name":"bash"},
  {"name":"forced","input_schema":{}},{"name":"open","defer_loading":false,"input_schema":{ } },
  {"name":"last","input_schema":{},"cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"tool","name":"forced"},
  "messages":[{"role":"user","content":"hello"}]}`

// Only what the API lets wait does; the search stands first, and all other bytes stay.
func TestDefer(t *testing.T) {
	b, err := transcript.ReadBody(transcript.FormatAnthropic, []byte(searched))
	if err != nil {
		t.Fatal(err)
	}
	out, _ := b.Write(transcript.BodyEdit{Messages: b.Messages, Defer: []string{"mcp__jira__search", "bash", "forced", "open", "last", "no such"}})
	want := strings.Replace(searched, `[ {"name":"Bash"`, `[ {"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},{"name":"Bash"`, 1)
	want = strings.Replace(want, `"input_schema":{"type":"object"}}`, `"input_schema":{"type":"object"},"defer_loading":true}`, 1)
	want = strings.Replace(want, `"open","defer_loading":false,"input_schema":{ } }`, `"open","input_schema":{ } ,"defer_loading":true}`, 1)
	if string(out) != want {
		t.Errorf("wrote\n%s\nwant\n%s", out, want)
	}
	if !json.Valid(out) {
		t.Error("not JSON")
	}
	for _, none := range [][]string{nil, {"bash"}, {"no such"}} {
		if out, _ := b.Write(transcript.BodyEdit{Messages: b.Messages, Defer: none}); string(out) != searched {
			t.Errorf("deferring %q changed the body:\n%s", none, out)
		}
	}
}

// A marker of ours on the tools goes to the last definition that stands: the API refuses
// one on a definition that waits.
func TestDeferMarks(t *testing.T) {
	for _, body := range []string{
		`{"model":"claude-opus-5","system":"s","tools":[{"name":"a","input_schema":{}},{"name":"b","input_schema":{}}],"messages":[{"role":"user","content":"hello"}]}`,
		`{"model":"claude-opus-5","system":"s","tools":[{"name":"a","input_schema":{}},{"name":"b","defer_loading":true,"input_schema":{}}],"messages":[{"role":"user","content":"hello"}]}`,
	} {
		b, err := transcript.ReadBody(transcript.FormatAnthropic, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		out, _ := b.Write(transcript.BodyEdit{Messages: b.Messages, Defer: []string{"b"}, Markers: []transcript.Marker{{Message: transcript.MarkerTools, Part: transcript.LastPart}}})
		if !strings.Contains(string(out), `{"name":"a","input_schema":{},"cache_control":{"type":"ephemeral"}}`) || strings.Count(string(out), "cache_control") != 1 {
			t.Errorf("the marker is not on the last definition that stands: %s", out)
		}
	}
}

func TestWaitingIn(t *testing.T) {
	for name, c := range map[string]struct {
		format        transcript.Format
		tools, choice string
		refused       bool
		keep          int
	}{
		"chat completions": {transcript.FormatOpenAI, `[{"type":"function","function":{"name":"a"}}]`, "", true, 0},
		"searches itself":  {transcript.FormatAnthropic, `[{"name":"a"},{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}]`, "", true, 0},
		"defers itself":    {transcript.FormatAnthropic, `[{"name":"a","defer_loading":true},{"name":"ToolSearch"}]`, "", true, 0},
		"of that name":     {transcript.FormatAnthropic, `[{"name":"tool_search_tool_bm25"}]`, "", true, 0},
		"named twice":      {transcript.FormatAnthropic, `[{"name":"a"},{"name":"a"},{"name":"b"}]`, "", false, 2},
		"called from code": {transcript.FormatAnthropic, `[{"name":"a","allowed_callers":["code_execution_20250825"]},{"name":"b"}]`, "", false, 1},
		"any":              {transcript.FormatAnthropic, `[{"name":"a"},{"name":"b"}]`, `{"type":"any"}`, false, 0},
		"responses":        {transcript.FormatResponses, `[{"type":"function","name":"a"}]`, `"auto"`, true, 0},
	} {
		member := "messages"
		if c.format == transcript.FormatResponses {
			member = "input"
		}
		b, err := transcript.ReadBody(c.format, []byte(`{"model":"m","tools":`+c.tools+`,"`+member+`":[{"role":"user","content":"x"}]}`))
		if err != nil {
			t.Fatal(name, err)
		}
		w, keep := transcript.WaitingIn(c.format, b.Tools, c.choice), 0
		for _, why := range w.Keep {
			if why != "" {
				keep++
			}
		}
		if (w.Refused != "") != c.refused || keep != c.keep {
			t.Errorf("%s: refused %q, keeps %q", name, w.Refused, w.Keep)
		}
	}
}

func TestFoundTools(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"q"}},
	 {"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"a"}]}},
	 {"type":"tool_use","id":"toolu_1","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"tool_search_tool_result"}]}]}`
	b, err := transcript.ReadBody(transcript.FormatAnthropic, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if got := transcript.FoundTools(transcript.FormatAnthropic, b.Messages); len(got) != 1 || !got["a"] {
		t.Errorf("found %v", got)
	}
	if got := transcript.FoundTools(transcript.FormatOpenAI, b.Messages); len(got) != 0 {
		t.Errorf("found %v in a format without searches", got)
	}
}
