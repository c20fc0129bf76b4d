package toolcall

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Call is a tool call with the paths, effects and names that were read from its input.
type Call struct {
	// Name is the tool. Input is the input as the model wrote it.
	Name, Input string
	// Kind is the effect on files. Paths are the canonical paths of these files, without those
	// that can't be shown.
	Kind  kind
	Paths []string
	// Act is the act that leaves the call's result.
	Act Act
	// Look is the object that the call looks at. Of names the objects that the call depends on or
	// changes: the programs of a command, the server of an MCP tool, any other tool itself, or
	// [Files] for everything that edits change. Of is empty if no act of an agent can change the
	// result.
	Look Look
	Of   []string
	// Command is the command line of a shell call that is not a plain read or write of files.
	Command string
	// Replaces are the Paths whose earlier text is no longer needed after the call, because the
	// call reads the file from its first to its last line, writes all of its text, or deletes it.
	Replaces []string

	// finishes reports that the call completes a task, or that it commits. listed is the number of
	// completed entries if the call writes the whole task list, −1 otherwise.
	finishes bool
	listed   int
	// whole reports that the call writes whole files.
	whole bool
	// canonical is the canonical form of a call that names no file and may be repeated.
	canonical string
}

// Read returns the paths, effects and names that can be read from a call's input. For a script they
// are those of all calls in the script.
func Read(tool, input string) *Call {
	c := read(tool, input)
	if c.Look != LookAct && len(c.Paths) == 0 {
		c.canonical = Canonical(tool, input)
	}
	return c
}

// ofFiles is the Of of a call that changes files. Nothing may write to it.
var ofFiles = []string{Files}

// read reads a call without its canonical form.
func read(tool, input string) *Call {
	c := &Call{Name: tool, Input: input, listed: -1}
	if isScript(tool, input) {
		c.script()
		return c
	}
	base := baseTool(tool)
	var line, dir string
	if among(shellTools, base) {
		line, dir = shellCommand(input)
		cmds, whole := parseShell(line)
		c.Kind, c.Paths = shellCall(line, dir, cmds)
		if c.Look, c.Of = LookAct, ofFiles; c.Kind != CallEdit {
			c.Look, c.Of = looksShell(line, cmds, whole)
		}
		if c.Kind == CallOther {
			c.Command = strings.TrimSpace(line)
		}
	} else {
		c.Kind, c.Paths = fileCall(base, input)
		switch {
		case c.Kind == CallEdit:
			c.Look, c.Of = LookAct, ofFiles
		case c.Kind == CallRead, among(searchTools, base):
			c.Look = LookContent
		default:
			l, server := looksTool(tool)
			c.Look, c.Of = l, []string{server}
		}
	}
	c.Paths = slices.DeleteFunc(c.Paths, func(p string) bool { return !textutil.IsVisible(p) })
	c.Act = actOf(base, c.Kind)
	c.whole = c.Kind == CallEdit && wholeWrite(base, input, line)
	c.Replaces = c.replaces(line)
	c.finishes, c.listed = tasksOf(base, input, line)
	return c
}

// script reads the calls of a script. An edit takes precedence over a read, and a read over any
// other call. The look is the lowest of the calls' looks, but one LookMoving makes the look
// LookMoving.
func (c *Call) script() {
	calls, whole := Unwrap(c.Name, c.Input)
	var lines []string
	for i, in := range calls {
		r := read(in.Name, in.Input)
		switch {
		case r.Kind > c.Kind:
			c.Kind, c.Paths, c.Act, c.Replaces = r.Kind, r.Paths, r.Act, r.Replaces
		case r.Kind == c.Kind:
			c.Paths, c.Act, c.Replaces = append(c.Paths, r.Paths...), max(c.Act, r.Act), append(c.Replaces, r.Replaces...)
		}
		c.whole = c.whole || r.whole
		c.finishes = c.finishes || r.finishes
		if r.Command != "" {
			lines = append(lines, r.Command)
		}
		switch {
		case i == 0, r.Look == LookMoving, r.Look < c.Look && c.Look != LookMoving:
			c.Look, c.Of = r.Look, r.Of
		case r.Look == c.Look:
			c.Of = append(c.Of, r.Of...)
		}
	}
	switch {
	case c.Kind == CallEdit:
		c.Look, c.Of = LookAct, ofFiles
	case !whole:
		c.Look, c.Of = LookUnknown, append(c.Of, Files)
	}
	c.Command = strings.Join(lines, "; ")
}

// Is reports whether c is the call of a tool with an input.
func (c *Call) Is(tool, input string) bool { return c.Name == tool && c.Input == input }

// Path returns the canonical path that the call names, "" if it names no path. For a patch of
// several files it is the first path.
func (c *Call) Path() string {
	if len(c.Paths) > 0 {
		return c.Paths[0]
	}
	return ""
}

// Canonical returns the form of the call that is equal for equal calls.
func (c *Call) Canonical() string {
	if c.canonical != "" {
		return c.canonical
	}
	return Canonical(c.Name, c.Input)
}
