package transcript

// sniffLine looks at the keys of one JSONL record. A broken record is judged
// by what stands before the break.
func sniffLine(line string) Dialect {
	c := scan(line)
	if c.peek() != '{' {
		return ""
	}
	var typ string
	has := map[string]bool{}
	for k := range c.fields {
		has[k] = true
		if k == "type" {
			typ = c.str()
		} else {
			c.skip()
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
	c := scan(s)
	v := vote{make([]int, len(table)), false}
	if s[0] == '[' {
		v.messages(&c)
		return v.verdict()
	}
	for k := range c.fields {
		switch k {
		case "messages":
			v.messages(&c)
			v.known = true
		case "model":
			v.weigh(AtModel, c.str())
		case "tools":
			v.tools(&c)
		default:
			v.weigh(AtMember, k)
			c.skip()
		}
	}
	// A prefix may end before the messages, inside a long system prompt.
	sum := 0
	for _, n := range v.weights {
		sum += n
	}
	v.known = v.known || c.err != nil && sum >= 2
	return v.verdict()
}

// vote collects evidence for the dialects of documents.
type vote struct {
	weights []int // by row
	known   bool
}

func (v *vote) weigh(at Place, word string) {
	for i := range table {
		if table[i].Document() {
			v.weights[i] += table[i].Weigh(at, word)
		}
	}
}

// verdict is the dialect that most speaks for, of equals the first.
func (v *vote) verdict() (found Dialect) {
	best := -1
	for i := range table {
		if v.known && table[i].Document() && v.weights[i] > best {
			best, found = v.weights[i], Dialect(table[i].Name)
		}
	}
	return found
}

func (v *vote) tools(c *cursor) {
	for range c.elems {
		for k := range c.fields {
			v.weigh(AtTool, k)
			c.skip()
		}
	}
}

func (v *vote) messages(c *cursor) {
	at := AtFirst
	for range c.elems {
		for k := range c.fields {
			switch {
			case k == "role":
				v.role(c.str(), at)
			case k == "content" && c.peek() == '[':
				v.blocks(c)
			default:
				v.weigh(AtMessage, k)
				c.skip()
			}
		}
		at = AtRole
	}
}

func (v *vote) role(role string, at Place) {
	switch role {
	case "tool", "function", "developer", "system", "user", "assistant":
		v.weigh(at, role)
		v.known = true
	}
}

func (v *vote) blocks(c *cursor) {
	for range c.elems {
		for k := range c.fields {
			if k == "type" {
				v.weigh(AtType, c.str())
			} else {
				v.weigh(AtBlock, k)
				c.skip()
			}
		}
	}
}
