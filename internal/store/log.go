package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Record is one entry of a log.
type Record struct {
	// Op is the kind of event.
	Op string `json:"op"`
	// ID is the idempotency key of the record's subject.
	ID string `json:"id"`
	// Time is the time of the event by the writer's clock. It is zero if unknown.
	Time time.Time `json:"time,omitzero"`
	// Body is the operation's own content, compact JSON.
	Body json.RawMessage `json:"body,omitempty"`
}

// LogOptions say how a log is opened.
type LogOptions struct {
	// ReadOnly leaves the log unchanged until [Log.Writable] is called.
	ReadOnly bool
	// Derived: the content can be made again. Its newest records may be lost in a crash even if
	// they were synced.
	Derived bool
}

// Log is an open log: records that are only ever appended, unless the log is replaced as a whole. A
// Log value has read the records up to a place, and appends after that place. It is for one
// goroutine. There may be many readers and one writer, which must hold a [Unit] of the log's
// folder.
type Log interface {
	// Read passes the records after the place to each, in order, and moves the place to their end.
	// If each returns an error, Read stops before that record, and returns the error with the
	// record's place. If the log no longer begins with the records that were read before, Read
	// returns an error for which [ReplacedLog] is true, and the caller must open the log again. For
	// a damaged log, Read returns a *LogError. For a log of a newer program, it returns an error
	// that wraps ErrNewer. Unless the log is ReadOnly, its first Read removes the remains of a
	// killed append.
	Read(each func(Record) error) error
	// Records yields the records from the beginning up to the place at the time of the call. It
	// reads them again. An error ends the sequence.
	Records() iter.Seq2[Record, error]
	// Append puts records after the place, all of them or none, and moves the place to their end.
	// They survive the end of the process, and with sync a power cut. If another process appended
	// after the place, Append writes nothing and returns an error that wraps [ErrOvertaken], and
	// the caller must read on. A store that can't know it yet returns that error from [Unit.Sync]
	// or [Unit.End]. Append of no records reports whether the log can be appended to.
	Append(sync bool, recs ...Record) (Stats, error)
	// Sync makes the first n records durable, also those of other writers. Its errors are those of
	// Append.
	Sync(n int) error
	// Replace replaces the records up to the place by new records, in one step, and moves the place
	// to their end. If recs yields an error, the log is unchanged. For others that have the log
	// open, the next Read returns the error of a replaced log. The other errors are those of
	// Append.
	Replace(recs iter.Seq2[Record, error]) error
	// Writable makes a log that was opened for reading accept writes from now on.
	Writable()
	// Len returns the number of records up to the place, Size their bytes.
	Len() int
	Size() int64
	// Torn returns the number of bytes of a killed writer that the last Read found after the place,
	// 0 if there were none.
	Torn() int64
	// Fault returns a fault of the log that costs no record, such as [ErrHalfHead], and nil if
	// there is none. Mend removes it. The caller of Mend must hold a [Unit].
	Fault() error
	Mend() error
}

// ErrDamaged is the error that every [LogError] wraps.
var ErrDamaged = errors.New("the journal is damaged")

// LogError reports a log that is damaged.
type LogError struct {
	File string
	// Line is the 1-based number of the first broken line.
	Line int
	// Offset is the offset of the line's first byte.
	Offset int64
	// Reason is the fault of the line.
	Reason string
	// Hint tells the user how to repair the log.
	Hint string
	// Replaced: the log does not begin with the records that were read before, or it does not fit
	// its head. It is then damaged, or was just replaced. A second reading tells the two apart.
	Replaced bool

	// whole marks a line that passes its checksum, which is never a torn tail.
	whole bool
}

func (e *LogError) Error() string {
	return fmt.Sprintf("journal %s, line %d (byte %d): %s (%s)", e.File, e.Line, e.Offset, e.Reason, e.Hint)
}

func (e *LogError) Unwrap() error { return ErrDamaged }

// ReplacedLog reports whether a log that can't be read may have been replaced meanwhile, so that
// the caller must open it again.
func ReplacedLog(err error) bool {
	var e *LogError
	return errors.As(err, &e) && e.Replaced
}

// ErrHalfHead: one of the two states in a head can't be read, for example after a power cut. No
// record is lost, and the next append writes the state again.
var ErrHalfHead = errors.New("one of its two states can't be read; the other says how far the journal was synced")

// ErrNewer is wrapped by the error for a record that a newer program wrote.
var ErrNewer = errors.New("written by a newer version")

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
