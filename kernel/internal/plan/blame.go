package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
)

// placeOf names the part that a host changed, as exactly as this process knows it.
func (c *call) placeOf(change *cachelayout.Change) string {
	switch change.Kind {
	case cachelayout.ChangeTools:
		return toolChanged(c.Prev.Tools, c.Request.Tools)
	case cachelayout.ChangeSystem:
		return systemChanged(c.Prev.System, c.Request.System)
	case cachelayout.ChangeIdentity:
		if len(change.Old)+len(change.New) > 80 { // settings in JSON
			return change.Field
		}
		return fmt.Sprintf("%s, from %s to %s", change.Field, cmp.Or(change.Old, "none"), cmp.Or(change.New, "none"))
	}
	if c.Align.Rewrite == pagevm.RewriteNone || c.Align.First >= len(c.Msgs) {
		return "messages"
	}
	m := &c.Msgs[c.Align.First]
	what := string(m.Role)
	for i := range m.Parts {
		if r := m.Parts[i].Result; r != nil {
			what = "tool result"
			if call := c.Maker.Calls[r.CallID]; call != nil {
				what += " of " + call.Name
			}
			break
		}
	}
	return fmt.Sprintf("message %d (%s)", c.Align.First+1, what)
}

// toolChanged names the first definition that differs, and the first member of the definition
// that differs.
func toolChanged(old, now []memkernel.Tool) string {
	i := 0
	for i < len(old) && i < len(now) && old[i] == now[i] {
		i++
	}
	place := "tools[" + strconv.Itoa(i) + "]"
	switch {
	case len(old) == 0: // an earlier process saw the old tools
		return "tools"
	case i < len(old) && i < len(now) && old[i].Name == now[i].Name:
		return place + memberChanged(old[i].Raw, now[i].Raw)
	case i < len(now) && !slices.ContainsFunc(old, func(t memkernel.Tool) bool { return t.Name == now[i].Name }):
		return place + " (" + now[i].Name + ") was added"
	case i < len(old) && !slices.ContainsFunc(now, func(t memkernel.Tool) bool { return t.Name == old[i].Name }):
		return place + " (" + old[i].Name + ") was removed"
	}
	return place + ", another order"
}

// memberChanged returns the path of the first member, in the order of names, whose values in two
// objects differ. It returns "" if no member differs. If the two values are objects, the path
// continues to their first member that differs.
func memberChanged(old, now string) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal([]byte(old), &a) != nil || json.Unmarshal([]byte(now), &b) != nil {
		return ""
	}
	var names []string
	for name := range b {
		if string(a[name]) != string(b[name]) {
			names = append(names, name)
		}
	}
	for name := range a {
		if b[name] == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "" // spaces, or the order of members
	}
	first := slices.Min(names)
	return "." + first + memberChanged(string(a[first]), string(b[first]))
}

// systemChanged names the first byte of a system prompt's text that differs.
func systemChanged(old, now []memkernel.Part) string {
	if len(old) == 0 {
		return "system"
	}
	a, b, i := wordsOf(old), wordsOf(now), 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return "system, byte " + thousands(i)
}

func wordsOf(parts []memkernel.Part) (text string) {
	for i := range parts {
		text += parts[i].Text
	}
	return text
}

// thousands writes 1204 as 1,204.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
