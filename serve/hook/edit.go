package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// document is a settings file as a tree that keeps every byte between its values.
type document struct {
	path string
	root hujson.Value
	// indent is what a level is indented by, "" for a file on one line.
	indent string
}

// parseSettings reads a file. One that is missing or blank is an empty object; one
// that is not plain JSON is refused with its line, since the host would refuse it,
// or have what is more in it lost by the next program that writes it.
func parseSettings(path string, data []byte) (*document, error) {
	d := &document{path: path, indent: "  "}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	var v map[string]json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, &SettingsError{Path: path, Line: lineOf(data, err), Err: fmt.Errorf("it is no JSON object that can be edited: %w", err)}
	}
	var err error
	if d.root, err = hujson.Parse(data); err != nil {
		return nil, &SettingsError{Path: path, Err: err}
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, &SettingsError{Path: path, Line: 1, Err: errors.New("it holds no object")}
	}
	if len(root.Members) > 0 {
		d.indent = indentOf(root.Members[0].Name.BeforeExtra)
	}
	return d, nil
}

// lineOf returns the line of a mistake, 0 if it has none.
func lineOf(data []byte, err error) int {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 {
		return 0
	}
	return bytes.Count(data[:min(int(offset), len(data))], []byte("\n")) + 1
}

// indentOf returns the white space behind the last line end, "" if there is none.
func indentOf(extra hujson.Extra) string {
	if i := bytes.LastIndexByte(extra, '\n'); i >= 0 {
		return string(extra[i+1:])
	}
	return ""
}

func (d *document) bytes() []byte { return d.root.Pack() }

// entry is one hook in the tree: the group that it is in and where.
type entry struct {
	group *hujson.Object
	list  *hujson.Array
	at    int
}

// hookValue are the members of a hook that count.
type hookValue struct {
	Command string `json:"command"`
}

// member finds a member by name; twice is an error, since hosts disagree on which
// counts.
func (d *document) member(o *hujson.Object, name string) (*hujson.ObjectMember, error) {
	var found *hujson.ObjectMember
	for i := range o.Members {
		if lit, ok := o.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			if found != nil {
				return nil, d.errorf("%s stands twice", name)
			}
			found = &o.Members[i]
		}
	}
	return found, nil
}

func (d *document) errorf(format string, a ...any) error {
	return &SettingsError{Path: d.path, Err: fmt.Errorf(format, a...)}
}

// object returns a member that is an object; nil if it isn't there.
func (d *document) object(o *hujson.Object, name string) (*hujson.Object, error) {
	m, err := d.member(o, name)
	if m == nil || err != nil {
		return nil, err
	}
	if v, ok := m.Value.Value.(*hujson.Object); ok {
		return v, nil
	}
	return nil, d.errorf("%s is no object", name)
}

// list returns a member that is a list; nil if it isn't there.
func (d *document) list(o *hujson.Object, name string) (*hujson.Array, error) {
	m, err := d.member(o, name)
	if m == nil || err != nil {
		return nil, err
	}
	if v, ok := m.Value.Value.(*hujson.Array); ok {
		return v, nil
	}
	return nil, d.errorf("%s is no list", name)
}

func (d *document) top() *hujson.Object { return d.root.Value.(*hujson.Object) }

// ours returns the entries of a host's hooks in the groups of one event, last first, so
// that each can be taken out without moving another.
func (d *document) ours(h Host, groups *hujson.Array) (out []entry, err error) {
	for _, g := range slices.Backward(groups.Elements) {
		group, ok := g.Value.(*hujson.Object)
		if !ok {
			continue // not ours, and no matter of ours
		}
		list, err := d.list(group, "hooks")
		if err != nil {
			return nil, err
		}
		if list == nil {
			continue
		}
		for i := range slices.Backward(list.Elements) {
			var v hookValue
			if json.Unmarshal(list.Elements[i].Pack(), &v) == nil && strings.HasSuffix(v.Command, suffix(h)) {
				out = append(out, entry{group, list, i})
			}
		}
	}
	return out, nil
}

// has reports whether any hook of a host's is there.
func (d *document) has(h Host) bool {
	hooks, err := d.object(d.top(), "hooks")
	if hooks == nil || err != nil {
		return false
	}
	for i := range hooks.Members {
		if groups, ok := hooks.Members[i].Value.Value.(*hujson.Array); ok {
			if found, err := d.ours(h, groups); err == nil && len(found) > 0 {
				return true
			}
		}
	}
	return false
}

