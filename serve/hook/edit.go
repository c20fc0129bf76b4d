package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/memkernel/memkernel/internal/settings"
)

// entry is the place of one hook in the groups of an event.
type entry struct {
	groups *hujson.Array
	group  int
	list   *hujson.Array
	at     int
}

// ours returns the entries of the host's hooks in the groups of one event. The last entry comes
// first, so that each entry can be removed without moving another.
func (s Settings) ours(d *settings.JSON, groups *hujson.Array) (out []entry, err error) {
	for i, g := range slices.Backward(groups.Elements) {
		group, ok := g.Value.(*hujson.Object)
		if !ok {
			continue // memkernel writes no entries of this form
		}
		list, err := d.List(group, "hooks")
		if err != nil {
			return nil, err
		}
		for k := 0; list != nil && k < len(list.Elements); k++ {
			at := len(list.Elements) - 1 - k
			var v struct {
				Command string `json:"command"`
			}
			if settings.Decode(list.Elements[at], &v) == nil && strings.HasSuffix(v.Command, suffix(s.Host)) {
				out = append(out, entry{groups, i, list, at})
			}
		}
	}
	return out, nil
}

// remove removes an entry. It also removes the entry's group if the group is then empty.
func (e entry) remove() {
	if settings.Remove(e.list, e.at); len(e.list.Elements) == 0 {
		settings.Remove(e.groups, e.group)
	}
}

// edit has each of the events run the command once, and removes the host's hooks of all other
// events, with the lists that become empty.
func (s Settings) edit(d *settings.JSON, events []string) error {
	hooks, err := d.Object(d.Top(), "hooks")
	if err != nil {
		return err
	}
	if hooks == nil {
		hooks = &hujson.Object{}
		d.Add(d.Top(), "hooks", hujson.Value{Value: hooks}, 1)
	}
	for _, event := range append(settings.Names(hooks), events...) {
		m, err := d.Member(hooks, event)
		if err != nil {
			return err
		}
		wanted, groups := slices.Contains(events, event), &hujson.Array{}
		if m == nil {
			d.Add(hooks, event, hujson.Value{Value: groups}, 2)
		} else if list, ok := m.Value.Value.(*hujson.Array); ok {
			groups = list
		} else if wanted {
			return d.Errorf("%s is no list", event)
		} else {
			continue // hosts keep settings of their own next to the events
		}
		found, err := s.ours(d, groups)
		if err == nil && wanted && len(found) == 0 {
			err = d.Push(groups, group{s.matcher(event), []command{s.hook(event)}}, 3)
		} else if err == nil && wanted { // the first hook stays and is updated
			err = s.refresh(d, found[len(found)-1], event)
			found = found[:len(found)-1]
		}
		if err != nil {
			return err
		}
		for _, e := range found {
			e.remove()
		}
		if len(groups.Elements) == 0 && len(found) > 0 {
			settings.Drop(hooks, event)
		}
	}
	return nil
}

// refresh updates a hook. It does not change the bytes of a hook that is up to date.
func (s Settings) refresh(d *settings.JSON, e entry, event string) error {
	v, err := d.Render(s.hook(event), 5)
	if err != nil {
		return err
	}
	if old := &e.list.Elements[e.at]; !settings.SameJSON(old.Pack(), v.Pack()) {
		v.BeforeExtra, v.AfterExtra = old.BeforeExtra, old.AfterExtra
		*old = v
	}
	return nil
}

// matcher returns the tools whose results a hook of the event gets, "" for an event without tools.
func (s Settings) matcher(event string) string {
	if s.Host.row().moments[event] != toolResult {
		return ""
	}
	var names []string
	for _, t := range s.Host.row().tools {
		if strings.HasSuffix(t.name, "_") {
			t.name += ".*"
		}
		names = append(names, t.name)
	}
	return strings.Join(names, "|")
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

// Settings is a host's settings file below the user's home or a project's folder, and the program
// that its hooks are to run.
type Settings struct {
	Host Host
	Dir  string
	// Program is the memkernel program in the form that a shell can run.
	Program string
}

// Path returns the file.
func (s Settings) Path() string {
	return filepath.Join(s.Dir, "."+string(s.Host), s.Host.row().settings)
}

// parse reads a file. It refuses comments if the host doesn't support them, because the host would
// refuse the file or lose the comments.
func (s Settings) parse(data []byte) (*settings.JSON, error) {
	return settings.ParseJSON(s.Path(), data, s.Host.row().comments)
}

// Installed reports whether the settings file has any hook of the host. It returns false for a file
// that can't be read, because the host reports that itself.
func (s Settings) Installed() bool {
	data, err := settings.Read(s.Path())
	if err != nil || data == nil {
		return false
	}
	d, err := s.parse(data)
	return err == nil && s.has(d)
}

// has reports whether the file has any hook of the host.
func (s Settings) has(d *settings.JSON) bool {
	hooks, err := d.Object(d.Top(), "hooks")
	if hooks == nil || err != nil {
		return false
	}
	return slices.ContainsFunc(hooks.Members, func(m hujson.ObjectMember) bool {
		groups, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			return false
		}
		found, err := s.ours(d, groups)
		return err == nil && len(found) > 0
	})
}

// Edit returns a settings file's content with the hooks, up to date, or without them. It returns nil
// if the file held nothing but the hooks.
func (s Settings) Edit(data []byte, add bool) ([]byte, error) {
	d, err := s.parse(data)
	switch {
	case err != nil:
		return nil, err
	case add:
		err := s.edit(d, s.Host.Events())
		return d.Bytes(), err
	case !s.has(d):
		return data, nil
	}
	if err := s.edit(d, nil); err != nil {
		return nil, err
	}
	if hooks, err := d.Object(d.Top(), "hooks"); err == nil && len(hooks.Members) == 0 {
		settings.Drop(d.Top(), "hooks")
	}
	if after := d.Bytes(); !settings.SameJSON(after, []byte("{}")) {
		return after, nil
	}
	return nil, nil
}

// command returns the command that the host runs.
func (s Settings) command() string { return s.Program + suffix(s.Host) }

// suffix returns the end of the commands of a host's hooks. The package recognises its hooks by
// this suffix.
func suffix(h Host) string { return " hook --host " + string(h) }
