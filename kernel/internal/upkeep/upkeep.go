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
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// Keeper maintains the memory files of a workspace. Its exported fields are set once.
type Keeper struct {
	// Files are the workspace's files, including the files of private sessions. Files is nil if
	// memory is off.
	Files *markdownstore.Store
	// MaxFileBytes is the size of the largest file that is read. 0 means the store's default.
	MaxFileBytes int64
	// Backups are the old and new contents of files, by hash.
	Backups *store.Blobs
	Masker  *mask.Masker
	// State is the state directory. It has the record of jobs and the lock of nightly runs.
	State   store.Store
	Project project
	// last is the newest snapshot of a night's steps, nil between nights.
	last atomic.Pointer[consolidation.Snapshot]
	// Changed is called when files may have changed.
	Changed func()
	// Now is the clock, for requests without a time.
	Now func() time.Time
	// Timezone is the user's time zone.
	Timezone *time.Location
	// Inspector reads the state that is kept in addition to memory.
	Inspector inspector
}

var _ api.Keeper = (*Keeper)(nil)

// inspector reads the state of sessions.
type inspector interface {
	// Kept returns an audit's checks of the state.
	Kept(now time.Time) map[health.Code]consolidation.Kept
	// Resolves returns a function that reports whether a page that memory names can be read.
	Resolves(ctx context.Context) func(id string) bool
	// Use returns how often a text was recalled and named.
	Use(ctx context.Context, text string) (api.Use, error)
}

// at returns t, or the time of the clock if t is zero.
func (k *Keeper) at(t time.Time) time.Time {
	if t.IsZero() {
		return k.Now()
	}
	return t
}

// project is the journal that all sessions of the workspace share.
type project interface {
	// Open opens the journal, and holds its lock until unlock is called. If write is true, Open
	// first finishes earlier promises; see [Keeper.Redo].
	Open(ctx context.Context, write bool) (j Journal, unlock func(), err error)
}

// Journal is the project's journal, open.
type Journal interface {
	// Entries returns the entries of the journal's page of runs, in order.
	Entries() []Entry
	// Append commits an entry, durably. It fails if the id is already committed with another
	// value.
	Append(e Entry, now time.Time) error
	// Unfinished returns why an earlier promise is not carried out yet.
	Unfinished() error
	// Stands waits until the entries survive a power cut. Callers must call it before they report
	// work of an earlier call as done.
	Stands() error
	// Forget drops the data that was read, so that the next use reads the journal again.
	Forget()
}

// Entry is an entry of the journal's page.
type Entry struct {
	ID    string          `json:"id"`
	Value json.RawMessage `json:"value"`
}

var errOff = errors.New("memory is switched off")

// wrap prefixes an error with the name of a request.
func wrap(request string, err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", request, *err)
	}
}

// snapshot reads memory's own files, the only ones that a run may change.
func (k *Keeper) snapshot(ctx context.Context) (*consolidation.Snapshot, error) {
	return k.reads(ctx, k.Files.Own())
}

// ReadAll reads all files that the workspace lists.
func (k *Keeper) ReadAll(ctx context.Context) (*consolidation.Snapshot, error) {
	return k.reads(ctx, k.Files)
}

func (k *Keeper) reads(ctx context.Context, files *markdownstore.Store) (*consolidation.Snapshot, error) {
	last := k.last.Load()
	s, err := consolidation.Read(ctx, files.FS(), k.MaxFileBytes, last)
	if last != nil && err == nil {
		k.last.Store(s)
	}
	return s, err
}

// The kinds of edits that a history distinguishes.
const howRemember, howForget = "remember", "forget"

// what returns the kind of a run. For an edit it is the edit's How, if that is set.
func (p *promise) what() api.RunKind { return cmp.Or(api.RunKind(p.How), p.Kind) }

// promise lists the work of a run.
type promise struct {
	Kind api.RunKind `json:"kind"`
	Time time.Time   `json:"time"`
	Day  string      `json:"day"`
	// Steps are the changes of files, in order.
	Steps []*step `json:"steps,omitempty"`
	// Graves are the entries that leave memory.
	Graves []grave `json:"graves,omitempty"`
	// Reads names the parts that the run read of files, which a later run may remove.
	Reads []mark `json:"reads,omitempty"`
	// Facts are the grounds of the entries that a curation added to MEMORY.md.
	Facts []fact `json:"facts,omitempty"`
	// Entries counts the entries that a curation added to MEMORY.md.
	Entries int `json:"entries,omitempty"`
	// How is remember or forget for such an edit, "" for any other run.
	How string `json:"how,omitempty"`
	// Undoes is the run that an undo takes back.
	Undoes string `json:"undoes,omitempty"`
	// Session is the folder of the session that requested an edit.
	Session string `json:"session,omitempty"`
	// Person reports that a person edited by hand.
	Person bool `json:"person,omitempty"`
	// Key makes the request for an edit idempotent.
	Key string `json:"key,omitempty"`
	// Said has the lines that the edit writes, by file and [consolidation.LineHash], with their
	// authors.
	Said map[string]map[string]consolidation.Origin `json:"said,omitempty"`
}

