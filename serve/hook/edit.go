package hook

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/memkernel/memkernel/internal/settings"
)

// document is a settings file with a host's hooks in it.
type document struct {
	*settings.JSON
	of Settings
}

// parse reads a file. It refuses comments if the host doesn't support them, because the host would
// refuse the file or lose the comments.
func (s Settings) parse(data []byte) (*document, error) {
	d, err := settings.ParseJSON(s.Path, data, s.Host.row().comments)
	return &document{d, s}, err
}

// entry is the place of one hook in the tree.
type entry struct {
	group *hujson.Object
	list  *hujson.Array
	at    int
}

// ours returns the entries of the host's hooks in the groups of one event. The last entry comes
// first, so that each entry can be removed without moving another.
func (d *document) ours(groups *hujson.Array) (out []entry, err error) {
	for _, g := range slices.Backward(groups.Elements) {
		group, ok := g.Value.(*hujson.Object)
		if !ok {
			continue // not ours, and no matter of ours
		}
		list, err := d.List(group, "hooks")
		if err != nil {
			return nil, err
		}
		if list == nil {
			continue
		}
		for i := range slices.Backward(list.Elements) {
			var v struct {
				Command string `json:"command"`
			}
			if settings.Decode(list.Elements[i], &v) == nil && strings.HasSuffix(v.Command, suffix(d.of.Host)) {
				out = append(out, entry{group, list, i})
			}
		}
	}
	return out, nil
}

// has reports whether the document has any hook of the host.
func (d *document) has() bool {
	hooks, err := d.Object(d.Top(), "hooks")
	if hooks == nil || err != nil {
		return false
	}
	return slices.ContainsFunc(hooks.Members, func(m hujson.ObjectMember) bool {
		groups, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			return false
		}
		found, err := d.ours(groups)
		return err == nil && len(found) > 0
	})
}

// install has every event of the host run the command once.
func (d *document) install() error {
	if err := d.uninstall(d.of.Host.Events()); err != nil { // events that are no longer answered
		return err
	}
	hooks, err := d.Object(d.Top(), "hooks")
	if err != nil {
		return err
	}
	if hooks == nil {
		hooks = &hujson.Object{}
		d.Add(d.Top(), "hooks", hujson.Value{Value: hooks}, 1)
	}
	for _, event := range d.of.Host.Events() {
		if err := d.installEvent(hooks, event); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) installEvent(hooks *hujson.Object, event string) error {
	groups, err := d.List(hooks, event)
	if err != nil {
		return err
	}
	if groups == nil {
		groups = &hujson.Array{}
		d.Add(hooks, event, hujson.Value{Value: groups}, 2)
	}
	found, err := d.ours(groups)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		g := group{Hooks: []command{d.of.hook(event)}}
		if d.of.Host.row().moments[event] == toolResult {
			var names []string
			for _, t := range d.of.Host.row().tools {
				if strings.HasSuffix(t.name, "_") {
					t.name += ".*"
				}
				names = append(names, t.name)
			}
			g.Matcher = strings.Join(names, "|")
		}
		return d.Push(groups, g, 3)
	}
	// The first hook stays and is updated.
	keep := found[len(found)-1]
	for _, e := range found[:len(found)-1] {
		d.remove(groups, e)
	}
	return d.refresh(keep, d.of.hook(event))
}

// refresh updates a hook. It does not change the bytes of a hook that is up to date.
func (d *document) refresh(e entry, hook command) error {
	want, err := json.Marshal(hook)
	if err != nil {
		return err
	}
	old := &e.list.Elements[e.at]
	if settings.SameJSON(old.Pack(), want) {
		return nil
	}
	v, err := d.Render(json.RawMessage(want), 5)
	if err != nil {
		return err
	}
	v.BeforeExtra, v.AfterExtra = old.BeforeExtra, old.AfterExtra
	*old = v
	return nil
}

