// Package workstate keeps the working state of a session: the state captured from its main line,
// the checkpoints made of it, and its two Markdown records in the workspace, SESSION-STATE.md and
// the working buffer. It reports how full the context is, writes everything when a full context
// or a boundary requires it, writes a session's results into the day's log, and reads back the
// state from which a session continues.
//
// It never plans or decides the content of a prompt, opens no session and no journal, takes no
// lock, and reads no clock. The caller passes the time, and must hold the session. Writes that
// must be promised first go through [session]. In the workspace it changes only its own section
// and its own entries.
package workstate

import (
	"context"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// The files of the workspace that the package writes to.
const (
	StatePath  = "SESSION-STATE.md"
	BufferPath = "memory/working-buffer.md"
)

// stateBytes bounds the kernel's section of SESSION-STATE.md: about the size of 2,000 tokens.
const stateBytes = 8 << 10

// bufferBytes is the size from which nothing is appended to the working buffer. A file that is
// rarely read does not need more than some hundred turns.
const bufferBytes = 1 << 20

// Options configure how the working state is kept, with defaults filled in.
type Options struct {
	// Off keeps no working state.
	Off bool
	// Thresholds returns the thresholds of the gauge for a window and a reserve, in tokens.
	Thresholds func(window, reserve int) checkpoint.Thresholds
	// FlushOff writes nothing to the day's log.
	FlushOff bool
	// StateFileOff leaves SESSION-STATE.md alone.
	StateFileOff bool
	// BufferOff disables the working buffer.
	BufferOff bool
	// BufferAt is the share of the window from which turns are appended to the working buffer.
	BufferAt float64
}

// session is the part of a session that a [Keeper] uses.
type session interface {
	// Key is the session's key.
	Key() string
	// Name is the name of the session's folder.
	Name() string
	// Progress returns the counts of the session's past.
	Progress() Progress
	// Stored are the pages that hosts wrote.
	Stored() []journal.StoredPage
	// Window returns the window of a model in tokens, or 0 if the window is not known.
	Window(model string) int

	// Has reports whether an item was written to the workspace. An item is named by its hash. Keep
	// records that items were written.
	Has(item string) bool
	Keep(items []string)
	// Promised returns an entry from the journal. written reports whether the entry's file has
	// the entry, too.
	Promised(id string) (e Entry, written, ok bool)
	// Append promises an entry in the journal and appends the entry to its file. If the file
	// can't be written, promised reports whether the journal has the entry nevertheless.
	Append(ctx context.Context, id string, e Entry, now time.Time) (promised bool, err error)
}

// Progress holds the counts of a session's past.
type Progress struct {
	// Epoch counts the resets. Compactions counts the host's compactions since the last reset.
	// Turns counts the committed turns.
	Epoch, Compactions, Turns int
	// Cut is the chain of the main line's newest cut, "" if the main line has no cut.
	Cut string
}

// Entry is a text that the journal promises to append to a file of the workspace.
type Entry struct {
	Path    string `json:"path"`
	Text    string `json:"text"`
	Private bool   `json:"private,omitempty"`
	// Items has the hashes of the flushed items in the entry.
	Items []string `json:"items,omitempty"`
}

// Lines counts the list items of the entry.
func (e *Entry) Lines() int { return strings.Count("\n"+e.Text, "\n- ") }

// Same reports whether two entries have the same text in the same place.
func (e *Entry) Same(o *Entry) bool {
	return e.Path == o.Path && e.Text == o.Text && e.Private == o.Private
}

// triggers has the trigger of the checkpoint that each boundary needs. A flush on demand needs a
// checkpoint, too, because the checkpoint's entries are flushed.
var triggers = map[journal.CommitPoint]checkpoint.Trigger{
	journal.PointFlush:      checkpoint.TriggerManual,
	journal.PointCompaction: checkpoint.TriggerCompaction,
	journal.PointReset:      checkpoint.TriggerSessionEnd,
	journal.PointSessionEnd: checkpoint.TriggerSessionEnd,
}

// skipped returns why a record was not written.
func skipped(f api.Net, err error) fault.Fault {
	return fault.Fault{Code: fault.Net, Cause: string(f), Detail: err.Error()}
}
