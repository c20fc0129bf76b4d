package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// A trace is a file of decisions, which can be replayed. Its lines have the format of the
// journal's lines. They are appended and never synced, since losing the newest lines does no
// harm. The first line is a header, and every file can be read by itself:
//
//	trace.jsonl    {"v":1,"n":…,"crc":"…","rec":{"op":"trace","id":"memkernel","body":<TraceHeader>}}
//	               {"v":1,"n":…,"crc":"…","rec":{"op":"plan",…}}
//	trace.1.jsonl  the former trace.jsonl, from before it grew too large, or before
//	               another version wrote to it

// traceFormat is the version of the traces that are written.
//
//	1: first format
//	2: a line can name a plan that it continues and the projection that it started from
const traceFormat = 2

// opTrace is the operation of a header. traceID is its id.
const (
	opTrace = "trace"
	traceID = "memkernel"
)

// TraceHeader is the first line of a trace. It applies to all following lines.
type TraceHeader struct {
	// Format is the format version of the trace.
	Format int `json:"format"`
	// Program is the version of the program that wrote the trace.
	Program string `json:"program"`
	// Deciders are the versions of the deciding components, by name.
	Deciders map[string]int `json:"deciders"`
}

// Trace appends to a trace file. It is for one goroutine. Writers in different processes must
// hold the session's lock.
type Trace struct {
	in   Disk
	name string
	max  int64
	line []byte // the header's line
	// known describes the file as it was after t's last append. It is zero if t has appended
	// nothing since NewTrace or Forget.
	known Info
	end   int64 // the end of the last whole line, set by Begin; 0 if the file must be made
	// first is the size of the file after its first append, 0 if t did not make the file.
	first int64
	f     Journal // is open from Begin to Append, nil if the file must be made
}

// NewTrace prepares a trace for [Trace.Begin]. It reads and writes nothing. A file of max bytes
// or more is put aside and a new file begun. A file smaller than four times its first line, which
// may be long, is never put aside.
func NewTrace(in Disk, name string, h TraceHeader, max int64) *Trace {
	h.Format = traceFormat
	body, _ := json.Marshal(h) // strings and numbers only
	var line bytes.Buffer
	encodeRecord(&line, &Record{Op: opTrace, ID: traceID, Body: body}, nil)
	return &Trace{in: in, name: name, max: max, line: line.Bytes()}
}

// Begin prepares the file for the next line. It cuts off a torn tail. It renames a file that is
// too large, of another version or not a trace to *.1.jsonl, and replaces an existing file of
// that name. fresh reports that the file does not end with the last line that t appended, so that
// the next line must be complete by itself.
func (t *Trace) Begin() (fresh bool, err error) {
	if fresh, err = t.begin(); err != nil {
		t.Forget()
		return false, fmt.Errorf("trace: %w", err)
	}
	return fresh, nil
}

func (t *Trace) begin() (fresh bool, err error) {
	t.close()
	if t.f, err = t.in.Journal(t.name); err != nil {
		return false, err
	}
	now, err := t.f.Info()
	if err != nil {
		return false, err
	}
	t.end = now.Size
	if fresh = now.Size == 0 || now != t.known; fresh {
		same, err := lineHead{0, t.line}.in(t.f)
		if err != nil {
			return false, err
		}
		if now.Size > 0 && !same {
			return true, t.rotate()
		}
		if t.end, err = wholeLines(t.f, now.Size); err == nil && t.end < now.Size { // a writer was killed during an append
			err = t.f.Cut(t.end)
		}
		if err != nil {
			return false, err
		}
	}
	if t.end > 0 && t.end >= max(t.max, 4*t.first) {
		return true, t.rotate()
	}
	return fresh, nil
}

// tailStep is how many bytes wholeLines reads at once.
const tailStep = 64 << 10

