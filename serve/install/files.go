package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/serve/hook"
)

// file is a settings file of one host, and the entries to add.
type file struct {
	host  *host
	path  string
	parts []part
	// json means that the file is JSON. Otherwise it is TOML or a text.
	json bool
	// hooks means that the first part adds hooks.
	hooks bool
}

// part is one thing that is added to a file. edit adds it to a content, or takes it out again. It
// returns a content unchanged if it needs no change.
type part struct {
	what string
	edit func(data []byte, add bool) ([]byte, error)
}

// serverName is memkernel's name among a host's servers.
const serverName = "memkernel"

// arguments returns the arguments with which a host starts the server, which runs on its user's
// machine and for that user alone.
func arguments(hostName string) []string {
	args := []string{"mcp", "--private"}
	if hostName != "" {
		args = append(args, "--host", hostName)
	}
	return args
}

// server is an entry as most hosts have it.
type server struct {
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
}

// hostFiles returns the files of a host. If all is set, it includes files that only an earlier
// installation changed.
func (s *Site) hostFiles(h *host, all bool) (out []file) {
	switch {
	case all && h.all != nil:
		out = h.all(s)
	case h.files != nil:
		out = h.files(s)
	}
	if h.servers != nil {
		out = append(out, h.servers.file(s))
	}
	if h.rules != nil {
		out = append(out, h.rules.files(s, all)...)
	}
	return out
}

func claudeFiles(s *Site) []file {
	return []file{s.hookFile("claude"), s.jsonFile(filepath.Join(s.Workspace, ".mcp.json"), "mcpServers", server{s.Program, arguments("claude")}, false)}
}

func geminiFiles(s *Site) []file {
	f := s.hookFile("gemini")
	f.parts = append(f.parts, s.jsonServer(f.path, "mcpServers", server{s.Program, arguments("gemini")}, true))
	return []file{f}
}

func codexFiles(s *Site) []file {
	path := filepath.Join(s.Workspace, ".codex", "config.toml")
	return []file{s.hookFile("codex"), {path: path, parts: []part{s.tomlServer(path, "mcp_servers", arguments("codex"))}}}
}

// opencodeNames are the files of a project that OpenCode reads, the last read first.
var opencodeNames = []string{"opencode.jsonc", "opencode.json", ".opencode/opencode.jsonc", ".opencode/opencode.json"}

// opencodeFiles returns the file that the project has, or a new file.
func opencodeFiles(s *Site) []file {
	if all := opencodeAll(s); len(all) > 0 {
		return all[:1]
	}
	return []file{s.opencodeFile(filepath.Join(s.Workspace, "opencode.json"))}
}

func opencodeAll(s *Site) (out []file) {
	for _, name := range opencodeNames {
		if at := filepath.Join(s.Workspace, filepath.FromSlash(name)); exists(at) {
			out = append(out, s.opencodeFile(at))
		}
	}
	return out
}

func (s *Site) opencodeFile(path string) file {
	entry := struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}{"local", append([]string{s.Program}, arguments("")...), true}
	f := s.jsonFile(path, "mcp", entry, true)
	f.parts = append(f.parts, s.plugin(path))
	return f
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// userWide returns the file with a host's hooks for all of the user's projects. It returns "" if
// the host has no such hooks.
func (s *Site) userWide(h *host) string {
	wide := hook.Settings{Host: hook.Host(h.name), Dir: s.Home}
	if s.Home == "" || filepath.Clean(s.Home) == filepath.Clean(s.Workspace) || !slices.Contains(hook.HostNames(), h.name) || !wide.Installed() {
		return ""
	}
	return wide.Path()
}

// hookFile returns the file of a host's hooks. The hooks are its first part.
func (s *Site) hookFile(h hook.Host) file {
	hs := hook.Settings{Host: h, Dir: s.Workspace, Program: s.Shell}
	return file{path: hs.Path(), json: true, hooks: true, parts: []part{{"hooks", hs.Edit}}}
}

// jsonFile is a JSON file with an entry in an object of servers.
func (s *Site) jsonFile(path, key string, entry any, comments bool) file {
	return file{path: path, json: true, parts: []part{s.jsonServer(path, key, entry, comments)}}
}

// jsonPart is a part of a JSON file. edit makes its change to the file that was read.
func jsonPart(what, path string, comments bool, edit func(d *settings.JSON, add bool) error) part {
	return part{what, func(data []byte, add bool) ([]byte, error) {
		d, err := settings.ParseJSON(path, data, comments)
		if err != nil {
			return nil, err
		}
		before := string(d.Bytes())
		err = edit(d, add)
		if after := d.Bytes(); string(after) != before {
			return after, err
		}
		return data, err
	}}
}

