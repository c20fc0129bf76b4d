package transcript

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/memkernel/memkernel"
)

// Kind says what a record is to the conversation.
type Kind string

const (
	// KindMessage carries a message or a part of one.
	KindMessage Kind = "message"
	// KindCompaction marks where the host replaced the past by a summary.
	KindCompaction Kind = "compaction"
	// KindMicrocompaction marks where the host cleared old tool results.
	KindMicrocompaction Kind = "microcompaction"
	// KindUsage carries what a call billed, apart from its message (Codex).
	KindUsage Kind = "usage"
	// KindMeta describes the session: a header, a model change, a context.
	KindMeta Kind = "meta"
	// KindField is a member of a document other than its messages.
	KindField Kind = "field"
	// KindSummary is a title that the host gave to a session.
	KindSummary Kind = "summary"
	// KindIgnored is known and says nothing to the model.
	KindIgnored Kind = "ignored"
	// KindUnknown has a type that this package has not met.
	KindUnknown Kind = "unknown"
	// KindBlank is an empty line, or what follows the last value of a document.
	KindBlank Kind = "blank"
	// KindBroken could not be read; Err says why.
	KindBroken Kind = "broken"
	// KindTorn is a last line that is not whole yet: its writer is at it. Err says where
	// it is cut off. It is no error, however broken records are dealt with.
	KindTorn Kind = "torn"
)

// Record is one line of a JSONL transcript, or one value of a JSON document.
// Lead, Raw and Tail of all records in order are the file, byte for byte.
// The strings are immutable but may share a larger buffer: clone what is kept
// beyond the loop if memory matters.
type Record struct {
	// Line is the 1-based line on which Raw begins.
	Line int
	// Offset is the byte offset of Lead in the file.
	Offset int64
	// Lead is what stands before Raw: a byte order mark, or the separators of
	// a document.
	Lead string
	// Raw is the record's JSON.
	Raw string
	// Tail is the line end: "\n", "\r\n" or "".
	Tail string
	// Kind is what the record means here, Type the host's own name for it.
	Kind Kind
	Type string
	// ID and Parent are the host's ids, "" if it has none.
	ID, Parent string
	// Message is what the record adds to the conversation, nil if nothing. Of
	// a message that spans several records it is this record's share.
	Message *memkernel.Message
	// Err tells what is wrong with a broken record.
	Err *LineError

	// ends: the host says with it that the turn has ended.
	ends bool
	x    *extra
}

// extra holds what only the assembler of a dialect reads.
type extra struct {
	session, cwd, model string // where the session runs
	branch              string // sidechain id; "?" if only parents tell
	group               string // records of one group are one message
	unsent              bool   // never part of a prompt
	hostSkip            bool   // said once, but no longer sent by the host
	fork                bool   // a plain user message that may open a fork
	cleared             []string
	keepHead, keepTail  string
	keepIDs             []string
	keepIndex           int // -1 if absent
	summary             string
	version             int
	history             string // raw replacement history
	at                  time.Time
	billed              string // raw running total, tells repeated usage apart
	usage               *memkernel.Usage
	unread              error // why there is no usage where the host wrote one
	rollback            int
	system              []memkernel.Part
	tools               []memkernel.Tool
}

var (
	// ErrEmpty is returned for a transcript without any record.
	ErrEmpty = errors.New("transcript is empty")
	// ErrUnread is returned for a transcript that holds something, of which nothing
	// could be read.
	ErrUnread = errors.New("nothing of the transcript could be read")
	// ErrUnknownDialect is returned when no dialect fits the first bytes.
	ErrUnknownDialect = errors.New("transcript is in no known dialect")
	// ErrLineTooLong is returned for a record over Options.MaxLineBytes.
	ErrLineTooLong = errors.New("record is too long")
)

// LineError reports a record that could not be read.
type LineError struct {
	// File is the name given to Load, "" if there was none.
	File string
	// Line is 1-based.
	Line int
	// Err is the cause.
	Err error
	// Hint says what the user can do.
	Hint string
}

func (e *LineError) Error() string {
	file := e.File
	if file == "" {
		file = "transcript"
	}
	s := fmt.Sprintf("read %s:%d: %v", file, e.Line, e.Err)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *LineError) Unwrap() error { return e.Err }

// Note reports something that was repaired, taken out or left out, with
// enough of it that nothing is lost.
type Note struct {
	// Rule names what happened, such as "duplicate-record" or "orphan-result".
	Rule string
	// Line is the record's line if it came from a file, else 0.
	Line int
	// Message is the index of the message concerned in the input, -1 if none.
	Message int
	// Key is the key of that message.
	Key string
	// Text explains it to a person.
	Text string
	// Removed holds the parts that were taken out.
	Removed []memkernel.Part
}

// OnBroken decides about records that cannot be read.
type OnBroken int

const (
	// Refuse stops at the first broken record with its LineError.
	Refuse OnBroken = iota
	// Skip reports broken records and reads on.
	Skip
)

// Options steer reading. Nil means the defaults.
type Options struct {
	// Dialect is detected when "".
	Dialect Dialect
	// OnBroken defaults to Refuse.
	OnBroken OnBroken
	// MaxLineBytes bounds one record; 0 means 256 MiB.
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

// Write writes records back. Records that came from Stream and were not
// touched give the bytes that were read; to change one, set its Raw.
func Write(w io.Writer, records iter.Seq[Record]) error {
	for r := range records {
		for _, s := range [...]string{r.Lead, r.Raw, r.Tail} {
			if s == "" {
				continue
			}
			if _, err := io.WriteString(w, s); err != nil {
				return fmt.Errorf("write record of line %d: %w", r.Line, err)
			}
		}
	}
	return nil
}
