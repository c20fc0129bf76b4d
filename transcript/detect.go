package transcript

import (
	"slices"

	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// sniffLine looks at the members of one JSONL record. In a broken record it sees only the members
// before the break.
func sniffLine(line string) (found Dialect) {
	c := wire.Scan(line)
	if c.Peek() != '{' {
		return ""
	}
	typ, has := "", map[string]bool{}
	for name := range c.Fields {
		if has[name] = true; name == "type" {
			typ = c.Str()
		}
	}
	best := 0
	for i := range table {
		if table[i].Document() {
			continue
		}
		if n := table[i].Sniff(typ, has); n > best {
			best, found = n, Dialect(table[i].Name)
		}
	}
	return found
}

// sniffDocument decides between the dialects of documents. It returns "" for a document that is in
// none of them.
func sniffDocument(s string) (found Dialect) {
	v := vote{weights: make([]int, len(table))}
	c := wire.Scan(s)
	if s[0] == '[' {
		v.messages(&c)
	} else {
		v.request(&c)
	}
	best := -1
	for i := range table {
		if v.known && table[i].Document() && v.weights[i] > best {
			best, found = v.weights[i], Dialect(table[i].Name)
		}
	}
	return found
}

// vote collects signs of the dialects of documents.
type vote struct {
	weights []int // by row of the table
	known   bool  // the document has messages
}

func (v *vote) weigh(at wire.Place, word string) {
	for i := range table {
		v.weights[i] += table[i].Weigh(at, word)
	}
}

func (v *vote) request(c *wire.Cursor) {
	for name := range c.Fields {
		switch name {
		case "messages":
			v.messages(c)
			v.known = true
		case "model":
			v.weigh(wire.AtModel, c.Str())
		case "tools":
			for range c.Elems {
				for name := range c.Fields {
					v.weigh(wire.AtTool, name)
				}
			}
		default:
			v.weigh(wire.AtMember, name)
		}
	}
	// A prefix may end before the messages, inside a long system prompt.
	sum := 0
	for _, n := range v.weights {
		sum += n
	}
	v.known = v.known || c.Err != nil && sum >= 2
}

var knownRoles = []string{"tool", "function", "developer", "system", "user", "assistant"}

func (v *vote) messages(c *wire.Cursor) {
	at := wire.AtFirst
	for range c.Elems {
		for name := range c.Fields {
			switch {
			case name == "role":
				if role := c.Str(); slices.Contains(knownRoles, role) {
					v.weigh(at, role)
					v.known = true
				}
			case name == "content" && c.Peek() == '[':
				v.blocks(c)
			default:
				v.weigh(wire.AtMessage, name)
			}
		}
		at = wire.AtRole
	}
}

func (v *vote) blocks(c *wire.Cursor) {
	for range c.Elems {
		for name := range c.Fields {
			if v.weigh(wire.AtBlock, name); name == "type" {
				v.weigh(wire.AtType, c.Str())
			}
		}
	}
}
