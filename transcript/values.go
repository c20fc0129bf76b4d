package transcript

import (
	"bytes"
	"fmt"
	"io"

	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

const chunkBytes = 256 << 10 // 256 KiB

// valueReader cuts a JSON document into its values. It holds the current value and one chunk at most.
type valueReader struct {
	r    io.Reader
	buf  []byte
	pos  int   // next unread byte of buf
	mark int   // begin of the bytes that take returns next
	off  int64 // file offset of buf[mark]
	line int   // 1-based line of buf[mark]
	max  int
	err  error // the reader's end
}

func newValueReader(r io.Reader, max int) *valueReader {
	return &valueReader{r: r, line: 1, max: max}
}

// more reads another chunk, and returns false at the end.
func (v *valueReader) more() bool {
	if v.err != nil {
		return false
	}
	if v.mark > 0 {
		n := copy(v.buf, v.buf[v.mark:])
		v.buf, v.pos, v.mark = v.buf[:n], v.pos-v.mark, 0
	}
	if cap(v.buf)-len(v.buf) < chunkBytes/4 {
		v.buf = append(make([]byte, 0, 2*cap(v.buf)+chunkBytes), v.buf...)
	}
	for range 100 {
		n, err := v.r.Read(v.buf[len(v.buf):cap(v.buf)])
		v.buf = v.buf[:len(v.buf)+n]
		if err != nil {
			v.err = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
	v.err = io.ErrNoProgress
	return false
}

// peek skips white space and returns the next byte, 0 at the end.
func (v *valueReader) peek() byte {
	for {
		for ; v.pos < len(v.buf); v.pos++ {
			switch b := v.buf[v.pos]; b {
			case ' ', '\t', '\r', '\n':
			default:
				return b
			}
		}
		if !v.more() {
			return 0
		}
	}
}

// take returns everything since the last take, up to pos.
func (v *valueReader) take() (s string, line int, off int64) {
	b := v.buf[v.mark:v.pos]
	line, off = v.line, v.off
	v.line += bytes.Count(b, []byte{'\n'})
	v.off += int64(len(b))
	v.mark = v.pos
	return string(b), line, off
}

func (v *valueReader) fault(want string) error {
	if v.err != nil && v.err != io.EOF {
		return v.err
	}
	if v.pos >= len(v.buf) {
		return fmt.Errorf("parse json: %w, want %s", io.ErrUnexpectedEOF, want)
	}
	return fmt.Errorf("parse json: byte %d: unexpected %q, want %s",
		v.off+int64(v.pos-v.mark), v.buf[v.pos], want)
}

// value moves pos to the end of the next value. It does not check that the value is valid JSON,
// which the cursor does.
func (v *valueReader) value() error {
	if v.peek() == 0 {
		return v.fault("a value")
	}
	for depth, quoted := 0, false; ; {
		for v.pos < len(v.buf) {
			if quoted {
				if v.pos = wire.PlainRun(v.buf, v.pos); v.pos == len(v.buf) {
					break
				}
			}
			switch b := v.buf[v.pos]; {
			case quoted && b == '\\':
				// The escaped byte may be in the next chunk.
				if v.pos+1 == len(v.buf) && !v.more() {
					return v.fault("an escape")
				}
				v.pos++
			case b == '"':
				if quoted = !quoted; !quoted && depth == 0 {
					v.pos++
					return nil
				}
			case quoted:
			case b == '{' || b == '[':
				depth++
			case depth == 0 && (b == ',' || b == ':' || b <= ' ' || b == '}' || b == ']'):
				return nil
			case b == '}' || b == ']':
				if depth--; depth == 0 {
					v.pos++
					return nil
				}
			}
			v.pos++
		}
		if v.pos-v.mark > v.max {
			return jsonl.ErrTooLong
		}
		if !v.more() {
			if depth == 0 && !quoted {
				return nil
			}
			return v.fault("the end of the value")
		}
	}
}
