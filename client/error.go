package client

import (
	"encoding/json"
	"time"
)

// Codes of failures that the client notices itself. The daemon's codes are in doc/rpc.md.
const (
	// CodeClosed means that the connection was lost, or can't be made.
	CodeClosed = "CLOSED"
	// codeUntrusted means that the file at the socket's path must not be used.
	codeUntrusted = "UNTRUSTED"
)

// Error is an error of the daemon, or the loss of the connection.
type Error struct {
	// Number is the code of JSON-RPC, 0 if the error is not the daemon's.
	Number int
	// Code is the reason in one word, such as BUDGET_INSUFFICIENT or CLOSED. Hint says how to fix
	// the error.
	Code, Message, Hint string
	// Started reports whether the call may have been carried out in spite of the error.
	Started bool
	// MissingTokens is the number of further tokens that a plan would need.
	MissingTokens int
	// Current is the present state of a file that has changed since it was read, with the code
	// CONFLICT.
	Current json.RawMessage
	// final reports whether the client makes no further connection.
	final bool
	// wait is how long the client should wait before its next call, as the server asked.
	wait time.Duration
}

func (e *Error) Error() string {
	if e.Hint != "" {
		return "memkernel: " + e.Message + ": " + e.Hint
	}
	return "memkernel: " + e.Message
}

// lost reports whether the client was connected to a daemon that has ended.
func (e *Error) lost() bool {
	return (e.Code == CodeClosed || e.Code == "STOPPING") && (e.Number != 0 || e.Started)
}

// wireError is an error as it travels.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Code          string          `json:"code"`
		Hint          string          `json:"hint"`
		Started       bool            `json:"started"`
		MissingTokens int             `json:"missing_tokens"`
		Current       json.RawMessage `json:"current"`
	} `json:"data"`
}

func (w *wireError) error() *Error {
	return &Error{Number: w.Code, Code: w.Data.Code, Message: w.Message, Hint: w.Data.Hint, Started: w.Data.Started, MissingTokens: w.Data.MissingTokens, Current: w.Data.Current}
}
