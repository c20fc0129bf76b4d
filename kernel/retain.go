package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
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
	erasure.Cite(cited, shared)
	held, noBlobs := erasure.Needed(k.state, nil)
	gone := map[string]bool{}
	if err := k.endSessions(ctx, &req, out, cited, gone); err != nil {
		return nil, fmt.Errorf("retain: %w", err)
	}
	folders, err := folder.All(k.state)
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
		if err := out.countBlobs(k.state, k.blobs, held, gone); err != nil {
			return nil, fmt.Errorf("retain: %w", err)
		}
	} else if len(out.Unreadable) == 0 {
		out.Unreadable = append(out.Unreadable, wrong("", noBlobs.Error(), "'memkernel check' says which session it is"))
	}
	if req.Backups > 0 {
		if out.Backups, out.BackupBytes, err = k.upkeep.RetainBackups(ctx, req.Now.Add(-req.Backups), req.Now, req.Apply); err != nil {
			return nil, fmt.Errorf("retain: backups: %w", err)
		}
	}
	if !req.Apply {
		return out, ctx.Err()
	}
	return out, k.retainBlobs(ctx, read, len(out.Unreadable) == 0)
}

// retainSession finds what goes of a session and, if it is to be done, writes the
// promise, and drops usage and traces at once: nothing depends on them.
func (k *Kernel) retainSession(ctx context.Context, name string, req *RetainRequest, cited, gone map[string]bool) (*RetainedSession, error) {
	s, unlock, err := k.visit(ctx, name, req.Apply)
	if err != nil {
		return nil, err
	}
	defer unlock()
	row := &RetainedSession{Session: s.Key}
	b := expired(s, req, row, cited)
	for _, t := range b.Pages {
		gone[name+"/"+t.ID] = true
	}
	if req.Usage > 0 {
		if row.UsageRows, err = erasure.ExpireUsage(s.Files, req.Now.Add(-req.Usage), req.Apply); err != nil {
			return nil, err
		}
	}
	if req.Traces > 0 {
		if row.TraceBytes, err = erasure.ExpireTrace(s.Files, req.Now.Add(-req.Traces), req.Apply); err != nil {
			return nil, err
		}
	}
	if !req.Apply || len(b.Pages) == 0 {
		return row, nil
	}
	return row, s.PromiseErasure(b, req.Now)
}

// expired are the pages whose blobs may go.
func expired(s *session.Session, req *RetainRequest, row *RetainedSession, cited map[string]bool) *erasure.Promise {
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

// lastStart is when one of some conversations was planned last.
func lastStart(lines map[branch.Key]*branch.State) (last time.Time) {
	for _, l := range lines {
		if t := l.Ledger.LastStart; t.After(last) {
			last = t
		}
	}
	return last
}

// countBlobs counts the blobs that go with pages, and those that nothing holds.
func (out *Retained) countBlobs(state store.Store, blobs *store.Blobs, held, gone map[string]bool) error {
	needed, err := erasure.Needed(state, gone)
	if err != nil {
		return err
	}
	return erasure.Unneeded(blobs, needed, func(info store.BlobInfo) error {
		out.Blobs++
		out.BlobBytes += info.Bytes
		if !held[info.Hash] {
			out.Orphans++
			out.OrphanBytes += info.Bytes
		}
		return nil
	})
}

// retainBlobs keeps the promises, and removes what no page holds, if that can be told.
func (k *Kernel) retainBlobs(ctx context.Context, folders []string, told bool) error {
	if err := k.finishForget(ctx, folders); err != nil && told {
		return err // else what can't be read may hold it: it goes once that can be told
	}
	if err := folder.FinishEnded(ctx, k.state); err != nil {
		return fmt.Errorf("retain: %w", err)
	}
	if _, err := k.state.Stat(folder.Blobs); errors.Is(err, fs.ErrNotExist) || !told {
		return nil
	}
	if err := erasure.RemoveOrphans(ctx, k.state, k.blobs); err != nil {
		return fmt.Errorf("retain: %w", err)
	}
	return nil
}