// jsonServer adds an entry to an object of servers. It does not change an existing entry that
// works, because a person may have chosen its arguments.
func (s *Site) jsonServer(path, key string, entry any, comments bool) part {
	return jsonPart("tools", path, comments, func(d *settings.JSON, add bool) error {
		servers, err := d.Object(d.Top(), key)
		if err != nil {
			return err
		}
		if servers == nil {
			if !add {
				return nil
			}
			servers = &hujson.Object{}
			d.Add(d.Top(), key, hujson.Value{Value: servers}, 1)
		}
		at, err := d.Member(servers, serverName)
		switch {
		case err != nil:
		case add && at != nil:
			err = s.bringUpToDate(d, at)
		case add:
			var v hujson.Value
			if v, err = d.Render(entry, 2); err == nil {
				d.Add(servers, serverName, v, 2)
			}
		case at != nil && ours(words(at.Value)):
			if settings.Drop(servers, serverName); len(servers.Members) == 0 {
				settings.Drop(d.Top(), key)
			}
		}
		return err
	})
}

// words returns the command line of an entry in any of its forms, nil if the entry has no command
// line.
func words(v hujson.Value) []string {
	var entry struct {
		Command any      `json:"command"`
		Args    []string `json:"args"`
	}
	if settings.Decode(v, &entry) != nil {
		return nil
	}
	return commandLine(entry.Command, entry.Args)
}

func commandLine(command any, args []string) (out []string) {
	switch c := command.(type) {
	case string:
		out = []string{c}
	case []any:
		for _, w := range c {
			out = append(out, fmt.Sprint(w))
		}
	}
	return append(out, args...)
}

// ours reports whether a command line starts memkernel's server.
func ours(words []string) bool { return len(words) > 1 && words[1] == "mcp" }

// errForeign is returned if another program has the name.
var errForeign = errors.New("a server that is called memkernel is there, and it is another program")

// stays reports whether an entry keeps its program. The program must exist. It must not be in a
// cache, unless this program is also in a cache.
func (s *Site) stays(program string) bool {
	_, err := s.LookPath(program)
	return err == nil && (!InCache(program) || InCache(s.Program))
}

// InCache reports whether a program is in a folder that may be emptied at any time, such as the
// folders of npx, "pipx run" and uvx.
func InCache(program string) bool {
	for name := range strings.SplitSeq(filepath.ToSlash(program), "/") {
		if slices.Contains([]string{"_npx", ".cache", "caches", "cache"}, strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// bringUpToDate replaces the program of an entry by the present program, if the entry's program
// no longer exists.
func (s *Site) bringUpToDate(d *settings.JSON, at *hujson.ObjectMember) error {
	line := words(at.Value)
	if !ours(line) {
		return d.Errorf("%w", errForeign)
	}
	if s.stays(line[0]) {
		return nil
	}
	o, ok := at.Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	m, err := d.Member(o, "command")
	if err != nil {
		return err
	}
	to := &m.Value
	if list, ok := to.Value.(*hujson.Array); ok {
		to = &list.Elements[0]
	}
	to.Value = hujson.String(s.Program)
	return nil
}

// tomlServer adds a table to a table of servers.
func (s *Site) tomlServer(path, key string, args []string) part {
	return part{"tools", func(data []byte, add bool) ([]byte, error) {
		d, err := settings.ParseTOML(path, data)
		if err != nil {
			return nil, err
		}
		t := d.Table(key, serverName)
		var rest []string
		list, _ := t["args"].([]any)
		for _, w := range list {
			rest = append(rest, fmt.Sprint(w))
		}
		line := commandLine(t["command"], rest)
		switch {
		case add && t == nil:
			err = d.Add(key, serverName, server{s.Program, args})
		case add && !ours(line):
			return nil, &settings.Error{Path: path, Err: errForeign}
		case add && !s.stays(line[0]):
			err = d.Set(key, serverName, "command", s.Program)
		case add || !ours(line):
			return data, nil
		default:
			err = d.Drop(key, serverName)
		}
		return d.Bytes(), err
	}}
}

// plugin adds the extension to OpenCode's list, if the machine has the extension's source.
func (s *Site) plugin(path string) part {
	const place = "integrations/opencode/index.js"
	what := "plugin"
	if s.Checkout == "" {
		what = ""
	}
	return jsonPart(what, path, true, func(d *settings.JSON, add bool) error {
		list, err := d.List(d.Top(), "plugin")
		if err != nil {
			return err
		}
		put := add && s.Checkout != ""
		if list == nil {
			if !put {
				return nil
			}
			list = &hujson.Array{}
			d.Add(d.Top(), "plugin", hujson.Value{Value: list}, 1)
		}
		found := slices.IndexFunc(list.Elements, func(v hujson.Value) bool {
			var at string
			return settings.Decode(v, &at) == nil && strings.HasPrefix(at, "file:") && strings.HasSuffix(at, "/"+place)
		})
		switch {
		case put && found < 0:
			where := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Join(s.Checkout, place)), "/")}
			return d.Push(list, where.String(), 2)
		case !add && found >= 0:
			if settings.Remove(list, found); len(list.Elements) == 0 {
				settings.Drop(d.Top(), "plugin")
			}
		}
		return nil
	})
}

