package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// host has the facts that the package needs to know about a host.
type host struct {
	name, title string
	// home are the host's folders in the user's home.
	home []string
	// homeEnv is the environment variable that names another folder, if it is set.
	homeEnv string
	// binary is the host's program. It is "" if the host has no program or if other programs have
	// the same name.
	binary string
	// project are files and folders of a project that is used with the host.
	project []string
	// hooks means that the host runs memkernel's hooks, whose settings package hook knows.
	hooks bool
	// servers is the place of the host's servers in a project. It is nil if there is no such
	// file.
	servers *servers
	// rules is the place of the host's rules in a project. It is nil if there is no such file.
	rules *rules
	// user is the file of the host's servers, if that file is for all of the user's projects.
	user *userServers
	// byHand are the commands that a person must run, nil if there are none.
	byHand func(s *Site) []string
	// next tells the user which further step is needed before the host works. It is "" if only
	// the usual step is needed.
	next string
	// sessions returns the recorded sessions of the workspace in one of the host's folders. It is
	// nil if the host's sessions can't be told apart by workspace.
	sessions func(s *Site, home string) []string
}

// Names returns the names of all hosts.
func Names() (out []string) {
	for i := range hosts {
		out = append(out, hosts[i].name)
	}
	return out
}

// Site is a workspace on a machine.
type Site struct {
	// Workspace and Home are absolute paths. Home may be "".
	Workspace, Home string
	// Program is the memkernel program in the form that a host can run. Shell is the same, quoted
	// for a shell.
	Program, Shell string
	// Checkout is a folder with memkernel's own source, which has the extensions of some hosts.
	// It is "" if the machine has no such folder.
	Checkout string
	// Getenv and LookPath look up the environment.
	Getenv   func(string) string
	LookPath func(string) (string, error)
}

// Host is a host that was found or requested.
type Host struct {
	Name string `json:"name"`
	// Title is the host's own name for itself.
	Title string `json:"title"`
	// FoundBy are the traces of the host: folders in the home, its program, files of the project.
	// It is empty if the host was only requested.
	FoundBy []string `json:"found_by"`
	// Sessions is the number of the host's recorded sessions in this workspace. It is nil if the
	// sessions can't be told apart by workspace.
	Sessions *int `json:"sessions"`
	// Transcripts are their files.
	Transcripts []string `json:"-"`
	// Homes are the folders with the host's sessions of all workspaces.
	Homes []string `json:"-"`
	// UserWide is the file with the host's hooks for all of the user's projects, "" if there is
	// no such file. If it is set, the project's file gets no hooks.
	UserWide string `json:"user_wide"`
	// UserServer is the file for all of the user's projects to which a person has added the
	// server for this folder. It is "" if there is no such file.
	UserServer string `json:"user_server"`
	// ByHand are commands that a person must run to complete the installation. It also has lines
	// that a person must add to files for all of the user's projects.
	ByHand []string `json:"by_hand"`
	// Next tells the user the next step.
	Next string `json:"next"`
}

// Find returns the hosts of these names. Without names it returns the hosts that left a trace on
// the machine. It changes names in place to the hosts' own spelling.
func (s *Site) Find(names []string) ([]Host, error) {
	for i, n := range names {
		if names[i] = textutil.MeantHost(n, Names()); !slices.Contains(Names(), names[i]) {
			return nil, fmt.Errorf("unknown host %q: give one of %s", n, strings.Join(Names(), ", "))
		}
	}
	out := []Host{}
	for i := range hosts {
		h := &hosts[i]
		found := Host{Name: h.name, Title: h.title, FoundBy: s.traces(h), UserWide: s.userWide(h), ByHand: []string{}, Next: h.next}
		if len(names) == 0 && len(found.FoundBy) == 0 || len(names) > 0 && !slices.Contains(names, h.name) {
			continue
		}
		if h.byHand != nil {
			found.ByHand = append(found.ByHand, h.byHand(s)...)
		}
		if h.user != nil {
			var lines []string
			found.UserServer, lines = h.user.look(s)
			found.ByHand = append(found.ByHand, lines...)
		}
		if h.sessions != nil && s.Home != "" {
			found.Homes = s.homes(h)
			for _, home := range found.Homes {
				found.Transcripts = append(found.Transcripts, h.sessions(s, home)...)
			}
			n := len(found.Transcripts)
			found.Sessions = &n
		}
		out = append(out, found)
	}
	return out, nil
}

// traces returns the folders, programs and files that show that a host is used here.
func (s *Site) traces(h *host) []string {
	out := []string{}
	for _, dir := range s.homes(h) {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			out = append(out, s.Short(dir))
		}
	}
	if h.binary != "" {
		if _, err := s.LookPath(h.binary); err == nil {
			out = append(out, h.binary+" on the PATH")
		}
	}
	for _, name := range h.project {
		if _, err := os.Stat(filepath.Join(s.Workspace, name)); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// homes returns the folders in which a host keeps the user's own files.
func (s *Site) homes(h *host) (out []string) {
	if dir := s.Getenv(h.homeEnv); h.homeEnv != "" && dir != "" {
		return []string{dir}
	}
	if s.Home == "" {
		return nil
	}
	for _, name := range h.home {
		out = append(out, filepath.Join(s.Home, filepath.FromSlash(name)))
	}
	return out
}

// Short returns a path for people. It is relative to the workspace or to the home.
func (s *Site) Short(path string) string {
	if rel, err := filepath.Rel(s.Workspace, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		return rel
	}
	if rel, err := filepath.Rel(s.Home, path); s.Home != "" && err == nil && filepath.IsLocal(rel) && rel != "." {
		return filepath.Join("~", rel)
	}
	return path
}

// hosts has all hosts, in the order in which messages list them. doc/hosts.md has a table of the
// files that each of them gets, and the sources of its formats.
var hosts = []host{
	{name: "claude", title: "Claude Code", home: []string{".claude"}, homeEnv: "CLAUDE_CONFIG_DIR", binary: "claude", project: []string{".claude", ".mcp.json", "CLAUDE.md"},
		hooks: true, servers: &servers{path: ".mcp.json", key: "mcpServers", session: true, strict: true},
		sessions: claudeSessions, next: "start claude here; allow the server memkernel when it asks"},
	{name: "codex", title: "Codex", home: []string{".codex"}, homeEnv: "CODEX_HOME", binary: "codex", project: []string{".codex"},
		hooks: true, servers: &servers{path: ".codex/config.toml", key: "mcp_servers", session: true, toml: true},
		sessions: codexSessions, next: "start codex here; trust the folder, then memkernel's hooks under /hooks"},
	{name: "gemini", title: "Gemini CLI", home: []string{".gemini"}, binary: "gemini", project: []string{".gemini", "GEMINI.md"},
		hooks: true, servers: &servers{path: ".gemini/settings.json", key: "mcpServers", session: true},
		sessions: geminiSessions, next: "start gemini here"},
	{name: "openclaw", title: "OpenClaw", home: []string{".openclaw"}, homeEnv: "OPENCLAW_STATE_DIR", binary: "openclaw", project: []string{"SOUL.md", "IDENTITY.md", "HEARTBEAT.md"}, byHand: openclawByHand},
	{name: "opencode", title: "OpenCode", home: []string{".config/opencode", ".local/share/opencode"}, binary: "opencode", project: []string{".opencode", "opencode.json", "opencode.jsonc"},
		servers: &servers{path: "opencode.json", key: "mcp", local: true, others: []string{"opencode.jsonc", "opencode.json", ".opencode/opencode.jsonc", ".opencode/opencode.json"}},
		byHand:  opencodeByHand, next: "start opencode here"},
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
