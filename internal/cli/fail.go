package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// The exit codes of the program.
const (
	ExitOK       = 0
	ExitError    = 1
	ExitUsage    = 2
	ExitFindings = 3
	// The exit code of a process that a signal ended is ExitSignal plus the signal's number.
	ExitSignal = 128
)

// UsageError is a mistake in how the program was called.
type UsageError struct{ msg, Hint string }

func (e *UsageError) Error() string { return e.msg }

// Usagef makes a usage error whose hint is the verb's help.
func Usagef(format string, args ...any) error {
	return &UsageError{msg: fmt.Sprintf(format, args...)}
}

// UsageWith returns a usage error with the given hint.
func UsageWith(msg, hint string) error { return &UsageError{msg, hint} }

// hinted is an error with a hint for its solution.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// Hint adds a hint for its solution to an error.
func Hint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// WithFindings returns the error for a check that succeeded and found n problems, nil for none.
func WithFindings(n int) error {
	if n == 0 {
		return nil
	}
	return Exit(ExitFindings)
}

// Exit is the exit code of a run that has printed its whole result, as an error: the code of a check
// that found problems, or of a command that this program ran.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("ended with %d", int(e)) }

// PlainError returns the text of an error without its hint.
func PlainError(err error) string {
	var line *transcript.LineError
	if errors.As(err, &line) && line.Hint != "" {
		return strings.TrimSuffix(err.Error(), " ("+line.Hint+")")
	}
	return err.Error()
}

// HintFor returns the hint for an error, "" if the error has no hint.
func HintFor(err error) string {
	var h *hinted
	var line *transcript.LineError
	var small *budget.TooSmallError
	var none *api.NoSessionError
	switch {
	case errors.As(err, &h):
		return h.hint
	case errors.As(err, &none):
		return none.Hint("'memkernel status --all' lists all") + "; plan --commit and observe begin one, as does any verb with its --transcript"
	case errors.Is(err, transcript.ErrUnread):
		return fmt.Sprintf("check that it is the session's own file and whole; --dialect, one of %v, says how it is written", transcript.Dialects())
	case errors.As(err, &line):
		return "mend or remove that line, or pass --skip-broken to leave out what can't be read"
	case errors.As(err, &small):
		return fmt.Sprintf("the window must hold the reserve (%d) and the fixed part (%d): use a larger --context-window, a smaller --reserve, or less in --system, --tools and --fixed-tokens", small.Reserve, small.Fixed)
	case errors.Is(err, api.ErrAnswered), errors.Is(err, api.ErrNoMessages):
		return "add a user prompt with --prompt, or choose an earlier call with --at"
	case errors.Is(err, transcript.ErrEmpty):
		return "a session that has not begun can be planned with --prompt alone, without --transcript"
	case errors.Is(err, transcript.ErrUnknownDialect):
		return fmt.Sprintf("name it with --dialect, one of %v", transcript.Dialects())
	case errors.Is(err, fs.ErrNotExist):
		return "check the path; it is taken relative to the current folder"
	case errors.Is(err, fs.ErrPermission):
		return "check who owns the file, or put the state elsewhere with --state-dir"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "run it again, or allow more open files ('ulimit -n'); nothing was taken for damaged"
	case errors.Is(err, syscall.EIO):
		return "run it again; if it lasts, see to the disk; nothing was taken for damaged"
	}
	return ""
}
