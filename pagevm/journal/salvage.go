package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Lost is a stretch of a journal that can't be used.
type Lost struct {
	// Line is the first line of the stretch, counted from 1.
	Line int `json:"line"`
	// Offset is the offset of the stretch's first byte.
	Offset int64 `json:"offset"`
	// Bytes is the length of the stretch, or the number of missing bytes.
	Bytes int64 `json:"bytes"`
	// Reason is the fault.
	Reason string `json:"reason"`
	// About is the record that the line seems to have been. It is "" if the record can't be
	// determined.
	About string `json:"about,omitempty"`
}

// Salvage is the sound part of a journal, whatever happened to the rest.
type Salvage struct {
	// Records is the number of sound records. Commits is the number of sound commits.
	Records, Commits int
	// Lost lists the unusable stretches of the file in their order.
	Lost []Lost
	// Unfit names whole records that can't be kept without lost ones.
	Unfit []string

	in   store.Store
	name string
	j    *Journal
	recs []Record
	raw  [][]byte
}

// Recover reads the sound part of a journal, damaged or not. It writes nothing. If a unit builds
// on a lost unit, Recover takes those of its updates that still fit, so that the last written
// value is kept.
func Recover(ctx context.Context, in store.Store, name string) (*Salvage, error) {
	s := &Salvage{in: in, name: name, j: newJournal(in, name)}
	s.j.store.salvage = true
	data, err := in.Get(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	head, err := s.j.readHead()
	if err != nil && !errors.Is(err, errUnreadableHead) {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	if err := s.lines(data, head, longwork.ProgressOf(ctx)); err != nil {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	if size := int64(len(data)); head != nil && size < head.Off && (head.Next == nil || size < head.Next.Off) {
		s.Lost = append(s.Lost, Lost{Line: head.Lines, Offset: size, Bytes: head.Off - size, Reason: "the end of the file is missing"})
	}
	s.Unfit = append(s.Unfit, s.j.store.lost...)
	s.j.store.salvage, s.j.store.lost = false, nil
	return s, nil
}

// lines separates the sound lines from the lost ones.
func (s *Salvage) lines(data []byte, head *journalHead, tell longwork.Progress) error {
	r := newLineReader(s.j.path, bytes.NewReader(data), 0, 0)
	open := "" // the unit whose lines these are
	// counted is the sum over all records before. written is the same sum as the line before
	// records it, if that line is whole.
	var counted, written chain
	known := true
	all := bytes.Count(data, []byte("\n"))
	for {
		tell("line", min(r.line, all), all)
		rec, err := r.next()
		if err == io.EOF {
			tell("line", all, all)
			return nil
		}
		if errors.Is(err, ErrNewer) && s.newer(r, data) {
			return err
		}
		if err != nil {
			s.lose(r, err)
			known = false
			continue
		}
		env, _ := decodeEnvelope(bytes.TrimRight(bytes.TrimPrefix(r.last, []byte("\ufeff")), "\r\n"))
		follows := !known || env.sum == ""
		for _, c := range [...]chain{counted, written} {
			follows = follows || c.next(env.rec) == chain(env.sum)
		}
		if !follows {
			s.Lost = append(s.Lost, Lost{Line: r.line, Offset: r.headAt, Reason: "lines before this one are missing, were moved or stand twice, or its sum is damaged"})
		}
		counted, written, known = counted.next(env.rec), chain(env.sum), true
		s.take(rec, bytes.Clone(env.rec), &open)
	}
}

// newer reports whether a line was really written by a newer version. It was not if any line
// after it is of a known version. Then a digit of the version is damaged.
func (s *Salvage) newer(r *lineReader, data []byte) bool {
	rest := data[r.off:]
	for line := range bytes.Lines(rest) {
		if _, err := decodeEnvelope(bytes.TrimRight(line, "\r\n")); err == nil {
			return false // a damaged digit
		}
	}
	return bytes.HasPrefix(rest, []byte(`{"v":`)) && json.Valid(firstLine(rest))
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return line
}

// begins is the apparent beginning of a record that can't be read any more.
var begins = textutil.LazyRegexp(`"op":"([a-z_]+)","id":"([^"]{1,120})"`)

// lose notes a line that can't be used and continues after it.
func (s *Salvage) lose(r *lineReader, err error) {
	n := int64(len(r.last))
	l := Lost{Line: r.line + 1, Offset: r.off, Bytes: n, Reason: err.Error()}
	if d := (*DamageError)(nil); errors.As(err, &d) {
		l.Reason = d.Reason
	}
	if m := begins.FindSubmatch(r.last); m != nil {
		l.About = fmt.Sprintf("%s %s", m[1], m[2])
	}
	r.off, r.line = r.off+n, r.line+1
	if k := len(s.Lost) - 1; k >= 0 && s.Lost[k].Offset+s.Lost[k].Bytes == l.Offset && s.Lost[k].About == "" && l.About == "" {
		s.Lost[k].Bytes += n // a stretch of garbage is reported once
		return
	}
	s.Lost = append(s.Lost, l)
}

// take keeps a whole record if it fits the state of its unit.
func (s *Salvage) take(rec Record, raw []byte, open *string) {
	switch rec.Op {
	case OpStaged:
		*open = rec.ID
	case OpRejected, opValidated, OpCommitted:
		if *open != rec.ID {
			if rec.Op == OpCommitted {
				s.Unfit = append(s.Unfit, fmt.Sprintf("commit %q: what it commits is lost", rec.ID))
			}
			return
		}
	}
	if err := s.j.learn(rec); err != nil {
		s.Unfit = append(s.Unfit, fmt.Sprintf("%s %q: %v", rec.Op, rec.ID, err))
		*open = ""
		return
	}
	s.Records++
	if rec.Op == OpCommitted {
		s.Commits, *open = s.Commits+1, ""
	}
	s.recs, s.raw = append(s.recs, rec), append(s.raw, raw)
}

// Sound reports whether the journal has no fault.
func (s *Salvage) Sound() bool { return len(s.Lost) == 0 && len(s.Unfit) == 0 }

// Journal returns a journal that has read the sound part. The returned journal has no file to
// append to.
func (s *Salvage) Journal() *Journal { return s.j }

// All yields the records that are sound.
func (s *Salvage) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, r := range s.recs {
			if !yield(r) {
				return
			}
		}
	}
}

// Apply puts the journal and its head aside and writes a new one from the sound part, as a
// compaction would. A crash leaves the damaged file in place or the new one. It returns the paths
// of the files that it put aside. The caller must hold the session's lock.
func (s *Salvage) Apply() (aside []string, err error) {
	content, n, err := s.content()
	if err != nil {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	data, err := s.in.Get(s.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	if err == nil {
		// Put a copy aside, so that the old file has the name until the new file takes it.
		name, err := store.AsideName(s.in, s.name)
		if err == nil {
			_, err = s.in.Put(store.Synced, store.Doc{Name: name, Data: data})
		}
		if err != nil {
			return nil, fmt.Errorf("salvage: %w", err)
		}
		aside = append(aside, s.in.Where(name))
	}
	head, err := store.PutAside(s.in, headName(s.name))
	if err != nil {
		return aside, fmt.Errorf("salvage: %w", err)
	}
	if head != "" {
		aside = append(aside, s.in.Where(head))
	}
	if _, err := s.in.Put(store.Synced, store.Doc{Name: s.name, Data: content}); err != nil {
		return aside, fmt.Errorf("salvage: %w", err)
	}
	n.derived = false
	return aside, n.needHead()
}

// content returns the new file: the state of all writebacks as one snapshot, and the other
// records as they were.
func (s *Salvage) content() ([]byte, *Journal, error) {
	var buf bytes.Buffer
	var sum chain
	if s.j.store.Seq() > 0 {
		snapshot, err := s.j.store.Snapshot()
		if err != nil {
			return nil, nil, err
		}
		if err := encodeRecord(&buf, &Record{Op: OpSnapshot, ID: "store", Body: snapshot}, &sum); err != nil {
			return nil, nil, err
		}
	}
	k := kept{}
	for i, rec := range s.recs {
		if k.keeps(&rec) {
			writeLine(&buf, &sum, s.raw[i], nil, nil)
		}
	}
	n := newJournal(s.in, s.name)
	n.derived = true
	if err := n.read(bytes.NewReader(buf.Bytes()), int64(buf.Len()), nil); err != nil {
		return nil, nil, err
	}
	return buf.Bytes(), n, nil
}
