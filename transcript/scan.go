package transcript

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"

	"github.com/memkernel/memkernel"
)

// maxDepth bounds nesting as encoding/json does.
const maxDepth = 10_000

var errNoObject = errors.New("record is not a JSON object")

var errDepth = errors.New("nesting is deeper than 10000 levels")

// cursor walks one JSON text in place. It validates everything it passes over
// and hands out substrings, so a value costs an allocation only when it holds
// escapes. The first error sticks and ends every loop; callers look at err
// once, at the end. A field of an unexpected type reads as its zero value:
// hosts change their records often, and a surprise in one field must not cost
// the line.
type cursor struct {
	s     string
	i     int
	depth int
	err   error
	// unread is why a usage object says nothing.
	unread error
}

// usageError is what is wrong with a usage object.
type usageError struct{ error }

// usage reads a usage object, of whichever provider or host. It is nil if nothing was
// recorded, and if it can't be read: then unread says why.
func (c *cursor) usage() *memkernel.Usage {
	raw := c.raw()
	if c.err != nil {
		return nil
	}
	u, err := memkernel.ReadUsage([]byte(raw))
	if err != nil {
		c.unread = usageError{err}
	}
	return u
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *cursor) syntax(want string) {
	if c.i >= len(c.s) {
		c.fail(fmt.Errorf("parse json: %w, want %s", io.ErrUnexpectedEOF, want))
		return
	}
	c.fail(fmt.Errorf("parse json: byte %d: unexpected %q, want %s", c.i, c.s[c.i], want))
}

