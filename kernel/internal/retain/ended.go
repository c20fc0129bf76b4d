package retain

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/trace"
)

// endSessions finds the sessions that are over and, with req.Apply, ends them. It adds to gone
// the folders of the sessions that are removed, or would be removed with req.Apply.
func (k *Keeper) endSessions(ctx context.Context, req *api.RetainRequest, out *api.Retained, cited, gone map[string]bool) error {
	if req.Sessions <= 0 {
		return nil
	}
	folders, err := folder.All(k.State)
	if err != nil {
		return err
	}
	before := req.Now.Add(-req.Sessions)
	named := map[string]bool(nil)
	for _, f := range longwork.Over(ctx, "session", folders) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if last, _ := folder.LastWrite(folder.In(k.State, f), req.Now); !last.Before(before) || k.Sessions.Holds(f) {
			continue
		}
		if named == nil {
			if named, err = k.mentioned(ctx, cited); err != nil {
				return err
			}
		}
		e, ok, err := k.over(ctx, f, before, req.Now, named, out)
		if err != nil {
			continue // an unreadable session stays, and is reported
		}
		if ok && req.Apply {
			ok, err = k.endSession(ctx, f, e, before, req.Now)
		}
		if err != nil {
			return err
		}
		if ok {
			out.Ended, gone[f] = append(out.Ended, *e), true
		}
	}
	return nil
}

// over reports whether a session was not used since before, and no kept data names a page of the
// session.
func (k *Keeper) over(ctx context.Context, name string, before, now time.Time, named map[string]bool, out *api.Retained) (*api.EndedSession, bool, error) {
	s, unlock, err := k.Sessions.Visit(ctx, name)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	var also []string
	if !s.Upkept {
		also = []string{folder.JournalFile}
	}
	e := &api.EndedSession{Session: s.Key}
	e.Last, e.Bytes = folder.LastWrite(s.Files, now, also...)
	if t := lastStart(s.Branches.All); t.After(e.Last) {
		e.Last = t
	}
	if !e.Last.Before(before) {
		return nil, false, nil
	}
	for id := range s.Pages {
		if named[id] {
			out.Cited = append(out.Cited, s.Key)
			return nil, false, nil
		}
	}
	for id := range s.Spans {
		if named[id] {
			out.Cited = append(out.Cited, s.Key)
			return nil, false, nil
		}
	}
	return e, true, nil
}

// endSession ends a session, unless somebody uses it.
func (k *Keeper) endSession(ctx context.Context, name string, e *api.EndedSession, before, now time.Time) (bool, error) {
	unlock, ok := k.Sessions.TakeUnread(name)
	if !ok {
		return false, nil // a call has the session, or had it meanwhile
	}
	defer unlock()
	ended, err := folder.End(ctx, k.State, name, folder.Tombstone{Key: e.Session, Last: e.Last, Reason: "retention"}, before, now)
	if ended && err == nil {
		_, err = folder.In(k.Local, name).Remove(store.Unsynced, trace.File, trace.OldFile)
	}
	return ended, err
}

// mentioned returns the pages that memory names: the cited pages, and the pages that the
// workspace's files mention.
func (k *Keeper) mentioned(ctx context.Context, cited map[string]bool) (map[string]bool, error) {
	out := map[string]bool{}
	for id := range cited {
		out[id] = true
	}
	if k.Memory == nil {
		return out, nil
	}
	snap, err := k.Upkeep.ReadAll(ctx)
	if err != nil {
		return nil, fmt.Errorf("which sessions memory names can't be told: %w", err)
	}
	for id := range snap.Mentioned() {
		out[id] = true
	}
	return out, nil
}
