package textutil_test

import (
	"testing"

	"github.com/memkernel/memkernel/internal/textutil"
)

func TestHost(t *testing.T) {
	names := []string{"claude", "codex", "gemini", "openclaw", "opencode", "pi", "vscode", "copilot", "cline", "claude-desktop"}
	for typed, want := range map[string]string{
		"claude": "claude", "claude-code": "claude", "claudecode": "claude", "Claude Code": "claude", "claude_code": "claude", "anthropic-claude-code": "claude",
		"codex-cli": "codex", "openai-codex": "codex", "gemini-cli": "gemini", "Gemini CLI": "gemini", "open-claw": "openclaw", "open-code": "opencode",
		"pi-coding-agent": "pi", "VS Code": "vscode", "github-copilot-cli": "copilot", "Cline": "cline", "claudedesktop": "claude-desktop",
		"clade": "clade", "": "", "cli": "cli", "code": "code",
	} {
		if got := textutil.MeantHost(typed, names); got != want {
			t.Errorf("%q means %q, want %q", typed, got, want)
		}
	}
}
