package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// Host is a coding agent that runs commands at certain points of a session.
type Host string

// The hosts.
const (
	claude Host = "claude"
	codex  Host = "codex"
	gemini Host = "gemini"
)

// host has the facts that the package needs to know about a host.
type host struct {
	name Host
	// settings is the file of the host's hooks, in the folder of the host's name.
	settings string
	// comments reports whether the file may have comments.
	comments bool
	// project is the variable that names the project's folder, "" if there is none.
	project string
	moments map[string]moment
	// dialect is the dialect of the host's transcript. The transcript is a file of one record per
	// line that only grows.
	dialect transcript.Dialect
	// whole means that records may change earlier records, so that the whole file is read each
	// time.
	whole bool
	// text means that the summariser's instructions are plain text, and that an empty answer is
	// no text at all. All other hosts read JSON, and the empty object fits each of their schemas.
	text bool
	// late means that the host puts the text of the start before the words of the first prompt.
	// The hook sends that text with the prompt. The host also announces compactions that may not
	// come.
	late bool
	// loads are the files that the host itself shows to its model: instructions, and the index of
	// its own memories.
	loads []string
	// tools are the host's tools whose large results are shaped before the model sees them.
	tools []tool
	// named means that the host counts timeouts in milliseconds, and shows hooks by a name.
	named bool
}

// hosts has the rows of all hosts, in the order in which messages list the hosts.
var hosts = []host{
	{name: claude, settings: "settings.json", project: "CLAUDE_PROJECT_DIR", text: true, dialect: transcript.ClaudeCode,
		loads: []string{"CLAUDE.md", "CLAUDE.local.md", "claude:MEMORY.md"}, tools: claudeTools,
		moments: map[string]moment{"SessionStart": sessionStart, "UserPromptSubmit": userPrompt, "PostToolUse": toolResult, "PreCompact": beforeCompaction, "PostCompact": afterCompaction, "Stop": turnEnd, "SessionEnd": sessionEnd}},
	{name: codex, settings: "hooks.json",
		dialect: transcript.Codex,
		loads:   []string{"AGENTS.md", "AGENTS.override.md"},
		moments: map[string]moment{"SessionStart": sessionStart, "UserPromptSubmit": userPrompt, "PreCompact": beforeCompaction, "Stop": turnEnd}},
	{name: gemini, settings: "settings.json", comments: true, project: "GEMINI_PROJECT_DIR", late: true, named: true, dialect: transcript.GeminiCLI, whole: true,
		loads:   []string{"GEMINI.md"},
		moments: map[string]moment{"SessionStart": sessionStart, "BeforeAgent": userPrompt, "PreCompress": beforeCompaction, "AfterAgent": turnEnd, "SessionEnd": sessionEnd}},
}

// row returns the row of a host. It returns an empty row if the host is unknown.
func (h Host) row() *host {
	for i := range hosts {
		if hosts[i].name == h {
			return &hosts[i]
		}
	}
	return &host{}
}

// HostNames returns the hosts as text.
func HostNames() (out []string) {
	for i := range hosts {
		out = append(out, string(hosts[i].name))
	}
	return out
}

// ParseHost returns the host of a name that a person wrote.
func ParseHost(name string) (Host, error) {
	if h := Host(textutil.MeantHost(name, HostNames())); h != "" && h.row().name == h {
		return h, nil
	}
	return "", fmt.Errorf("unknown host %q: give one of %s", name, strings.Join(HostNames(), ", "))
}

// Key returns the key of a session of the host.
func (h Host) Key(sessionID string) string { return string(h) + ":" + sessionID }

// maxEvent bounds the size of an event in bytes. An event contains a whole prompt.
const maxEvent = 32 << 20 // 32 MiB

