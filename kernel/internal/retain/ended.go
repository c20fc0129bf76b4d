package retain

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/trace"
)

// endSessions finds the sessions that were unused for too long and, with req.Apply, ends them. It
// adds to gone the folders of the sessions that are removed, or would be removed with req.Apply.
func (k *Keeper) endSessions(ctx context.Context, req *api.RetainRequest, out *api.Retained, cited map[string]bool, gone map[session.Holder]bool) error {
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
		if named == nil { // the pages that memory names: the cited ones, and those that the files mention
			if named = cited; k.Memory != nil {
				snap, err := k.Upkeep.ReadAll(ctx)
				if err != nil {
					return fmt.Errorf("which sessions memory names can't be told: %w", err)
				}
				named = snap.Mentioned()
				maps.Copy(named, cited)
			}
		}
		e, err := k.over(ctx, f, before, req.Now, named, out)
		if e == nil || err != nil {
			continue // the session stays; an unreadable session is reported later
		}
		if req.Apply {
			unlock, ok := k.Sessions.TakeUnread(f)
			if !ok {
				continue // a call uses the session, or has used it meanwhile
			}
			ended, err := folder.End(ctx, k.State, f, folder.Tombstone{Key: e.Session, Last: e.Last, Reason: "retention"}, before, req.Now)
			if ended && err == nil {
				_, err = folder.In(k.Local, f).Remove(store.Unsynced, trace.File, trace.OldFile)
			}
			unlock()
			if err != nil {
				return err
			}
			if !ended {
				continue
			}
		}
		out.Ended, gone[session.Holder{Folder: f}] = append(out.Ended, *e), true
	}
	return nil
}

// over describes a session that was not used since before, unless kept data names a page of the
// session.
func (k *Keeper) over(ctx context.Context, name string, before, now time.Time, named map[string]bool, out *api.Retained) (*api.EndedSession, error) {
	s, unlock, err := k.Sessions.Visit(ctx, name)
	if err != nil {
		return nil, err
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
		return nil, nil
	}
	for id := range named {
		if _, span := s.Spans[id]; span || s.Pages[id] != nil {
			out.Cited = append(out.Cited, s.Key)
			return nil, nil
		}
	}
	return e, nil
}
