package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// maxDepth bounds nesting as encoding/json does.
const maxDepth = 10_000

var errNoObject = errors.New("record is not a JSON object")

var errDepth = errors.New("nesting is deeper than 10000 levels")

// cursor walks one JSON text in place. It validates everything that it passes and returns
// substrings, so that a value costs an allocation only if it has escapes. The first error sticks
// and ends every loop: callers check Err once, at the end. A member of an unexpected type reads
// as its zero value, since hosts change their records often and a surprise in one member must not
// cost the line.
type cursor struct {
	S     string
	i     int
	depth int
	Err   error
	// Names maps alternative spellings of members' names to the usual ones. It may be nil.
	Names map[string]string
	// Unread is the reason why a usage object could not be read.
	Unread error
}

// usageError is the fault of a usage object.
type usageError struct{ error }

// Usage reads a usage object of any provider or host. It returns nil for an object without figures.
// It also returns nil for an object that can't be read, and sets Unread to the reason.
func (c *cursor) Usage() *memkernel.Usage {
	raw := c.Raw()
	if c.Err != nil {
		return nil
	}
	u, err := memkernel.ReadUsage([]byte(raw))
	if err != nil {
		c.Unread = usageError{err}
	}
	return u
}

func (c *cursor) fail(err error) {
	if c.Err == nil {
		c.Err = err
	}
}

func (c *cursor) syntax(want string) {
	if c.i >= len(c.S) {
		c.fail(fmt.Errorf("parse json: %w, want %s", io.ErrUnexpectedEOF, want))
		return
	}
	c.fail(fmt.Errorf("parse json: byte %d: unexpected %q, want %s", c.i, c.S[c.i], want))
}