// install has every event of the host run the command once.
func (d *document) install(h Host, command string) error {
	if err := d.dropStale(h); err != nil {
		return err
	}
	hooks, err := d.object(d.top(), "hooks")
	if err != nil {
		return err
	}
	if hooks == nil {
		hooks = &hujson.Object{}
		if err := d.add(d.top(), "hooks", hujson.Value{Value: hooks}, 1); err != nil {
			return err
		}
	}
	for _, event := range h.Events() {
		if err := d.installEvent(h, hooks, event, command); err != nil {
			return err
		}
	}
	return nil
}

// dropStale takes our hooks out of events that are not answered any more.
func (d *document) dropStale(h Host) error {
	hooks, err := d.object(d.top(), "hooks")
	if hooks == nil || err != nil {
		return err
	}
	for _, name := range names(hooks) {
		if !slices.Contains(h.Events(), name) {
			if _, err := d.uninstallEvent(h, hooks, name, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func names(o *hujson.Object) (out []string) {
	for i := range o.Members {
		if lit, ok := o.Members[i].Name.Value.(hujson.Literal); ok {
			out = append(out, lit.String())
		}
	}
	return out
}

func (d *document) installEvent(h Host, hooks *hujson.Object, event, command string) error {
	groups, err := d.list(hooks, event)
	if err != nil {
		return err
	}
	if groups == nil {
		groups = &hujson.Array{}
		if err := d.add(hooks, event, hujson.Value{Value: groups}, 2); err != nil {
			return err
		}
	}
	found, err := d.ours(h, groups)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return d.push(groups, hookGroup(h, command), 3)
	}
	// The first that is there stays, up to date.
	keep := found[len(found)-1]
	for _, e := range found[:len(found)-1] {
		d.remove(groups, e)
	}
	return d.refresh(keep, h, command)
}

// refresh brings a hook up to date, and leaves its bytes if it is.
func (d *document) refresh(e entry, h Host, command string) error {
	want, err := json.Marshal(hookCommand(h, command))
	if err != nil {
		return err
	}
	old := &e.list.Elements[e.at]
	if sameJSON(old.Pack(), want) {
		return nil
	}
	v, err := d.render(json.RawMessage(want), 5)
	if err != nil {
		return err
	}
	v.BeforeExtra, v.AfterExtra = old.BeforeExtra, old.AfterExtra
	*old = v
	return nil
}

// uninstall takes the host's hooks out, and what they leave empty; with empties also
// what was empty before.
func (d *document) uninstall(h Host, empties bool) error {
	hooks, err := d.object(d.top(), "hooks")
	if hooks == nil || err != nil {
		return err
	}
	any := empties
	for _, event := range names(hooks) {
		found, err := d.uninstallEvent(h, hooks, event, empties)
		if err != nil {
			return err
		}
		any = any || found
	}
	if any && len(hooks.Members) == 0 {
		drop(d.top(), "hooks")
	}
	return nil
}

func (d *document) uninstallEvent(h Host, hooks *hujson.Object, event string, empties bool) (bool, error) {
	m, err := d.member(hooks, event)
	if err != nil {
		return false, err
	}
	groups, ok := m.Value.Value.(*hujson.Array)
	if !ok {
		return false, nil // hosts keep settings of their own beside the events
	}
	found, err := d.ours(h, groups)
	if err != nil {
		return false, err
	}
	for _, e := range found {
		d.remove(groups, e)
	}
	if len(groups.Elements) == 0 && (empties || len(found) > 0) {
		drop(hooks, event)
	}
	return len(found) > 0, nil
}

// remove takes out an entry, and its group if that is empty then.
func (d *document) remove(groups *hujson.Array, e entry) {
	e.list.Elements = slices.Delete(e.list.Elements, e.at, e.at+1)
	if len(e.list.Elements) == 0 {
		groups.Elements = slices.DeleteFunc(groups.Elements, func(v hujson.Value) bool { o, ok := v.Value.(*hujson.Object); return ok && o == e.group })
	}
}

func drop(o *hujson.Object, name string) {
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool {
		lit, ok := m.Name.Value.(hujson.Literal)
		return ok && lit.String() == name
	})
}
