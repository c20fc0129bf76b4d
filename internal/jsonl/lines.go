package jsonl

import (
	"io"
	"strings"
)

const chunkBytes = 256 << 10 // 256 KiB

// lines cuts a stream into lines. It reads chunks and turns each chunk into one string, so that a
// line needs no allocation of its own unless it crosses chunks. It holds at most one chunk and
// one line.
type lines struct {
	r     io.Reader
	buf   []byte
	chunk string
	part  []byte // the beginning of a line that crosses chunks
	max   int
	line  int
	pos   int64 // after the line that was read
	eof   bool
}

func newLines(r io.Reader, max int) *lines {
	return &lines{r: r, buf: make([]byte, chunkBytes), max: max}
}

// fill replaces the spent chunk. It returns io.EOF at the end.
func (l *lines) fill() error {
	for range 100 {
		n, err := l.r.Read(l.buf)
		if n > 0 {
			l.chunk = string(l.buf[:n])
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// next returns the next line and its line end. It skips a line over the limit. In this case
// tooLong is true and raw is "". After the last line err is io.EOF.
func (l *lines) next() (raw, tail string, tooLong bool, err error) {
	l.part = l.part[:0]
	if l.eof {
		return "", "", false, io.EOF
	}
	l.line++
	for {
		if i := strings.IndexByte(l.chunk, '\n'); i >= 0 {
			raw, l.chunk = l.chunk[:i+1], l.chunk[i+1:]
			l.pos += int64(len(raw))
			return l.cut(raw, tooLong)
		}
		if tooLong = tooLong || len(l.part)+len(l.chunk) > l.max; tooLong {
			l.part = nil
		} else {
			l.part = append(l.part, l.chunk...)
		}
		l.pos += int64(len(l.chunk))
		l.chunk = ""
		if err := l.fill(); err == io.EOF {
			l.eof = true
			if len(l.part) == 0 && !tooLong {
				return "", "", false, io.EOF
			}
			return l.cut("", tooLong)
		} else if err != nil {
			return "", "", false, err
		}
	}
}

// cut joins the parts of a line and removes its line end.
func (l *lines) cut(last string, tooLong bool) (raw, tail string, long bool, err error) {
	if tooLong || len(l.part)+len(last) > l.max {
		return "", "", true, nil
	}
	raw = last
	if len(l.part) > 0 {
		raw = string(append(l.part, last...))
		if cap(l.part) > 4*chunkBytes {
			l.part = nil
		}
	}
	body := strings.TrimSuffix(raw, "\n")
	if len(body) < len(raw) {
		body = strings.TrimSuffix(body, "\r")
	}
	return body, raw[len(body):], false, nil
}
