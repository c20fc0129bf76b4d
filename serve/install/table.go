package install

import "github.com/memkernel/memkernel/serve/hook"

// hosts has all hosts, in the order in which messages list them. doc/hosts.md has a table of the
// files that each of them gets, and the sources of its formats.
var hosts = []host{
	{name: "claude", title: "Claude Code", home: []string{".claude"}, homeEnv: "CLAUDE_CONFIG_DIR", binary: "claude", project: []string{".claude", ".mcp.json", "CLAUDE.md"},
		hooks: hook.Claude, files: claudeFiles, sessions: claudeSessions, next: "start claude here; allow the server memkernel when it asks"},
	{name: "codex", title: "Codex", home: []string{".codex"}, homeEnv: "CODEX_HOME", binary: "codex", project: []string{".codex"},
		hooks: hook.Codex, files: codexFiles, sessions: codexSessions, next: "start codex here; trust the folder, then memkernel's hooks under /hooks"},
	{name: "gemini", title: "Gemini CLI", home: []string{".gemini"}, binary: "gemini", project: []string{".gemini", "GEMINI.md"},
		hooks: hook.Gemini, files: geminiFiles, sessions: geminiSessions, next: "start gemini here"},
	{name: "openclaw", title: "OpenClaw", home: []string{".openclaw"}, homeEnv: "OPENCLAW_STATE_DIR", binary: "openclaw", project: []string{"SOUL.md", "IDENTITY.md", "HEARTBEAT.md"}, byHand: openclawByHand},
	{name: "opencode", title: "OpenCode", home: []string{".config/opencode", ".local/share/opencode"}, binary: "opencode", project: []string{".opencode", "opencode.json", "opencode.jsonc"},
		files: opencodeFiles, all: opencodeAll, byHand: opencodeByHand, next: "start opencode here"},
	{name: "pi", title: "Pi", home: []string{".pi"}, binary: "pi", project: []string{".pi"}, byHand: piByHand, sessions: piSessions},

	{name: "cursor", title: "Cursor", home: []string{".cursor"}, binary: "cursor", project: []string{".cursor", ".cursorrules"},
		servers: &servers{path: ".cursor/mcp.json", key: "mcpServers", folder: "${workspaceFolder}"},
		rules: &rules{own: ".cursor/rules/memkernel.mdc",
			front: "---\ndescription: When to search the memory of this project, and when to write to it\nalwaysApply: true\n---\n\n", text: rulesByTools},
		next: "open the folder in Cursor; turn the server memkernel on under Settings, MCP"},
	// Most machines have VS Code for other reasons than its agent, so only the project's files
	// count as a trace.
	{name: "vscode", title: "VS Code", project: []string{".vscode/mcp.json", ".github/copilot-instructions.md", ".github/instructions"},
		servers: &servers{path: ".vscode/mcp.json", key: "servers", folder: "${workspaceFolder}", typed: true},
		next:    "open the folder in VS Code; start the server memkernel, and trust it, when it asks"},
	{name: "copilot", title: "Copilot CLI", home: []string{".copilot"}, binary: "copilot", project: []string{".github/mcp.json"},
		servers:  &servers{path: ".github/mcp.json", key: "mcpServers"},
		sessions: copilotSessions, next: "start copilot here, and trust the folder"},
	// Its program has the same name as the daemon of ZFS.
	{name: "zed", title: "Zed", home: []string{".config/zed", "AppData/Roaming/Zed"}, project: []string{".zed", ".rules"},
		servers: &servers{path: ".zed/settings.json", key: "context_servers"},
		next:    "open the folder in Zed, and trust it"},
	{name: "windsurf", title: "Windsurf", home: []string{".codeium/windsurf"}, binary: "windsurf", project: []string{".windsurf", ".windsurfrules"},
		user: &userServers{at: perSystem{".codeium/windsurf/mcp_config.json", ".codeium/windsurf/mcp_config.json", ".codeium/windsurf/mcp_config.json"}, key: "mcpServers", folder: true},
		next: "open the folder in Windsurf"},
	// Its program has the same name as a tool for database migrations.
	{name: "goose", title: "goose", home: []string{".config/goose", "AppData/Roaming/Block/goose"}, project: []string{".goosehints"},
		user: &userServers{at: perSystem{".config/goose/config.yaml", "AppData/Roaming/Block/goose/config/config.yaml", ".config/goose/config.yaml"}, key: "extensions", yaml: true},
		next: "start goose here"},
	{name: "aider", title: "Aider", home: []string{".aider"}, binary: "aider", project: []string{aiderConfig, ".aider.chat.history.md", ".aiderignore"},
		rules: &rules{own: aiderRules, text: rulesByCommands}, byHand: aiderByHand, next: "start aider here; it asks before it runs memkernel"},
	{name: "cline", title: "Cline", home: []string{".cline", clineStore[0], clineStore[1], clineStore[2]}, binary: "cline", project: []string{".clinerules"},
		user: &userServers{at: perSystem{clineStore[0] + clineServers, clineStore[1] + clineServers, clineStore[2] + clineServers},
			other: ".cline/data/settings/cline_mcp_settings.json", key: "mcpServers", folder: true},
		next: "open the folder in VS Code with Cline"},
	{name: "claude-desktop", title: "Claude Desktop", home: []string{"Library/Application Support/Claude", "AppData/Roaming/Claude", ".config/Claude"},
		user: &userServers{at: perSystem{"Library/Application Support/Claude/claude_desktop_config.json", "AppData/Roaming/Claude/claude_desktop_config.json", ".config/Claude/claude_desktop_config.json"},
			key: "mcpServers", folder: true, allTools: true}},
}

// clineStore is the folder in which Cline's extension keeps the user's files. clineServers is the
// file of servers in that folder.
var clineStore = perSystem{"Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev",
	"AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev", ".config/Code/User/globalStorage/saoudrizwan.claude-dev"}

const clineServers = "/settings/cline_mcp_settings.json"
