package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

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
	// Current is the present state of a file that has changed since it was read, with CONFLICT.
	Current *api.StaleError `json:"current,omitempty"`
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
	var own *Error
	if errors.As(err, &own) {
		e := *own
		return &e
	}
	name, hint := reason(err)
	e := &Error{Code: cmp.Or(codes[name], codeKernel), Message: err.Error(), Data: errorData{Code: name, Hint: hint}}
	var none *api.NoSessionError
	if errors.As(err, &none) {
		e.Data.Hint = none.Hint("status lists them")
	}
	errors.As(err, &e.Data.Current)
	var small *budget.TooSmallError
	if errors.As(err, &small) {
		e.Data.MissingTokens = small.Over
	}
	return e
}

// ErrorCode returns the word that answers carry for an error of the kernel.
func ErrorCode(err error) string { return asError(err).Data.Code }

// reasons are the errors that a caller can act on.
var reasons = []struct {
	err        error
	name, hint string
}{
	{context.Canceled, "CANCELLED", "the call was cancelled"},
	{context.DeadlineExceeded, "DEADLINE", "allow more time by deadline_ms, or deliver the call again"},
	{api.ErrClosed, "STOPPING", "connect again: a new daemon serves the same state"},
	{api.ErrQuestion, "QUERY_TOO_LONG", "ask in fewer words"},
	{api.ErrNoMessages, "NO_MESSAGES", "hand in the conversation, or a prompt"},
	{api.ErrAnswered, "ANSWERED", "add the user's words as prompt, or plan before the answer"},
	{api.ErrNoSession, "NO_SESSION", ""}, // its text lists the sessions that exist
	{api.ErrPrivate, "PRIVATE", "say private, or plan it under another session_key"},
	{api.ErrNoThinking, "NO_OVERFLOW", "hand in the messages that were refused"},
	{api.ErrNoOverflow, "NO_OVERFLOW", "hand in the provider's words as they came, or none"},
	{api.ErrEditsOff, "DISABLED", "workspace.agent_edits lets agents change memory"},
	{markdownstore.ErrDenied, "DENIED", "search cites what can be read"},
	{transcript.ErrUnknownDialect, "UNKNOWN_DIALECT", "name the dialect: anthropic, openai, codex or pi"},
	{index.ErrForeign, "INDEX_FOREIGN", "move the file away, or use another state directory"},
	{index.ErrNewer, "INDEX_NEWER", "update memkernel, or delete the index and reindex"},
	{index.ErrBusy, "INDEX_BUSY", "try again when the other process is done"},
	{api.ErrRetainRuns, "RETAIN_RUNS", "it does the same: look at what it left when it is done"},
	{index.ErrMissing, "INDEX_MISSING", "call reindex"},
	{index.ErrDamaged, "INDEX_DAMAGED", "call reindex with full"},
	{index.ErrOlder, "INDEX_OLDER", "call reindex"},
	{fs.ErrPermission, "PERMISSION", "check who owns the file"},
}

// reason returns the word and the hint for an error.
func reason(err error) (name, hint string) {
	switch {
	case store.Again(err): // whatever else went wrong for it
		return "TRY_AGAIN", "deliver the call again: what keeps the state was out of reach, or another machine took the session"
	case errors.As(err, new(*budget.TooSmallError)):
		return "BUDGET_INSUFFICIENT", "use a larger context_window, a smaller reserve, or less in system, tools and fixed_tokens"
	case errors.As(err, new(*api.OverflowError)):
		return "OVERFLOW", "nothing that was refused can be made smaller: compact, reset, or use a larger model"
	case errors.As(err, new(*store.LogError)):
		return "DAMAGED", "run 'memkernel check'"
	case errors.As(err, new(*api.StaleError)):
		return "CONFLICT", "data.current is what stands there: read it, and ask again"
	case errors.As(err, new(*api.PersonError)):
		return "PERSON", "remember adds what holds now"
	case errors.As(err, new(*api.SecretError)):
		return "SECRET", "let a person take the secret out of the file"
	case errors.As(err, new(*api.EditError)):
		return "REFUSED", "the message says what would be carried out"
	}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.name, r.hint
		}
	}
	return "FAILED", ""
}