// peek skips white space and returns the next byte, 0 at the end.
func (c *cursor) peek() byte {
	for c.i < len(c.s) {
		switch b := c.s[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// scan is a cursor at the beginning of a JSON text.
func scan(s string) cursor { return cursor{s: s} }

// object is a cursor at the beginning of a JSON object.
func object(s string) (cursor, error) {
	c := scan(s)
	if c.peek() == '{' {
		return c, nil
	}
	c.skip()
	return c, cmp.Or(c.end(), errNoObject)
}

// fields enters an object and goes over its keys; the body of the loop reads or skips the
// value. A value that is no object is skipped and has no keys.
func (c *cursor) fields(yield func(string) bool) {
	for k, ok := c.firstKey(); ok && yield(k); k, ok = c.nextKey() {
	}
}

// elems enters an array and goes over its elements, which the body of the loop reads. A
// value that is no array is skipped and has none.
func (c *cursor) elems(yield func() bool) {
	for ok := c.firstElem(); ok && yield(); ok = c.nextElem() {
	}
}

// text is the string that a member of an object holds, "" if there is none. The object is
// passed over.
func (c *cursor) text(member string) (s string) {
	for k := range c.fields {
		if k == member {
			s = c.str()
		} else {
			c.skip()
		}
	}
	return s
}

// start is where the next value begins.
func (c *cursor) start() int {
	c.peek()
	return c.i
}

// pos is behind what was read.
func (c *cursor) pos() int { return c.i }

// since is all that was read from a start on, "" after an error.
func (c *cursor) since(start int) string {
	if c.err != nil {
		return ""
	}
	return c.s[start:c.i]
}

// end fails unless only white space is left.
func (c *cursor) end() error {
	if c.err == nil && (c.peek() != 0 || c.i < len(c.s)) {
		c.syntax("the end of the value")
	}
	return c.err
}

func (c *cursor) enter() bool {
	c.i++
	c.depth++
	if c.depth > maxDepth {
		c.fail(errDepth)
	}
	return c.err == nil
}

func (c *cursor) leave() {
	c.i++
	c.depth--
}

// firstKey enters an object and returns its first key. A value that is no
// object is skipped and has no keys.
func (c *cursor) firstKey() (string, bool) {
	if c.err != nil {
		return "", false
	}
	if c.peek() != '{' {
		c.skip()
		return "", false
	}
	if !c.enter() {
		return "", false
	}
	if c.peek() == '}' {
		c.leave()
		return "", false
	}
	return c.key()
}

// nextKey returns the key after the value that was just read.
func (c *cursor) nextKey() (string, bool) {
	if !c.nextMember() {
		return "", false
	}
	return c.key()
}

func (c *cursor) key() (string, bool) {
	if c.peek() != '"' {
		c.syntax("a key")
		return "", false
	}
	k := c.str()
	if c.peek() != ':' {
		c.syntax("':'")
		return "", false
	}
	c.i++
	return k, c.err == nil
}

// firstElem enters an array and tells whether it has an element. A value that
// is no array is skipped and has none.
func (c *cursor) firstElem() bool {
	if c.err != nil {
		return false
	}
	if c.peek() != '[' {
		c.skip()
		return false
	}
	if !c.enter() {
		return false
	}
	if c.peek() == ']' {
		c.leave()
		return false
	}
	return true
}

func (c *cursor) nextElem() bool {
	if c.err != nil {
		return false
	}
	switch c.peek() {
	case ',':
		c.i++
		return true
	case ']':
		c.leave()
	default:
		c.syntax("',' or ']'")
	}
	return false
}

// str reads a string; any other value is skipped and reads as "".
func (c *cursor) str() string {
	if c.err != nil {
		return ""
	}
	if c.peek() != '"' {
		c.skip()
		return ""
	}
	start := c.i + 1
	escaped := c.skipString()
	if c.err != nil {
		return ""
	}
	in := c.s[start : c.i-1]
	if !escaped {
		return in
	}
	return unescape(in)
}

// raw reads any value and returns its exact bytes.
func (c *cursor) raw() string {
	c.peek()
	start := c.i
	c.skip()
	if c.err != nil {
		return ""
	}
	return c.s[start:c.i]
}

// boolean reads a literal; anything but true is false.
func (c *cursor) boolean() bool { return c.raw() == "true" }

// num reads a number as an integer; anything else is 0. A fraction is cut off.
func (c *cursor) num() int {
	raw := c.raw()
	if n, err := strconv.Atoi(raw); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(raw, 64); err == nil && f > -1e15 && f < 1e15 {
		return int(f)
	}
	return 0
}

// skip passes over one value of any kind and validates it.
func (c *cursor) skip() {
	if c.err != nil {
		return
	}
	switch b := c.peek(); {
	case b == '"':
		c.skipString()
	case b == '{':
		c.skipObject()
	case b == '[':
		for range c.elems {
			c.skip()
		}
	case b == 't':
		c.literal("true")
	case b == 'f':
		c.literal("false")
	case b == 'n':
		c.literal("null")
	case b == '-' || b >= '0' && b <= '9':
		c.number()
	default:
		c.syntax("a value")
	}
}

// skipObject passes over an object without making strings of its keys.
func (c *cursor) skipObject() {
	if !c.enter() {
		return
	}
	if c.peek() == '}' {
		c.leave()
		return
	}
	for c.err == nil {
		if c.peek() != '"' {
			c.syntax("a key")
			return
		}
		if c.skipString(); c.err != nil {
			return
		}
		if c.peek() != ':' {
			c.syntax("':'")
			return
		}
		c.i++
		c.skip()
		if !c.nextMember() {
			return
		}
	}
}

// nextMember passes the comma before a member, or leaves the object.
func (c *cursor) nextMember() bool {
	if c.err != nil {
		return false
	}
	switch c.peek() {
	case ',':
		c.i++
		c.peek()
		return true
	case '}':
		c.leave()
	default:
		c.syntax("',' or '}'")
	}
	return false
}

func (c *cursor) literal(word string) {
	if len(c.s)-c.i >= len(word) && c.s[c.i:c.i+len(word)] == word {
		c.i += len(word)
		return
	}
	if len(c.s)-c.i < len(word) && word[:len(c.s)-c.i] == c.s[c.i:] {
		c.i = len(c.s)
	}
	c.syntax(word)
}

func (c *cursor) digits() {
	if c.i >= len(c.s) || c.s[c.i] < '0' || c.s[c.i] > '9' {
		c.syntax("a digit")
		return
	}
	for c.i < len(c.s) && c.s[c.i] >= '0' && c.s[c.i] <= '9' {
		c.i++
	}
}

func (c *cursor) number() {
	if c.s[c.i] == '-' {
		c.i++
	}
	if c.i < len(c.s) && c.s[c.i] == '0' {
		c.i++
	} else {
		c.digits()
	}
	if c.err == nil && c.i < len(c.s) && c.s[c.i] == '.' {
		c.i++
		c.digits()
	}
	if c.err == nil && c.i < len(c.s) && (c.s[c.i] == 'e' || c.s[c.i] == 'E') {
		c.i++
		if c.i < len(c.s) && (c.s[c.i] == '+' || c.s[c.i] == '-') {
			c.i++
		}
		c.digits()
	}
}

// skipString passes over the string at the cursor and tells whether it holds
// escapes. Bytes that are not UTF-8 are let through: the host wrote them.
func (c *cursor) skipString() (escaped bool) {
	i := c.i + 1
	for {
		i = plainRun(c.s, i)
		if i >= len(c.s) {
			c.i = len(c.s)
			c.syntax("'\"'")
			return escaped
		}
		switch c.s[i] {
		case '"':
			c.i = i + 1
			return escaped
		case '\\':
			escaped = true
			if i+1 < len(c.s) && isSimpleEscape(c.s[i+1]) {
				i += 2
			} else if i = c.escape(i); c.err != nil {
				return escaped
			}
		default:
			c.i = i
			c.syntax("a string without control characters")
			return escaped
		}
	}
}

// escape validates the long escape at i and returns the index after it.
func (c *cursor) escape(i int) int {
	c.i = i + 1
	if c.i >= len(c.s) {
		c.syntax("an escape")
		return i
	}
	if c.s[c.i] != 'u' {
		c.syntax("an escape")
		return i
	}
	for c.i = i + 2; c.i < i+6; c.i++ {
		if c.i >= len(c.s) || unhex(c.s[c.i]) < 0 {
			c.syntax("four hex digits")
			return i
		}
	}
	return i + 6
}

func isSimpleEscape(b byte) bool {
	switch b {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainRun returns the index of the first quote, backslash or control
// character at or after i. It looks at eight bytes at a time: x - n borrows
// into the high bit exactly where a byte was below n.
func plainRun[S ~string | ~[]byte](s S, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		q := x ^ lowBits*'"'
		b := x ^ lowBits*'\\'
		m := ((x-lowBits*0x20)&^x | (q-lowBits)&^q | (b-lowBits)&^b) & highBits
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(s); i++ {
		if b := s[i]; b == '"' || b == '\\' || b < 0x20 {
			return i
		}
	}
	return i
}
