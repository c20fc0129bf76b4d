package e2e

// clis are the hosts that are started anew for each turn.
var clis = []cli{
	{name: "claude", title: "Claude Code", pkg: "@anthropic-ai/claude-code", program: "claude", through: "hooks, tools, proxy", model: "claude-sonnet-4-6",
		env: []string{"ANTHROPIC_BASE_URL={url}", "ANTHROPIC_API_KEY=sk-ant-none", "ANTHROPIC_MODEL=claude-sonnet-4-6", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=true", "API_TIMEOUT_MS=60000"},
		files:    map[string]string{"{home}/.claude/settings.json": `{"enableAllProjectMcpServers": true, "permissions": {"allow": ["Bash", "mcp__memkernel"]}}`},
		first:    []string{"-p", "{prompt}", "--session-id", "{session}", "--allowedTools", "Bash,mcp__memkernel"},
		next:     []string{"-p", "{prompt}", "--resume", "{session}", "--allowedTools", "Bash,mcp__memkernel"},
		compact:  []string{"-p", "/compact", "--resume", "{session}"},
		restores: "[Checkpoint "},
}
