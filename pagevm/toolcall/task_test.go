package toolcall

import (
	"slices"
	"testing"
)

// TestReplacesAndTasks: a call replaces the text of the files that it reads, writes or deletes
// whole, and finishes a task if it commits or completes one.
func TestReplacesAndTasks(t *testing.T) {
	for _, c := range []struct {
		tool, input string
		replaces    []string
		finished    bool
	}{
		{"Read", `{"file_path":"/a.go"}`, []string{"/a.go"}, false},
		{"Read", `{"file_path":"/a.go","offset":9}`, nil, false},
		{"Bash", `{"command":"head -5 /a.go"}`, nil, false},
		{"Write", `{"file_path":"/a.go","content":"The name is used by sed and cp here."}`, []string{"/a.go"}, false},
		{"Bash", `{"command":"sed -i s/a/b/ /a.go"}`, nil, false},
		{"apply_patch", "*** Begin Patch\n*** Delete File: /a.go\n*** Update File: /b.go\n*** End Patch", []string{"/a.go"}, false},
		{"Bash", `{"command":"git -C /w commit -m 'a'"}`, nil, true},
		{"Bash", `{"command":"git log","description":"Look for the git commit"}`, nil, false},
		{"exec", `await tools.exec_command({cmd: "cat /a.go"})`, []string{"/a.go"}, false},
	} {
		call := Read(c.tool, c.input)
		if !slices.Equal(call.Replaces, c.replaces) || call.finishes != c.finished {
			t.Errorf("%s %s: replaces %q, finished %v", c.tool, c.input, call.Replaces, call.finishes)
		}
	}
	tasks, done := Tasks{}, Read("TodoWrite", `{"todos":[{"status":"completed"}]}`)
	if !tasks.Finish(done) || tasks.Finish(done) {
		t.Error("an entry of the list is not completed once")
	}
}
