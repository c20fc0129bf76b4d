// Package upkeep keeps the memory files of a workspace good: what curation writes, what
// pruning moves, what agents edit, what an undo brings back, and whether MEMORY.md lost what it should not
// have. A run is one entry of a page of the project's journal:
//
//	backups/ab/abcd…   what each file was and becomes, by hash, durable first
//	run                the promise: which file becomes what, in which order, and the
//	                   tombstones of what leaves; synced
//	files              those that get something before those that lose it
//	done               what the files are now, and what was left alone
//
// From the promise on the run stands: a kill at any point is made good when the
// journal is next opened to be written. A file that somebody changed meanwhile is not
// overwritten: what it should get is appended, what it should lose stays, and the next
// run looks again. Backups go by retention, and where what they quote is forgotten; a file
// that holds a secret is not backed up, nor pruned (backups.go).
//
// The package never opens a session, never judges what an entry is worth (that is
// package consolidation's), and never writes to a file of the workspace but through
// markdownstore.
package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// The page of the project's journal that holds the runs, its type, and its field.
const (
	Page                  = "upkeep"
	PageType  pagevm.Type = "upkeep"
	PageField             = "runs"
)

// Keeper keeps the files of a workspace. Its fields are set once.
type Keeper struct {
	// Files are the workspace's, those of private sessions too; nil if memory is
	// switched off. A file of more than MaxFileBytes is not read; 0 takes the store's
	// default.
	Files        *markdownstore.Store
	MaxFileBytes int64
	// Backups are what files were and became, by hash.
	Backups *store.Blobs
	Masker  *mask.Masker
	// State is the state directory, for the record of jobs and the run's lock.
	State   store.Store
	Project Project
	Buffer  Buffer
	// Changed is called when files may have changed.
	Changed func()
	// Now tells whether a model is left alone for now; it may be nil if none is ever asked.
	Now func() time.Time
}

// Project is the journal that all sessions of the workspace share.
type Project interface {
	// Open opens it, under its lock until unlock is called. Opened to be written, what
	// was promised before is done first, see [Keeper.Redo].
	Open(ctx context.Context, write bool) (j Journal, unlock func(), err error)
}

// Journal is the project's journal, open.
type Journal interface {
	// Entries are those of Page, in order.
	Entries() []Entry
	// Append commits an entry, durably; it fails if the id stands with another value.
	Append(e Entry, now time.Time) error
	// Unfinished is why something that was promised before is not done yet.
	Unfinished() error
	// Stands waits until what the entries say survives a power cut: for who answers that it was
	// done before.
	Stands() error
	// Forget drops what was read, so that the next use reads it again.
	Forget()
}

// Entry is an entry of the journal's page.
type Entry struct {
	ID    string          `json:"id"`
	Value json.RawMessage `json:"value"`
}

// Buffer is the working buffer of sessions: curation reads it, and pruning takes away
// what a curation has read.
type Buffer interface {
	// Path is its file's, from the workspace.
	Path() string
	// Read gives its text, "" if there is none.
	Read(ctx context.Context) (string, error)
	// Foreign is a text of it without the kernel's own entries.
	Foreign(text string) string
	// Clear takes the kernel's entries out of its first n bytes, which must have a hash,
	// else the error is a [markdownstore.ErrConflict].
	Clear(ctx context.Context, n int, hash string) error
}

var errOff = errors.New("memory is switched off")

// Snapshot reads memory's own files, the only ones that a run may change.
func (k *Keeper) Snapshot(ctx context.Context) (*consolidation.Snapshot, error) {
	return consolidation.Read(ctx, k.Files.Own().FS(), k.MaxFileBytes)
}

// ReadAll reads all files that the workspace lists.
func (k *Keeper) ReadAll(ctx context.Context) (*consolidation.Snapshot, error) {
	return consolidation.Read(ctx, k.Files.FS(), k.MaxFileBytes)
}

// kind says what a run does.
type kind string

const (
	kindCurate kind = "curate"
	kindPrune  kind = "prune"
	kindUndo   kind = "undo"
	// kindEdit is what an agent asked for.
	kindEdit kind = "edit"
	// kindSeen only keeps what MEMORY.md is.
	kindSeen kind = "seen"
)

