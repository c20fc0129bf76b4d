package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// writePiece bounds one write, so that a wait for a slow reader can see progress.
const writePiece = 64 << 10 // 64 KiB

// output is JSON that is written in pieces. A piece is newly encoded text, or existing JSON that
// is not copied.
type output struct {
	pieces []piece
	last   bytes.Buffer // the piece that is being encoded
}

// piece is JSON, or a part of JSON that ends outside of strings. Its content is in one of the two
// fields. Space outside of strings is not written.
type piece struct {
	text  string
	bytes []byte
}

// inPieces is an answer that is written in pieces.
type inPieces interface{ write(*output) error }

var errNoJSON = errors.New("it is no JSON")

// value encodes a value.
func (d *output) value(v any) error {
	enc := json.NewEncoder(&d.last)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	d.last.Truncate(d.last.Len() - 1) // a line break
	return nil
}

// members encodes the members of a struct into an object that is open. The struct must have
// members.
func (d *output) members(v any) error {
	at := d.last.Len()
	if err := d.value(v); err != nil {
		return err
	}
	b := d.last.Bytes()
	b[at] = ',' // in the place of its bracket
	d.last.Truncate(len(b) - 1)
	return nil
}

// text adds a copy of s.
func (d *output) text(s string) { d.last.WriteString(s) }

// verbatim adds a JSON value without a copy.
func (d *output) verbatim(p piece) error {
	if !json.Valid(p.bytes) && !json.Valid([]byte(p.text)) { // neither is copied
		return errNoJSON
	}
	d.flush()
	d.pieces = append(d.pieces, p)
	return nil
}

func (d *output) flush() {
	if d.last.Len() > 0 {
		d.pieces = append(d.pieces, piece{bytes: d.last.Bytes()})
		d.last = bytes.Buffer{}
	}
}

// add adds another's.
func (d *output) add(of *output) {
	if len(of.pieces) > 0 {
		d.flush()
		d.pieces = append(d.pieces, of.pieces...)
	}
	d.last.Write(of.last.Bytes())
}

// size returns the length including the final line break. It returns -1 if the length is unknown.
func (d *output) size() int {
	if len(d.pieces) > 0 {
		return -1
	}
	return d.last.Len() + 1
}

// WriteTo writes the JSON on a line of its own.
func (d *output) WriteTo(w io.Writer) (int64, error) {
	to := &counted{w: w}
	b := bufio.NewWriterSize(to, writePiece)
	if n := d.size(); n > 0 && n < writePiece {
		b = bufio.NewWriterSize(to, n)
	}
	for _, p := range d.pieces {
		spaceless(p.text, func(s string) { cutUp(s, b.WriteString) })
		spaceless(p.bytes, func(s []byte) { cutUp(s, b.Write) })
	}
	cutUp(d.last.Bytes(), b.Write)
	b.WriteByte('\n')
	return to.n, b.Flush() // earlier errors are returned here
}

// counted counts the written bytes.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// cutUp writes a text in parts that fit into the buffer.
func cutUp[T string | []byte](s T, write func(T) (int, error)) {
	for len(s) > 0 {
		n := min(len(s), writePiece/2)
		if _, err := write(s[:n]); err != nil {
			return // flushing says so
		}
		s = s[n:]
	}
}

// spaceless calls run with each part of JSON text, without the space outside of strings.
func spaceless[T string | []byte](s T, run func(T)) {
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case !quoted && (b == ' ' || b == '\n' || b == '\t' || b == '\r'):
			run(s[from:i])
			from = i + 1
		}
	}
	run(s[from:])
}

// encode encodes a message, which is a response, a list of responses, or a notification.
func encode(v any) *output {
	d := &output{}
	switch v := v.(type) {
	case *response:
		return v.output()
	case []*response:
		d.text("[")
		for i, r := range v {
			if i > 0 {
				d.text(",")
			}
			d.add(r.output())
		}
		d.text("]")
	default:
		_ = d.value(v) // numbers and words alone
	}
	return d
}

// output encodes a response. If the encoding fails, it encodes an error in the place of the
// response.
func (r *response) output() *output {
	d := &output{}
	var err error
	if p, ok := r.Result.(inPieces); ok && r.Error == nil {
		d.text(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":`)
		err = p.write(d)
		d.text("}")
	} else {
		err = d.value(r)
	}
	if err != nil {
		d = &output{}
		_ = d.value(answer(string(r.ID), nil, newError(-32603, "INTERNAL", "the answer can't be written: "+err.Error(), "")))
	}
	return d
}

// write writes a plan without a copy of its messages.
func (p *planned) write(d *output) error {
	if err := d.value(&p.plannedHead); err != nil {
		return err
	}
	d.last.Truncate(d.last.Len() - 1) // more follows
	for i := range p.Items {
		if i == 0 {
			d.text(`,"items":[`)
		} else {
			d.text(",")
		}
		if err := p.Items[i].write(d); err != nil {
			return err
		}
	}
	if len(p.Items) > 0 {
		d.text("]")
	}
	if err := d.members(&p.plannedCount); err != nil {
		return err
	}
	if len(p.Body) > 0 {
		d.text(`,"body":`)
		if err := d.verbatim(piece{bytes: p.Body}); err != nil {
			return err
		}
	}
	if err := d.members(&p.plannedRest); err != nil {
		return err
	}
	d.text("}")
	return nil
}

func (it *item) write(d *output) error {
	if it.Message == "" {
		return d.value(it)
	}
	d.text(`{"message":`)
	if err := d.verbatim(piece{text: string(it.Message)}); err != nil {
		return err
	}
	if r := it.Replaces; r != nil {
		d.text(`,"replaces":[` + strconv.Itoa(r[0]) + "," + strconv.Itoa(r[1]) + "]")
	}
	d.text("}")
	return nil
}