// source returns the place of an extension. It is in the checkout, or in a checkout that a person
// must make first.
func (s *Site) source(name string) (path string, before []string) {
	if s.Checkout != "" {
		return filepath.Join(s.Checkout, "integrations", name), nil
	}
	return "./memkernel/integrations/" + name, []string{"git clone https://github.com/memkernel/memkernel"}
}

func opencodeByHand(s *Site) []string {
	if s.Checkout != "" {
		return nil // its file is edited
	}
	_, before := s.source("opencode")
	return append(before, "mkdir -p ~/.config/opencode/plugin",
		`echo "export { Memkernel } from '$PWD/memkernel/integrations/opencode/index.js'" > ~/.config/opencode/plugin/memkernel.js`)
}

func openclawByHand(s *Site) []string {
	at, before := s.source("openclaw")
	path := at
	if before != nil {
		path = "$PWD/" + strings.TrimPrefix(at, "./")
	}
	return append(before, `openclaw config set plugins.load.paths "[\"`+path+`\"]" --strict-json --merge`,
		"openclaw config patch --file "+at+"/config.json5")
}

// Aider shows its model the files that its configuration lists under read.
const (
	aiderConfig = ".aider.conf.yml"
	aiderRules  = "CONVENTIONS.md"
)

func aiderByHand(s *Site) []string {
	data, err := settings.Read(filepath.Join(s.Workspace, aiderConfig))
	if err == nil && strings.Contains(fmt.Sprint(settings.YAMLValue(data, "read")), aiderRules) {
		return nil
	}
	return []string{"# add this to " + aiderConfig, "read: " + aiderRules}
}

func piByHand(s *Site) []string {
	at, before := s.source("pi")
	return append(before, "pi install "+at)
}

// rules describe the file of rules that a host shows its model in every session. A new file has
// front before the section. A host whose requests have the description of each tool needs no
// rules, because the descriptions say when to search memory and which facts to keep.
type rules struct{ own, front, text string }

// section is memkernel's section in files of rules.
var section = settings.Section{Name: markdownstore.RulesSection, Note: "(memkernel uninstall removes it)"}

const (
	// rulesByTools are for a host that shows its model only the names of tools.
	rulesByTools = "Before you answer about earlier work, decisions, dates, people or preferences, search this project's memory: `memory_search`. Keep what a later session needs: `memory_append`.\n"
	// rulesByCommands are for a host that has no tools, offers its user to run commands, and edits files.
	rulesByCommands = "Before you answer about earlier work, decisions, dates, people or preferences, search this project's memory: run `memkernel search \"QUESTION\"`, and `memkernel get CITATION` for what it cites. " +
		"Keep what a later session needs, but no secrets: add a line to the file `memory/YYYY-MM-DD.md` of today.\n"
)

// rulesPart adds the section to a file. In a new file it adds front before the section.
func rulesPart(path, front, text string) part {
	return part{"rules", func(data []byte, add bool) ([]byte, error) {
		switch {
		case add && data == nil:
			after, err := section.Put(path, nil, text)
			return append([]byte(front), after...), err
		case add:
			return section.Put(path, data, text)
		}
		after, err := section.Drop(path, data)
		if err == nil && !settings.Same(after, data) && strings.TrimSpace(string(after)) == strings.TrimSpace(front) {
			after = []byte{}
		}
		return after, err
	}}
}

// files returns the file that gets the section. With all it leaves the file out if a file is in the
// place of the folder.
func (r *rules) files(s *Site, all bool) []file {
	path := filepath.Join(s.Workspace, filepath.FromSlash(r.own))
	if st, err := os.Stat(filepath.Dir(path)); all && err == nil && !st.IsDir() {
		return nil
	}
	return []file{{path: path, parts: []part{rulesPart(path, r.front, r.text)}}}
}