// promise is what a run is to do.
type promise struct {
	Kind kind      `json:"kind"`
	Time time.Time `json:"time"`
	Day  string    `json:"day"`
	// Steps are what becomes of files, in order.
	Steps []step `json:"steps,omitempty"`
	// Graves are what leaves memory.
	Graves []grave `json:"graves,omitempty"`
	// Reads are what was read of files that are emptied.
	Reads []mark `json:"reads,omitempty"`
	// Facts are what spoke for what a curation gave MEMORY.md.
	Facts []fact `json:"facts,omitempty"`
	// Entries counts what a curation gave MEMORY.md; Undoes is the run that an undo
	// takes back.
	Entries int    `json:"entries,omitempty"`
	Undoes  string `json:"undoes,omitempty"`
	// Session is the folder of the session that asked for an edit, Key what makes the
	// request idempotent. Said are the lines that it writes, by file and
	// [consolidation.LineHash], with who says them.
	Session string                                     `json:"session,omitempty"`
	Key     string                                     `json:"key,omitempty"`
	Said    map[string]map[string]consolidation.Origin `json:"said,omitempty"`
}

// step is what becomes of one file. Hashes name backups.
type step struct {
	Path string `json:"path"`
	// Before is what the file was, "" if there was none; Since is when it was last
	// changed.
	Before string    `json:"before,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	// Add is what it gets at its end under ID, After what it becomes; with Gone it is
	// removed. Clear takes away its first Bytes, which have the hash Before.
	ID    string `json:"id,omitempty"`
	Add   string `json:"add,omitempty"`
	After string `json:"after,omitempty"`
	Gone  bool   `json:"gone,omitempty"`
	Clear bool   `json:"clear,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
}

// grave is the tombstone of an entry: what it said, by hash.
type grave struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Why  string `json:"why"`
}

// mark is what was read of a file.
type mark struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
	Hash  string `json:"hash"`
}

// done is that a run is through.
type done struct {
	Run string `json:"run"`
	// Files are the hashes of what its files are, Kept what was left alone, and why.
	Files map[string]string `json:"files"`
	Kept  []string          `json:"kept,omitempty"`
}

// value is an entry of the page: one of the three.
type value struct {
	Run  *promise `json:"run,omitempty"`
	Done *done    `json:"done,omitempty"`
	Said *said    `json:"said,omitempty"`
}

// said are the lines that an observed session wrote into a file, by their
// [consolidation.LineHash], with who said them.
type said struct {
	Path  string                          `json:"path"`
	Lines map[string]consolidation.Origin `json:"lines"`
}

// logged is a run with what became of it.
type logged struct {
	id     string
	run    promise
	done   *done
	undone bool
}

// readLog gives the runs that the journal holds, in order.
func readLog(j Journal) ([]logged, error) {
	var out []logged
	at := map[string]int{}
	for _, e := range j.Entries() {
		var v value
		if err := json.Unmarshal(e.Value, &v); err != nil {
			return nil, fmt.Errorf("read entry %s of the project's journal: %w", e.ID, err)
		}
		if v.Done != nil {
			if i, ok := at[v.Done.Run]; ok {
				out[i].done = v.Done
			}
			continue
		}
		if v.Run == nil {
			continue
		}
		at[e.ID] = len(out)
		out = append(out, logged{id: e.ID, run: *v.Run})
		if i, ok := at[v.Run.Undoes]; ok && v.Run.Kind == kindUndo {
			out[i].undone = true
		}
	}
	return out, nil
}

// appendLog commits an entry to the journal.
func appendLog(j Journal, id string, v value, now time.Time) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return j.Append(Entry{id, raw}, now)
}

// gravesOf are the tombstones that hold: those of runs that were not taken back.
func gravesOf(log []logged) map[string]bool {
	out := map[string]bool{}
	for i := range log {
		if log[i].undone {
			continue
		}
		for _, g := range log[i].run.Graves {
			out[g.Key] = true
		}
	}
	return out
}
