package api

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/pagevm/journal"
	"time"
)

// RememberRequest is a text to be remembered.
type RememberRequest struct {
	SessionKey string
	// Text is Markdown. Secrets in it are masked.
	Text string
	// Path is the file that it is appended to, relative to the workspace; "" is
	// today's log. MEMORY.md and USER.md can be written in private sessions only.
	Path string
	// Tags are the reasons to keep it. They are written before its words, in each item if it is a
	// list. A text without tags is among the first that are forgotten. Without
	// [consolidation.Human], MEMORY.md, USER.md and the day's log attribute it to an agent.
	Tags consolidation.Tags
	// ID makes the delivery idempotent. Default: a hash of session, file and text. In a
	// day's log, an id that does not begin with "me-" is hashed: see [Remembered.ID].
	ID string
	// Evidence is the origin of the text: the id of a page or the key of a committed turn of the
	// session. Default: the session itself.
	Evidence string
	// Private: see [PlanRequest.Private].
	Private bool
	// Now is the time of the entry; zero takes the kernel's clock.
	Now time.Time
}

// Remembered is the place of an entry.
type Remembered struct {
	// ID is the entry's; its marker follows it in the file.
	ID string `json:"id"`
	// Ref is the entry's text.
	Ref memkernel.Ref `json:"ref"`
	// Duplicate: the file had the entry before.
	Duplicate bool `json:"duplicate"`
	// Late is the past day's log that the entry was meant for. It is in today's log.
	Late string `json:"late,omitempty"`
	// Masked counts the secrets that were masked.
	Masked int `json:"masked"`
	// Unwritten is why the file does not have the entry yet, "" if it has. The session's journal
	// keeps the entry. It will be written with the session's next call during which the file can
	// be written.
	Unwritten string `json:"unwritten,omitempty"`
}

// WriteRequest asks for typed changes of pages: a binding constraint, the current plan, a
// preference.
type WriteRequest struct {
	// SessionKey is the session that writes. Its private pages are written.
	SessionKey string
	// Key makes the delivery idempotent. Default: a hash of session and updates.
	Key string
	// Point is the boundary of the request. Default: flush.
	Point journal.CommitPoint
	// By names the party for which the updates are written; default "host".
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
