package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/memkernel/memkernel/health"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// RetainRequest says how long things are kept; 0 is for ever.
type RetainRequest struct {
	// Blobs is the age from which large contents and media may go. A page stays,
	// with its shorter forms; Get answers FORGOTTEN for its content, which comes
	// back when the host sends the message again.
	Blobs time.Duration
	// Usage is the age from which calls are dropped from usage.jsonl, Traces the
	// one from which a trace that was put aside goes.
	Usage, Traces time.Duration
	// Sessions is the age from which a session that was not used goes as a whole. One
	// that this or another process works with stays, and one that memory names pages of.
	Sessions time.Duration
	// Backups is the age of a run over memory's files from which its backups go. Those that
	// an undo of the newest pruning needs stay.
	Backups time.Duration
	// Apply does it. Without it the answer says what would be done, and nothing is
	// written.
	Apply bool
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// Retained says what was removed, or would be.
type Retained struct {
	Applied bool `json:"applied"`
	// Ended are sessions that go as a whole. Cited are those that are as old and stay,
	// by key: memory names pages of them.
	Ended    []EndedSession    `json:"ended"`
	Cited    []string          `json:"cited"`
	Sessions []RetainedSession `json:"sessions"`
	// Unreadable are sessions that can't be read. Nothing of them goes, and no blob,
	// since they may hold it.
	Unreadable []health.Finding `json:"unreadable"`
	// Blobs and BlobBytes are removed, orphans among them: blobs that no page of any
	// session holds, as a kill between two writes leaves them.
	Blobs       int   `json:"blobs"`
	BlobBytes   int64 `json:"blob_bytes"`
	Orphans     int   `json:"orphans"`
	OrphanBytes int64 `json:"orphan_bytes"`
	// Backups and BackupBytes are those of memory's files that are removed.
	Backups     int   `json:"backups"`
	BackupBytes int64 `json:"backup_bytes"`
}

// RetainedSession is what goes of one session.
type RetainedSession struct {
	// Session is its key.
	Session string `json:"session"`
	// Pages lose their content. Pointed are pages as old that keep it, because a
	// prompt or memory points to them.
	Pages   int `json:"pages"`
	Pointed int `json:"pointed"`
	// Idle: nobody has planned the session for so long that it has no prompt left.
	Idle bool `json:"idle"`
	// UsageRows leave usage.jsonl, TraceBytes is the trace that goes.
	UsageRows  int   `json:"usage_rows"`
	TraceBytes int64 `json:"trace_bytes"`
}

func (r *RetainedSession) empty() bool {
	return r.Pages == 0 && r.UsageRows == 0 && r.TraceBytes == 0
}

// Retain removes what is older than it has to be kept, and blobs that nothing
// holds. It never breaks a pointer that stands in a prompt or in memory: what a
// standing projection shows or names, and what a committed update of any page
// cites, stays. Like forgetting it is promised in the journal first.
func (k *Kernel) Retain(ctx context.Context, req RetainRequest) (*Retained, error) {
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	out := &Retained{Applied: req.Apply, Ended: []EndedSession{}, Cited: []string{}, Unreadable: []health.Finding{}, Sessions: []RetainedSession{}}
	cited := map[string]bool{}
	shared, err := k.projectPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("retain: what all sessions share can't be read: %w", err)
	}
	cite(cited, shared)
	held, noBlobs := neededBlobs(k.state, nil)
	gone := map[string]bool{}
	if err := k.endSessions(ctx, &req, out, cited, gone); err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	folders, err := k.sessionFolders()
	if err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	var read []string
	for _, f := range folders {
		if gone[f] {
			continue // it would have ended
		}
		row, err := k.retainSession(ctx, f, &req, cited, gone)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("retain: %w", ctx.Err())
		}
		if err != nil {
			out.Unreadable = append(out.Unreadable, unreadable(f, err))
			continue
		}
		read = append(read, f)
		if !row.empty() || row.Pointed > 0 {
			out.Sessions = append(out.Sessions, *row)
		}
	}
	if noBlobs == nil && len(out.Unreadable) == 0 {
		if err := k.countBlobs(out, held, gone); err != nil {
			return nil, fmt.Errorf("retain: %w", err)
		}
	} else if len(out.Unreadable) == 0 {
		out.Unreadable = append(out.Unreadable, wrong("", noBlobs.Error(), "'memkernel check' says which session it is"))
	}
	if err := k.retainBackups(ctx, &req, out); err != nil {
		return nil, fmt.Errorf("retain: backups: %w", err)
	}
	if !req.Apply {
		return out, ctx.Err()
	}
	return out, k.retainBlobs(ctx, read, len(out.Unreadable) == 0)
}

// retainSession finds what goes of a session and, if it is to be done, writes the
// promise, and drops usage and traces at once: nothing depends on them.
func (k *Kernel) retainSession(ctx context.Context, folder string, req *RetainRequest, cited, gone map[string]bool) (*RetainedSession, error) {
	s, unlock, err := k.visit(ctx, folder, req.Apply)
	if err != nil {
		return nil, err
	}
	defer unlock()
	row := &RetainedSession{Session: s.key}
	b := s.expired(req, row, cited)
	for _, t := range b.Pages {
		gone[folder+"/"+t.ID] = true
	}
	if row.UsageRows, err = s.expireUsage(req); err != nil {
		return nil, err
	}
	if row.TraceBytes, err = s.expireTrace(req); err != nil {
		return nil, err
	}
	if !req.Apply || len(b.Pages) == 0 {
		return row, nil
	}
	return row, s.promiseErasure(b, req.Now)
}

