package transcript

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/internal/textutil"
)

const (
	bom        = "\ufeff"
	sniffBytes = 64 << 10 // 64 KiB
)

// Stream reads a transcript record by record. It holds the longest record of JSONL, or the whole of
// one JSON document. After an error it yields nothing more. If Options.SkipBroken is set, it yields a
// broken record as KindBroken and continues. Otherwise the record's *LineError ends the stream.
func Stream(r io.Reader, opt *Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		src, err := open(r, opt.orDefault())
		if err != nil {
			yield(Record{}, err)
			return
		}
		src.each(yield)
	}
}

// source is an opened transcript whose dialect is known.
type source struct {
	r   io.Reader
	opt Options
	row *dialectRow
}

// open reads the first bytes and determines the dialect.
func open(r io.Reader, opt Options) (*source, error) {
	from := bufio.NewReaderSize(textutil.UTF8Reader(r), sniffBytes)
	prefix, err := from.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return nil, opt.failed(err)
	}
	src, d := &source{r: from, opt: opt}, opt.Dialect
	if d == "" {
		if d, err = Detect(prefix); err != nil {
			if line := strings.TrimPrefix(string(prefix), bom); len(prefix) < sniffBytes && !strings.Contains(line, "\n") && jsonl.IsCut(line) {
				err = fmt.Errorf("%w: %s", ErrUnread, halfLine)
			}
			return nil, opt.failed(err)
		}
	}
	if src.row = rowOf(d); src.row == nil {
		return nil, opt.failed(fmt.Errorf("dialect %q: %w", d, ErrUnknownDialect))
	}
	return src, nil
}

func (s *source) each(yield func(Record, error) bool) {
	if s.row.Document() {
		d := document{src: s, yield: yield}
		d.run()
		return
	}
	s.lines(yield)
}

// broken wraps the cause of an unreadable record.
func (s *source) broken(line int, err error) *LineError {
	e := &LineError{File: s.opt.Name, Line: line, Err: err}
	var unread usageError
	switch {
	case errors.As(err, &unread):
		e.Hint = "hand in the provider's own object, or take it out of the message"
	case errors.Is(err, jsonl.ErrTooLong):
		e.Hint = "raise the limit on the record size"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Hint = "the record is cut off, its writer may have been stopped; skip broken records to read the rest"
	default:
		e.Hint = "skip broken records to read the rest"
	}
	return e
}

func (s *source) lines(yield func(Record, error) bool) {
	any, zeros := false, false
	var rec Record // that was read last
	read := func(v *jsonl.Value) error {
		rec = Record{Line: v.Line, Raw: v.Raw}
		err := s.row.Parse(&rec)
		if err == nil && v.Torn && rec.Kind == kindUnknown {
			return errors.New("it is no record that is known")
		}
		return err
	}
	values := jsonl.Values
	if s.row.Spread {
		values = jsonl.Spread
	}
	for v, err := range values(s.r, s.opt.MaxLineBytes, read) {
		if err != nil {
			yield(Record{}, s.opt.failed(err))
			return
		}
		if v.Blank() {
			rec = Record{Kind: kindBlank}
		}
		rec.Line, rec.Offset, rec.Lead, rec.Raw, rec.Tail = v.Line, v.Offset, v.Lead, v.Raw, v.Tail
		if !v.Blank() {
			if err := s.settle(&rec, v.Err, v.Cut()); err != nil {
				yield(rec, err)
				return
			}
		}
		zeros = zeros || v.Zeros() > 0
		if any = any || !v.Blank(); !yield(rec, nil) {
			return
		}
	}
	if !any {
		yield(Record{}, s.opt.failed(nothing(zeros)))
	}
}

// nothing returns the error of a file without any record.
func nothing(zeros bool) error {
	if zeros {
		return fmt.Errorf("%w: it holds zero bytes alone, which a crash leaves", ErrUnread)
	}
	return ErrEmpty
}

// settle finishes a record after its dialect read it. If unread is not nil, it marks the record as
// broken for that reason, and returns the error unless broken records are skipped. cut reports
// whether further bytes may complete the record.
func (s *source) settle(rec *Record, unread error, cut bool) error {
	if rec.read = unread == nil; rec.read {
		return nil
	}
	*rec = Record{Line: rec.Line, Offset: rec.Offset, Lead: rec.Lead, Raw: rec.Raw, Tail: rec.Tail,
		Kind: kindBroken, Err: s.broken(rec.Line, unread)}
	rec.Err.From = rec.Offset + int64(len(rec.Lead))
	rec.Err.To = rec.Err.From + int64(len(rec.Raw))
	if cut {
		rec.Kind = kindTorn
		return nil
	}
	if !s.opt.SkipBroken {
		return rec.Err
	}
	return nil
}
