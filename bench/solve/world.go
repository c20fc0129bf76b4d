package solve

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// world is the data that tools work on: files, and commands with their output. Commands in once
// print their output only once. Commands in fails end with an exit status.
type world struct {
	files   map[string]string
	outputs map[string]string
	once    map[string]bool
	fails   map[string]bool
	ran     map[string]bool
}

// call runs a tool. If failed is true, text is the error message for the agent.
func (w *world) call(name, input string) (text string, failed bool) {
	var a struct{ Path, Line, With, Text, Command string }
	if err := json.Unmarshal([]byte(input), &a); err != nil {
		return "the arguments are no JSON: " + err.Error(), true
	}
	old, there := w.files[a.Path]
	switch name {
	case "read_file":
		if !there {
			return "no such file: " + a.Path, true
		}
		return old, false
	case "write_file":
		w.files[a.Path] = strings.TrimSuffix(a.Text, "\n") + "\n"
		return "wrote " + a.Path, false
	case "append_file":
		w.files[a.Path] = old + strings.TrimSuffix(a.Text, "\n") + "\n"
		return "appended to " + a.Path, false
	case "edit_file":
		lines := strings.Split(old, "\n")
		at := slices.Index(lines, a.Line)
		if at < 0 || slices.Contains(lines[at+1:], a.Line) {
			return fmt.Sprintf("%s does not have this line exactly once", a.Path), true
		}
		lines[at] = a.With
		w.files[a.Path] = strings.Join(lines, "\n")
		return "edited " + a.Path, false
	case "run":
		out, known := w.outputs[a.Command]
		if !known || w.once[a.Command] && w.ran[a.Command] {
			return a.Command + ": not available", true
		}
		w.ran[a.Command] = true
		if w.fails[a.Command] {
			return out + "exit status 1\n", true
		}
		return out, false
	}
	return "no such tool: " + name, true
}

// tool is the definition of a tool. All its arguments are texts.
type tool struct {
	name, about string
	args        []string
}

var own = []tool{
	{"read_file", "Read a file.", []string{"path"}},
	{"write_file", "Create a file with a text.", []string{"path", "text"}},
	{"append_file", "Append a line to a file.", []string{"path", "text"}},
	{"edit_file", "Replace one whole line of a file, which must stand in it exactly once.", []string{"path", "line", "with"}},
	{"run", "Run a command.", []string{"command"}},
}

// schema returns the schema of the tool's arguments.
func (t tool) schema() map[string]any {
	args := map[string]any{}
	for _, a := range t.args {
		args[a] = map[string]string{"type": "string"}
	}
	return map[string]any{"type": "object", "properties": args, "required": t.args}
}

// definition returns the definition of a tool as JSON for Anthropic's API.
func definition(name, about string, schema any) string {
	raw, err := json.Marshal(map[string]any{"name": name, "description": about, "input_schema": schema})
	if err != nil {
		panic(err) // the value has only strings and a schema, which are always encodable
	}
	return string(raw)
}