// servers is an object of servers in a JSON file of a project, comments or not.
type servers struct {
	path, key string
	// folder is the placeholder that the host replaces by the project's folder. It is "" for a
	// host that starts its servers in that folder.
	folder string
	// typed means that an entry names the server's transport.
	typed bool
}

// typedServer is an entry of a host that speaks to servers in several ways.
type typedServer struct {
	Type string `json:"type"`
	server
}

func (v *servers) file(s *Site) file {
	entry := server{s.Program, arguments("")}
	if v.folder != "" {
		entry.Args = append(entry.Args, "--workspace", v.folder)
	}
	path := filepath.Join(s.Workspace, filepath.FromSlash(v.path))
	if v.typed {
		return s.jsonFile(path, v.key, typedServer{"stdio", entry}, true)
	}
	return s.jsonFile(path, v.key, entry, true)
}

// perSystem are places in a home on macOS, on Windows and elsewhere.
type perSystem [3]string

// userServers is a file of servers for all of a user's projects. init does not change this file.
type userServers struct {
	at perSystem
	// other is another place of the file, which counts if the file exists. It is "" if there is
	// no other place.
	other string
	key   string
	// yaml means that the file is YAML. Otherwise it is JSON.
	yaml bool
	// folder means that an entry must name the folder, because the host starts its servers in any
	// folder.
	folder bool
	// allTools means that the host edits no files, so that the server must also list the tools
	// that change memory.
	allTools bool
}

// path returns the file. It is an existing file, or else a file whose folder exists, or else the
// system's usual place.
func (v *userServers) path(s *Site) string {
	here := map[string]int{"darwin": 0, "windows": 1}
	at, ok := here[runtime.GOOS]
	if !ok {
		at = 2
	}
	var all []string
	for _, name := range append([]string{v.at[at], v.other}, v.at[:]...) {
		if name != "" {
			all = append(all, filepath.Join(s.Home, filepath.FromSlash(name)))
		}
	}
	for _, path := range all {
		if exists(path) {
			return path
		}
	}
	for _, path := range all {
		if exists(filepath.Dir(filepath.Dir(path))) {
			return path
		}
	}
	return all[0]
}

// look returns the file if a person has added the server for this folder to it. Otherwise it
// returns the lines to add.
func (v *userServers) look(s *Site) (has string, byHand []string) {
	path := v.path(s)
	names, there := v.entries(s, path)
	if there {
		return path, nil
	}
	name := serverName
	if slices.Contains(names, name) {
		name += "-" + filepath.Base(s.Workspace)
	}
	entry := server{s.Program, arguments("")}
	if v.allTools {
		entry.Args = append(entry.Args, "--all-tools")
	}
	if v.folder {
		entry.Args = append(entry.Args, "--workspace", s.Workspace)
	}
	var line []byte
	var err error
	if v.yaml { // which JSON is, too
		line, err = json.Marshal(map[string]any{"enabled": true, "type": "stdio", "name": name, "cmd": entry.Command, "args": entry.Args, "timeout": 300})
		line = append([]byte("  "+name+": "), line...)
	} else {
		line, err = json.Marshal(map[string]any{v.key: map[string]any{name: entry}})
	}
	if err != nil {
		return "", nil
	}
	what := "add this to"
	if v.yaml {
		what = "add this below " + v.key + ": in"
	}
	return "", []string{"# " + what + " " + s.Short(path), string(line)}
}

// entries returns the names of the servers in a file, and whether one server is memkernel's
// server for this folder. A file that can't be read has no servers.
func (v *userServers) entries(s *Site, path string) (names []string, there bool) {
	data, err := settings.Read(path)
	if err != nil || data == nil {
		return nil, false
	}
	if v.yaml {
		return nil, settings.YAMLValue(data, v.key, serverName) != nil
	}
	d, err := settings.ParseJSON(path, data, true)
	if err != nil {
		return nil, false
	}
	o, err := d.Object(d.Top(), v.key)
	if o == nil || err != nil {
		return nil, false
	}
	names = settings.Names(o)
	for i := range o.Members {
		name, ok := o.Members[i].Name.Value.(hujson.Literal)
		line := words(o.Members[i].Value)
		if in, ok := o.Members[i].Value.Value.(*hujson.Object); ok && line == nil { // as Cline's command writes it
			if m, err := d.Member(in, "transport"); m != nil && err == nil {
				line = words(m.Value)
			}
		}
		if ok && strings.HasPrefix(name.String(), serverName) && ours(line) && (!v.folder || slices.Contains(line, s.Workspace)) {
			there = true
		}
	}
	return names, there
}
