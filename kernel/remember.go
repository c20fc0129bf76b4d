package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/internal/turn"
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

// Remember appends a text to a file of the workspace, durably and once: what was
// asked for is in the journal before the file is touched, and a kill between the
// two is made good when the session is next opened.
func (k *Kernel) Remember(ctx context.Context, req RememberRequest) (*Remembered, error) {
	done := k.watch.begin(OpRemember)
	r, err := k.desk.Remember(ctx, turn.RememberRequest(req))
	k.watch.end(ctx, done, err, func(d *Done) { d.Found = 1 })
	return (*Remembered)(r), err
}
