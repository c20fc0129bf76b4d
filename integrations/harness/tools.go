package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/serve/tools"
	"github.com/memkernel/memkernel/transcript"
)

// toolbox has the tools that the model may call: two tools of this program and the memory tools.
type toolbox struct {
	root   *os.Root
	memory *tools.Set
	// known adds the memory tool that Anthropic's models know by themselves.
	known bool
	// allow asks the user whether a command may run.
	allow func(command string) bool
}

// own are this program's tools. Each takes one argument, which is a text.
var own = []struct{ name, description, argument string }{
	{"read_file", "Read a file of the workspace.", "path"},
	{"run_command", "Run a shell command in the workspace, if the user allows it.", "command"},
}

// definitions returns all tools in an API's form.
func (t *toolbox) definitions(api transcript.Format) ([]memkernel.Tool, error) {
	raw, err := t.memory.Tools(tools.Format(api), false)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, o := range own {
		list = append(list, definition(api, o.name, o.description, o.argument))
	}
	if t.known && api == transcript.FormatAnthropic {
		list = append(list, json.RawMessage(fmt.Sprintf(`{"type":%q,"name":%q}`, tools.MemoryToolType, tools.MemoryTool)))
	}
	var out []memkernel.Tool
	for _, raw := range list {
		out = append(out, memkernel.Tool{Name: nameOf(raw), Raw: string(raw)})
	}
	return out, nil
}

func definition(api transcript.Format, name, description, argument string) json.RawMessage {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, argument, argument)
	if api == transcript.FormatAnthropic {
		return json.RawMessage(fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":%s}`, name, description, schema))
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":%q,"parameters":%s}}`, name, description, schema))
}

func nameOf(raw json.RawMessage) string {
	var d struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	json.Unmarshal(raw, &d) // both forms are made above
	return d.Name + d.Function.Name
}

// run answers a call. An error is text, too, because the model must read it.
func (t *toolbox) run(ctx context.Context, name string, input json.RawMessage) (text string, failed bool) {
	var args struct{ Path, Command string }
	switch name {
	case "read_file", "run_command":
		if err := json.Unmarshal(input, &args); err != nil {
			return "the arguments are no JSON: " + err.Error(), true
		}
	}
	var out []byte
	var err error
	switch name {
	case "read_file":
		out, err = t.read(args.Path)
	case "run_command":
		out, err = t.command(ctx, args.Command)
	case tools.MemoryTool:
		if text, failed, err = t.memory.Memory(ctx, input); err == nil {
			return text, failed
		}
	default:
		out, err = t.memory.Call(ctx, name, input)
	}
	if err != nil {
		return strings.TrimSpace(string(out) + "\n" + err.Error()), true
	}
	return string(out), false
}

// read reads a file of the workspace. The root refuses a path that leads out of the workspace.
func (t *toolbox) read(path string) ([]byte, error) {
	f, err := t.root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func (t *toolbox) command(ctx context.Context, command string) ([]byte, error) {
	if !t.allow(command) {
		return nil, fmt.Errorf("the user does not allow it")
	}
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir = t.root.Name()
	return c.CombinedOutput()
}
