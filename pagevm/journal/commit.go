package journal

import "encoding/json"

// Outcome is the result of a commit.
type Outcome string

const (
	// Committed: the transaction is in the journal, durably.
	Committed Outcome = "committed"
	// Duplicate: the same content was committed under this key before.
	// Nothing was written.
	Duplicate Outcome = "duplicate"
	// Conflict: other content was committed under this key before. Nothing
	// was written.
	Conflict Outcome = "conflict"
	// refused: nothing of the transaction was accepted. The journal holds it
	// with the reasons.
	refused Outcome = "rejected"
)

// Rejection is an update that validation refused.
type Rejection struct {
	// ID names the update.
	ID string `json:"id"`
	// Code is a rejection code such as "DESTRUCTIVE_OP".
	Code string `json:"code"`
	// Detail describes the fault.
	Detail string          `json:"detail,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// RejectionError says why an update was refused.
type RejectionError struct {
	Code   string
	Detail string
}

func (e *RejectionError) Error() string { return e.Code + ": " + e.Detail }

type committedBody struct {
	// Hash identifies the requested updates; it is a sha256 in hex.
	Hash  string      `json:"hash"`
	Point CommitPoint `json:"point,omitempty"`
	Seq   int         `json:"seq,omitempty"`
}
