package toolcall

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// replaces returns the value of [Call.Replaces]. line is the command line of a shell call, "" for
// other calls.
func (c *Call) replaces(line string) []string {
	switch {
	case c.Kind == CallRead:
		text, marks := c.Input, partReads
		if line != "" {
			text, marks = line, partCommands
		}
		if slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(text, m) }) {
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

// Tasks counts the completed tasks of a session.
type Tasks struct {
	// done is the number of completed entries of the task list.
	done int
}

// Finish reports whether a call finishes a task: it completes an entry of the task list, or it
// commits. The calls of a session must come in order.
func (t *Tasks) Finish(c *Call) bool {
	was := t.done
	if c.listed >= 0 {
		t.done = c.listed
	}
	return c.finishes || t.done > was
}

// listTools are the tools whose input is the whole task list.
var listTools = textutil.Set("todowrite todo_write write_todos update_plan")

// tasksOf returns the values of [Call]'s fields finishes and listed. line is the command line of a
// shell call.
func tasksOf(base, input, line string) (finishes bool, listed int) {
	if among(listTools, base) {
		return false, strings.Count(input, `"completed"`)
	}
	return commit.MatchString(line) || strings.EqualFold(base, "taskupdate") && ArgsOf(input).Get("status") == `"completed"`, -1
}

// commit matches a run of git commit, with git's own options before the word.
var commit = textutil.LazyRegexp(`git (?:\s*-(?:[cC]\s+\S+|[cC]\S+|[^\scC]\S*)?\s)*\s*["']*commit["']*(?:\s|$)`)
