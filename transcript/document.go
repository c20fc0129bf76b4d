package transcript

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/jsonl"
)

// document reads the values of one JSON document: the members of a request object, or a bare
// array of messages. It holds the whole document.
type document struct {
	src   *source
	yield func(Record, error) bool
	text  string
	json  cursor // text from base on
	base  int
	mark  int // beginning of the bytes that are in no record yet
	lines int // before mark
}

// errStop ends the walk because the consumer has enough.
var errStop = errors.New("stop")

func (d *document) run() {
	text, err := io.ReadAll(io.LimitReader(d.src.r, int64(d.src.opt.MaxLineBytes)+1))
	if err != nil {
		d.yield(Record{}, d.src.opt.failed(err))
		return
	}
	d.text = string(text)
	err = d.values()
	switch le, ok := err.(*LineError); {
	case err == nil, err == errStop:
	case errors.Is(err, ErrEmpty):
		d.yield(Record{}, d.src.opt.failed(err))
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
	if !d.src.opt.SkipBroken {
		d.yield(Record{Line: le.Line}, le)
		return
	}
	d.yield(Record{Line: le.Line, Offset: int64(d.mark), Raw: d.text[d.mark:], Kind: kindBroken, Err: le}, nil)
}

// line returns the 1-based number of the line with a byte at or after mark.
func (d *document) line(at int) int { return 1 + d.lines + strings.Count(d.text[d.mark:at], "\n") }

// values yields all values, and the white space after the document.
func (d *document) values() error {
	if len(d.text) > d.src.opt.MaxLineBytes {
		return jsonl.ErrTooLong
	}
	text := strings.TrimPrefix(strings.TrimLeft(d.text, " \t\r\n"), bom)
	d.base, d.json = len(d.text)-len(text), scan(text)
	switch c := &d.json; c.Peek() {
	case '[':
		if err := d.messages(); err != nil {
			return err
		}
	case '{':
		for name := range c.Fields {
			read := func() error { return d.value(kindField, name) }
			if name == "messages" && c.Peek() == '[' {
				read = d.messages
			}
			if err := read(); err != nil {
				return err
			}
		}
	default:
		if text == "" {
			return ErrEmpty
		}
		return fmt.Errorf("parse json: byte %d: unexpected %q, want an object or an array", d.base, text[0])
	}
	switch err := d.json.End(); {
	case err != nil:
		return err
	case d.mark == 0:
		return ErrEmpty
	case d.mark < len(d.text) && !d.yield(Record{Line: d.line(d.mark), Offset: int64(d.mark), Lead: d.text[d.mark:], Kind: kindBlank}, nil):
		return errStop
	}
	return nil
}

// messages yields the messages of a list.
func (d *document) messages() error {
	for range d.json.Elems {
		if err := d.value(kindMessage, ""); err != nil {
			return err
		}
	}
	return nil
}

// value reads one value and yields it as a record. If the value is invalid JSON but its end can be
// found, the dialect reports the error.
func (d *document) value(of kind, name string) error {
	from := d.base + d.json.Start()
	at := d.json
	raw := d.json.Raw()
	if d.json.Err != nil {
		n := closed(d.text[from:])
		if n <= 0 {
			return d.json.Err
		}
		raw, d.json = d.text[from:from+n], at
		d.json.i += n
	}
	rec := Record{Line: d.line(from), Offset: int64(d.mark), Lead: d.text[d.mark:from], Raw: raw, Kind: of, Type: name}
	to := from + len(raw)
	d.lines, d.mark = d.line(to)-1, to
	if err := d.src.settle(&rec, d.src.row.Parse(&rec), false); err != nil {
		return err
	}
	if !d.yield(rec, nil) {
		return errStop
	}
	return nil
}

// closed returns the length of the value that s begins with, by its brackets and quotes alone. It
// returns -1 if they don't match.
func closed(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case depth == 0 && strings.IndexByte(",:}] \t\r\n", b) >= 0:
			return i
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
