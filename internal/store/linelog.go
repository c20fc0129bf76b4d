package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// On a [Disk] a log is a file with one record per line:
//
//	journal.jsonl
//	┌───────────────────────────────────────────────────────────────────┐
//	│ {"v":2,"n":<bytes of rec>,"crc":"<crc32c of rec>","sum":"…","rec":{…}}⏎ │
//	│ {"v":2,"n":…,"crc":"…","sum":"…","rec":{"op":…,"id":…,"body":…}}⏎ │
//	│ …                                                                 │
//	└───────────────────────────────────────────────────────────────────┘
//	v    format version of the line; a reader refuses newer ones
//	n    length of rec in bytes, decimal
//	crc  CRC-32C (Castagnoli) of rec, eight lower-case hex digits
//	sum  over the records up to this one, sixteen lower-case hex digits (chain)
//	rec  the record, one JSON object without line breaks
//
// Lines are only ever appended. All records of one append are written by one write and made
// durable by one fsync. The log's head (head.go) records how far the log was synced. A tail that
// a crash tore can only be after that place, and its writer never reported success. Such a tail
// is dropped, or put aside if it has whole lines. Any other broken, missing, moved or doubled
// line is damage: reading returns an error that names the line, and the file stays unchanged.
//
// A log from a version without heads may end in the beginning of a line. CRLF line ends, blank
// lines and a missing last line break are accepted: other tools may have touched the file. A
// derived log has no head, and its tail may be torn at any place.
type lineLog struct {
	d                 Disk
	name, path        string // path is for messages
	readOnly, derived bool
	opened            bool // Read was called

	// Invariant: the file's first at.Off bytes are whole valid lines.
	at      headMark
	records int  // records up to at
	needNL  bool // the last line lacks its line break
	chained bool // a line up to at has a sum
	torn    int64
	last    lineHead // of the last line up to at
	// known describes the file as it was when it ended at the place at. While the file's Info is
	// the same, the file need not be read again.
	known  Info
	broken error // set once an append could not be taken back

	head    *journalHead // the newest state, nil if there is none
	headErr error        // why there is none, though there should be
	// halfHead reports that one of the head's two states can't be read.
	halfHead bool
	durable  int // records up to a mark of the head
}

// lineHead is the beginning of a line and its place. The beginning contains the checksum, which
// shows that the file up to this line is still the one that was read.
type lineHead struct {
	at    int64
	bytes []byte
}

// in reports whether the line is still in f.
func (h lineHead) in(f io.ReaderAt) (bool, error) {
	now := make([]byte, len(h.bytes))
	if len(now) == 0 {
		return true, nil
	}
	if _, err := f.ReadAt(now, h.at); err != nil && err != io.EOF {
		return false, err
	}
	return bytes.Equal(now, h.bytes), nil
}

// maxLineHead is how many bytes of a line a lineHead has at most. The envelope before the record
// has fewer.
const maxLineHead = 64

// OpenLineLog returns the log in a file of lines. It accesses nothing yet.
func OpenLineLog(d Disk, name string, o LogOptions) *lineLog {
	return &lineLog{d: d, name: name, path: d.Where(name), readOnly: o.ReadOnly, derived: o.Derived}
}

func (l *lineLog) Torn() int64 { return l.torn }
func (l *lineLog) Len() int    { return l.records }
func (l *lineLog) Size() int64 { return l.at.Off }
func (l *lineLog) Writable()   { l.readOnly = false }

func (l *lineLog) Read(each func(Record) error) error {
	first := !l.opened
	l.opened = true
	if err := l.catchUp(each); err != nil {
		return err
	}
	if !first || l.readOnly || l.torn == 0 {
		return nil
	}
	f, err := l.d.Journal(l.name)
	if err == nil {
		defer f.Close()
		err = l.dropTail(f)
	}
	if err != nil {
		return fmt.Errorf("drop torn tail: %w", err)
	}
	return nil
}

