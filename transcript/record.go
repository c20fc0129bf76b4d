package transcript

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel"
)

// Record is a line of a JSONL transcript, or a value of a JSON document. Lead, Raw and Tail of
// all records in order are the file, byte for byte. The strings may share a larger buffer: clone
// strings that outlive the loop if memory matters.
type Record struct {
	// Line is the 1-based line on which Raw begins.
	Line int
	// Offset is the byte offset of Lead in the file. For a file in UTF-16 it is the offset in the
	// file's text as UTF-8.
	Offset int64
	// Lead is the text before Raw: padding, or the separators of a document.
	Lead string
	// Raw is the record's JSON.
	Raw string
	// Tail is padding after Raw, and the line end if Raw is the last of its line.
	Tail string
	// Kind is the record's role. Type is the host's own name for the kind of record, or the name of
	// a document's member.
	Kind kind
	Type string
	// ID is the host's id of the record. Parent is the host's id of the previous record. Each is
	// "" if the host has none.
	ID, Parent string
	// Message is the record's part of the conversation, nil if it has none. If a message spans
	// several records, it is this record's share.
	Message *memkernel.Message
	// Err is the reason why the record is broken.
	Err *LineError

	read  bool // its dialect read it
	flags flags
	about about
	ends  bool // the host ends the turn with this record
	// unread is the reason why usage that the host wrote could not be read.
	unread error
	own    any // for the dialect's assembler alone
}

// Torn reports whether the record is an incomplete last line, which its writer may still complete.
func (r *Record) Torn() bool { return r.Kind == kindTorn }

// Rewrites reports whether, at this record, the host replaced earlier messages or cleared their
// results.
func (r *Record) Rewrites() bool {
	return r.Kind == kindCompaction || r.Kind == kindMicrocompaction
}

var (
	// ErrEmpty is returned for a transcript without any record.
	ErrEmpty = errors.New("transcript is empty")
	// ErrUnread is returned for a transcript that is not empty but of which no record could be
	// read.
	ErrUnread = errors.New("nothing of the transcript could be read")
	// ErrUnknownDialect is returned when no dialect fits the first bytes.
	ErrUnknownDialect = errors.New("transcript is in no known dialect")
)

// LineError reports a record that could not be read.
type LineError struct {
	// File is the name given to Load, "" if there was none.
	File string
	// Line is the number of the record's line, counted from 1. From and To are the offsets
	// between which the record is in the file, 0 if unknown.
	Line     int
	From, To int64
	// Err is the cause.
	Err error
	// Hint tells the user what to do.
	Hint string
}

func (e *LineError) Error() string {
	s := fmt.Sprintf("read %s:%d: ", cmp.Or(e.File, "transcript"), e.Line)
	if e.To > e.From {
		s += fmt.Sprintf("bytes %d to %d: ", e.From, e.To)
	}
	s += e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *LineError) Unwrap() error { return e.Err }

// Options steer reading. Nil means the defaults.
type Options struct {
	// Dialect is the dialect of the transcript. If it is "", the dialect is detected.
	Dialect Dialect
	// SkipBroken continues after broken records. Load lists them in Session.Skipped, and Stream
	// yields them. Without SkipBroken, reading ends with the LineError of the first broken record.
	SkipBroken bool
	// MaxLineBytes bounds the size of one record. 0 means 256 MiB.
	MaxLineBytes int
	// Name is the file name used in errors.
	Name string
}

const defaultMaxLine = 256 << 20 // 256 MiB

func (o *Options) orDefault() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxLineBytes <= 0 {
		out.MaxLineBytes = defaultMaxLine
	}
	return out
}

// failed returns the error of a transcript that could not be read.
func (o *Options) failed(err error) error {
	return fmt.Errorf("read %s: %w", cmp.Or(o.Name, "transcript"), err)
}
