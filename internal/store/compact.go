package store

import "strings"

// compactJSON reports whether b is one valid JSON value without white space between its tokens. A
// value that it rejects may still be valid. The caller must then use encoding/json, which is much
// slower on an ingest of several megabytes.
func compactJSON(b []byte) bool {
	c := compactScan{b: b}
	return c.value(0) && c.i == len(b)
}

// maxCompactDepth is far below the depth that encoding/json reads back.
const maxCompactDepth = 100

type compactScan struct {
	b []byte
	i int
}

// value reads one value at i.
func (c *compactScan) value(depth int) bool {
	if c.i >= len(c.b) || depth > maxCompactDepth {
		return false
	}
	switch ch := c.b[c.i]; ch {
	case '"':
		return c.str()
	case '{':
		return c.list('}', depth, true)
	case '[':
		return c.list(']', depth, false)
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	default:
		return c.number()
	}
}

// list reads an object or array, whose first byte is at i.
func (c *compactScan) list(end byte, depth int, keys bool) bool {
	c.i++
	if c.at(end) {
		c.i++
		return true
	}
	for {
		if keys {
			if !c.at('"') || !c.str() || !c.at(':') {
				return false
			}
			c.i++
		}
		if !c.value(depth + 1) {
			return false
		}
		switch {
		case c.at(','):
			c.i++
		case c.at(end):
			c.i++
			return true
		default:
			return false
		}
	}
}

func (c *compactScan) at(ch byte) bool { return c.i < len(c.b) && c.b[c.i] == ch }

func (c *compactScan) word(w string) bool {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		return false
	}
	c.i += len(w)
	return true
}

// stringStop marks the bytes that end the plain run of a string.
var stringStop = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// str reads a string, whose quote is at i.
func (c *compactScan) str() bool {
	b := c.b
	for i := c.i + 1; i < len(b); i++ {
		if !stringStop[b[i]] {
			continue
		}
		switch b[i] {
		case '"':
			c.i = i + 1
			return true
		case '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		default:
			return false
		}
	}
	return false
}

// escapeLen returns the length of the escape that b starts with, 0 if b does not start with a
// valid escape.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, h := range b[2:6] {
			if strings.IndexByte("0123456789abcdefABCDEF", h) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

// number reads a number.
func (c *compactScan) number() bool {
	if c.at('-') {
		c.i++
	}
	switch {
	case c.at('0'):
		c.i++
	case !c.digits():
		return false
	}
	if c.at('.') {
		c.i++
		if !c.digits() {
			return false
		}
	}
	if c.at('e') || c.at('E') {
		c.i++
		if c.at('+') || c.at('-') {
			c.i++
		}
		return c.digits()
	}
	return true
}

func (c *compactScan) digits() bool {
	from := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		c.i++
	}
	return c.i > from
}