// expired are the pages whose blobs may go.
func (s *session) expired(req *RetainRequest, row *RetainedSession, cited map[string]bool) *forgetBody {
	b := &forgetBody{Retire: true, Pages: []tombstone{}, Reason: "retention"}
	if req.Blobs <= 0 {
		return b
	}
	before := req.Now.Add(-req.Blobs)
	row.Idle = s.idleSince(before)
	pointed := s.pointed(!row.Idle)
	for _, id := range sortedKeys(s.pages) {
		p := s.pages[id]
		_, retired := s.retired[id]
		if retired || len(blobsOf(p)) == 0 || p.Created.IsZero() || !p.Created.Before(before) {
			continue
		}
		if pointed[id] || cited[id] || slices.ContainsFunc(blobsOf(p), func(h string) bool { return pointed[h] }) {
			row.Pointed++
			continue
		}
		b.Pages = append(b.Pages, tombstone{ID: id, Hash: p.Hash, Key: p.MessageKey, Bytes: p.Bytes})
		b.Blobs = append(b.Blobs, blobsOf(p)...)
	}
	row.Pages, b.Prompts = len(b.Pages), row.Idle && len(s.lines) > 0 && len(b.Pages) > 0
	return b
}

// idleSince tells whether no conversation of the session was planned after a time.
func (s *session) idleSince(before time.Time) bool {
	for _, l := range s.lines {
		if !l.Ledger.LastStart.Before(before) {
			return false
		}
	}
	return true
}

// cite notes what pages of the journal name as their evidence.
func cite(out map[string]bool, pages []journal.StoredPage) {
	for _, p := range pages {
		for _, f := range p.Fields {
			for _, e := range f.Entries {
				for _, v := range e.Versions {
					out[v.EvidenceRef] = true
				}
			}
		}
	}
}

// pointed are the pages that memory cites and, if prompts count, all that the
// session's projections show or name.
func (s *session) pointed(prompts bool) map[string]bool {
	out := map[string]bool{}
	if s.journal != nil {
		cite(out, s.journal.Store().Pages(s.name))
	}
	if !prompts {
		return out
	}
	for _, l := range s.lines {
		for _, items := range [][]pagevm.Item{l.Proj.Carry, l.Proj.Items} {
			for i := range items {
				out[items[i].Page] = true
			}
		}
		for i := range l.Spans {
			for _, id := range l.Spans[i].Pages {
				out[id] = true
			}
		}
	}
	return out
}

// expireUsage counts the calls that are too old, and drops them if it is to be
// done.
func (s *session) expireUsage(req *RetainRequest) (int, error) {
	if req.Usage <= 0 || size(s.files, usageFile) == 0 {
		return 0, nil
	}
	j, err := journal.OpenJournalIn(s.files, usageFile, &journal.Options{ReadOnly: !req.Apply, Derived: true})
	if err != nil {
		return 0, err
	}
	defer j.Close()
	before, n := req.Now.Add(-req.Usage), 0
	old := func(r *journal.Record) bool { return !r.Time.IsZero() && r.Time.Before(before) }
	for r, err := range j.Records() {
		if err != nil {
			return 0, err
		}
		if old(&r) {
			n++
		}
	}
	if n == 0 || !req.Apply {
		return n, nil
	}
	_, err = j.Rewrite(func(r *journal.Record) (bool, error) { return !old(r), nil })
	return n, err
}

// expireTrace removes a trace that was put aside and is too old.
func (s *session) expireTrace(req *RetainRequest) (int64, error) {
	name := journal.TraceBefore(trace.File)
	fi, err := s.files.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || req.Traces <= 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !fi.Time.Before(req.Now.Add(-req.Traces)) {
		return 0, nil
	}
	if req.Apply {
		_, err = s.files.Remove(store.Synced, name)
	}
	return fi.Size, err
}

// countBlobs counts the blobs that go with pages, and those that nothing holds.
func (k *Kernel) countBlobs(out *Retained, held, gone map[string]bool) error {
	needed, err := neededBlobs(k.state, gone)
	if err != nil {
		return err
	}
	return k.unneeded(needed, func(info store.BlobInfo) error {
		out.Blobs++
		out.BlobBytes += info.Bytes
		if !held[info.Hash] {
			out.Orphans++
			out.OrphanBytes += info.Bytes
		}
		return nil
	})
}

// unneeded calls f for every blob that is not needed.
func (k *Kernel) unneeded(needed map[string]bool, f func(store.BlobInfo) error) error {
	for info, err := range k.blobs.Walk() {
		if err != nil {
			return err
		}
		if needed[info.Hash] {
			continue
		}
		if err := f(info); err != nil {
			return err
		}
	}
	return nil
}

// retainBlobs keeps the promises, and removes what no page holds, if that can be told.
func (k *Kernel) retainBlobs(ctx context.Context, folders []string, told bool) error {
	if err := k.finishForget(ctx, folders); err != nil && told {
		return err // else what can't be read may hold it: it goes once that can be told
	}
	if err := k.finishEnded(ctx); err != nil {
		return fmt.Errorf("retain: %w", err)
	}
	if _, err := k.state.Stat(blobsFolder); errors.Is(err, fs.ErrNotExist) || !told {
		return nil
	}
	unlock, err := lockBlobs(ctx, k.state, store.Alone)
	if err != nil {
		return fmt.Errorf("retain: %w", err)
	}
	defer unlock()
	needed, err := neededBlobs(k.state, nil)
	if err != nil {
		return fmt.Errorf("retain: %w", err)
	}
	return k.unneeded(needed, func(info store.BlobInfo) error { return k.blobs.Delete(info.Hash) })
}
