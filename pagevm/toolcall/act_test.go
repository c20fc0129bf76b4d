package toolcall

import "testing"

func TestActOf(t *testing.T) {
	cases := []struct {
		tool, input string
		want        Act
	}{
		{"Read", `{"file_path":"a/b.go"}`, ActRead},
		{"bash", `{"command":"cat a/b.go"}`, ActRead},
		{"Edit", `{"file_path":"a/b.go"}`, ActEdited},
		{"Grep", `{"pattern":"x"}`, ActSearch},
		{"mcp__fs__search_files", `{"pattern":"x"}`, ActSearch},
		{"list_files", `{"path":"src"}`, ActSearch},
		{"shell_command", `{"command":"pnpm test","workdir":"/w"}`, ActShell},
		{"Bash", `{"command":"go test ./..."}`, ActShell},
		{"WebFetch", `{"url":"https://example.org"}`, ActOther},
	}
	for _, tc := range cases {
		if got := Read(tc.tool, tc.input).Act; got != tc.want {
			t.Errorf("%s %s: %v, want %v", tc.tool, tc.input, got, tc.want)
		}
	}
}
