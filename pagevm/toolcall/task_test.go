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
		{"Bash", `{"command":"cat /a.go"}`, []string{"/a.go"}, false},
		{"Bash", `{"command":"head -5 /a.go"}`, nil, false},
		{"Write", `{"file_path":"/a.go","content":"The name is used by sed and cp here."}`, []string{"/a.go"}, false},
		{"Edit", `{"file_path":"/a.go","old_string":"a","new_string":"b"}`, nil, false},
		{"Bash", `{"command":"sed -i s/a/b/ /a.go"}`, nil, false},
		{"Bash", `{"command":"echo a > /a.go"}`, []string{"/a.go"}, false},
		{"Bash", `{"command":"echo a >> /a.go"}`, nil, false},
		{"apply_patch", "*** Begin Patch\n*** Delete File: /a.go\n*** Update File: /b.go\n*** End Patch", []string{"/a.go"}, false},
		{"Bash", `{"command":"git -C /w commit -m 'a'"}`, nil, true},
		{"Bash", `{"command":"git log","description":"Look for the git commit"}`, nil, false},
		{"TaskUpdate", `{"taskId":"1","status":"completed"}`, nil, true},
		{"exec", `await tools.exec_command({cmd: "cat /a.go"})`, []string{"/a.go"}, false},
		{"exec", `await tools.exec_command({cmd: "git commit -m a"})`, nil, true},
	} {
		call := Read(c.tool, c.input)
		if !slices.Equal(call.Replaces, c.replaces) || call.Task.Finished != c.finished {
			t.Errorf("%s %s: replaces %q, finished %v", c.tool, c.input, call.Replaces, call.Task.Finished)
		}
	}
	var tasks Tasks
	for i, want := range []bool{false, true, false} {
		list := []string{`{"todos":[{"status":"pending"}]}`, `{"todos":[{"status":"completed"}]}`, `{"todos":[{"status":"completed"}]}`}[i]
		if got := tasks.Finish(Read("TodoWrite", list)); got != want {
			t.Errorf("list %d: finished %v", i, got)
		}
	}
}
