package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"

	"github.com/memkernel/memkernel/internal/store"
)

// catchUp reads from off to the end of the file and ignores a torn tail. If each is not nil, it
// calls each for every record.
func (j *Journal) catchUp(each func(Record)) error {
	h, err := j.readHead()
	if err != nil && !errors.Is(err, errUnreadableHead) {
		return err
	}
	headErr := err
	f, err := j.in.Open(j.name)
	if errors.Is(err, fs.ErrNotExist) && j.off == 0 {
		j.head = h
		_, err := j.vouch(newLineReader(j.path, nil, 0, 0), h, nil)
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
	same, err := j.sameStart(f)
	if err != nil {
		return err
	}
	j.torn = 0
	if size < j.off || !same {
		return fmt.Errorf("%w: %w", store.ErrOvertaken, &DamageError{File: j.path, Line: j.line, Offset: min(size, j.last.at), Reason: "the file was rewritten while in use",
			Hint: "it was compacted or changed by another program; open the session again"})
	}
	j.head, j.headErr = h, headErr
	if err := j.read(f, size, each); err != nil {
		return err
	}
	switch {
	case !j.chained: // nothing was ever vouched for
		j.headErr = nil
	case h == nil && headErr == nil && !j.derived:
		j.headErr = fmt.Errorf("%s is missing", j.in.Where(headName(j.name)))
	}
	return nil
}

// sameStart reports whether the last line that was read is still in f.
func (j *Journal) sameStart(f io.ReaderAt) (bool, error) {
	now := make([]byte, len(j.last.bytes))
	if len(now) == 0 {
		return true, nil
	}
	if _, err := f.ReadAt(now, j.last.at); err != nil && err != io.EOF {
		return false, err
	}
	return bytes.Equal(now, j.last.bytes), nil
}

// read reads f from off to its end at size, and compares it with the head.
func (j *Journal) read(f io.ReaderAt, size int64, each func(Record)) error {
	passed := j.head.at(j.off, j.sum)
	if passed == nil && j.head != nil && j.off > j.head.Off && j.off > 0 {
		passed = &j.head.headMark // it was held against the file when it was read
	}
	r := newLineReader(j.path, io.NewSectionReader(f, j.off, size-j.off), j.off, j.line).summed(j.sum)
	r.chained = j.chained
	for {
		rec, err := r.next()
		if m := j.head.at(r.off, r.sum); m != nil { // after a record, or empty lines
			passed = m
		}
		if err == io.EOF {
			j.mark(r)
			_, err := j.vouch(r, j.head, passed)
			return err
		}
		var d *DamageError
		if errors.As(err, &d) && !d.whole && (j.head == nil || r.off >= j.head.Off || passed != nil) {
			tail, bad := j.vouch(r, j.head, passed)
			if tail && passed == nil && !r.tornLine() {
				behind, err := r.validBehind()
				if err != nil {
					return err
				}
				tail = j.derived && r.off > 0 && !behind
			}
			if tail {
				j.mark(r)
				j.needNL, j.torn = false, size-j.off // a line without its break is the torn one
				return nil
			}
			if bad != nil {
				err = bad
			}
		}
		if err != nil {
			return err
		}
		if err := j.learn(rec); err != nil {
			return fmt.Errorf("journal %s, line %d: %w; %s", j.path, r.line, err, salvageHint)
		}
		j.mark(r)
		if rec.Op != OpRemembered {
			j.needed = j.off
		}
		if each != nil {
			each(rec)
		}
	}
}

// mark moves the good offset to the end of the bytes that r has read.
func (j *Journal) mark(r *lineReader) {
	j.off, j.line, j.sum, j.needNL, j.chained = r.off, r.line, r.sum, r.noBreak, r.chained
	if r.headAt >= j.last.at && len(r.head) > 0 {
		j.last = lineHead{r.headAt, append(j.last.bytes[:0], r.head...)}
	}
}

// learn keeps the members of a record that idempotence needs, and applies the record to the
// store.
func (j *Journal) learn(rec Record) error {
	if err := j.store.learn(rec); err != nil {
		return err
	}
	j.records++
	switch rec.Op {
	case OpSnapshot:
		maps.Copy(j.commits, j.store.hashes())
	case OpCommitted:
		var c committedBody
		if json.Unmarshal(rec.Body, &c) == nil && c.Hash != "" {
			j.commits[rec.ID] = c.Hash
		}
	}
	return nil
}
