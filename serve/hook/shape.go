package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
)

// smallEvent is the size in bytes below which no result in an event is large enough to be
// shaped.
const smallEvent = 8000

// shapeWait is how long a tool's result waits for the session's lock at most.
const shapeWait = 2 * time.Second

// tool describes how a host hands over a tool's result, and how it takes a replacement. Only
// tools that were tried on the host have a row, because a host may reject another structure.
type tool struct {
	// name is the tool's name, or the prefix of the names of all such tools.
	name string
	// field is the member that holds the text. It is "" if the result is the text itself, or a
	// list of one block of text.
	field string
	// plain are members that must have these values if they are present. With other values the
	// result is not plain text.
	plain map[string]string
	// saved is the member that names a file with the whole text, if the field holds only the
	// beginning of the text. A shaped result leaves this member out.
	saved string
	// preview is the number of bytes that the host shows of such a text.
	preview int
	// drop are further members that a shaped result leaves out.
	drop []string
}

// claudeTools were tried with Claude Code 2.1.332. Read has no row, because the host numbers the
// lines of a file's replacement. Glob has none, because it lists at most a hundred files, and
// Agent has none, because a model wrote its result.
var claudeTools = []tool{
	{name: "Bash", field: "stdout", plain: map[string]string{"stderr": `""`, "interrupted": "false", "isImage": "false", "backgroundTaskId": ""},
		saved: "persistedOutputPath", preview: 2000, drop: []string{"persistedOutputPath", "persistedOutputSize"}},
	{name: "Grep", field: "content", plain: map[string]string{"mode": `"content"`}},
	{name: "mcp__"},
}

// shape stores a large result that the model has not seen yet and returns its replacement. The
// answer is empty if nothing changes, because other hooks of the event may also replace the
// result, and the last answer wins.
func (h *handler) shape(ctx context.Context) (a answer, err error) {
	text, shown, put := h.result()
	if len(text) < smallEvent {
		return a, nil
	}
	result := api.Result{SessionKey: h.key, Text: text, Shown: shown, Resolver: h.resolver(), Call: memkernel.ToolCall{ID: h.e.Call, Name: h.e.Tool, Input: string(h.e.Input)}}
	if !result.MayShape() {
		return a, nil
	}
	ctx, cancel := context.WithTimeout(ctx, shapeWait)
	defer cancel()
	if h.setup, err = h.Open(ctx, h.workspace, h.stateDir); err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, h.setup.close()) }()
	r, err := readRecord(h.stateDir, h.key) // without its lock: nothing is written
	if err != nil || carries(h.setup.Kernel, h.key, r.Prompted, h.Now()) {
		return a, err
	}
	shaped, err := h.setup.Kernel.Hooks().Shape(ctx, result)
	if err == nil && shaped != "" {
		a.output = put(shaped)
	}
	return a, err
}

