package retain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

func empty(r *api.RetainedSession) bool {
	return r.Pages == 0 && r.UsageRows == 0 && r.TraceBytes == 0
}

// A process that applies retention must hold retainLock, which all machines that share the state
// respect. If a holder loses the lock while paused, its later writes are refused.
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
	if req.Now.IsZero() {
		req.Now = k.Now()
	}
	out := &api.Retained{Applied: req.Apply, Ended: []api.EndedSession{}, Cited: []string{}, Unreadable: []health.Finding{}, Sessions: []api.RetainedSession{}}
	cited := map[string]bool{}
	shared, err := k.Shared(ctx)
	if err != nil {
		return nil, fmt.Errorf("retain: what all sessions share can't be read: %w", err)
	}
	erasure.Cite(cited, shared)
	held, noBlobs := erasure.Needed(ctx, k.State, nil)
	gone := map[string]bool{}
	if err := k.endSessions(ctx, &req, out, cited, gone); err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	folders, err := folder.All(k.State)
	if err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	var read []string
	for _, f := range longwork.Over(ctx, "session", folders) {
		if gone[f] {
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
		if !empty(row) || row.Pointed > 0 {
			out.Sessions = append(out.Sessions, *row)
		}
	}
	if noBlobs == nil && len(out.Unreadable) == 0 {
		if err := k.countBlobs(ctx, out, held, gone); err != nil {
			return nil, fmt.Errorf("retain: %w", err)
		}
	} else if len(out.Unreadable) == 0 {
		out.Unreadable = append(out.Unreadable, health.Wrong("", noBlobs.Error(), "'memkernel check' says which session it is"))
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
func (k *Keeper) retainSession(ctx context.Context, name string, req *api.RetainRequest, cited, gone map[string]bool) (row *api.RetainedSession, err error) {
	err = k.visit(ctx, name, req.Apply, func(s *session.Session) (err error) {
		row = &api.RetainedSession{Session: s.Key}
		b := expired(s, req, row, cited)
		for _, t := range b.Pages {
			gone[name+"/"+t.ID] = true
		}
		if req.Usage > 0 {
			if row.UsageRows, err = erasure.ExpireUsage(s.Files, req.Now.Add(-req.Usage), req.Apply); err != nil {
				return err
			}
		}
		if req.Traces > 0 {
			if row.TraceBytes, err = erasure.ExpireTrace(s.Local, req.Now.Add(-req.Traces), req.Apply); err != nil {
				return err
			}
		}
		if !req.Apply || len(b.Pages) == 0 {
			return nil
		}
		return s.PromiseErasure(b, req.Now)
	})
	return row, err
}

// expired returns the pages whose blobs may be removed.
func expired(s *session.Session, req *api.RetainRequest, row *api.RetainedSession, cited map[string]bool) *erasure.Promise {
	if req.Blobs <= 0 {
		return &erasure.Promise{}
	}
	before := req.Now.Add(-req.Blobs)
	row.Idle = lastStart(s.Branches.All).Before(before)
	pointed := map[string]bool{}
	if s.Journal != nil {
		erasure.Cite(pointed, s.Journal.Store().Pages(s.Name))
	}
	if !row.Idle {
		erasure.Show(pointed, maps.Values(s.Branches.All))
	}
	b, kept := s.Erasable().Expired(before, pointed, cited)
	row.Pages, row.Pointed = len(b.Pages), kept
	b.Prompts = row.Idle && len(s.Branches.All) > 0 && len(b.Pages) > 0
	return b
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

// countBlobs counts the blobs that are removed with pages, and the blobs that no page holds.
func (k *Keeper) countBlobs(ctx context.Context, out *api.Retained, held, gone map[string]bool) error {
	needed, err := erasure.Needed(ctx, k.State, gone)
	if err != nil {
		return err
	}
	return erasure.Unneeded(k.Blobs, needed, func(info store.BlobInfo) error {
		out.Blobs++
		out.BlobBytes += info.Bytes
		if !held[info.Hash] {
			out.Orphans++
			out.OrphanBytes += info.Bytes
		}
		return nil
	})
}

// retainBlobs keeps the promises, and removes blobs that no page holds, if that can be
// determined.
func (k *Keeper) retainBlobs(ctx context.Context, folders []string, told bool) error {
	if err := k.finishForget(ctx, folders); err != nil && told {
		return err // else an unreadable session may hold the blob, which stays until that is known
	}
	if err := folder.FinishEnded(ctx, k.State); err != nil {
		return fmt.Errorf("retain: %w", err)
	}
	if _, err := k.State.Stat(folder.Blobs); !errors.Is(err, fs.ErrNotExist) && told {
		if err := erasure.RemoveOrphans(ctx, k.State, k.Blobs); err != nil {
			return fmt.Errorf("retain: %w", err)
		}
	}
	return nil
}
