package toolcall

import (
	"slices"
	"strings"
)

// replaces returns the paths that [Call.Replaces] names. The line is that of a shell call.
func (c *Call) replaces(line string) []string {
	switch {
	case c.Kind == CallRead && line != "":
		if hasAny(line, partCommands) {
			return nil
		}
	case c.Kind == CallRead:
		if hasAny(c.Input, partReads) {
			return nil
		}
	case c.Kind == CallEdit && strings.Contains(c.Input, "*** Begin Patch"):
		var out []string
		for _, p := range c.Paths {
			if strings.Contains(c.Input, "*** Delete File: "+p) || strings.Contains(c.Input, "*** Add File: "+p) {
				out = append(out, p)
			}
		}
		return out
	case !c.whole || strings.Contains(line, "sed ") || strings.Contains(line, "cp "):
		return nil
	}
	return c.Paths
}

// partReads are the arguments, and partCommands the commands, that read a part of a file.
var (
	partReads    = []string{`"offset"`, `"limit"`, `"view_range"`, `"start_line"`, `"end_line"`}
	partCommands = []string{"sed ", "head ", "tail ", "|"}
)

func hasAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// Task is what a call does to the tasks of a session.
type Task struct {
	// Finished: the call completes an entry of the task list, or it commits.
	Finished bool
	// Lists: the call writes the whole task list, with Done completed entries.
	Lists bool
	Done  int
}

// Tasks follows the finished tasks of a session.
type Tasks struct {
	// done is the number of completed entries of the task list.
	done int
}

// Finish reports whether a call finishes a task. The calls of a session must come in order.
func (t *Tasks) Finish(c *Call) bool {
	was := t.done
	if c.Task.Lists {
		t.done = c.Task.Done
	}
	return c.Task.Finished || t.done > was
}

// listTools take the whole task list.
var listTools = Names("todowrite todo_write write_todos update_plan")

// taskOf reads what a call does to the tasks.
func taskOf(base, input, line string) Task {
	switch {
	case strings.EqualFold(base, "taskupdate"):
		return Task{Finished: ArgsOf(input).Get("status") == `"completed"`}
	case among(listTools, base):
		return Task{Lists: true, Done: strings.Count(input, `"completed"`)}
	}
	return Task{Finished: commits(line)}
}

// commits reports whether a shell line runs git commit.
func commits(line string) bool {
	if !strings.Contains(line, "commit") {
		return false
	}
	for _, rest := range strings.Split(line, "git ")[1:] {
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
