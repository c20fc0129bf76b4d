package transcript

import "strings"

// isMarkerKey names the members that mark cache breakpoints.
func isMarkerKey(k string) bool { return k == "cache_control" || k == "prompt_cache_breakpoint" }

// appendClean appends a block's own JSON without cache markers and without
// bytes that are not UTF-8. All other bytes stay as they are.
func appendClean(dst []byte, raw string) []byte {
	if strings.Contains(raw, `"cache_control"`) || strings.Contains(raw, `"prompt_cache_breakpoint"`) {
		return appendWithout(dst, raw, isMarkerKey)
	}
	return appendValid(dst, raw)
}

// span is a range of bytes.
type span struct{ start, end int }

// appendWithout copies an object without some of its members.
func appendWithout(dst []byte, raw string, drop func(string) bool) []byte {
	c := scan(raw)
	cuts := memberCuts(&c, drop, nil)
	at := 0
	if c.err == nil {
		for _, cut := range cuts {
			dst = appendValid(dst, raw[at:cut.start])
			at = cut.end
		}
	}
	return appendValid(dst, raw[at:])
}

// memberCuts finds the members to drop, each with one of the commas beside it,
// also in the objects of a content list. Members of other values stay: a
// tool's input may well have one of such a name.
func memberCuts(c *cursor, drop func(string) bool, cuts []span) []span {
	kept := -1    // end of the last member that stays
	open := false // the last cut reaches to the next member
	c.peek()
	for k, start := range c.members {
		if open {
			cuts[len(cuts)-1].end, open = start, false
		}
		gone := drop(k)
		if !gone && k == "content" && c.peek() == '[' {
			for range c.elems {
				cuts = memberCuts(c, drop, cuts)
			}
		} else {
			c.skip()
		}
		switch {
		case !gone:
			kept = c.i
		case kept >= 0:
			cuts, kept = append(cuts, span{kept, c.i}), c.i
		default:
			cuts, open = append(cuts, span{start, c.i}), true
		}
	}
	return cuts
}

// members is fields with the position of the key.
func (c *cursor) members(yield func(key string, start int) bool) {
	if c.err != nil || c.peek() != '{' {
		c.skip()
		return
	}
	at := *c
	at.i++
	start := at.start()
	for k, ok := c.firstKey(); ok && yield(k, start); k, ok = c.key() {
		if !c.nextMember() {
			return
		}
		start = c.i
	}
}

// insertMember adds a member to the object that ends dst.
func insertMember(dst []byte, member string) []byte {
	if n := len(dst); n > 1 && dst[n-1] == '}' {
		dst = dst[:n-1]
		if dst[n-2] != '{' {
			dst = append(dst, ',')
		}
		dst = append(append(dst, member...), '}')
	}
	return dst
}

// memberOf is the JSON of a member of an object, "" if it has none.
func memberOf(object, name string) (value string) {
	c := scan(object)
	for k := range c.fields {
		if k == name {
			value = c.raw()
		} else {
			c.skip()
		}
	}
	return value
}

// withMember is an object with another value for a member, which is added if it has
// none. All other bytes stay.
func withMember(raw, name, value string) string {
	c := scan(raw)
	start, end := 0, 0
	for k := range c.fields {
		c.peek()
		at := c.i
		c.skip()
		if k == name {
			start, end = at, c.i
		}
	}
	if end == 0 {
		return string(insertMember([]byte(raw), string(appendString(nil, name))+":"+value))
	}
	return raw[:start] + value + raw[end:]
}

// rawType returns the type member of a block's JSON.
func rawType(raw string) string {
	c := scan(raw)
	for k := range c.fields {
		if k == "type" {
			return c.str()
		}
		c.skip()
	}
	return ""
}

// spans are where the elements of a list begin and end.
func spans(list string) (out []span) {
	c := scan(list)
	return c.spans()
}

// spans passes over a list and says where its elements are.
func (c *cursor) spans() (out []span) {
	for range c.elems {
		start := c.start()
		if c.skip(); c.err == nil {
			out = append(out, span{start, c.i})
		}
	}
	return out
}

// appendListed appends what write writes as an element of the list that ends
// dst, with a comma if it is not the first, and nothing if write wrote nothing.
func appendListed(dst []byte, write func([]byte) []byte) []byte {
	n := len(dst)
	first := dst[n-1] == '['
	if !first {
		dst = append(dst, ',')
	}
	m := len(dst)
	if dst = write(dst); len(dst) == m {
		return dst[:n]
	}
	return dst
}
