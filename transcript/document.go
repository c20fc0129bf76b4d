package transcript

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// document streams the values of one JSON document: the members of a request object, or a bare
// array of messages.
type document struct {
	v     *valueReader
	src   *source
	yield func(Record, error) bool
	any   bool
	lead  string // taken already for a value that turned out cut off
}

// errStop ends the walk because the consumer has enough.
var errStop = errors.New("stop")

func (d *document) run() {
	err := d.top()
	if err == nil {
		err = d.rest()
	}
	if err == nil || err == errStop {
		return
	}
	if errors.Is(err, ErrEmpty) {
		d.yield(Record{}, err)
		return
	}
	if le, ok := err.(*LineError); ok {
		d.yield(Record{Line: le.Line}, le)
		return
	}
	d.giveUp(err)
}

// giveUp reports a document whose structure is broken. No value can be found after the break, so
// the rest is one broken record, cut into chunks.
func (d *document) giveUp(err error) {
	le := d.src.broken(d.v.line, err)
	if d.src.opt.OnBroken == Refuse {
		d.yield(Record{Line: le.Line}, le)
		return
	}
	for first := true; ; first = false {
		d.v.pos = len(d.v.buf)
		raw, line, off := d.v.take()
		rec := Record{Line: line, Offset: off, Raw: raw, Kind: wire.KindBroken}
		if first {
			rec.Err, rec.Lead = le, d.lead
			rec.Offset -= int64(len(d.lead))
		}
		if (raw != "" || first) && !d.yield(rec, nil) || !d.v.more() {
			return
		}
	}
}

func (d *document) top() error {
	if d.v.peek() == bom[0] {
		for len(d.v.buf)-d.v.pos < len(bom) && d.v.more() {
		}
		if strings.HasPrefix(string(d.v.buf[d.v.pos:]), bom) {
			d.v.pos += len(bom)
		}
	}
	switch d.v.peek() {
	case 0:
		if d.v.pos == len(d.v.buf) {
			return fmt.Errorf("read %s: %w", nameOr(d.src.opt.Name), ErrEmpty)
		}
	case '[':
		return d.list(']', d.message)
	case '{':
		return d.list('}', d.member)
	}
	return d.v.fault("an object or an array")
}

// list reads the elements between two brackets, up to end.
func (d *document) list(end byte, element func() error) error {
	d.v.pos++
	for more := d.v.peek() != end; more; {
		if err := element(); err != nil {
			return err
		}
		switch d.v.peek() {
		case ',':
			d.v.pos++
		case end:
			more = false
		default:
			return d.v.fault("',' or '" + string(end) + "'")
		}
	}
	d.v.pos++
	return nil
}

func (d *document) message() error { return d.value(wire.KindMessage, "") }

// member reads a member of the request.
func (d *document) member() error {
	if d.v.peek() != '"' {
		return d.v.fault("a key")
	}
	key := d.v.pos - d.v.mark
	if err := d.v.value(); err != nil {
		return err
	}
	c := wire.Scan(string(d.v.buf[d.v.mark+key : d.v.pos]))
	name := c.Str()
	if d.v.peek() != ':' {
		return d.v.fault("':'")
	}
	d.v.pos++
	if b := d.v.peek(); name == "messages" && b == '[' {
		return d.list(']', d.message)
	}
	return d.value(wire.KindField, name)
}

// value reads one value and yields it as a record.
func (d *document) value(kind Kind, name string) error {
	if d.v.peek() == 0 {
		return d.v.fault("a value")
	}
	lead, _, off := d.v.take()
	if err := d.v.value(); err != nil {
		d.lead = lead
		return err
	}
	raw, line, _ := d.v.take()
	rec := Record{Line: line, Offset: off, Lead: lead, Raw: raw, Kind: kind, Type: name}
	d.any = true
	e := &wire.Entry{Line: line, Raw: raw, Kind: kind, Type: name}
	if err := d.src.settle(&rec, e, d.src.row.Parse(e), false); err != nil {
		return err
	}
	if !d.yield(rec, nil) {
		return errStop
	}
	return nil
}

// rest yields the white space after the document. Any other text after the document is an error.
func (d *document) rest() error {
	if d.v.peek() != 0 || d.v.pos < len(d.v.buf) {
		return d.v.fault("the end of the document")
	}
	if d.v.err != io.EOF {
		return fmt.Errorf("read %s: %w", nameOr(d.src.opt.Name), d.v.err)
	}
	if !d.any {
		return fmt.Errorf("read %s: %w", nameOr(d.src.opt.Name), ErrEmpty)
	}
	lead, line, off := d.v.take()
	if lead != "" && !d.yield(Record{Line: line, Offset: off, Lead: lead, Kind: wire.KindBlank}, nil) {
		return errStop
	}
	return nil
}
