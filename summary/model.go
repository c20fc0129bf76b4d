package summary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Model is a language model that reads the events since its last call and proposes operations on
// the notes. It is safe for concurrent use.
type Model interface {
	// Name returns the model's name and its server, without any secret.
	Name() string
	// Complete asks once and does not try again. It ends when ctx does. An error should be a
	// [*ModelError], which reports whether and when to ask again.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// Prompt is the request to a model. Secrets are masked in both texts.
type Prompt struct {
	System, User string
	// MaxTokens bounds the answer.
	MaxTokens int
	// Limit is the most bytes of the answer that are read.
	Limit int64
}

// Completion is a model's answer, with the cost that the server reports.
type Completion struct {
	Text                      string
	InputTokens, OutputTokens int
}

// The bounds of an answer. Eight thousand tokens leave a reasoning model room. No useful list of
// operations is longer than 64 KiB.
const (
	maxAnswerTokens = 8000
	maxAnswerBytes  = 64 << 10
	// maxOperations is how many operations one answer may have.
	maxOperations = 64
)

// Reason is one word for the outcome of a delta.
type Reason string

// The reasons. For every reason except OK the mechanical summary is used alone for the delta.
const (
	ReasonOK          Reason = "OK"
	ReasonEmpty       Reason = "EMPTY"        // the answer has no text
	ReasonTooLarge    Reason = "TOO_LARGE"    // the answer is over its bounds or was cut off
	ReasonInvalid     Reason = "INVALID"      // the answer is no list of operations
	ReasonTimeout     Reason = "TIMEOUT"      // no answer before the deadline
	ReasonRateLimited Reason = "RATE_LIMITED" // status 429
	ReasonServer      Reason = "SERVER_ERROR" // status 5xx
	ReasonRefused     Reason = "REFUSED"      // any other status, or the model declined
	ReasonUnreachable Reason = "UNREACHABLE"  // no connection, or it broke
	reasonCancelled   Reason = "CANCELLED"    // the kernel was closed meanwhile
	ReasonNotWritten  Reason = "NOT_WRITTEN"  // the journal could not be written
)

// Spent reports whether a delta is finished because the model answered, well or badly. After any
// other reason the model may be asked about the delta again.
func (r Reason) Spent() bool {
	return slices.Contains([]Reason{ReasonOK, ReasonEmpty, ReasonTooLarge, ReasonInvalid}, r)
}

// Counts reports whether the kernel should leave the model alone for a while after this outcome.
func (r Reason) Counts() bool {
	return !slices.Contains([]Reason{ReasonOK, reasonCancelled}, r)
}

// ModelError is the error of a model call without a usable answer.
type ModelError struct {
	Reason Reason
	// RetryAfter is the wait that the server requested, 0 if it requested none.
	RetryAfter time.Duration
	// Err is the error. It holds no secret.
	Err error
}

func (e *ModelError) Error() string { return fmt.Sprintf("%s: %v", e.Reason, e.Err) }
func (e *ModelError) Unwrap() error { return e.Err }

// Explain turns any error into a [*ModelError].
func Explain(err error) *ModelError {
	e := new(ModelError)
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return &ModelError{Reason: reasonCancelled, Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &ModelError{Reason: ReasonTimeout, Err: err}
	}
	return &ModelError{Reason: ReasonUnreachable, Err: err}
}
