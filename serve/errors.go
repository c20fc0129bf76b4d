package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/transcript"
)

// The codes of answers: those of JSON-RPC 2.0, the language server protocol's code for a cancelled
// call, and the server's own. A message that is refused for a reason that is not in this table has
// codeRequest, and a call that the kernel refused has codeKernel.
const (
	codeRequest = -32600
	codeKernel  = -32000
)

var codes = map[string]int{
	"NOT_JSON":         -32700,
	"UNKNOWN_METHOD":   -32601,
	"INVALID_PARAMS":   -32602,
	"INTERNAL":         -32603,
	"DEADLINE":         -32001,
	"BUSY":             -32002,
	"LINE_TOO_LONG":    -32003,
	"STOPPING":         -32004,
	"PROTOCOL_VERSION": -32005,
	"BASE_UNKNOWN":     -32006,
	"SCOPE":            -32007,
	"TOKEN":            -32008,
	"CANCELLED":        -32800,
}

// Error is the error of an answer.
type Error struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    errorData `json:"data"`
}

// errorData has the data of an error on which a program can act.
type errorData struct {
	// Code is the reason in one word.
	Code string `json:"code"`
	// Hint says how to fix the error. It is "" if there is no hint.
	Hint string `json:"hint"`
	// Started reports whether a call had begun when it was cancelled or overdue. Such a call may
	// still be carried out. To learn its result, deliver it again.
	Started bool `json:"started,omitempty"`
	// MissingTokens is the number of tokens by which the smallest possible prompt is too long.
	MissingTokens int `json:"missing_tokens,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// NewError returns the error of a message that is refused for a reason, such as SCOPE.
func NewError(reason, message, hint string) *Error {
	return &Error{Code: cmp.Or(codes[reason], codeRequest), Message: message, Data: errorData{Code: reason, Hint: hint}}
}

// ErrStopping refuses a message because the server ends.
func ErrStopping() *Error {
	return NewError("STOPPING", "the server is stopping", "connect again: a new daemon serves the same state")
}

// ErrTooLong refuses a message that is longer than most bytes.
func ErrTooLong(most int) *Error {
	return NewError("LINE_TOO_LONG", fmt.Sprintf("the line is longer than %d bytes", most), "hand in what is new of a conversation alone, by conversation.base")
}

// errTooMuchText refuses a call whose parameters, besides the messages of a conversation, are
// longer than most bytes.
func errTooMuchText(most int) *Error {
	return NewError("LINE_TOO_LONG", fmt.Sprintf("the call has more than %d bytes besides the messages of a conversation", most),
		"shorten its texts, or hand long ones in as messages of the conversation")
}

// invalid returns the error of a message with an invalid form.
func invalid(message string) *Error {
	return NewError("INVALID_REQUEST", message, `a message is {"jsonrpc":"2.0","id":…,"method":…,"params":{…}}`)
}

// badParams returns the error of a call with wrong parameters.
func badParams(hint, format string, args ...any) *Error {
	return NewError("INVALID_PARAMS", fmt.Sprintf(format, args...), hint)
}

// asError adds the code, the reason and the hint to an error.
func asError(err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		e := *own
		return &e
	}
	r := reasons[slices.IndexFunc(reasons, func(r reason) bool { return r.is(err) })]
	e := &Error{Code: cmp.Or(codes[r.name], codeKernel), Message: err.Error(), Data: errorData{Code: r.name, Hint: r.hint}}
	if none, ok := errors.AsType[*api.NoSessionError](err); ok {
		e.Data.Hint = none.Hint("status lists them")
	}
	if small, ok := errors.AsType[*budget.TooSmallError](err); ok {
		e.Data.MissingTokens = small.Over
	}
	return e
}

// ErrorCode returns the word that answers carry for an error of the kernel.
func ErrorCode(err error) string { return asError(err).Data.Code }

// reason is a kind of error that a caller can act on.
type reason struct {
	is         func(error) bool
	name, hint string
}

// reasons are in order: the first that matches an error counts. The last one matches any error.
var reasons = []reason{
	{store.Again, "TRY_AGAIN", "deliver the call again: what keeps the state was out of reach, or another machine took the session"}, // first: such a failure may cause any other error
	{a[*budget.TooSmallError], "BUDGET_INSUFFICIENT", "use a larger context_window, a smaller reserve, or less in system, tools and fixed_tokens"},
	{a[*api.OverflowError], "OVERFLOW", "nothing that was refused can be made smaller: compact, reset, or use a larger model"},
	{a[*store.LogError], "DAMAGED", "run 'memkernel check'"},
	{the(context.Canceled), "CANCELLED", "the call was cancelled"},
	{the(context.DeadlineExceeded), "DEADLINE", "allow more time by deadline_ms, or deliver the call again"},
	{the(api.ErrClosed), "STOPPING", "connect again: a new daemon serves the same state"},
	{the(api.ErrQuestion), "QUERY_TOO_LONG", "ask in fewer words"},
	{the(api.ErrNoMessages), "NO_MESSAGES", "hand in the conversation, or a prompt"},
	{the(api.ErrAnswered), "ANSWERED", "add the user's words as prompt, or plan before the answer"},
	{the(api.ErrNoSession), "NO_SESSION", ""}, // its text lists the sessions that exist
	{the(api.ErrPrivate), "PRIVATE", "say private, or plan it under another session_key"},
	{the(api.ErrNoThinking), "NO_OVERFLOW", "hand in the messages that were refused"},
	{the(api.ErrNoOverflow), "NO_OVERFLOW", "hand in the provider's words as they came, or none"},
	{the(markdownstore.ErrDenied), "DENIED", "search cites what can be read"},
	{the(transcript.ErrUnknownDialect), "UNKNOWN_DIALECT", "name the dialect: anthropic, openai, codex or pi"},
	{the(index.ErrForeign), "INDEX_FOREIGN", "move the file away, or use another state directory"},
	{the(index.ErrNewer), "INDEX_NEWER", "update memkernel, or delete the index and reindex"},
	{the(index.ErrBusy), "INDEX_BUSY", "try again when the other process is done"},
	{the(api.ErrRetainRuns), "RETAIN_RUNS", "it does the same: look at what it left when it is done"},
	{the(index.ErrMissing), "INDEX_MISSING", "call reindex"},
	{the(index.ErrDamaged), "INDEX_DAMAGED", "call reindex with full"},
	{the(index.ErrOlder), "INDEX_OLDER", "call reindex"},
	{the(fs.ErrPermission), "PERMISSION", "check who owns the file"},
	{func(error) bool { return true }, "FAILED", ""},
}

// a reports whether an error is or wraps an error of type T.
func a[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// the returns a function that reports whether an error is or wraps target.
func the(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}
