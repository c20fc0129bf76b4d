package transcript

import "github.com/memkernel/memkernel/transcript/internal/wire"

// sniffLine looks at the keys of one JSONL record. A broken record is judged
// by what precedes the break.
func sniffLine(line string) Dialect {
	c := wire.Scan(line)
	if c.Peek() != '{' {
		return ""
	}
	var typ string
	has := map[string]bool{}
	for k := range c.Fields {
		has[k] = true
		if k == "type" {
			typ = c.Str()
		}
	}
	best, found := 0, Dialect("")
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

// sniffDocument decides between the JSON dialects, "" if it is none of them.
func sniffDocument(s string) Dialect {
	c := wire.Scan(s)
	v := vote{make([]int, len(table)), false}
	if s[0] == '[' {
		v.messages(&c)
		return v.verdict()
	}
	for k := range c.Fields {
		switch k {
		case "messages":
			v.messages(&c)
			v.known = true
		case "model":
			v.weigh(wire.AtModel, c.Str())
		case "tools":
			v.tools(&c)
		default:
			v.weigh(wire.AtMember, k)
		}
	}
	// A prefix may end before the messages, inside a long system prompt.
	sum := 0
	for _, n := range v.weights {
		sum += n
	}
	v.known = v.known || c.Err != nil && sum >= 2
	return v.verdict()
}

// vote collects evidence for the dialects of documents.
type vote struct {
	weights []int // by row
	known   bool
}

func (v *vote) weigh(at wire.Place, word string) {
	for i := range table {
		if table[i].Document() {
			v.weights[i] += table[i].Weigh(at, word)
		}
	}
}

// verdict returns the dialect that most speaks for, of equals the first.
func (v *vote) verdict() (found Dialect) {
	best := -1
	for i := range table {
		if v.known && table[i].Document() && v.weights[i] > best {
			best, found = v.weights[i], Dialect(table[i].Name)
		}
	}
	return found
}

func (v *vote) tools(c *wire.Cursor) {
	for range c.Elems {
		for k := range c.Fields {
			v.weigh(wire.AtTool, k)
		}
	}
}

func (v *vote) messages(c *wire.Cursor) {
	at := wire.AtFirst
	for range c.Elems {
		for k := range c.Fields {
			switch {
			case k == "role":
				v.role(c.Str(), at)
			case k == "content" && c.Peek() == '[':
				v.blocks(c)
			default:
				v.weigh(wire.AtMessage, k)
			}
		}
		at = wire.AtRole
	}
}

func (v *vote) role(role string, at wire.Place) {
	switch role {
	case "tool", "function", "developer", "system", "user", "assistant":
		v.weigh(at, role)
		v.known = true
	}
}

func (v *vote) blocks(c *wire.Cursor) {
	for range c.Elems {
		for k := range c.Fields {
			if v.weigh(wire.AtBlock, k); k == "type" {
				v.weigh(wire.AtType, c.Str())
			}
		}
	}
}
