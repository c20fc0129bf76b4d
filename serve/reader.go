package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Message is a message or a batch of messages, as it was read. It has a text and the lists of the
// conversations' messages. In the text each list is replaced by one number. So each message of a
// conversation is held once, as the string that an intake keeps, and the text that is parsed as a
// whole is small.
type Message struct {
	text  []byte
	lists [][]string
	// err refuses the message, because it is not JSON or is too long. If err is set, the text and
	// the lists are empty.
	err *Error
}

// ReadMessage reads a message to its end, and carries nothing out. It returns an [Error] if the
// text exceeds [MaxText], if values are nested too deep, or if the text exceeds the bound of the
// called method. The parameter size is the length of the message according to the client, -1 if
// the client does not say. All other errors come from r.
func ReadMessage(r io.Reader, size int64) (*Message, error) {
	c := cutter{size: size}
	if _, err := io.Copy(&c, r); err != nil {
		return nil, err
	}
	return c.end(), nil
}

// Text returns a message whose bytes are already in memory.
func Text(message []byte) *Message {
	var c cutter
	_, _ = c.Write(message) // it takes everything
	return c.end()
}

const (
	// maxDepth is how deep values may be nested. It is the bound of encoding/json.
	maxDepth = 10000
	// cutChunk is the size of the pieces in which an incomplete element of a list is held.
	cutChunk = 64 << 10 // 64 KiB
)

// cutter reads the text of a message, in any pieces, and cuts out the lists at
// params.conversation.messages. It looks only at quotation marks and brackets. Each element is
// checked by itself to be JSON, and so is the rest of the text, with the list [7] in the place of
// list 7. If both are JSON, so is the whole text. If the whole text is JSON, the lists were cut
// at the right places.
type cutter struct {
	m Message
	// depth is the number of open brackets. base is how many of these brackets belong to a batch.
	depth, base int
	begun       bool
	// quoted means that the position is within a string. escaped means that it is after a
	// backslash in the string.
	quoted, escaped bool
	// on is the number of open brackets on the way to a list. It is 1 in a message, 2 in its
	// params, 3 in the conversation and 4 in the list.
	on int
	// key is the offset in the text at which the name of the last member begins. The member
	// belongs to the innermost object on the way to a list.
	key, keyEnd int
	// valued reports whether the colon of that member was read.
	valued bool
	// method is the method that the innermost message calls. It is "" before the name is read.
	method string
	// methodAt is the offset of the method's value in the text. It is 0 outside of that value.
	// messageAt is the offset of the message.
	methodAt, messageAt int
	// size is the length of the whole input according to the client. It is 0 or negative if the
	// client does not say.
	size int64
	// element is the element of a list that is being read.
	element fragments
}

// way are the names of the members that lead to a list. The members of structs match in upper and
// lower case, as in encoding/json.
var way = [...]func(name string) bool{
	1: func(name string) bool { return name == "params" },
	2: func(name string) bool { return strings.EqualFold(name, "conversation") },
	3: func(name string) bool { return strings.EqualFold(name, "messages") },
}

const inList = len(way)

// Write takes the next piece of the text. It fails only if the text is too long or too deep: [parse] reports
// other invalid JSON. Writing after a failure is allowed and does nothing.
func (c *cutter) Write(p []byte) (int, error) {
	if c.m.err != nil {
		return len(p), nil
	}
	from := 0 // of the part that has not been kept yet
	for i := 0; i < len(p); i++ {
		b := p[i]
		if c.quoted {
			for !c.escaped && b != '"' && b != '\\' && i+1 < len(p) {
				i++
				b = p[i]
			}
			switch {
			case c.escaped:
				c.escaped = false
			case b == '\\':
				c.escaped = true
			case b == '"':
				c.quoted = false
				if c.naming() {
					c.keyEnd = len(c.m.text) + i + 1 - from
				}
			}
			continue
		}
		switch b {
		case '"':
			c.quoted = true
			if c.naming() {
				c.key = len(c.m.text) + i - from
			}
		case ':':
			if c.tracked() {
				c.valued = true
			}
			if c.tracked() && c.on == 1 {
				c.keep(p[from : i+1])
				from = i + 1
				c.methodAt = 0
				if c.m.err == nil && c.name() == "method" {
					c.methodAt = len(c.m.text)
				}
			}
		case ',':
			switch {
			case !c.tracked():
			case c.on == inList:
				c.keep(p[from:i])
				from = i + 1
				c.cut()
			default:
				c.valued = false
				from += c.calls(p[from:i])
			}
		case '{', '[':
			if c.on != inList {
				c.keep(p[from : i+1])
				from = i + 1
			}
			if c.m.err == nil {
				c.open(b)
			}
		case '}', ']':
			if c.tracked() {
				from += c.calls(p[from:i])
			}
			if c.on == inList && c.tracked() {
				c.keep(p[from:i])
				from = i // the bracket is the text's
				c.leaveList()
			}
			c.close()
		}
		if c.m.err != nil {
			break
		}
	}
	if c.m.err == nil {
		c.keep(p[from:])
	}
	if c.m.err != nil {
		c.drop()
		if c.m.err.Code == codeTooLong || c.depth > maxDepth {
			return 0, c.m.err
		}
	}
	return len(p), nil
}

// tracked reports whether the innermost open bracket is on the way to a list.
func (c *cutter) tracked() bool { return c.on > 0 && c.depth == c.base+c.on }

// naming reports whether a string at this position is the name of a member that may lead to a
// list.
func (c *cutter) naming() bool { return c.tracked() && c.on < inList && !c.valued }

