package retain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// A process that applies retention must hold retainLock. The lock holds for all machines that share
// the state. If a holder loses the lock while paused, its later writes are refused.
const retainLock = "retain.lock"

// Retain removes contents whose retention time is over, and blobs that no page holds. Only one
// process runs it at a time. It never breaks a pointer in a prompt or in memory: it keeps every
// page that a valid projection shows or names, and every page that a committed update cites. Each
// removal is first promised in the journal, as in Forget.
func (k *Keeper) Retain(ctx context.Context, req api.RetainRequest) (*api.Retained, error) {
	there, err := store.Find(k.State, "")
	if err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	if req.Apply && there {
		release, err := k.State.Lock(retainLock, store.Alone)
		if held := (*store.LockedError)(nil); errors.As(err, &held) {
			return nil, fmt.Errorf("retain: %w", api.ErrRetainRuns)
		}
		if err != nil {
			return nil, fmt.Errorf("retain: %w", err)
		}
		defer release()
	}
	req.Now = k.At(req.Now)
	out := &api.Retained{Applied: req.Apply, Ended: []api.EndedSession{}, Cited: []string{}, Unreadable: []health.Finding{}, Sessions: []api.RetainedSession{}}
	cited := map[string]bool{}
	shared, err := k.Shared(ctx)
	if err != nil {
		return nil, fmt.Errorf("retain: what all sessions share can't be read: %w", err)
	}
	cite(cited, shared...)
	var stored []store.BlobInfo // listed before the pages, because a blob is written before its page
	for info, err := range k.Blobs.Walk() {
		if err != nil {
			return nil, fmt.Errorf("retain: %w", err)
		}
		stored = append(stored, info)
	}
	held, noBlobs := session.Holders(ctx, k.State)
	gone := map[session.Holder]bool{}
	if err := k.endSessions(ctx, &req, out, cited, gone); err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	folders, err := folder.All(k.State)
	if err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	var read []string
	for _, f := range longwork.Over(ctx, "session", folders) {
		if gone[session.Holder{Folder: f}] {
			continue // with req.Apply the session would have ended
		}
		row, err := k.retainSession(ctx, f, &req, cited, gone)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("retain: %w", ctx.Err())
		}
		if err != nil {
			out.Unreadable = append(out.Unreadable, folder.Unreadable(f, err))
			continue
		}
		read = append(read, f)
		if row.Pages > 0 || row.UsageRows > 0 || row.TraceBytes > 0 || row.Pointed > 0 {
			out.Sessions = append(out.Sessions, *row)
		}
	}
	if noBlobs != nil && len(out.Unreadable) == 0 {
		out.Unreadable = append(out.Unreadable, health.Wrong("", noBlobs.Error(), "'memkernel check' says which session it is"))
	}
	for _, info := range stored { // the blobs that are removed with pages, and those that no page holds
		holders := held[info.Hash]
		if len(out.Unreadable) > 0 || slices.ContainsFunc(holders, func(p session.Holder) bool { return !gone[p] && !gone[session.Holder{Folder: p.Folder}] }) {
			continue
		}
		out.Blobs++
		out.BlobBytes += info.Bytes
		if len(holders) == 0 {
			out.Orphans++
			out.OrphanBytes += info.Bytes
		}
	}
	if req.Backups > 0 {
		if out.Backups, out.BackupBytes, err = k.Upkeep.RetainBackups(ctx, req.Now.Add(-req.Backups), req.Now, req.Apply); err != nil {
			return nil, fmt.Errorf("retain: backups: %w", err)
		}
	}
	if !req.Apply {
		return out, ctx.Err()
	}
	return out, k.retainBlobs(ctx, read, len(out.Unreadable) == 0)
}

