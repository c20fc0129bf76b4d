package cli

import (
	"os"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
)

// agentMarks are variables that coding agents set for the commands that they run. AGENT is the
// variable that agents.md proposes (Goose, Amp and Pi set it) and AI_AGENT the one of Vercel's
// detect-agent. The others are in the documentation of the agent, or in detect-agent 1.2.0:
// Claude Code, Codex, Gemini CLI, Cursor, OpenCode, Cline, Copilot, Augment, Antigravity, Trae,
// Goose.
var agentMarks = strings.Fields(`AGENT AI_AGENT CLAUDECODE CLAUDE_CODE CODEX_SANDBOX CODEX_CI CODEX_THREAD_ID CODEX_SHELL GEMINI_CLI CURSOR_AGENT
	OPENCODE OPENCODE_CLIENT CLINE_ACTIVE COPILOT_CLI COPILOT_AGENT AUGMENT_AGENT ANTIGRAVITY_AGENT TRAE_AI_SHELL_ID GOOSE_TERMINAL`)

// Voice returns the author of what a verb writes to memory. It is a person if standard output is a
// terminal and no coding agent runs the command. It is an agent otherwise, also for a script of a
// person: a flag by which a script could speak for a person would let an agent do so, too.
func (u *UI) Voice() api.Voice {
	if !isTerminal(u.Out) || agentMark() != "" {
		return api.VoiceAgent
	}
	return api.VoicePerson
}

// WindowVoice returns who speaks in a window that may write. Its changes are clicks in a browser,
// so they are a person's, unless a coding agent runs the command.
func (u *UI) WindowVoice() api.Voice {
	if agentMark() != "" {
		return api.VoiceAgent
	}
	return api.VoicePerson
}

// agentMark returns the variable that shows that a coding agent runs the command, "" if none does.
func agentMark() string {
	for _, name := range agentMarks {
		if v := os.Getenv(name); v != "" && v != "0" && v != "false" {
			return name
		}
	}
	return ""
}

// WhyAgent returns the reason why a verb does not speak for a person.
func (u *UI) WhyAgent() string {
	if mark := agentMark(); mark != "" {
		return mark + " is set, so an agent runs this"
	}
	return "the output is no terminal, so this may be an agent's"
}