// keep adds a piece to the text or to the element that is being read.
func (c *cutter) keep(p []byte) {
	if c.on == inList {
		c.element.add(p)
	} else if c.m.err = c.fits(len(c.m.text) + len(p)); c.m.err == nil {
		if len(c.m.text)+len(p) > cap(c.m.text) { // twice as much: append adds less, and copies more often
			c.m.text = slices.Grow(c.m.text, max(len(p), len(c.m.text)))
		}
		c.m.text = append(c.m.text, p...)
	}
}

// fits returns an error if a length is over the bound of the called method or over the bound of
// all messages.
func (c *cutter) fits(length int) *Error {
	if most, ok := mostOf[c.method]; ok && length-c.messageAt > most {
		return errTooMuchFor(c.method, most)
	}
	if length > MaxText {
		return ErrTooMuchText()
	}
	return nil
}

// calls keeps the rest of a method's name if a name ends here. It refuses the message if its
// length according to the client is over the method's bound. It returns how many bytes it kept.
func (c *cutter) calls(rest []byte) int {
	if c.on != 1 || c.methodAt == 0 {
		return 0
	}
	c.keep(rest)
	if c.m.err == nil && json.Unmarshal(c.m.text[c.methodAt:], &c.method) == nil {
		if c.m.err = c.fits(len(c.m.text)); c.m.err == nil && c.base == 0 {
			if most, ok := mostOf[c.method]; ok && c.size > int64(most) {
				c.m.err = errTooMuchFor(c.method, most)
			}
		}
	}
	c.methodAt = 0
	return len(rest)
}

// open enters a bracket. The bracket has already been kept.
func (c *cutter) open(b byte) {
	if c.depth++; c.depth > maxDepth {
		c.m.err = errNotJSON()
		return
	}
	switch {
	case !c.begun:
		c.begun = true
		if b == '[' {
			c.base = 1
		} else {
			c.on = 1
		}
	case c.on == 0 && c.base == 1 && c.depth == 2 && b == '{':
		c.on = 1
	case c.on > 0 && c.on < inList && c.depth == c.base+c.on+1 && c.valued && (b == '[') == (c.on+1 == inList) && way[c.on](c.name()):
		c.on++
	default:
		return
	}
	c.valued = false
	if c.on == 1 {
		c.method, c.messageAt = "", len(c.m.text)-1
	}
	if c.on == inList {
		c.m.text = strconv.AppendInt(c.m.text, int64(len(c.m.lists)), 10)
		c.m.lists = append(c.m.lists, nil)
	}
}

// name returns the name of the last member.
func (c *cutter) name() (s string) {
	if json.Unmarshal(c.m.text[c.key:c.keyEnd], &s) != nil {
		return "" // and the text is none
	}
	return s
}

// close leaves a bracket.
func (c *cutter) close() {
	if c.tracked() {
		c.on--
	}
	if c.depth--; c.depth < 0 {
		c.m.err = errNotJSON()
	}
}

// cut ends an element.
func (c *cutter) cut() {
	v := c.element.text()
	if !json.Valid([]byte(v)) { // which copies nothing
		c.m.err = errNotJSON()
		return
	}
	last := &c.m.lists[len(c.m.lists)-1]
	*last = append(*last, v)
}

// leaveList ends a list.
func (c *cutter) leaveList() {
	if len(c.m.lists[len(c.m.lists)-1]) > 0 || !c.element.blank() {
		c.cut()
	}
}

// drop discards the kept text and lists of an invalid message.
func (c *cutter) drop() { c.m.text, c.m.lists, c.element = nil, nil, fragments{} }

// blank reports whether the text so far is only space.
func (c *cutter) blank() bool { return c.m.err == nil && len(bytes.TrimSpace(c.m.text)) == 0 }

// end says that nothing follows.
func (c *cutter) end() *Message {
	if c.m.err == nil && !json.Valid(bytes.TrimSpace(c.m.text)) {
		c.m.err = errNotJSON()
	}
	if c.m.err != nil {
		c.drop()
	}
	m := c.m
	*c = cutter{element: fragments{last: c.element.last[:0]}}
	return &m
}

// jsonSpace has the characters that may separate values.
const jsonSpace = " \t\r\n"

// fragments are a text that comes in pieces, without leading and trailing space. Their memory is
// reused, so that a long text needs at most twice its size.
type fragments struct {
	full, spare [][]byte // of cutChunk bytes each
	last        []byte
}

func (f *fragments) blank() bool { return len(f.full) == 0 && len(f.last) == 0 }

func (f *fragments) add(p []byte) {
	if f.blank() {
		p = bytes.TrimLeft(p, jsonSpace)
	}
	for len(p) > 0 {
		if len(f.last) == cutChunk {
			f.full = append(f.full, f.last)
			if n := len(f.spare); n > 0 {
				f.last, f.spare = f.spare[n-1][:0], f.spare[:n-1]
			} else {
				f.last = make([]byte, 0, cutChunk)
			}
		}
		n := min(len(p), cutChunk-len(f.last))
		f.last = append(f.last, p[:n]...)
		p = p[n:]
	}
}

// text returns the text, and begins the next text.
func (f *fragments) text() string {
	var b strings.Builder
	b.Grow(len(f.full)*cutChunk + len(f.last))
	for _, p := range f.full {
		b.Write(p)
	}
	b.Write(f.last)
	f.full, f.spare, f.last = f.full[:0], append(f.spare, f.full...), f.last[:0]
	s := b.String()
	if t := strings.TrimRight(s, jsonSpace); len(t) < len(s) {
		return strings.Clone(t)
	}
	return s
}
