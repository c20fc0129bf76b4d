package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Salvage implements [Log].
func (l *lineLog) Salvage(tell func(unit string, done, all int)) ([]Record, []Lost, error) {
	data, err := l.d.Get(l.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("salvage: %w", err)
	}
	head, err := l.readHead()
	if err != nil && !errors.Is(err, errUnreadableHead) {
		return nil, nil, fmt.Errorf("salvage: %w", err)
	}
	s := salvage{data: data}
	if err := s.lines(l.path, tell); err != nil {
		return nil, nil, fmt.Errorf("salvage: %w", err)
	}
	if size := int64(len(data)); head != nil && size < head.Off && (head.Next == nil || size < head.Next.Off) {
		s.lost = append(s.lost, Lost{Line: head.Lines, Offset: size, Bytes: head.Off - size, Reason: "the end of the file is missing"})
	}
	return s.sound, s.lost, nil
}

// salvage has the sound records and the lost stretches of a file of lines.
type salvage struct {
	data  []byte
	sound []Record
	lost  []Lost
}

// lines separates the sound lines from the lost ones.
func (s *salvage) lines(path string, tell func(unit string, done, all int)) error {
	r := newLineReader(path, bytes.NewReader(s.data))
	// counted is the sum over all earlier records, as this program computes it. written is the
	// same sum as the previous line records it, if that line is whole.
	var counted, written chain
	known := true
	all := bytes.Count(s.data, []byte("\n"))
	for {
		tell("line", min(r.Lines, all), all)
		rec, err := r.next()
		if err == io.EOF {
			tell("line", all, all)
			return nil
		}
		if errors.Is(err, ErrNewer) && s.newer(r.Off) {
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
			s.lost = append(s.lost, Lost{Line: r.Lines, Offset: r.headAt, Reason: "lines before this one are missing, were moved or stand twice, or its sum is damaged"})
		}
		counted, written, known = counted.next(env.rec), chain(env.sum), true
		s.sound = append(s.sound, rec)
	}
}

// newer reports whether a newer version of the program wrote the line at off. If any later line is of
// a known version, newer returns false, because only the line's version number is damaged.
func (s *salvage) newer(off int64) bool {
	rest := s.data[off:]
	for line := range bytes.Lines(rest) {
		if _, err := decodeEnvelope(bytes.TrimRight(line, "\r\n")); err == nil {
			return false // a damaged digit
		}
	}
	first, _, _ := bytes.Cut(rest, []byte("\n"))
	return bytes.HasPrefix(rest, []byte(`{"v":`)) && json.Valid(first)
}

// begins matches what looks like the beginning of a damaged record.
var begins = textutil.LazyRegexp(`"op":"([a-z_]+)","id":"([^"]{1,120})"`)

// lose adds a line that can't be used to the lost stretches. Reading continues after the line.
func (s *salvage) lose(r *lineReader, err error) {
	n := int64(len(r.last))
	l := Lost{Line: r.Lines + 1, Offset: r.Off, Bytes: n, Reason: err.Error()}
	if d := (*LogError)(nil); errors.As(err, &d) {
		l.Reason = d.Reason
	}
	if m := begins.FindSubmatch(r.last); m != nil {
		l.About = fmt.Sprintf("%s %s", m[1], m[2])
	}
	r.Off, r.Lines = r.Off+n, r.Lines+1
	if k := len(s.lost) - 1; k >= 0 && s.lost[k].Offset+s.lost[k].Bytes == l.Offset && s.lost[k].About == "" && l.About == "" {
		s.lost[k].Bytes += n // a stretch of garbage is reported once
		return
	}
	s.lost = append(s.lost, l)
}

// Reset implements [Log]. After a crash the log's name has either the damaged
// file or the new file.
func (l *lineLog) Reset(recs []Record) (aside []string, err error) {
	d, name := l.d, l.name
	content, n, err := linesOf(d, name, func(yield func(Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	data, err := d.Get(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	if err == nil {
		// Put a copy aside, so that the old file has the name until the new file takes it.
		copied, err := AsideName(d, name)
		if err == nil {
			_, err = d.Put(Synced, Doc{copied, data})
		}
		if err != nil {
			return nil, fmt.Errorf("salvage: %w", err)
		}
		aside = append(aside, d.Where(copied))
	}
	head, err := PutAside(d, headName(name))
	if err != nil {
		return aside, fmt.Errorf("salvage: %w", err)
	}
	if head != "" {
		aside = append(aside, d.Where(head))
	}
	if _, err := d.Put(Synced, Doc{name, content}); err != nil {
		return aside, fmt.Errorf("salvage: %w", err)
	}
	n.derived = false
	return aside, n.makeHead()
}
