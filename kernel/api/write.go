package api

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/pagevm/journal"
	"time"
)

// RememberRequest is something worth keeping.
type RememberRequest struct {
	SessionKey string
	// Text is Markdown. Secrets in it are masked.
	Text string
	// Path is the file that it is appended to, relative to the workspace; "" is
	// today's log. MEMORY.md and USER.md can be written in private sessions only.
	Path string
	// Tags say why it matters; they are written before its words, in each item if it
	// is a list. Without any it is among the first that are forgotten; without
	// [consolidation.Human], MEMORY.md, USER.md and the day's log call it an agent's.
	Tags consolidation.Tags
	// ID makes the delivery idempotent. Default: a hash of session, file and text. In a
	// day's log, an id that does not begin with "me-" is hashed: see [Remembered.ID].
	ID string
	// Evidence says where it comes from: the id of a page or the key of a committed
	// turn of the session. Default: the session itself.
	Evidence string
	// Private: see [PlanRequest.Private].
	Private bool
	// Now is the time of the entry; zero takes the kernel's clock.
	Now time.Time
}

// Remembered says where an entry is.
type Remembered struct {
	// ID is the entry's; its marker follows it in the file.
	ID string `json:"id"`
	// Ref is the entry's text.
	Ref memkernel.Ref `json:"ref"`
	// Duplicate: it was there before.
	Duplicate bool `json:"duplicate"`
	// Late is the past day's log that it was meant for; it is in today's.
	Late string `json:"late,omitempty"`
	// Masked counts the secrets that were masked.
	Masked int `json:"masked"`
	// Unwritten says why the file does not have the entry yet, "" if it has. The session's
	// journal keeps it, and it is written with the session's next call for which the file
	// can be.
	Unwritten string `json:"unwritten,omitempty"`
}

// WriteRequest asks for typed changes of pages: a constraint that binds, the plan
// that is followed, a preference.
type WriteRequest struct {
	// SessionKey is the session that writes, and whose private pages are written.
	SessionKey string
	// Key makes the delivery idempotent. Default: a hash of session and updates.
	Key string
	// Point is the boundary at which it is asked for. Default: flush.
	Point journal.CommitPoint
	// By names on whose behalf; default "host".
	By string
	// Project lets the updates write pages that all sessions of the workspace share.
	Project bool
	// AllOrNothing commits nothing if any update is rejected.
	AllOrNothing bool
	// Updates are of one scope: the session's own, or the project's. Secrets in
	// their values are masked.
	Updates []journal.Update
	Now     time.Time
}