// uninstall removes the host's hooks, except for the events keep, and the members that become empty.
func (d *document) uninstall(keep []string) error {
	hooks, err := d.Object(d.Top(), "hooks")
	if hooks == nil || err != nil {
		return err
	}
	any := false
	for _, event := range settings.Names(hooks) {
		if slices.Contains(keep, event) {
			continue
		}
		found, err := d.uninstallEvent(hooks, event)
		if err != nil {
			return err
		}
		any = any || found
	}
	if any && keep == nil && len(hooks.Members) == 0 {
		settings.Drop(d.Top(), "hooks")
	}
	return nil
}

func (d *document) uninstallEvent(hooks *hujson.Object, event string) (bool, error) {
	m, err := d.Member(hooks, event)
	if err != nil {
		return false, err
	}
	groups, ok := m.Value.Value.(*hujson.Array)
	if !ok {
		return false, nil // hosts keep settings of their own next to the events
	}
	found, err := d.ours(groups)
	if err != nil {
		return false, err
	}
	for _, e := range found {
		d.remove(groups, e)
	}
	if len(groups.Elements) == 0 && len(found) > 0 {
		settings.Drop(hooks, event)
	}
	return len(found) > 0, nil
}

// remove removes an entry. It also removes the entry's group if the group is then empty.
func (d *document) remove(groups *hujson.Array, e entry) {
	settings.Remove(e.list, e.at)
	if len(e.list.Elements) > 0 {
		return
	}
	if at := slices.IndexFunc(groups.Elements, func(v hujson.Value) bool { o, ok := v.Value.(*hujson.Object); return ok && o == e.group }); at >= 0 {
		settings.Remove(groups, at)
	}
}

// command is a hook in the form of the hosts' settings.
type command struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	// Timeout is in the host's own unit.
	Timeout int `json:"timeout"`
}

// group is an element in the list of an event. A group without a matcher is for all sources and
// triggers.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

// hostWait is how long a host waits for a hook, in seconds. It is twice DefaultDeadline.
const hostWait = 10

// onlyLarge precedes the command of a hook that runs after each call of a tool. The shell starts
// the program only for a large event, because the start costs more than a small event is worth.
// An event is one line, which the shell reads without another program.
var onlyLarge = fmt.Sprintf(`LC_ALL=C; IFS= read -r e; [ ${#e} -lt %d ] || printf %%s "$e" | `, smallEvent)

// hook returns the hook of an event.
func (s Settings) hook(event string) command {
	c := command{Type: "command", Command: s.command(), Timeout: hostWait}
	if s.Host.row().moments[event] == toolResult {
		c.Command = onlyLarge + c.Command
	}
	if s.Host.row().named {
		c.Name, c.Timeout = "memkernel", hostWait*1000
	}
	return c
}

// Settings is a host's settings file, and the program that its hooks are to run.
type Settings struct {
	Host Host
	Path string
	// Program is the memkernel program in the form that a shell can run.
	Program string
}

// SettingsPath returns the file in which a host keeps its hooks, below the user's home or a
// project's folder.
func SettingsPath(h Host, dir string) string {
	return filepath.Join(dir, "."+string(h), h.row().settings)
}

// Installed reports whether the settings file has any hook of the host. A file that can't be read is
// the host's to complain about.
func (s Settings) Installed() bool {
	data, err := settings.Read(s.Path)
	if err != nil || data == nil {
		return false
	}
	d, err := s.parse(data)
	return err == nil && d.has()
}

// Edit returns a settings file's content with the hooks, up to date, or without them. It returns nil
// if the file held nothing but the hooks.
func (s Settings) Edit(data []byte, add bool) ([]byte, error) {
	d, err := s.parse(data)
	switch {
	case err != nil:
	case add:
		err = d.install()
	case !d.has():
		return data, nil
	default:
		err = d.uninstall(nil)
	}
	if err != nil {
		return nil, err
	}
	after := d.Bytes()
	if !add && settings.SameJSON(after, []byte("{}")) {
		return nil, nil
	}
	return after, nil
}

// command returns the command that the host runs.
func (s Settings) command() string { return s.Program + suffix(s.Host) }

// suffix returns the end of the commands of a host's hooks. The package recognises its hooks by
// this suffix.
func suffix(h Host) string { return " hook --host " + string(h) }