// result returns the text of the event's result, "" for a result that is not shaped. shown is how
// much of the text the host shows by itself, 0 for all. put returns the result with another text
// in its place.
func (h *handler) result() (text string, shown int, put func(string) json.RawMessage) {
	i := slices.IndexFunc(h.Host.row().tools, func(t tool) bool {
		return t.name == h.e.Tool || strings.HasSuffix(t.name, "_") && strings.HasPrefix(h.e.Tool, t.name)
	})
	if i < 0 || h.e.Call == "" || strings.Contains(h.e.Tool, "memkernel") {
		return "", 0, nil
	}
	t := h.Host.row().tools[i]
	if t.field == "" {
		text, put = block(h.e.Response)
		return text, 0, put
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(h.e.Response, &members) != nil || json.Unmarshal(members[t.field], &text) != nil {
		return "", 0, nil
	}
	for name, want := range t.plain {
		if v, ok := members[name]; ok && string(v) != want {
			return "", 0, nil
		}
	}
	if saved := members[t.saved]; saved != nil {
		text, shown = h.saved(saved, text), t.preview
	}
	return text, shown, func(shaped string) json.RawMessage {
		for _, name := range t.drop {
			delete(members, name)
		}
		members[t.field] = unescaped(shaped)
		return unescaped(members)
	}
}

// block reads a result that is a text, or a list of one block of text.
func block(raw json.RawMessage) (text string, put func(string) json.RawMessage) {
	if json.Unmarshal(raw, &text) == nil {
		return text, func(shaped string) json.RawMessage { return unescaped(shaped) }
	}
	var blocks []map[string]json.RawMessage
	if json.Unmarshal(raw, &blocks) != nil || len(blocks) != 1 || string(blocks[0]["type"]) != `"text"` || json.Unmarshal(blocks[0]["text"], &text) != nil {
		return "", nil
	}
	return text, func(shaped string) json.RawMessage {
		blocks[0]["text"] = unescaped(shaped)
		return unescaped(blocks)
	}
}

// unescaped marshals a value without HTML escapes, since people read it, too.
func unescaped(v any) json.RawMessage {
	data, err := textutil.JSON(v)
	if err != nil {
		panic("hook: " + err.Error()) // strings and what was read from JSON always marshal
	}
	return data
}

// saved reads the file in which the host keeps the whole of a long text. The file must belong to
// the session, and must begin with begins.
func (h *handler) saved(raw json.RawMessage, begins string) string {
	var path string
	if json.Unmarshal(raw, &path) != nil || filepath.Dir(path) != filepath.Join(strings.TrimSuffix(h.e.Transcript, ".jsonl"), "tool-results") {
		return ""
	}
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxEvent {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(data), strings.TrimSpace(begins)) {
		return ""
	}
	return string(data)
}

// resolver returns the command by which the model can read a page. It returns "" unless the
// session can run commands and the host permits this command.
func (h *handler) resolver() string {
	program := "memkernel"
	if _, err := exec.LookPath(program); err != nil {
		if program, err = os.Executable(); err != nil {
			return ""
		}
	}
	command := program + " get -s " + h.key
	if !plainInShell(program+h.key) || !h.permitted(program+" get") || !h.runsCommands() {
		return ""
	}
	return command
}

// runsCommands reports whether the agent that made the call has the tool that runs commands. The
// agent has it if this call is a call of that tool, or if the session called that tool before.
func (h *handler) runsCommands() bool {
	if h.e.Tool == "Bash" || h.e.AgentID != "" {
		return h.e.Tool == "Bash"
	}
	data, err := os.ReadFile(h.e.Transcript)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		var m struct {
			Message struct {
				Content []struct{ Type, Name string }
			}
		}
		if bytes.Contains(line, []byte(`"name":"Bash"`)) && json.Unmarshal(line, &m) == nil {
			for _, c := range m.Message.Content {
				if c.Type == "tool_use" && c.Name == "Bash" {
					return true
				}
			}
		}
	}
	return false
}

// permitted reports whether the host lets the model run a command. The host does so if it needs
// no permission, if it can ask a person, or if the user's or the project's settings allow the
// command.
func (h *handler) permitted(command string) bool {
	switch h.e.Mode {
	case "bypassPermissions":
		return true
	case "plan":
		return false
	}
	config := h.Getenv("CLAUDE_CONFIG_DIR")
	if home, err := os.UserHomeDir(); config == "" && err == nil {
		config = filepath.Join(home, ".claude")
	}
	allowed := h.Getenv("CLAUDE_CODE_ENTRYPOINT") == "cli" && h.e.Mode != "dontAsk"
	project := filepath.Join(h.workspace, ".claude")
	for _, path := range []string{filepath.Join(config, "settings.json"), filepath.Join(project, "settings.json"), filepath.Join(project, "settings.local.json")} {
		var s struct {
			Permissions struct{ Allow, Deny []string }
		}
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &s) != nil {
			continue
		}
		covers := func(rule string) bool { return covers(rule, command) }
		if slices.ContainsFunc(s.Permissions.Deny, covers) {
			return false
		}
		allowed = allowed || slices.ContainsFunc(s.Permissions.Allow, covers)
	}
	return allowed
}

// covers reports whether a rule of Claude Code's permissions covers a command with any arguments.
func covers(rule, command string) bool {
	of, ok := strings.CutPrefix(rule, "Bash(")
	if !ok {
		return rule == "Bash"
	}
	of = strings.TrimSuffix(of, ")")
	begin, any := strings.CutSuffix(of, "*")
	begin = strings.TrimRight(begin, ": ")
	return any && (begin == "" || command == begin || strings.HasPrefix(command, begin+" "))
}
