package recall

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
)

func TestActionsByHand(t *testing.T) {
	long := strings.Repeat("x ", 6000) // 12,000 characters: 4,000 tokens
	history := []memkernel.Message{
		text(memkernel.RoleUser, "Mend src/parse/header.go, port 5433."),
		outcome("a", "func parseHeader() {\n\treturn nil\n}\nconst maxFields = 1024"),
		text(memkernel.RoleUser, long),
		outcome("b", "the run of build_7 failed"),
	}
	tr := New()
	for _, m := range history {
		tr.Append(m)
	}
	all := make([]string, len(history))
	for i := range history {
		all[i] = TextOf(history[i])
	}
	late := []string{"a summary: header.go was read, see src/parse/header.go", all[2], all[3]}
	for _, c := range []struct {
		name, input, tool string
		prompt            []string
		want              Action
	}{
		{"all is there", `{"path":"src/parse/header.go","note":"build_7"}`, "Read", all,
			Action{Tool: "Read", Tokens: 3}},
		{"a name in a summary will do", `{"path":"src/parse/header.go"}`, "Read", late, Action{Tool: "Read", Tokens: 2}},
		{"a number that left", `{"command":"curl localhost:5433"}`, "Bash", late,
			Action{Tool: "Bash", Tokens: 1, Lacked: []string{"5433"}}},
		{"what nobody said yet is the model's own", `{"path":"new/unheard_of.go"}`, "Write", late, Action{Tool: "Write"}},
		{"near", `{"id":"build_7"}`, "Log", late, Action{Tool: "Log", Tokens: 1}},
		{"an edit with its line", `{"old_string":"\treturn nil\n}","new_string":"\treturn err"}`, "Edit", all, Action{Tool: "Edit", Edits: 1, Fresh: Quoted{1, 0, 1, 1}}},
		{"an edit without", `{"old_string":"\treturn nil\n}","new_string":"\treturn err"}`, "Edit", late, Action{Tool: "Edit", Edits: 1, Blind: 1, Fresh: Quoted{1, 1, 1, 0}}},
		{"a brace tells nothing", `{"old_string":"}\n","new_string":"})"}`, "Edit", late, Action{Tool: "Edit"}},
		{"a line that was never seen", `{"old_string":"return 7, io.EOF","new_string":"x"}`, "Edit", late, Action{Tool: "Edit"}},
		{"each edit of a list", `{"edits":[{"old_string":"return nil","new_string":"a"},{"old_string":"the run of build_7 failed","new_string":"b"}]}`, "MultiEdit", late,
			Action{Tool: "MultiEdit", Tokens: 1, Edits: 2, Blind: 1, Fresh: Quoted{2, 1, 2, 1}}},
		{"each hunk of a patch", `{"input":"*** Begin Patch\n*** Update File: h.go\n@@\n func parseHeader() {\n-\treturn nil\n+\treturn err\n@@\n-the run of build_7 failed\n*** End Patch\n"}`, "apply_patch", late,
			Action{Tool: "apply_patch", Tokens: 2, Lacked: []string{"parseHeader"}, Edits: 2, Blind: 1, Fresh: Quoted{2, 1, 3, 1}}},
		{"a patch in a script", `const patch = "*** Begin Patch\n*** Update File: h.go\n@@\n func parseHeader() {\n-\treturn nil\n+\treturn err\n@@\n-the run of build_7 failed\n*** End Patch"; text(await tools.apply_patch(patch));`, "exec", late,
			Action{Tool: "exec", Tokens: 2, Lacked: []string{"parseHeader"}, Edits: 2, Blind: 1, Fresh: Quoted{2, 1, 3, 1}}},
		{"an edit in a script that also does more", `await tools.apply_patch("*** Begin Patch\n*** Update File: h.go\n@@\n-\treturn nil\n*** End Patch"); await tools.exec_command({cmd: check()})`, "exec", late,
			Action{Tool: "exec", Edits: 1, Blind: 1, Fresh: Quoted{1, 1, 1, 0}}},
	} {
		var p Prompt
		p.Set(c.prompt)
		got := tr.Actions(&p, tool("c", c.tool, c.input))
		if diff := cmp.Diff([]Action{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got := tr.Actions(&Prompt{}, text(memkernel.RoleAssistant, "see src/parse/header.go")); len(got) != 0 {
		t.Errorf("text alone is no action: %v", got)
	}
}
