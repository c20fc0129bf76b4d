package install

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/memkernel/memkernel/internal/settings"
)

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
