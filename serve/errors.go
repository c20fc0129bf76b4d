package serve

import (
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

// The error codes are the codes of JSON-RPC 2.0, the language server protocol's codes for a
// cancelled call, and the server's own codes.
const (
	codeParse     = -32700
	codeRequest   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeKernel    = -32000 // the kernel refused or failed; Data.Code is why
	codeDeadline  = -32001
	codeBusy      = -32002
	codeTooLong   = -32003
	codeStopping  = -32004
	codeVersion   = -32005
	codeBase      = -32006
	codeScope     = -32007
	codeToken     = -32008
	codeCancelled = -32800
)

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

func newError(code int, name, message, hint string) *Error {
	return &Error{Code: code, Message: message, Data: errorData{Code: name, Hint: hint}}
}

// errTooMuchText refuses a call whose parameters, besides the messages of a conversation, are
// longer than most bytes.
func errTooMuchText(most int) *Error {
	return newError(codeTooLong, "LINE_TOO_LONG", fmt.Sprintf("the call has more than %d bytes besides the messages of a conversation", most),
		"shorten its texts, or hand long ones in as messages of the conversation")
}

// invalid returns the error of a message with an invalid form.
func invalid(message string) *Error {
	return newError(codeRequest, "INVALID_REQUEST", message, `a message is {"jsonrpc":"2.0","id":…,"method":…,"params":{…}}`)
}

// badParams returns the error of a call with wrong parameters.
func badParams(hint, format string, args ...any) *Error {
	return newError(codeParams, "INVALID_PARAMS", fmt.Sprintf(format, args...), hint)
}

// asError adds the code, the reason and the hint to an error.
func asError(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		e := *own
		return &e
	}
	name, hint := reason(err)
	e := newError(codeKernel, name, err.Error(), hint)
	var none *api.NoSessionError
	if errors.As(err, &none) {
		e.Data.Hint = none.Hint("status lists them")
	}
	errors.As(err, &e.Data.Current)
	var small *budget.TooSmallError
	switch {
	case errors.As(err, &small):
		e.Data.MissingTokens = small.Over
	case name == "CANCELLED":
		e.Code = codeCancelled
	case name == "DEADLINE":
		e.Code = codeDeadline
	case name == "STOPPING":
		e.Code = codeStopping
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