// event has the members of the hosts' events that the package uses. Other members are ignored.
type event struct {
	Name       string `json:"hook_event_name"`
	SessionID  string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Cwd        string `json:"cwd"`
	Model      string `json:"model"`
	// Source is how a session started: startup, resume, clear, compact, fork.
	Source string `json:"source"`
	// Prompt is the user's prompt.
	Prompt string `json:"prompt"`
	// AgentType is the agent that the session runs as, if the host has several kinds of agents.
	AgentType string `json:"agent_type"`
	// Trigger is the reason for which a compaction was begun.
	Trigger string `json:"trigger"`
	// Reason is the reason for which a session ended.
	Reason string `json:"reason"`
	// Summary is the text that the host's summariser wrote.
	Summary string `json:"compact_summary"`
	// Tool is the tool whose call has ended, with its Input and Response.
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	// Call is the id of the tool's call.
	Call string `json:"tool_use_id"`
	// AgentID is set if a subagent called the tool.
	AgentID string `json:"agent_id"`
	// Mode is the host's permission mode.
	Mode string `json:"permission_mode"`

	resumed resumed
}

// resumed describes a session that Claude Code resumes: the tokens that its first request sends
// again, and their cost if the cache has expired.
type resumed struct {
	Tokens  int     `json:"context_tokens"`
	Expired bool    `json:"prompt_cache_likely_expired"`
	USD     float64 `json:"estimated_cache_write_usd"`
}

// message returns a line for the user with the cost of the next message, "" if the cache is warm.
// No model reads it.
func (r resumed) message() string {
	if !r.Expired || r.Tokens <= 0 {
		return ""
	}
	text := fmt.Sprintf("memkernel: the prompt cache has likely expired. Your next message writes the session's %d tokens to it again", r.Tokens)
	if r.USD > 0 {
		text += fmt.Sprintf(", for about $%.2f", r.USD)
	}
	return text + "."
}

// readEvent reads one JSON document to the end.
func readEvent(r io.Reader) (*event, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxEvent+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the event: %w", err)
	case len(data) > maxEvent:
		return nil, fmt.Errorf("read the event: it has more than %d bytes", maxEvent)
	}
	e := &event{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	_ = json.Unmarshal(data, &e.resumed) // a remark: the event does not depend on it
	if e.Name == "" {
		return e, errors.New("read the event: it has no hook_event_name")
	}
	return e, nil
}

// moment is the meaning of an event, independent of the host's name for it.
type moment int

const (
	otherMoment moment = iota
	sessionStart
	userPrompt
	toolResult
	beforeCompaction
	afterCompaction
	turnEnd
	sessionEnd
)

// Events returns the events of a host that the package answers, in the order of a session.
func (h Host) Events() []string {
	var out []string
	for m := sessionStart; m <= sessionEnd; m++ {
		for name, of := range h.row().moments {
			if of == m {
				out = append(out, name)
			}
		}
	}
	return out
}

// answer is a hook's answer to its host: text for the model, or nothing.
type answer struct {
	// context is added to the model's input. summariser is added to the prompt of the host's
	// summariser. A host gets only the texts that it can take.
	context    string
	summariser string
	// message is shown only to the person.
	message string
	// output replaces the result of a tool, in the tool's own structure. A nil output leaves the
	// result.
	output json.RawMessage
}

// render returns the answer in the form that the host expects for this event.
func (a answer) render(h Host, e *event) []byte {
	text := h.row().text
	if text && a.summariser != "" {
		return []byte(a.summariser)
	}
	var out struct { // the members that the strictest host allows
		Specific *specific `json:"hookSpecificOutput,omitempty"`
		Message  string    `json:"systemMessage,omitempty"`
	}
	if out.Message = a.message; a.context != "" || a.output != nil {
		out.Specific = &specific{e.Name, a.context, a.output}
	} else if text && a.message == "" {
		return nil
	}
	return append(unescaped(out), '\n')
}

// specific is the text for the model.
type specific struct {
	Event   string          `json:"hookEventName"`
	Context string          `json:"additionalContext,omitempty"`
	Output  json.RawMessage `json:"updatedToolOutput,omitempty"`
}