// wholeLines returns the end of the last valid line of a file of size bytes. It reads from the
// end, so that for a sound file it reads only the last line.
func wholeLines(f io.ReaderAt, size int64) (end int64, err error) {
	var tail []byte // the file's bytes from at on
	at := size
	for {
		end := bytes.LastIndexByte(tail, '\n') + 1
		from := -1
		if end > 0 {
			from = bytes.LastIndexByte(tail[:end-1], '\n') + 1
		}
		if from > 0 || from == 0 && at == 0 {
			if _, err := decodeEnvelope(tail[from : end-1]); err == nil {
				return at + int64(end), nil
			}
			tail = tail[:from]
			continue
		}
		if at == 0 {
			return 0, nil
		}
		n := min(at, max(tailStep, int64(len(tail))))
		more := make([]byte, n+int64(len(tail)))
		if _, err := f.ReadAt(more[:n], at-n); err != nil {
			return 0, err
		}
		copy(more[n:], tail)
		tail, at = more, at-n
	}
}

// rotate puts the file aside. The next line begins a new one.
func (t *Trace) rotate() error {
	t.Forget() // some systems refuse to rename an open file
	return t.in.Move(Unsynced, t.name, strings.TrimSuffix(t.name, ".jsonl")+".1.jsonl")
}

// Append writes a line with one write call and no sync, with the header before it in a new file.
// The caller must call Begin before every Append. After an error the file does not hold the line,
// and the next Begin returns fresh.
func (t *Trace) Append(r Record) error {
	var buf bytes.Buffer
	if t.end == 0 {
		buf.Write(t.line)
	}
	err := encodeRecord(&buf, &r, nil)
	if err == nil && t.f == nil {
		t.f, err = t.in.Journal(t.name)
	}
	if err == nil {
		_, err = t.f.Append(t.end, buf.Bytes(), false)
	}
	if err != nil {
		t.Forget()
		return fmt.Errorf("trace: %w", err)
	}
	if t.end == 0 {
		t.first = int64(buf.Len())
	}
	if t.known, err = t.f.Info(); err != nil {
		t.known = Info{}
	}
	t.close()
	return nil
}

// Forget closes the file and makes the next Begin return fresh.
func (t *Trace) Forget() {
	t.close()
	t.known, t.end, t.first = Info{}, 0, 0
}

func (t *Trace) close() {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
}

// ErrNoTrace is returned by [ReadTrace] for a file whose first line is not a header.
var ErrNoTrace = errors.New("no trace: the first line is no header")

// traceReader reads a trace from its beginning.
type traceReader struct {
	Header TraceHeader
	lines  *lineReader
}

// ReadTrace reads the header of the trace in r. Errors name the trace as name. ReadTrace returns
// an error that wraps ErrNewer for a newer format, and an error that wraps ErrNoTrace for a file
// that is not a trace.
func ReadTrace(name string, r io.Reader) (*traceReader, error) {
	t := &traceReader{lines: newLineReader(name, r)}
	rec, err := t.lines.next()
	var d *LogError
	if err == io.EOF || errors.As(err, &d) || err == nil && rec.Op != opTrace {
		return nil, fmt.Errorf("read %s: %w", name, ErrNoTrace)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(rec.Body, &t.Header); err != nil {
		return nil, fmt.Errorf("read %s, line 1: %w", name, err)
	}
	if t.Header.Format > traceFormat {
		return nil, fmt.Errorf("read %s: format %d: %w; this program reads up to %d", name, t.Header.Format, ErrNewer, traceFormat)
	}
	return t, nil
}

// Lines yields the records after the header with their line numbers. It leaves out a torn last
// line. For damage before the end it yields a *LogError and stops.
func (t *traceReader) Lines() iter.Seq2[TraceLine, error] {
	return func(yield func(TraceLine, error) bool) {
		for {
			rec, err := t.lines.next()
			var d *LogError
			if errors.As(err, &d) && !d.whole {
				switch behind, cant := t.lines.validBehind(); {
				case cant != nil:
					d, err = nil, cant
				case !behind:
					err = io.EOF
				}
			}
			if err == io.EOF {
				return
			}
			if d != nil {
				d.Hint = "the plans before this line can still be replayed; delete the file to begin a new trace"
			}
			if !yield(TraceLine{t.lines.Lines, rec}, err) || err != nil {
				return
			}
		}
	}
}

// TraceLine is a record of a trace with its line number, counted from 1.
type TraceLine struct {
	Line int
	Record
}