// Peek skips white space and returns the next byte, 0 at the end.
func (c *cursor) Peek() byte {
	for c.i < len(c.S) {
		switch b := c.S[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// scan returns a cursor at the beginning of a JSON text.
func scan(s string) cursor { return cursor{S: s} }

// scanObject returns a cursor at the beginning of a JSON object.
func scanObject(s string) (cursor, error) {
	c := scan(s)
	if c.Peek() == '{' {
		return c, nil
	}
	c.Skip()
	return c, cmp.Or(c.End(), errNoObject)
}

// list reads the elements up to the closing bracket end. It calls each for every element.
func (c *cursor) list(end byte, each func() bool) {
	if c.i, c.depth = c.i+1, c.depth+1; c.depth > maxDepth {
		c.fail(errDepth)
	}
	for more := c.Peek() != end; more && c.Err == nil; {
		if !each() || c.Err != nil {
			return
		}
		switch more = c.Peek() == ','; {
		case more:
			c.i++
		case c.Peek() != end:
			c.syntax("',' or '" + string(end) + "'")
		}
	}
	if c.Err == nil {
		c.i, c.depth = c.i+1, c.depth-1
	}
}

// Elems goes over the elements of an array, which the body of the loop must read. Any other
// value is skipped.
func (c *cursor) Elems(yield func() bool) {
	if c.Err != nil || c.Peek() != '[' {
		c.Skip()
		return
	}
	c.list(']', yield)
}

// Fields goes over the names of an object's members. A value that the body of the loop does
// not read is skipped, and so is a value that is no object.
func (c *cursor) Fields(yield func(string) bool) {
	for _, name := range c.members {
		if other := c.Names[name]; other != "" {
			name = other
		}
		at := c.Start()
		if !yield(name) {
			return
		}
		if c.i == at {
			c.Skip()
		}
	}
}

// members goes over an object's members: where each begins, and its name. The body of the
// loop must read the value.
func (c *cursor) members(yield func(start int, name string) bool) {
	if c.Err != nil || c.Peek() != '{' {
		c.Skip()
		return
	}
	c.list('}', func() bool {
		start := c.Start()
		name := c.name()
		return c.Err == nil && yield(start, name)
	})
}

// name reads the name of a member and its colon.
func (c *cursor) name() string {
	if c.Peek() != '"' {
		c.syntax("a key")
		return ""
	}
	name := c.Str()
	if c.Err == nil && c.Peek() != ':' {
		c.syntax("':'")
	}
	c.i++
	return name
}

// jsonText is the text of a value as it was written.
type jsonText string

// Read reads an object. members are pairs of a name and where its value goes: a *string, *jsonText,
// *bool, *int, **[memkernel.Usage] or a func that reads it. A member whose type differs from its
// variable's reads as the zero value. Members that are not named are skipped, and Read returns
// their number.
func (c *cursor) Read(members ...any) (others int) {
	for name := range c.Fields {
		i := 0
		for i < len(members) && members[i] != name {
			i += 2
		}
		if i == len(members) {
			others++
			continue
		}
		c.into(members[i+1])
	}
	return others
}

func (c *cursor) into(target any) {
	switch v := target.(type) {
	case *string:
		*v = c.Str()
	case *jsonText:
		*v = jsonText(c.Raw())
	case *bool:
		*v = c.Boolean()
	case *int:
		*v = c.Num()
	case **memkernel.Usage:
		*v = c.Usage()
	case func():
		v()
	}
}

// readObject reads a text that must be one object, as cursor.Read does.
func readObject(raw string, members ...any) (cursor, error) {
	c, err := scanObject(raw)
	if err != nil {
		return c, err
	}
	c.Read(members...)
	return c, c.End()
}

// Text reads an object and returns the string in one of its members, "" if the member is missing.
func (c *cursor) Text(member string) (s string) {
	c.Read(member, &s)
	return s
}

// Strings reads an array of strings.
func (c *cursor) Strings() (list []string) {
	for range c.Elems {
		list = append(list, c.Str())
	}
	return list
}

// Start returns where the next value begins.
func (c *cursor) Start() int {
	c.Peek()
	return c.i
}

// Since returns the text from start to the current position, "" after an error.
func (c *cursor) Since(start int) string {
	if c.Err != nil {
		return ""
	}
	return c.S[start:c.i]
}

// End fails unless only white space is left.
func (c *cursor) End() error {
	if c.Err == nil && (c.Peek() != 0 || c.i < len(c.S)) {
		c.syntax("the end of the value")
	}
	return c.Err
}

// Str reads a string. It skips any other value and returns "".
func (c *cursor) Str() string {
	if c.Err != nil || c.Peek() != '"' {
		c.Skip()
		return ""
	}
	start := c.i + 1
	escaped := c.skipString()
	switch {
	case c.Err != nil:
		return ""
	case escaped:
		return unescape(c.S[start : c.i-1])
	}
	return c.S[start : c.i-1]
}

// Raw reads any value and returns its exact bytes.
func (c *cursor) Raw() string {
	start := c.Start()
	c.Skip()
	return c.Since(start)
}

// TextOrJSON reads the arguments of a call: the string that holds them, or any other value as it
// is written. null is "".
func (c *cursor) TextOrJSON() string {
	switch c.Peek() {
	case '"':
		return c.Str()
	case 'n':
		c.Skip()
		return ""
	}
	return c.Raw()
}

// Boolean reads a literal. It returns false for any value but true.
func (c *cursor) Boolean() bool { return c.Raw() == "true" }

// Num reads a number as an integer, without its fraction. It returns 0 for any other value.
func (c *cursor) Num() int {
	raw := c.Raw()
	if n, err := strconv.Atoi(raw); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(raw, 64); err == nil && f > -1e15 && f < 1e15 {
		return int(f)
	}
	return 0
}

// Skip passes over one value of any kind and validates it.
func (c *cursor) Skip() {
	if c.Err != nil {
		return
	}
	switch b := c.Peek(); {
	case b == '"':
		c.skipString()
	case b == '{':
		for range c.members {
			c.Skip()
		}
	case b == '[':
		for range c.Elems {
			c.Skip()
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

func (c *cursor) literal(word string) {
	rest := c.S[c.i:]
	if strings.HasPrefix(rest, word) {
		c.i += len(word)
		return
	}
	if strings.HasPrefix(word, rest) {
		c.i = len(c.S)
	}
	c.syntax(word)
}

func (c *cursor) number() {
	start := c.i
	for c.i < len(c.S) && strings.IndexByte("0123456789+-.eE", c.S[c.i]) >= 0 {
		c.i++
	}
	if !json.Valid([]byte(c.S[start:c.i])) {
		if c.i < len(c.S) {
			c.i = start
		}
		c.syntax("a number")
	}
}

// skipString passes over the string at the cursor and reports whether it has escapes. Invalid
// UTF-8 is no error, since hosts write it.
func (c *cursor) skipString() (escaped bool) {
	i := c.i + 1
	for {
		i = plainRun(c.S, i)
		if i >= len(c.S) {
			c.i = len(c.S)
			c.syntax("'\"'")
			return escaped
		}
		switch c.S[i] {
		case '"':
			c.i = i + 1
			return escaped
		case '\\':
			escaped = true
			if i = c.escape(i); c.Err != nil {
				return escaped
			}
		default:
			c.i = i
			c.syntax("a string without control characters")
			return escaped
		}
	}
}

// escape validates the escape at i and returns the index after it.
func (c *cursor) escape(i int) int {
	if c.i = i + 1; c.i < len(c.S) && strings.IndexByte(`"\/bfnrt`, c.S[c.i]) >= 0 {
		return i + 2
	}
	if c.i >= len(c.S) || c.S[c.i] != 'u' {
		c.syntax("an escape")
		return i
	}
	for c.i = i + 2; c.i < i+6; c.i++ {
		if c.i >= len(c.S) || strings.IndexByte("0123456789abcdefABCDEF", c.S[c.i]) < 0 {
			c.syntax("four hex digits")
			return i
		}
	}
	return i + 6
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainRun returns the index of the first quote, backslash or control character at or after i. It
// looks at eight bytes at a time: x - n borrows into the high bit exactly where a byte is below
// n.
func plainRun(s string, i int) int {
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
