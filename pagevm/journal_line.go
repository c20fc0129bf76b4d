package pagevm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeRecord appends the line of a record. A body that is compact already, as
// those of this module are, is copied; any other goes through encoding/json.
func encodeRecord(b *bytes.Buffer, r *Record) error {
	if r.Op == "" {
		return errors.New("record without an operation")
	}
	if len(r.Body) == 0 || !compactJSON(r.Body) {
		raw, err := slowRecord(r)
		if err != nil {
			return err
		}
		writeLine(b, raw, nil, nil)
		return nil
	}
	head := *r
	head.Body = nil
	raw, err := slowRecord(&head)
	if err != nil {
		return err
	}
	writeLine(b, append(raw[:len(raw)-1], `,"body":`...), r.Body, []byte{'}'})
	return nil
}

// slowRecord is the record as encoding/json writes it.
func slowRecord(r *Record) ([]byte, error) {
	var rec bytes.Buffer
	e := json.NewEncoder(&rec)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("encode %s record %q: %w", r.Op, r.ID, err)
	}
	return bytes.TrimSuffix(rec.Bytes(), []byte("\n")), nil
}

// writeLine puts a record, in three parts, into its envelope.
func writeLine(b *bytes.Buffer, head, body, tail []byte) {
	n := len(head) + len(body) + len(tail)
	crc := crc32.Checksum(head, castagnoli)
	crc = crc32.Update(crc, castagnoli, body)
	crc = crc32.Update(crc, castagnoli, tail)
	b.Grow(n + 64)
	fmt.Fprintf(b, `{"v":%d,"n":%d,"crc":"%08x","rec":`, journalVersion, n, crc)
	b.Write(head)
	b.Write(body)
	b.Write(tail)
	b.WriteString("}\n")
}

// lineReader reads records line by line and knows where it is.
type lineReader struct {
	file string
	r    *bufio.Reader
	off  int64 // first byte behind the last line that was good
	line int   // lines up to off
	// noBreak tells that the last line had no line break.
	noBreak bool
	buf     []byte
	// head is how the last good line begins, at headAt; raw is its record.
	head   []byte
	headAt int64
	raw    []byte
	first  []byte // of the line read last, good or not
}

func newLineReader(file string, r io.Reader, off int64, line int) *lineReader {
	return &lineReader{file: file, r: bufio.NewReaderSize(r, 64<<10), off: off, line: line}
}

// next returns the next record. At the end it is io.EOF; a line that is no
// record of a version we know is a *DamageError or wraps ErrNewer. After an
// error off stays where it was.
func (l *lineReader) next() (Record, error) {
	for {
		line, n, err := l.readLine()
		if err != nil {
			return Record{}, err
		}
		if len(line) == 0 {
			l.off += int64(n)
			l.line++
			continue
		}
		raw, err := decodeLine(line)
		if err != nil {
			return Record{}, l.fail(err)
		}
		l.raw = raw
		var rec Record
		if err := json.Unmarshal(raw, &rec); err != nil {
			d := l.damage(err)
			d.whole = true
			return Record{}, d
		}
		l.headAt = l.off
		l.off += int64(n)
		l.line++
		l.head = append(l.head[:0], l.first...)
		return rec, nil
	}
}

// readLine returns the next line without its line break, and the bytes that
// it takes in the file. The slice is valid until the next call.
func (l *lineReader) readLine() (line []byte, n int, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 {
			line = part // the common case needs no copy
		} else {
			l.buf = append(l.buf, part...)
			line = l.buf
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || len(line) == 0) {
			return nil, 0, err
		}
		break
	}
	n = len(line)
	l.first = line[:min(n, maxLineHead)]
	l.noBreak = line[n-1] != '\n'
	if l.off == 0 && l.line == 0 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r\n"), n, nil
}

func (l *lineReader) fail(err error) error {
	if errors.Is(err, ErrNewer) {
		return fmt.Errorf("journal %s, line %d: %w; upgrade memkernel, or point it at another state directory", l.file, l.line+1, err)
	}
	return l.damage(err)
}

func (l *lineReader) damage(err error) *DamageError {
	return &DamageError{File: l.file, Line: l.line + 1, Offset: l.off, Reason: err.Error(),
		Hint: "restore the file from a backup, or move it aside and keep the lines before this one"}
}

// validBehind tells whether any valid line, or one of a newer version, follows
// the broken one. It reads to the end.
func (l *lineReader) validBehind() bool {
	for {
		line, _, err := l.readLine()
		if err != nil {
			return false
		}
		if len(line) == 0 {
			continue
		}
		if _, err := decodeLine(line); err == nil || errors.Is(err, ErrNewer) {
			return true
		}
	}
}

// decodeLine checks a line's envelope and returns its record.
func decodeLine(line []byte) ([]byte, error) {
	env, ok := fastEnvelope(line)
	if !ok {
		// Someone reformatted the line, or it is not ours, or torn.
		var e struct {
			V   int             `json:"v"`
			N   int             `json:"n"`
			CRC string          `json:"crc"`
			Rec json.RawMessage `json:"rec"`
		}
		err := json.Unmarshal(line, &e)
		if v := leadingVersion(line); v > journalVersion || err == nil && e.V > journalVersion {
			return nil, fmt.Errorf("format version %d: %w", max(v, e.V), ErrNewer)
		}
		if err != nil {
			return nil, errors.New("not a whole journal line")
		}
		env = envelope{e.V, e.N, e.CRC, e.Rec}
	}
	switch {
	case env.v > journalVersion:
		return nil, fmt.Errorf("format version %d: %w", env.v, ErrNewer)
	case env.v < 1:
		return nil, errors.New("no format version")
	case len(env.rec) != env.n:
		return nil, fmt.Errorf("record of %d bytes should have %d", len(env.rec), env.n)
	case !sameCRC(env.crc, crc32.Checksum(env.rec, castagnoli)):
		return nil, errors.New("checksum does not match")
	}
	return env.rec, nil
}

func sameCRC(hex string, crc uint32) bool {
	v, err := strconv.ParseUint(hex, 16, 32)
	return err == nil && uint32(v) == crc
}

type envelope struct {
	v, n int
	crc  string
	rec  []byte
}

// fastEnvelope parses a line exactly as encodeRecord writes it, without
// looking into the record.
func fastEnvelope(line []byte) (e envelope, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"v":`))
	if !ok {
		return e, false
	}
	if e.v, rest, ok = number(rest); !ok {
		return e, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"n":`)); !ok {
		return e, false
	}
	if e.n, rest, ok = number(rest); !ok {
		return e, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"crc":"`)); !ok || len(rest) < 8 {
		return e, false
	}
	e.crc = string(rest[:8])
	if rest, ok = bytes.CutPrefix(rest[8:], []byte(`","rec":`)); !ok || len(rest) < 1 || rest[len(rest)-1] != '}' {
		return e, false
	}
	e.rec = rest[:len(rest)-1]
	return e, true
}

func number(b []byte) (int, []byte, bool) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(string(b[:i]))
	return n, b[i:], err == nil
}

// leadingVersion reads the version off a line that is not whole, 0 if it is
// not there. The number counts only if it is known to be complete.
func leadingVersion(line []byte) int {
	rest, ok := bytes.CutPrefix(line, []byte(`{"v":`))
	if !ok {
		return 0
	}
	v, rest, ok := number(rest)
	if !ok || len(rest) == 0 || rest[0] != ',' {
		return 0
	}
	return v
}
