package transcript

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// isMarkerKey reports whether a member of this name marks a cache breakpoint.
func isMarkerKey(k string) bool { return k == "cache_control" || k == "prompt_cache_breakpoint" }

// AppendClean appends the JSON of a block or message without cache markers and without invalid
// UTF-8. All other bytes stay.
func AppendClean(dst []byte, raw string) []byte {
	if strings.Contains(raw, `"cache_control"`) || strings.Contains(raw, `"prompt_cache_breakpoint"`) {
		return appendWithout(dst, raw, isMarkerKey)
	}
	return appendValid(dst, raw)
}

// span is a range of bytes.
type span struct{ Start, End int }

// appendWithout copies an object without some of its members.
func appendWithout(dst []byte, raw string, drop func(string) bool) []byte {
	c := scan(raw)
	cuts := memberCuts(&c, drop, nil)
	at := 0
	if c.Err == nil {
		for _, cut := range cuts {
			dst = appendValid(dst, raw[at:cut.Start])
			at = cut.End
		}
	}
	return appendValid(dst, raw[at:])
}

// memberCuts returns the spans of the members to drop, each with a comma next to it. It also looks
// into the objects of a content list. It does not look into other values, since a tool's input may
// have a member of the same name.
func memberCuts(c *cursor, drop func(string) bool, cuts []span) []span {
	kept := -1    // end of the last member that stays
	open := false // the last cut reaches to the next member
	c.Peek()
	for start, k := range c.members {
		if open {
			cuts[len(cuts)-1].End, open = start, false
		}
		gone := drop(k)
		if !gone && k == "content" && c.Peek() == '[' {
			for range c.Elems {
				cuts = memberCuts(c, drop, cuts)
			}
		} else {
			c.Skip()
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

// member returns where the value of a member of an object is, an empty span if it has none.
func member(object, name string) (at span) {
	c := scan(object)
	for k := range c.Fields {
		if start := c.Start(); k == name {
			if c.Skip(); c.Err == nil {
				at = span{start, c.i}
			}
		}
	}
	return at
}

// memberOf returns the JSON of a member of an object, "" if it has none.
func memberOf(object, name string) string {
	at := member(object, name)
	return object[at.Start:at.End]
}

// hasMember reports whether an object has at least one of the named members.
func hasMember(object string, names ...string) bool {
	c := scan(object)
	for k := range c.Fields {
		if slices.Contains(names, k) {
			return true
		}
	}
	return false
}

// withMember returns an object in which a member has a new value. The member is added if it is
// missing. All other bytes stay.
func withMember(raw, name, value string) string {
	at := member(raw, name)
	if at.End == 0 {
		return string(insertMember([]byte(raw), string(appendString(nil, name))+":"+value))
	}
	return raw[:at.Start] + value + raw[at.End:]
}

// rawType returns the type member of a block's JSON.
func rawType(raw string) string {
	c := scan(raw)
	for k := range c.Fields {
		if k == "type" {
			return c.Str()
		}
		c.Skip()
	}
	return ""
}

// spansOf returns where the elements of a list begin and end.
func spansOf(list string) []span {
	c := scan(list)
	return c.Spans()
}

// Spans reads a list and returns the positions of its elements.
func (c *cursor) Spans() (out []span) {
	for range c.Elems {
		start := c.Start()
		if c.Skip(); c.Err == nil {
			out = append(out, span{start, c.i})
		}
	}
	return out
}

// appendListed appends an element to the list that ends dst, with a comma if it is not the first.
// If write appends nothing, neither does appendListed.
func appendListed(dst []byte, write func([]byte) []byte) []byte {
	n := len(dst)
	if dst[n-1] != '[' {
		dst = append(dst, ',')
	}
	m := len(dst)
	if dst = write(dst); len(dst) == m {
		return dst[:n]
	}
	return dst
}

// appendList appends a list of parts, each as write appends it.
func appendList(dst []byte, parts []memkernel.Part, write func([]byte, *memkernel.Part) []byte) []byte {
	dst = append(dst, '[')
	for i := range parts {
		dst = appendListed(dst, func(dst []byte) []byte { return write(dst, &parts[i]) })
	}
	return append(dst, ']')
}
