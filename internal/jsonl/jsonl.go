// Package jsonl reads files of other programs that hold a JSON object a line. It strips padding
// around a record (zero bytes, blanks, byte order marks), reads several records in one line one
// by one, and continues with the next record after a torn record, so that no whole record is lost
// because of a torn neighbour. [NextLine] reads the lines of a client's stream. The package knows
// no format, and does not read the journals of this program.
package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
)

// ErrTooLong is the error of a line over the limit.
var ErrTooLong = errors.New("record is too long")

// errTorn is the error of a record that breaks off, with another record after it on the line.
var errTorn = errors.New("record breaks off, and another one follows on its line")

// errNoObject is the error of a text that does not begin with an object.
var errNoObject = errors.New("record is not a JSON object")

// Value is a record, a text that can't be read, or an empty line. Joined in order, Lead, Raw and
// Tail of all values are the bytes of the file, except for lines over the limit.
type Value struct {
	// Line is the 1-based number of the line on which Raw begins. Offset is the byte offset at
	// which Lead begins.
	Line   int
	Offset int64
	// Lead and Tail are the padding before and after Raw. The last Tail of a line includes the
	// line end. Raw is "" on an empty line.
	Lead, Raw, Tail string
	// Torn reports whether the text before it on its line could not be read.
	Torn bool
	// Err is the reason why Raw can't be read, nil if it can.
	Err error

	cut bool // Raw breaks off
}

// Blank reports whether the value has only padding.
func (v *Value) Blank() bool { return v.Raw == "" && v.Err == nil }

// Zeros returns the number of zero bytes in the padding. A crash leaves zero bytes; other padding
// is harmless.
func (v *Value) Zeros() int { return strings.Count(v.Lead, "\x00") + strings.Count(v.Tail, "\x00") }

// Place returns a text that names the bytes of Raw in the file.
func (v *Value) Place() string {
	from := v.Offset + int64(len(v.Lead))
	return fmt.Sprintf("bytes %d to %d", from, from+int64(len(v.Raw)))
}

// Cut reports whether the record breaks off at the end of the file. Its writer may still be
// writing it.
func (v *Value) Cut() bool { return v.cut && !strings.Contains(v.Tail, "\n") }

// IsCut reports whether a text is the beginning of an object that breaks off.
func IsCut(text string) bool {
	_, _, err := whole(Trim(text))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// isPadding reports whether a character at the edge of a record belongs to no value.
func isPadding(c rune) bool {
	return c == '\ufeff' || c == '\u200b' || unicode.IsControl(c) || unicode.IsSpace(c)
}

// Trim returns a text without the padding around it.
func Trim(text string) string { return strings.TrimFunc(text, isPadding) }

// Unpadded returns a reader of a file without the padding at its beginning.
func Unpadded(in io.Reader) io.Reader {
	b := bufio.NewReader(in)
	for {
		if c, _, err := b.ReadRune(); err != nil {
			return b // it returns the error again
		} else if !isPadding(c) {
			_ = b.UnreadRune() // it was just read
			return b
		}
	}
}

// Values reads a file. It calls read with each record. The function read must return an error if
// the value is not a record. If a line is torn or holds several records, read may get the same
// record twice. max bounds the bytes of a line. After an error of the file itself Values yields
// that error with an empty value and ends.
func Values(in io.Reader, max int, read func(*Value) error) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		r := bufio.NewReaderSize(in, chunkBytes)
		at, ended := int64(0), false
		for n := 1; !ended; n++ {
			var line strings.Builder
			size, err := NextLine(r, max, func(part []byte) { line.Write(part) })
			if ended = err == io.EOF; err != nil && !ended {
				yield(Value{Line: n}, fmt.Errorf("read line %d: %w", n, err))
				return
			}
			v := Value{}
			if size <= max {
				text, broken := strings.CutSuffix(line.String(), "\n")
				if broken {
					text = strings.TrimSuffix(text, "\r")
				}
				v = padded(text)
				v.Tail += line.String()[len(text):]
			}
			v.Line, v.Offset = n, at
			at += int64(size)
			switch {
			case size > max:
				v.Err = fmt.Errorf("%w: more than %d bytes", ErrTooLong, max)
			case v.Raw != "":
				v.Err = read(&v)
			}
			switch {
			case size == 0: // the end
			case v.Err == nil || size > max:
				if !yield(v, nil) {
					return
				}
			case !split(v, read, yield):
				return
			}
		}
	}
}

// chunkBytes is the number of bytes that are read at once.
const chunkBytes = 256 << 10 // 256 KiB

