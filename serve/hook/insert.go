package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// command is a hook as the hosts' settings have it.
type command struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	// Timeout is in the host's own unit.
	Timeout int `json:"timeout"`
}

// group is what is in the list of an event. Without a matcher it is for all
// sources and triggers.
type group struct {
	Hooks []command `json:"hooks"`
}

// hostWait is how long a host waits for a hook, in seconds: twice DefaultDeadline.
const hostWait = 10

// hookCommand returns the hook of a host.
func hookCommand(h Host, run string) command {
	c := command{Type: "command", Command: run, Timeout: hostWait}
	if h.row().named {
		c.Name, c.Timeout = "memkernel", hostWait*1000
	}
	return c
}

func hookGroup(h Host, run string) group { return group{Hooks: []command{hookCommand(h, run)}} }

// render makes a tree of a value, indented as what is at a depth is.
func (d *document) render(v any, depth int) (hujson.Value, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return hujson.Value{}, err
	}
	text := bytes.TrimSpace(b.Bytes())
	if d.indent != "" {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, text, strings.Repeat(d.indent, depth), d.indent); err != nil {
			return hujson.Value{}, err
		}
		text = pretty.Bytes()
	}
	return hujson.Parse(text)
}

// line returns a line end and the indentation of a depth; nothing in a file on one line.
func (d *document) line(depth int) hujson.Extra {
	if d.indent == "" {
		return nil
	}
	return hujson.Extra("\n" + strings.Repeat(d.indent, depth))
}

// add puts a member behind the others of an object whose members are at a depth.
func (d *document) add(o *hujson.Object, name string, v hujson.Value, depth int) error {
	if d.indent != "" {
		v.BeforeExtra = hujson.Extra(" ")
	}
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: d.line(depth), Value: hujson.String(name)}, Value: v})
	d.close(&o.AfterExtra, depth-1)
	return nil
}

// push puts a value behind the others of a list.
func (d *document) push(a *hujson.Array, v any, depth int) error {
	value, err := d.render(v, depth)
	if err != nil {
		return err
	}
	value.BeforeExtra = d.line(depth)
	a.Elements = append(a.Elements, value)
	d.close(&a.AfterExtra, depth-1)
	return nil
}

// close puts a bracket on a line of its own, where it is not yet.
func (d *document) close(extra *hujson.Extra, depth int) {
	if !bytes.ContainsRune(*extra, '\n') {
		*extra = d.line(depth)
	}
}
