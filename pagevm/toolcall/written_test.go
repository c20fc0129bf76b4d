package toolcall

import (
	"slices"
	"testing"
)

func TestWritten(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		want        written
	}{
		{"Write", `{"file_path":"MEMORY.md","content":"# M\n- a"}`, written{New: []string{"# M\n- a"}, Whole: true}},
		{"Edit", `{"file_path":"MEMORY.md","old_string":"- a","new_string":"- a\n- b"}`, written{New: []string{"- a\n- b"}, Old: []string{"- a"}}},
		{"edit", `{"path":"MEMORY.md","oldText":"- a","newText":"- b"}`, written{New: []string{"- b"}, Old: []string{"- a"}}},
		{"MultiEdit", `{"file_path":"M.md","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}`, written{New: []string{"b", "d"}, Old: []string{"a", "c"}}},
		{"apply_patch", "*** Begin Patch\n*** Update File: MEMORY.md\n@@\n - a\n-- b\n+- c\n*** End Patch", written{New: []string{"- c"}, Old: []string{"- a", "- b"}}},
		{"str_replace_based_edit_tool", `{"command":"create","path":"MEMORY.md","file_text":"- a"}`, written{New: []string{"- a"}, Whole: true}},
		{"Bash", `{"command":"echo '- a' >> MEMORY.md"}`, written{New: []string{"echo '- a' >> MEMORY.md", "- a"}}},
		{"Bash", `{"command":"echo \"- a\" > MEMORY.md"}`, written{New: []string{`echo "- a" > MEMORY.md`, "- a"}, Whole: true}},
		{"Read", `{"file_path":"MEMORY.md"}`, written{}},
		{"Bash", `{"command":"cat MEMORY.md"}`, written{}},
		{"Write", `not JSON`, written{Whole: true}},
	} {
		if got := Written(c.tool, c.input); !slices.Equal(got.New, c.want.New) || !slices.Equal(got.Old, c.want.Old) || got.Whole != c.want.Whole {
			t.Errorf("%s %s: %+v, want %+v", c.tool, c.input, got, c.want)
		}
	}
}
