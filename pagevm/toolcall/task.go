package toolcall

import (
	"encoding/json"
	"slices"
	"strings"
)

// Replaces reports whether the earlier text of a file is no longer needed after a call, because
// the call reads the file from its first to its last line, writes all of its text, or deletes it.
func (c *Call) Replaces(file string) bool {
	switch c.Kind {
	case CallRead:
		part := partReads
		if among(shellTools, baseTool(c.Name)) {
			part = partCommands
		}
		return !slices.ContainsFunc(part, func(s string) bool { return strings.Contains(c.Input, s) })
	case CallEdit:
		if strings.Contains(c.Input, "*** Begin Patch") {
			return strings.Contains(c.Input, "*** Delete File: "+file) || strings.Contains(c.Input, "*** Add File: "+file)
		}
		return Written(c.Name, c.Input).Whole && !strings.Contains(c.Input, "sed ") && !strings.Contains(c.Input, "cp ")
	}
	return false
}

// partReads are the arguments, and partCommands the commands, that read a part of a file.
var (
	partReads    = []string{`"offset"`, `"limit"`, `"view_range"`, `"start_line"`, `"end_line"`}
	partCommands = []string{"sed ", "head ", "tail ", "|"}
)

// Tasks follows the finished tasks of a session.
type Tasks struct {
	// done is the number of completed entries of the task list.
	done int
}

// Finish reports whether a call finishes a task: it completes an entry of the task list, or it
// commits. The calls of a session must come in order.
func (t *Tasks) Finish(c *Call) bool {
	switch name := strings.ToLower(baseTool(c.Name)); {
	case name == "taskupdate":
		return ArgsOf(c.Input).Get("status") == `"completed"`
	case among(listTools, name):
		was := t.done
		t.done = strings.Count(c.Input, `"completed"`)
		return t.done > was
	}
	return commits(c.Input)
}

// listTools take the whole task list.
var listTools = Names("todowrite todo_write write_todos update_plan")

// commits reports whether the input of a shell call runs git commit.
func commits(input string) bool {
	var in struct{ Command, Cmd json.RawMessage }
	if !strings.Contains(input, "commit") {
		return false
	}
	if input[0] == '{' && (json.Unmarshal([]byte(input), &in) != nil || in.Command == nil && in.Cmd == nil) {
		return false
	}
	for _, rest := range strings.Split(input, "git ")[1:] {
		words := strings.Fields(rest)
		for len(words) > 1 && strings.HasPrefix(words[0], "-") {
			from := 1
			if words[0] == "-C" || words[0] == "-c" {
				from = 2
			}
			words = words[min(from, len(words)):]
		}
		if len(words) > 0 && strings.Trim(words[0], `"'`) == "commit" {
			return true
		}
	}
	return false
}