// catchUp reads the file from the place l.at to its end and ignores a torn tail. It reads nothing if
// the file has not changed.
func (l *lineLog) catchUp(each func(Record) error) error {
	now, err := l.d.Stat(l.name)
	if err == nil && now == l.known {
		return nil
	}
	l.known = Info{}
	h, err := l.readHead()
	if err != nil && !errors.Is(err, errUnreadableHead) {
		return err
	}
	headErr := err
	f, err := l.d.Open(l.name)
	if errors.Is(err, fs.ErrNotExist) && l.at.Off == 0 {
		l.head = h
		_, err := l.vouch(newLineReader(l.path, nil), nil)
		return err
	}
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	same, err := l.last.in(f)
	if err != nil {
		return err
	}
	l.torn = 0
	if size < l.at.Off || !same {
		return fmt.Errorf("%w: %w", ErrOvertaken, &LogError{File: l.path, Line: l.at.Lines, Offset: min(size, l.last.at), Reason: "the file was rewritten while in use",
			Hint: "it was compacted or changed by another program; open the session again", Replaced: true})
	}
	l.head, l.headErr = h, headErr
	if err := l.read(f, size, each); err != nil {
		return err
	}
	if now.Size == l.at.Off {
		l.known = now
	}
	switch {
	case !l.chained: // without sums there was no head
		l.headErr = nil
	case h == nil && headErr == nil && !l.derived:
		l.headErr = fmt.Errorf("%s is missing", l.d.Where(headName(l.name)))
	}
	return nil
}

// read reads f from the place l.at to its end at size, and compares it with the head.
func (l *lineLog) read(f io.ReaderAt, size int64, each func(Record) error) error {
	passed := l.head.mark(l.at)
	if passed == nil && l.head != nil && l.at.Off > l.head.Off && l.at.Off > 0 {
		passed = &l.head.headMark // it was held against the file when it was read
	}
	r := newLineReader(l.path, io.NewSectionReader(f, l.at.Off, size-l.at.Off))
	r.headMark, r.wantSum, r.chained = l.at, true, l.chained
	for {
		rec, err := r.next()
		read := l.records
		if err == nil {
			read++
		}
		if m := l.head.mark(r.headMark); m != nil { // also after empty lines
			passed, l.durable = m, read
		}
		if err == io.EOF {
			l.take(r)
			_, err := l.vouch(r, passed)
			return err
		}
		var d *LogError
		if errors.As(err, &d) && !d.whole && (l.head == nil || r.Off >= l.head.Off || passed != nil) {
			tail, bad := l.vouch(r, passed)
			if tail && passed == nil && !r.tornLine() {
				behind, err := r.validBehind()
				if err != nil {
					return err
				}
				tail = l.derived && r.Off > 0 && !behind
			}
			if tail {
				l.take(r)
				l.needNL, l.torn = false, size-l.at.Off // the torn line is the one without a line break
				return nil
			}
			if bad != nil {
				err = bad
			}
		}
		if err != nil {
			return err
		}
		if err := each(rec); err != nil {
			return fmt.Errorf("journal %s, line %d: %w; %s", l.path, r.Lines, err, salvageHint)
		}
		l.take(r)
		l.records++
	}
}

// take moves the place to the end of the bytes that r has read.
func (l *lineLog) take(r *lineReader) {
	l.at, l.needNL, l.chained = r.headMark, r.noBreak, r.chained
	if r.headAt >= l.last.at && len(r.head) > 0 {
		l.last = lineHead{r.headAt, append(l.last.bytes[:0], r.head...)}
	}
}

// dropTail cuts the torn tail off the file. It keeps a tail with whole lines in a file next to
// the log: a power cut or damage leaves such a tail, and a kill does not.
func (l *lineLog) dropTail(f Journal) error {
	tail := make([]byte, l.torn)
	if _, err := f.ReadAt(tail, l.at.Off); err != nil && err != io.EOF {
		return err
	}
	if bytes.IndexByte(tail, '\n') >= 0 {
		aside, err := AsideName(l.d, l.name)
		if err != nil {
			return err
		}
		if _, err := l.d.Put(Synced, Doc{aside, tail}); err != nil {
			return err
		}
	}
	return f.Cut(l.at.Off)
}