// retainSession finds the expired contents of a session and, with req.Apply, writes the
// promise. It drops usage and traces at once, because nothing depends on them.
func (k *Keeper) retainSession(ctx context.Context, name string, req *api.RetainRequest, cited map[string]bool, gone map[session.Holder]bool) (row *api.RetainedSession, err error) {
	err = k.visit(ctx, name, req.Apply, func(s *session.Session) (err error) {
		row = &api.RetainedSession{Session: s.Key}
		b := expired(s, req, row, cited)
		for _, t := range b.Pages {
			gone[session.Holder{Folder: name, Page: t.ID}] = true
		}
		if req.Usage > 0 {
			if row.UsageRows, err = expireUsage(s.Files, req.Now.Add(-req.Usage), req.Apply); err != nil {
				return err
			}
		}
		if req.Traces > 0 { // the trace that was put aside
			fi, err := s.Local.Stat(trace.OldFile)
			if err == nil && fi.Time.Before(req.Now.Add(-req.Traces)) {
				if row.TraceBytes = fi.Size; req.Apply {
					_, err = s.Local.Remove(store.Synced, trace.OldFile)
				}
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if !req.Apply || len(b.Pages) == 0 {
			return nil
		}
		return s.Promise(b, req.Now)
	})
	return row, err
}

// expired returns the promise for the pages whose blobs may be removed, and counts them in row.
// Pages that are cited, or that are pointed to by page or blob, stay.
func expired(s *session.Session, req *api.RetainRequest, row *api.RetainedSession, cited map[string]bool) *session.Promise {
	if req.Blobs <= 0 {
		return &session.Promise{}
	}
	before := req.Now.Add(-req.Blobs)
	row.Idle = lastStart(s.Branches.All).Before(before)
	pointed := map[string]bool{}
	if s.Journal != nil {
		for _, p := range s.Journal.Store().Pages(s.Name) {
			cite(pointed, *p)
		}
	}
	if !row.Idle {
		show(pointed, s.Branches.All)
	}
	var pages []*pagevm.Page
	for _, id := range slices.Sorted(maps.Keys(s.Pages)) {
		p := s.Pages[id]
		blobs := session.BlobsOf(p)
		if s.Graves.Retired(id) || len(blobs) == 0 || p.Created.IsZero() || !p.Created.Before(before) {
			continue
		}
		if pointed[id] || cited[id] || slices.ContainsFunc(blobs, func(h string) bool { return pointed[h] }) {
			row.Pointed++
			continue
		}
		pages = append(pages, p)
	}
	row.Pages = len(pages)
	b := session.PromiseOf(pages, "retention")
	b.Retire, b.Prompts = true, row.Idle && len(s.Branches.All) > 0 && len(pages) > 0
	return b
}

// cite adds to out the ids that pages of a journal name as their evidence.
func cite(out map[string]bool, pages ...journal.StoredPage) {
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

// show adds to out the ids that the projections of some conversations show or name.
func show(out map[string]bool, lines map[branch.Key]*branch.State) {
	for _, l := range lines {
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
}

// expireUsage counts the calls that were logged before a time and, with apply, drops them.
func expireUsage(dir store.Store, before time.Time, apply bool) (n int, err error) {
	j, err := journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{ReadOnly: !apply, Derived: true})
	if err != nil {
		return 0, err
	}
	old := func(r *store.Record) bool { return !r.Time.IsZero() && r.Time.Before(before) }
	for r, err := range j.Records() {
		if err != nil {
			return 0, err
		}
		if old(&r) {
			n++
		}
	}
	if n == 0 || !apply {
		return n, nil
	}
	return n, j.Rewrite(func(r *store.Record) (bool, error) { return !old(r), nil })
}

// lastStart returns the time of the newest plan of any of the conversations.
func lastStart(lines map[branch.Key]*branch.State) (last time.Time) {
	for _, l := range lines {
		if t := l.Ledger.LastStart; t.After(last) {
			last = t
		}
	}
	return last
}

// retainBlobs removes the promised contents and the rest of ended sessions. If told is true, every
// session could be read. It then also removes the blobs that no page holds.
func (k *Keeper) retainBlobs(ctx context.Context, folders []string, told bool) error {
	if err := k.finishForget(ctx, folders); err != nil && told {
		return err // if told is false, the blobs stay for now, since an unreadable session may hold them
	}
	if err := folder.FinishEnded(ctx, k.State); err != nil {
		return fmt.Errorf("retain: %w", err)
	}
	if _, err := k.State.Stat(folder.Blobs); !errors.Is(err, fs.ErrNotExist) && told {
		if err := session.RemoveUnheld(ctx, k.State, k.Blobs, nil); err != nil {
			return fmt.Errorf("retain: %w", err)
		}
	}
	return nil
}
