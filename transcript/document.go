package transcript

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/transcript/internal/dialect"
)

// document reads the values of one JSON document: the members of a request object, or a bare
// array of messages. It holds the whole document.
type document struct {
	src   *source
	yield func(Record, error) bool
	text  string
	pos   int // next unread byte
	mark  int // beginning of the bytes that are in no record yet
	lines int // before mark
	any   bool
}

// errStop ends the walk because the consumer has enough.
var errStop = errors.New("stop")

func (d *document) run() {
	text, err := io.ReadAll(io.LimitReader(d.src.r, int64(d.src.opt.MaxLineBytes)+1))
	if err != nil {
		d.yield(Record{}, fmt.Errorf("read %s: %w", nameOr(d.src.opt.Name), err))
		return
	}
	d.text = string(text)
	if err = d.top(); err == nil {
		err = d.rest()
	}
	switch le, ok := err.(*LineError); {
	case err == nil, err == errStop:
	case errors.Is(err, ErrEmpty):
		d.yield(Record{}, err)
	case ok:
		d.yield(Record{Line: le.Line}, le)
	default:
		d.giveUp(err)
	}
}

// giveUp reports a document whose structure is broken. No value can be found after the break, so
// the rest is one broken record.
func (d *document) giveUp(err error) {
	le := d.src.broken(d.line(d.mark), err)
	if d.src.opt.OnBroken == Refuse {
		d.yield(Record{Line: le.Line}, le)
		return
	}
	d.yield(Record{Line: le.Line, Offset: int64(d.mark), Raw: d.text[d.mark:], Kind: dialect.KindBroken, Err: le}, nil)
}

// line returns the 1-based number of the line with a byte at or after mark.
func (d *document) line(at int) int { return 1 + d.lines + strings.Count(d.text[d.mark:at], "\n") }

func (d *document) top() error {
	if len(d.text) > d.src.opt.MaxLineBytes {
		return jsonl.ErrTooLong
	}
	if d.peek(); strings.HasPrefix(d.text[d.pos:], bom) {
		d.pos += len(bom)
	}
	switch d.peek() {
	case 0:
		if d.pos == len(d.text) {
			return fmt.Errorf("read %s: %w", nameOr(d.src.opt.Name), ErrEmpty)
		}
	case '[':
		return d.list(']', d.message)
	case '{':
		return d.list('}', d.member)
	}
	return d.fault("an object or an array")
}

// peek skips white space and returns the next byte, 0 at the end.
func (d *document) peek() byte {
	for ; d.pos < len(d.text); d.pos++ {
		if b := d.text[d.pos]; strings.IndexByte(" \t\r\n", b) < 0 {
			return b
		}
	}
	return 0
}

func (d *document) fault(want string) error {
	if d.pos >= len(d.text) {
		return fmt.Errorf("parse json: %w, want %s", io.ErrUnexpectedEOF, want)
	}
	return fmt.Errorf("parse json: byte %d: unexpected %q, want %s", d.pos, d.text[d.pos], want)
}

// list reads the elements between two brackets, up to end.
func (d *document) list(end byte, element func() error) error {
	d.pos++
	for more := d.peek() != end; more; {
		if err := element(); err != nil {
			return err
		}
		switch d.peek() {
		case ',':
			d.pos++
		case end:
			more = false
		default:
			return d.fault("',' or '" + string(end) + "'")
		}
	}
	d.pos++
	return nil
}

func (d *document) message() error { return d.value(dialect.KindMessage, "") }

// member reads a member of the request.
func (d *document) member() error {
	if d.peek() != '"' {
		return d.fault("a key")
	}
	key := d.pos
	if err := d.skip(); err != nil {
		return err
	}
	c := dialect.Scan(d.text[key:d.pos])
	name := c.Str()
	if d.peek() != ':' {
		return d.fault("':'")
	}
	d.pos++
	if b := d.peek(); name == "messages" && b == '[' {
		return d.list(']', d.message)
	}
	return d.value(dialect.KindField, name)
}

// value reads one value and yields it as a record.
func (d *document) value(kind dialect.Kind, name string) error {
	if d.peek() == 0 {
		return d.fault("a value")
	}
	from := d.pos
	if err := d.skip(); err != nil {
		return err
	}
	rec := Record{Line: d.line(from), Offset: int64(d.mark), Lead: d.text[d.mark:from], Raw: d.text[from:d.pos], Kind: kind, Type: name}
	d.lines, d.any = d.line(d.pos)-1, true
	d.mark = d.pos
	e := &dialect.Entry{Line: rec.Line, Raw: rec.Raw, Kind: kind, Type: name}
	if err := d.src.settle(&rec, e, d.src.row.Parse(e), false); err != nil {
		return err
	}
	if !d.yield(rec, nil) {
		return errStop
	}
	return nil
}

// skip moves to the end of the value at the cursor. Its brackets must match. The dialect checks
// the rest of its syntax.
func (d *document) skip() error {
	depth, quoted := 0, false
	for ; d.pos < len(d.text); d.pos++ {
		switch b := d.text[d.pos]; {
		case quoted && b == '\\':
			d.pos++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case depth == 0 && strings.IndexByte(",:}] \t\r\n", b) >= 0:
			return nil
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				d.pos++
				return nil
			}
		}
	}
	if d.pos = len(d.text); depth > 0 || quoted {
		return d.fault("the end of the value")
	}
	return nil
}

// rest yields the white space after the document. Any other text after the document is an error.
func (d *document) rest() error {
	switch {
	case d.peek() != 0 || d.pos < len(d.text):
		return d.fault("the end of the document")
	case !d.any:
		return fmt.Errorf("read %s: %w", nameOr(d.src.opt.Name), ErrEmpty)
	case d.mark == len(d.text):
	case !d.yield(Record{Line: d.line(d.mark), Offset: int64(d.mark), Lead: d.text[d.mark:], Kind: dialect.KindBlank}, nil):
		return errStop
	}
	return nil
}
