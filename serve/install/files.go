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
	if h.hooks {
		hs := hook.Settings{Host: hook.Host(h.name), Dir: s.Workspace, Program: s.Shell}
		out = append(out, file{path: hs.Path(), json: true, hooks: true, parts: []part{{"hooks", hs.Edit}}})
	}
	if v := h.servers; v != nil {
		for _, path := range v.files(s, all) {
			parts := v.parts(s, h.name, path)
			if len(out) > 0 && out[0].path == path {
				out[0].parts = append(out[0].parts, parts...)
			} else {
				out = append(out, file{path: path, json: !v.toml, parts: parts})
			}
		}
	}
	if h.rules != nil {
		out = append(out, h.rules.files(s, all)...)
	}
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// userWide returns the file with a host's hooks for all of the user's projects. It returns "" if
// the host has no such hooks.
func (s *Site) userWide(h *host) string {
	wide := hook.Settings{Host: hook.Host(h.name), Dir: s.Home}
	if s.Home == "" || filepath.Clean(s.Home) == filepath.Clean(s.Workspace) || !h.hooks || !wide.Installed() {
		return ""
	}
	return wide.Path()
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
func (s *Site) tomlServer(path, key string, entry server) part {
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
			err = d.Add(key, serverName, entry)
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
	// rulesByCommands are for a host that has no tools, but edits files and offers to run commands
	// for its user.
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

// servers is an object of servers in a file of a project, JSON with or without comments.
type servers struct {
	path, key string
	// others are all files that the host reads, if it reads several, in the reverse order of
	// reading. The entry goes into the first of them that exists, or else into path.
	others []string
	// folder is the placeholder that the host replaces by the project's folder. It is "" for a
	// host that starts its servers in that folder.
	folder string
	// session means that the server answers for the newest session of the host's hooks.
	session bool
	// typed means that an entry names the server's transport. local is the form of OpenCode, whose
	// file also lists an extension.
	typed, local bool
	// strict means that the host reads no comments. toml means that the file is TOML.
	strict, toml bool
}

// typedServer is an entry of a host that supports several transports to servers.
type typedServer struct {
	Type string `json:"type"`
	server
}

// localServer is an entry of OpenCode.
type localServer struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
}

// files returns the file that gets the entry. If all is set, it returns all files that may have the
// entry.
func (v *servers) files(s *Site, all bool) (there []string) {
	for _, name := range v.others {
		if at := filepath.Join(s.Workspace, filepath.FromSlash(name)); exists(at) {
			there = append(there, at)
		}
	}
	switch {
	case all && v.others != nil:
		return there
	case len(there) > 0:
		return there[:1]
	}
	return []string{filepath.Join(s.Workspace, filepath.FromSlash(v.path))}
}

// parts returns what is added to a file.
func (v *servers) parts(s *Site, host, path string) []part {
	if !v.session {
		host = ""
	}
	entry := server{s.Program, arguments(host)}
	if v.folder != "" {
		entry.Args = append(entry.Args, "--workspace", v.folder)
	}
	switch {
	case v.toml:
		return []part{s.tomlServer(path, v.key, entry)}
	case v.local:
		own := localServer{"local", append([]string{s.Program}, entry.Args...), true}
		return []part{s.jsonServer(path, v.key, own, true), s.plugin(path)}
	case v.typed:
		return []part{s.jsonServer(path, v.key, typedServer{"stdio", entry}, true)}
	}
	return []part{s.jsonServer(path, v.key, entry, !v.strict)}
}

// perSystem are paths below the user's home: on macOS, on Windows, and on other systems.
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
	if v.yaml { // JSON is also YAML
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
		if in, ok := o.Members[i].Value.Value.(*hujson.Object); ok && line == nil { // the command of Cline writes this form
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
