package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// The kinds of errors about an index file. Errors of this package wrap one of
// these where it applies; test with errors.Is.
var (
	// ErrMissing: there is no index yet. Sync makes one.
	ErrMissing = errors.New("there is no index yet")
	// ErrForeign: the file is no index of ours. It is never changed.
	ErrForeign = errors.New("not an index of memkernel")
	// ErrNewer: a newer version of this program wrote the file.
	ErrNewer = errors.New("written by a newer version")
	// ErrOlder: an older version wrote the file. Rebuild replaces it.
	ErrOlder = errors.New("written by an older version")
	// ErrDamaged: the file is ours, and its content is not whole. Rebuild
	// replaces it.
	ErrDamaged = errors.New("the index is damaged")
	// ErrBusy: another process held a lock for longer than the wait that was
	// set.
	ErrBusy = errors.New("another process is using the index")
	// ErrFull: the disk is full. Earlier commits are kept.
	ErrFull = errors.New("the disk is full")
	// ErrReadOnly: the file or its folder can't be written, or the Index was
	// opened for reading.
	ErrReadOnly = errors.New("the index can't be written")
	// ErrModel: the vectors in the index are from another model, or have another length.
	ErrModel = errors.New("the vectors are of another model")
)

// Error describes a failed operation on an index file and the remedy.
type Error struct {
	// Op is the failed operation.
	Op string
	// Path is the index file.
	Path string
	// Kind is one of the Err values above.
	Kind error
	// Hint tells the user the remedy.
	Hint string
	// Err is the cause, or nil if only Kind is known.
	Err error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Kind)
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s + ": " + e.Hint
}

// Plain returns the text of an error without the remedy of an Error, for users who can't apply
// the remedy.
func Plain(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	way := e.Error()[strings.LastIndex(e.Error(), ": "+e.Hint):]
	return strings.ReplaceAll(err.Error(), way, "")
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// hints are the remedies, by kind.
var hints = map[error]string{
	ErrMissing:  "run a reindex to make it",
	ErrForeign:  "move it away, keep the index elsewhere, or make a full reindex, which moves it aside",
	ErrNewer:    "update memkernel, or make a full reindex with this version, which moves it aside",
	ErrOlder:    "rebuild the index; it is made from the Markdown files",
	ErrDamaged:  "rebuild the index; it is made from the Markdown files and nothing is lost",
	ErrBusy:     "try again when the other process is done",
	ErrFull:     "free some space and sync again; what was written before stands",
	ErrReadOnly: "make the folder writable, or open the index for reading only",
	ErrModel:    "switch the index to the model",
}

// Problem returns an [*Error] of a kind about the index at path.
func Problem(op, path string, kind, cause error) error {
	return &Error{Op: op, Path: path, Kind: kind, Hint: hints[kind], Err: cause}
}

// explain wraps an error with the operation, and with its kind if SQLite's code implies one.
func explain(op, path string, err error) error {
	var done *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if kind := kindOf(err); kind != nil {
		return Problem(op, path, kind, err)
	}
	return fmt.Errorf("%s %s: %w", op, path, err)
}

// kindOf returns the kind of a cause, or nil if the cause has no kind.
func kindOf(err error) error {
	switch code := drv.Code(err); {
	case code.Damaged(), code != 0 && strings.Contains(err.Error(), "invalid fts5 file format"): // which has no code of its own
		return ErrDamaged
	case code.Busy():
		return ErrBusy
	case code.Full(), errors.Is(err, syscall.ENOSPC):
		return ErrFull
	case code.Unwritable(), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	}
	return nil
}
