package transcript

import (
	"strings"
	"testing"
)

// A result answers the block that bears its id, whatever kind that is, in every dialect
// whose results name their calls; what nobody answers stays what it is.
func TestAnsweredBlocks(t *testing.T) {
	const want = "user: go\nassistant: call a look {\"x\":1}\nuser: result a r\nassistant: done\n"
	blocks := map[string]string{
		"a kind yet to come":    `{"type":"agent_tool_use","id":"a","name":"look","input":{"x":1}}`,
		"of no name like it":    `{"type":"probe","id":"a","name":"look","input":{"x":1}}`,
		"the provider's own":    `{"type":"server_tool_use","id":"a","name":"look","input":{"x":1}}`,
		"of a connected server": `{"type":"mcp_tool_use","id":"a","name":"look","server_name":"s","input":{"x":1}}`,
	}
	for name, block := range blocks {
		for _, result := range []string{`{"type":"tool_result","tool_use_id":"a","content":"r"}`, `{"type":"agent_tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]}`} {
			request := `{"model":"claude-x","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` + block + `]},{"role":"user","content":[` + result + `]},{"role":"assistant","content":[{"type":"text","text":"done"}]}]}`
			b := readBody(t, FormatAnthropic, request)
			if got := calls(b.Messages); got != want {
				t.Errorf("%s, request:\n%s", name, got)
			}
			if got, notes := b.Write(BodyEdit{Messages: b.Messages}); string(got) != request || len(notes) > 0 {
				t.Errorf("%s is written as %s", name, got)
			}
			if _, notes := Repair(b.Messages, false); len(notes) > 0 {
				t.Errorf("%s: %v", name, notes)
			}
			if a := Atoms(b.Messages); len(a) != 3 || a[1] != (Atom{1, 3, true, 0, true}) {
				t.Errorf("%s: atoms %+v", name, a)
			}
			if got := calls(load(t, request, nil).Messages); got != want {
				t.Errorf("%s, document:\n%s", name, got)
			}
			log := strings.Join([]string{`{"type":"user","uuid":"1","message":{"role":"user","content":"go"}}`,
				`{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","role":"assistant","content":[` + block + `]}}`,
				`{"type":"user","uuid":"3","parentUuid":"2","message":{"role":"user","content":[` + result + `]}}`,
				`{"type":"assistant","uuid":"4","parentUuid":"3","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"done"}]}}`}, "\n") + "\n"
			if got := calls(load(t, log, nil).View(Host)); got != want {
				t.Errorf("%s, Claude Code:\n%s", name, got)
			}
		}
	}
	pi := strings.Join([]string{`{"type":"session","id":"s","version":3,"cwd":"/"}`,
		`{"type":"message","id":"1","message":{"role":"user","content":"go"}}`,
		`{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"agentCall","id":"a","name":"look","arguments":{"x":1}}]}}`,
		`{"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"a","content":"r"}}`,
		`{"type":"message","id":"4","parentId":"3","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}`}, "\n") + "\n"
	if got := calls(load(t, pi, nil).View(Host)); got != strings.Replace(want, "user: result", "tool: result", 1) {
		t.Errorf("Pi:\n%s", got)
	}
	alone := readBody(t, FormatAnthropic, `{"model":"claude-x","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[`+blocks["a kind yet to come"]+
		`,{"type":"agent_tool_result","tool_use_id":"a","content":[]},`+blocks["of no name like it"]+`]},{"role":"user","content":"so"}]}`)
	if got := calls(alone.Messages); got != "user: go\nassistant: <other> result a <other>\nuser: so\n" {
		t.Errorf("alone:\n%s", got)
	}
	if repaired, notes := Repair(alone.Messages, false); len(notes) > 0 {
		t.Errorf("alone: %v\n%s", notes, calls(repaired))
	}
}
