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
	line []byte   // the header's
	off  int64    // whole valid lines up to here, the header among them; 0 if nothing is known
	last lineHead // of the last of them
	// first is the offset at which the first line after the header ends, 0 if this value did not
	// write it.
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
// that name. fresh reports that the file does not end with this value's own last line, so that
// the next line must be complete by itself.
func (t *Trace) Begin() (fresh bool, err error) {
	if fresh, err = t.begin(); err != nil {
		t.Forget()
		return false, fmt.Errorf("trace: %w", err)
	}
	return fresh, nil
}

func (t *Trace) begin() (fresh bool, err error) {
	f, err := t.in.Journal(t.name)
	if err != nil {
		return false, err
	}
	defer func() {
		if t.f == nil {
			f.Close()
		}
	}()
	size, err := f.Size()
	if err != nil {
		return false, err
	}
	same, err := t.last.in(f)
	if err != nil {
		return false, err
	}
	if fresh = t.off == 0 || size < t.off || !same; fresh {
		t.Forget()
		same, err := lineHead{0, t.line}.in(f)
		if err != nil {
			return false, err
		}
		if size > 0 && !same {
			return true, t.rotate(f)
		}
	}
	last, more, err := wholeLines(io.NewSectionReader(f, t.off, size-t.off), size-t.off)
	end := t.off + more
	if err == nil && end < size { // somebody was killed over it
		err = f.Cut(end)
	}
	if err != nil {
		return false, err
	}
	if more > 0 { // another process has written
		t.off, t.last, fresh = end, lineHead{t.off + last.at, last.bytes}, true
	}
	if t.off > 0 && t.off >= max(t.max, 4*t.first) {
		return true, t.rotate(f)
	}
	t.f = f
	return fresh, nil
}

// tailStep is how many bytes are read at once when the last line is looked for.
const tailStep = 64 << 10

// wholeLines returns the last valid line of a file of size bytes, and its end. It reads from the
// end, so that for a sound file it reads only the last line.
func wholeLines(f io.ReaderAt, size int64) (last lineHead, end int64, err error) {
	var tail []byte // of the file, from at on
	at := size
	for {
		end := int64(bytes.LastIndexByte(tail, '\n') + 1)
		from := int64(-1)
		if end > 0 {
			from = int64(bytes.LastIndexByte(tail[:end-1], '\n') + 1)
		}
		if from > 0 || from == 0 && at == 0 {
			line := tail[from : end-1]
			if _, err := decodeEnvelope(line); err == nil {
				return lineHead{at + from, line[:min(len(line), maxLineHead)]}, at + end, nil
			}
			tail = tail[:from]
			continue
		}
		if at == 0 {
			return last, 0, nil
		}
		n := min(at, max(tailStep, int64(len(tail))))
		more := make([]byte, n+int64(len(tail)))
		if _, err := f.ReadAt(more[:n], at-n); err != nil {
			return last, 0, err
		}
		copy(more[n:], tail)
		tail, at = more, at-n
	}
}

// rotate puts the file aside. The next line begins a new one.
func (t *Trace) rotate(f Journal) error {
	t.Forget()
	f.Close() // some systems refuse to rename an open file
	return t.in.Move(Unsynced, t.name, traceBefore(t.name))
}

// traceBefore returns the name under which a trace is put aside.
func traceBefore(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".1.jsonl" }

// Append writes a line with one write call and no sync, with the header before it in a new file.
// The caller must call Begin before every Append. After an error the file does not hold the line,
// and the next Begin returns fresh.
func (t *Trace) Append(r Record) error {
	var buf bytes.Buffer
	if t.off == 0 {
		buf.Write(t.line)
	}
	begins := buf.Len()
	err := encodeRecord(&buf, &r, nil)
	if err == nil && t.f == nil {
		t.f, err = t.in.Journal(t.name)
	}
	if err == nil {
		_, err = t.f.Append(t.off, buf.Bytes(), false)
		t.close()
	}
	if err != nil {
		t.Forget()
		return fmt.Errorf("trace: %w", err)
	}
	t.last = lineHead{t.off + int64(begins), bytes.Clone(buf.Bytes()[begins:min(begins+maxLineHead, buf.Len())])}
	if t.off += int64(buf.Len()); t.first == 0 && t.off == int64(buf.Len()) {
		t.first = t.off
	}
	return nil
}

// Forget makes the next line one that can't build on the lines before it.
func (t *Trace) Forget() {
	t.close()
	t.off, t.last, t.first = 0, lineHead{}, 0
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