func (l *lineLog) Records() iter.Seq2[Record, error] {
	end := l.at.Off
	return func(yield func(Record, error) bool) {
		f, err := l.d.Open(l.name)
		if errors.Is(err, fs.ErrNotExist) && end == 0 {
			return
		}
		if err != nil {
			yield(Record{}, fmt.Errorf("read journal: %w", err))
			return
		}
		defer f.Close()
		r := newLineReader(l.path, io.NewSectionReader(f, 0, end))
		for {
			rec, err := r.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				err = fmt.Errorf("read journal: %w", err)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// ready opens the file for appending at the place. It returns an error that wraps ErrOvertaken if
// other processes appended records.
func (l *lineLog) ready() (f Journal, err error) {
	if l.readOnly {
		return nil, fmt.Errorf("%s is open for reading only", l.path)
	}
	if l.broken != nil {
		return nil, fmt.Errorf("%s must be opened again after: %w", l.path, l.broken)
	}
	if f, err = l.d.Journal(l.name); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	size, err := f.Size()
	if err != nil {
		return f, err
	}
	same, err := l.last.in(f)
	if err != nil {
		return f, err
	}
	if size != l.at.Off || !same {
		if err := l.catchUp(func(Record) error { return ErrOvertaken }); err != nil {
			return f, fmt.Errorf("refresh journal: %w", err)
		}
		if l.torn > 0 {
			if err := l.dropTail(f); err != nil {
				return f, err
			}
		}
	}
	if l.derived || l.head != nil {
		return f, nil
	}
	if err := l.settle(f); err != nil {
		return f, err
	}
	return f, l.makeHead()
}

func (l *lineLog) Append(sync bool, recs ...Record) (Stats, error) {
	f, err := l.ready()
	if err != nil {
		return Stats{}, err
	}
	defer f.Close()
	if len(recs) == 0 {
		return Stats{}, nil
	}
	var buf bytes.Buffer
	if l.needNL {
		buf.WriteByte('\n')
	}
	last, at := 0, l.at
	for i := range recs {
		last = buf.Len()
		if err := encodeRecord(&buf, &recs[i], &at.Sum); err != nil {
			return Stats{}, err
		}
	}
	st, err := f.Append(l.at.Off, buf.Bytes(), sync)
	if err != nil {
		if errors.Is(err, atomicfile.ErrTorn) {
			l.broken = err
		}
		return st, err
	}
	head := buf.Bytes()[last:min(last+maxLineHead, buf.Len())]
	l.last = lineHead{l.at.Off + int64(last), append(l.last.bytes[:0], head...)}
	at.Off, at.Lines = at.Off+int64(buf.Len()), at.Lines+len(recs)
	l.at, l.needNL, l.chained = at, false, true
	l.records += len(recs)
	if l.known, err = f.Info(); err != nil {
		l.known = Info{}
	}
	if sync {
		l.keepHead()
	}
	return st, nil
}

func (l *lineLog) Sync(n int) error {
	if n <= l.durable {
		return nil
	}
	f, err := l.ready()
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Sync(); err != nil {
		return err
	}
	l.keepHead()
	return nil
}

// Replace writes a new file, reads it, and then gives it the old file's name. It holds the whole new
// file in memory.
func (l *lineLog) Replace(recs iter.Seq2[Record, error]) error {
	f, err := l.ready()
	if err != nil {
		return err
	}
	defer f.Close()
	content, n, err := linesOf(l.d, l.name, recs)
	if err != nil {
		return err
	}
	if !l.derived {
		if err := l.settle(f); err != nil {
			return err
		}
	}
	f.Close() // some systems refuse to replace an open file
	// The head records the new content before the new file takes the log's name, so that at any
	// moment one of the head's two marks fits the file.
	if !l.derived {
		err = l.writeHead(l.at, &n.at, true)
	}
	if err == nil {
		_, err = l.d.Put(Synced, Doc{l.name, content})
	}
	if err != nil {
		l.broken = err // only reading can show whether the name has the old or the new file
		return err
	}
	l.at, l.records, l.needNL, l.chained, l.last, l.durable = n.at, n.records, n.needNL, n.chained, n.last, 0
	l.keepHead()
	return nil
}

// linesOf returns a file of lines with records, and a log that has read it.
func linesOf(d Disk, name string, recs iter.Seq2[Record, error]) ([]byte, *lineLog, error) {
	var buf bytes.Buffer
	var sum chain
	for r, err := range recs {
		if err == nil {
			err = encodeRecord(&buf, &r, &sum)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	n := OpenLineLog(d, name, LogOptions{Derived: true}) // its head comes when the file is in place
	if err := n.read(bytes.NewReader(buf.Bytes()), int64(buf.Len()), func(Record) error { return nil }); err != nil {
		return nil, nil, err
	}
	if n.torn > 0 {
		return nil, nil, errors.New("the new file does not read to its end; the old one was left as it is")
	}
	return buf.Bytes(), n, nil
}