// Spread reads a file as Values does. It also reads a file that holds one record over several
// lines.
func Spread(in io.Reader, max int, read func(*Value) error) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		text, err := io.ReadAll(io.LimitReader(in, int64(max)))
		if v := padded(string(text)); err == nil && strings.Contains(v.Raw, "\n") {
			if n, _, err := whole(v.Raw); err == nil && n == len(v.Raw) {
				v.Line, v.Err = 1+strings.Count(v.Lead, "\n"), read(&v)
				yield(v, nil)
				return
			}
		}
		Values(io.MultiReader(bytes.NewReader(text), in), max, read)(yield)
	}
}

// padded splits a text into its padding and its record.
func padded(text string) (v Value) {
	v.Raw = strings.TrimLeftFunc(text, isPadding)
	v.Lead = text[:len(text)-len(v.Raw)]
	if v.Raw == "" {
		return v
	}
	text = v.Raw
	v.Raw = strings.TrimRightFunc(text, isPadding)
	v.Tail = text[len(v.Raw):]
	return v
}

// split yields the records of a line that is not one record, and the texts between them.
func split(line Value, read func(*Value) error, yield func(Value, error) bool) bool {
	rest, torn := line.Raw, false
	for at := 0; at < len(rest); {
		n, fail, err := whole(rest[at:])
		v := line
		v.Offset, v.Torn = line.Offset+int64(len(line.Lead)+at), torn
		if at == 0 {
			v.Offset, v.Lead = line.Offset, line.Lead
		} else {
			v.Lead = ""
		}
		if v.cut = errors.Is(err, io.ErrUnexpectedEOF); err != nil {
			if n = next(rest, at, at+fail, read) - at; at+n < len(rest) && rest[at] == '{' {
				err = errTorn
			}
		}
		piece := padded(rest[at : at+n])
		gap := len(rest) - at - n
		gap -= len(strings.TrimLeftFunc(rest[at+n:], isPadding))
		v.Raw, v.Tail = piece.Raw, piece.Tail+rest[at+n:at+n+gap]
		if at += n + gap; at == len(rest) {
			v.Tail += line.Tail
		}
		switch {
		case err == nil:
			v.Err = read(&v)
		case len(v.Raw) < len(line.Raw):
			v.Err = err
		} // if the line is one text, the reader's own error is better
		torn = v.Err != nil
		if !yield(v, nil) {
			return false
		}
	}
	return true
}

// whole returns the length of the object that a text begins with. Otherwise it returns the
// position of the failure and an error.
func whole(text string) (n, fail int, err error) {
	if !strings.HasPrefix(text, "{") {
		return 0, 0, errNoObject
	}
	d := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	err = d.Decode(&raw)
	var bad *json.SyntaxError
	switch {
	case err == nil:
		return int(d.InputOffset()), 0, nil
	case errors.As(err, &bad):
		return 0, int(bad.Offset) - 1, err
	}
	return 0, len(text), err
}

// next returns the position of the first whole record after a torn one, whose scan failed at
// fail. If no record follows, it returns the end of the line. A torn record may also contain
// whole objects. Such objects end before the scan of the record fails, and more of the record
// follows them. If a value could begin at the tear, the first key and the reader distinguish a
// record from such an object.
func next(line string, from, fail int, read func(*Value) error) int {
	work := 4*len(line) + 1<<16 // bounds the time for a line of open braces
	for at := from + 1; work > 0; at++ {
		i := strings.IndexByte(line[at:], '{')
		if i < 0 {
			break
		}
		at += i
		n, failed, err := whole(line[at:])
		if work -= max(n, failed); err != nil {
			continue
		}
		after := strings.TrimLeftFunc(line[at+n:], isPadding)
		if after != "" && after[0] != '{' || at+n <= fail && firstKey(line[at:]) != firstKey(line[from:]) {
			continue
		}
		if read(&Value{Raw: line[at : at+n], Torn: true}) == nil {
			return at
		}
	}
	return len(line)
}

// firstKey returns the first key of an object.
func firstKey(object string) string {
	_, object, _ = strings.Cut(object, `"`)
	key, _, _ := strings.Cut(object, `"`)
	return key
}

// Find calls match with the first records of a file until match accepts one, and reports whether
// it did. It reads at most limit lines, and at most max bytes of each line.
func Find(in io.Reader, max, limit int, match func(raw string) bool) bool {
	for v, err := range Values(in, max, func(v *Value) error {
		if !match(v.Raw) {
			return errNoObject
		}
		return nil
	}) {
		if err != nil || v.Line > limit {
			break
		}
		if v.Err == nil && !v.Blank() {
			return true
		}
	}
	return false
}
