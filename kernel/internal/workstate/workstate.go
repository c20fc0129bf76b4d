// Package workstate keeps the working state of a session: the state captured from its main line,
// the checkpoints made of it, and its two Markdown records in the workspace, SESSION-STATE.md and
// the working buffer. It reports how full the context is, writes everything when that or a
// boundary requires it, writes a session's results into the day's log, and reads back the state
// from which a session continues.
//
// It never plans or decides the content of a prompt, opens no session and no journal, takes no
// lock, and reads no clock: the caller passes the time, and must hold the session. Writes that
// must be promised first go through [Session]. Of the workspace it changes its own section and
// its own entries, and nothing else.
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

// The files of the workspace that are written to.
const (
	StatePath  = "SESSION-STATE.md"
	BufferPath = "memory/working-buffer.md"
)

// stateBytes bounds the kernel's section of SESSION-STATE.md: about the size of 2,000 tokens.
const stateBytes = 8 << 10

// bufferBytes is the size from which nothing more is appended to the working buffer. More than
// some hundred turns do not belong in a buffer that is never read.
const bufferBytes = 1 << 20

// Options configure how the working state is kept, with defaults filled in.
type Options struct {
	// Off keeps none.
	Off bool
	// Thresholds are the gauge's in a window with a reserve.
	Thresholds func(window, reserve int) checkpoint.Thresholds
	// FlushOff writes nothing to the day's log.
	FlushOff bool
	// StateFileOff leaves SESSION-STATE.md alone.
	StateFileOff bool
	// BufferOff leaves the working buffer alone. Turns are appended to it from BufferAt, a
	// share of the window, on.
	BufferOff bool
	BufferAt  float64
}

// Session is the session whose state is kept, as far as it is asked about.
type Session interface {
	// Key and Name are its own and its folder's; Progress is how far it has come.
	Key() string
	Name() string
	Progress() Progress
	// Stored are the pages that hosts wrote.
	Stored() []journal.StoredPage
	// Window is that of a model in tokens, 0 if it is not known.
	Window(model string) int

	// Has reports whether an item was written to the workspace, by its hash; Keep records that it
	// was.
	Has(item string) bool
	Keep(items []string)
	// Promised is an entry that the journal has, and whether its file has it, too.
	Promised(id string) (e Entry, written, ok bool)
	// Append promises an entry in the journal and appends it to its file. If the file can't be
	// written, promised reports that the journal has the entry all the same.
	Append(ctx context.Context, id string, e Entry, now time.Time) (promised bool, err error)
}

// Progress is how far a session has come.
type Progress struct {
	// Epoch counts the resets, Compactions the host's since the last one, Turns those that
	// are committed. Cut is the chain of the main line's newest cut, "" if there is none.
	Epoch, Compactions, Turns int
	Cut                       string
}

// Entry is a text that is appended to a file of the workspace, as the journal promises it.
type Entry struct {
	Path    string `json:"path"`
	Text    string `json:"text"`
	Private bool   `json:"private,omitempty"`
	// Items are the items of a flush that it holds, by hash.
	Items []string `json:"items,omitempty"`
}

// Lines counts its list items.
func (e *Entry) Lines() int { return strings.Count("\n"+e.Text, "\n- ") }

// Same reports whether two entries say the same in the same place.
func (e *Entry) Same(o *Entry) bool {
	return e.Path == o.Path && e.Text == o.Text && e.Private == o.Private
}

// triggers names the checkpoint that a boundary asks for. A flush on demand asks for one, too,
// because that is what is flushed.
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