// step is the change of one file. Hashes name backups.
type step struct {
	Path string `json:"path"`
	// Before is the old content of the file, "" if the file did not exist.
	Before string `json:"before,omitempty"`
	// Since is when the file was last changed.
	Since time.Time `json:"since,omitzero"`
	// ID is the id under which Add is appended.
	ID string `json:"id,omitempty"`
	// Add is the appended text.
	Add string `json:"add,omitempty"`
	// After is the new content of the file.
	After string `json:"after,omitempty"`
	// Gone removes the file.
	Gone bool `json:"gone,omitempty"`
	// Clear removes the first Bytes of the file, which have the hash Before.
	Clear bool `json:"clear,omitempty"`
	// Bytes is the number of bytes that Clear removes.
	Bytes int `json:"bytes,omitempty"`
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

// done records that a run is finished.
type done struct {
	Run string `json:"run"`
	// Files are the hashes of the new contents.
	Files map[string]string `json:"files"`
	// Kept are the files that were left alone, with the reasons.
	Kept []string `json:"kept,omitempty"`
}

// value is an entry of the page. Exactly one field is set.
type value struct {
	Run  *promise `json:"run,omitempty"`
	Done *done    `json:"done,omitempty"`
	Said *said    `json:"said,omitempty"`
	// Recast has the backups that took the place of backups with forgotten words, by hash.
	Recast map[string]string `json:"recast,omitempty"`
}

// said has the lines that an observed session wrote into a file, by their
// [consolidation.LineHash], with their authors.
type said struct {
	Path  string                          `json:"path"`
	Lines map[string]consolidation.Origin `json:"lines"`
}

// logged is a run with its outcome.
type logged struct {
	id     string
	run    *promise
	done   *done
	undone bool
}

// of reports whether a run is one of a kind and a day that was not taken back.
func (l *logged) of(kd api.RunKind, day string) bool {
	return l.run.Kind == kd && l.run.Day == day && !l.undone
}

// entries are the entries of the page.
type entries struct {
	// log has the runs, in order.
	log []*logged
	// said has the authors of lines of files. A line of a person stays a person's.
	said map[line]consolidation.Origin
	// recast has the backups that took the place of others, by hash.
	recast map[string]string
}

// line names a line of a file by its [consolidation.LineHash].
type line struct{ path, hash string }

// readEntries reads the page of a journal.
func readEntries(j Journal) (entries, error) {
	out := entries{said: map[line]consolidation.Origin{}, recast: map[string]string{}}
	at := map[string]*logged{}
	for _, e := range j.Entries() {
		var v value
		if err := json.Unmarshal(e.Value, &v); err != nil {
			return out, fmt.Errorf("read entry %s of the project's journal: %w", e.ID, err)
		}
		maps.Copy(out.recast, v.Recast)
		switch {
		case v.Done != nil:
			if l := at[v.Done.Run]; l != nil {
				l.done = v.Done
			}
		case v.Said != nil:
			out.hear(v.Said.Path, v.Said.Lines)
		case v.Run != nil:
			at[e.ID] = &logged{id: e.ID, run: v.Run}
			out.log = append(out.log, at[e.ID])
			for path, lines := range v.Run.Said {
				out.hear(path, lines)
			}
			if l := at[v.Run.Undoes]; l != nil && v.Run.Kind == api.RunUndo {
				l.undone = true
				if l = at[l.run.Undoes]; l != nil { // an undo that was taken back
					l.undone = false
				}
			}
		}
	}
	return out, nil
}

// hear adds the authors of lines of a file.
func (h *entries) hear(path string, lines map[string]consolidation.Origin) {
	for hash, o := range lines {
		if was := h.said[line{path, hash}]; was == "" || was.Machine() {
			h.said[line{path, hash}] = o
		}
	}
}

// appendLog commits an entry to the journal.
func appendLog(j Journal, id string, v value, now time.Time) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return j.Append(Entry{id, raw}, now)
}

// gravesOf returns the valid tombstones. A tombstone is valid unless its run was taken back. If a
// person took a curation back, the entries that it added have tombstones too, in graves and in
// back, so that the same text is not added again.
func gravesOf(log []*logged) (graves, back map[string]bool) {
	graves, back = map[string]bool{}, map[string]bool{}
	rejected := map[string]bool{}
	for _, l := range slices.Backward(log) {
		if l.run.Kind == api.RunUndo && l.run.Person && !l.undone {
			rejected[l.run.Undoes] = true
		}
		if rejected[l.id] {
			for _, f := range l.run.Facts {
				graves[f.Key], back[f.Key] = true, true
			}
		}
		for _, g := range l.run.Graves {
			graves[g.Key] = graves[g.Key] || !l.undone
		}
	}
	return graves, back
}
