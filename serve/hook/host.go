package hook

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// Host is a harness that runs commands at moments of a session.
type Host string

// The hosts.
const (
	Claude Host = "claude"
	Codex  Host = "codex"
	Gemini Host = "gemini"
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
	// loads are the files of instructions that the host itself shows to its model, and the index of
	// its own memories.
	loads []string
	// tools are the host's tools whose large results are shaped before the model sees them.
	tools []tool
	// named means that the host counts timeouts in milliseconds, and shows hooks by a name.
	named bool
}

// hosts has the rows of all hosts, in the order in which messages list the hosts.
var hosts = []host{
	{name: Claude, settings: "settings.json", project: "CLAUDE_PROJECT_DIR", text: true, dialect: transcript.ClaudeCode,
		loads: []string{"CLAUDE.md", "CLAUDE.local.md", "claude:MEMORY.md"}, tools: claudeTools,
		moments: map[string]moment{"SessionStart": sessionStart, "UserPromptSubmit": userPrompt, "PostToolUse": toolResult, "PreCompact": beforeCompaction, "PostCompact": afterCompaction, "Stop": turnEnd, "SessionEnd": sessionEnd}},
	{name: Codex, settings: "hooks.json",
		dialect: transcript.Codex,
		loads:   []string{"AGENTS.md", "AGENTS.override.md"},
		moments: map[string]moment{"SessionStart": sessionStart, "UserPromptSubmit": userPrompt, "PreCompact": beforeCompaction, "Stop": turnEnd}},
	{name: Gemini, settings: "settings.json", comments: true, project: "GEMINI_PROJECT_DIR", late: true, named: true, dialect: transcript.GeminiCLI, whole: true,
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
