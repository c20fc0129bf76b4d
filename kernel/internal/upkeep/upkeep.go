// Package upkeep maintains the memory files of a workspace: the additions of curation, the moves
// of pruning, the edits of agents, the restorations of an undo, and the search for losses of
// MEMORY.md. A run is one entry of a page of the project's journal:
//
//	backups/ab/abcd…   each file's old and new content, by hash, durable first
//	run                the promise: the new content of each file, in order, and the
//	                   tombstones of removed entries; synced
//	files              those that gain text before those that lose it
//	done               the new hashes of the files, and those that were left alone
//
// From the promise on the run is certain: after a kill at any point it is completed when the
// journal is next opened for writing. A file that somebody changed meanwhile is not overwritten:
// additions are appended, removals are left to the next run. Backups are removed by retention,
// and when contents that they quote are forgotten. A file that holds a secret is neither backed
// up nor pruned (backups.go).
//
// The package never opens a session, never judges the worth of an entry (package consolidation
// does), and writes to a file of the workspace only through markdownstore.
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
	// Backups are the old and new contents of files, by hash.
	Backups *store.Blobs
	Masker  *mask.Masker
	// State is the state directory, for the record of jobs and the run's lock.
	State   store.Store
	Project Project
	Buffer  Buffer
	// Changed is called when files may have changed.
	Changed func()
	// Now decides whether a model is left alone for now. It may be nil if no model is ever asked.
	Now func() time.Time
}

// Project is the journal that all sessions of the workspace share.
type Project interface {
	// Open opens it, under its lock until unlock is called. With write it finishes earlier
	// promises first, see [Keeper.Redo].
	Open(ctx context.Context, write bool) (j Journal, unlock func(), err error)
}

// Journal is the project's journal, open.
type Journal interface {
	// Entries are those of Page, in order.
	Entries() []Entry
	// Append commits an entry, durably. It fails if the id is already committed with another
	// value.
	Append(e Entry, now time.Time) error
	// Unfinished is why something that was promised before is not done yet.
	Unfinished() error
	// Stands waits until the entries survive a power cut. A caller must wait for it before it
	// answers that the work was done before.
	Stands() error
	// Forget drops the data read, so that the next use reads it again.
	Forget()
}

// Entry is an entry of the journal's page.
type Entry struct {
	ID    string          `json:"id"`
	Value json.RawMessage `json:"value"`
}

// Buffer is the working buffer of sessions: curation reads it, and pruning removes the part that
// a curation has read.
type Buffer interface {
	// Path is its file's, from the workspace.
	Path() string
	// Read returns its text, "" if there is none.
	Read(ctx context.Context) (string, error)
	// Foreign is a text of it without the kernel's own entries.
	Foreign(text string) string
	// Clear removes the kernel's entries from its first n bytes. If these have another hash, it
	// returns a [markdownstore.ErrConflict].
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

// kind is the kind of a run.
type kind string

const (
	kindCurate kind = "curate"
	kindPrune  kind = "prune"
	kindUndo   kind = "undo"
	// kindEdit is an agent's edit.
	kindEdit kind = "edit"
	// kindSeen only backs up MEMORY.md.
	kindSeen kind = "seen"
)

// promise lists the work of a run.
type promise struct {
	Kind kind      `json:"kind"`
	Time time.Time `json:"time"`
	Day  string    `json:"day"`
	// Steps are the changes of files, in order.
	Steps []step `json:"steps,omitempty"`
	// Graves are the entries that leave memory.
	Graves []grave `json:"graves,omitempty"`
	// Reads are the parts that were read of files that are emptied.
	Reads []mark `json:"reads,omitempty"`
	// Facts are the grounds of the entries that a curation added to MEMORY.md.
	Facts []fact `json:"facts,omitempty"`
	// Entries counts the entries that a curation added to MEMORY.md. Undoes is the run that an
	// undo takes back.
	Entries int    `json:"entries,omitempty"`
	Undoes  string `json:"undoes,omitempty"`
	// Session is the folder of the session that asked for an edit. Key makes the request
	// idempotent. Said are the lines that it writes, by file and [consolidation.LineHash], with
	// their authors.
	Session string                                     `json:"session,omitempty"`
	Key     string                                     `json:"key,omitempty"`
	Said    map[string]map[string]consolidation.Origin `json:"said,omitempty"`
}

// step is the change of one file. Hashes name backups.
type step struct {
	Path string `json:"path"`
	// Before is the old content of the file, "" if there was none. Since is when it was last
	// changed.
	Before string    `json:"before,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	// Add is the text appended under ID, After is the new content; with Gone the file is removed.
	// Clear removes its first Bytes, which have the hash Before.
	ID    string `json:"id,omitempty"`
	Add   string `json:"add,omitempty"`
	After string `json:"after,omitempty"`
	Gone  bool   `json:"gone,omitempty"`
	Clear bool   `json:"clear,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
}

// grave is the tombstone of an entry, with the hash of its text.
type grave struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Why  string `json:"why"`
}

// mark names the part of a file that was read.
type mark struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
	Hash  string `json:"hash"`
}

// done is that a run is through.
type done struct {
	Run string `json:"run"`
	// Files are the hashes of the new contents. Kept are the files that were left alone, and why.
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

// logged is a run with its outcome.
type logged struct {
	id     string
	run    promise
	done   *done
	undone bool
}

// readLog returns the runs that the journal holds, in order.
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

// gravesOf returns the valid tombstones: those of runs that were not taken back.
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
