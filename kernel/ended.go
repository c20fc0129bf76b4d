package kernel

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// EndedSession is a session that is removed.
type EndedSession struct {
	// Session is its key, Last when it was used last.
	Session string    `json:"session"`
	Last    time.Time `json:"last"`
	// Bytes is what its folder holds, without blobs.
	Bytes int64 `json:"bytes"`
}

// endSessions finds the sessions that are over and, if it is to be done, ends them. What
// goes, or would go, is noted in gone by folder.
func (k *Kernel) endSessions(ctx context.Context, req *RetainRequest, out *Retained, cited, gone map[string]bool) error {
	if req.Sessions <= 0 {
		return nil
	}
	folders, err := folder.All(k.state)
	if err != nil {
		return err
	}
	before := req.Now.Add(-req.Sessions)
	named := map[string]bool(nil)
	for _, f := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		if last, _ := folder.LastWrite(folder.In(k.state, f), req.Now); !last.Before(before) || k.sessions.Holds(f) {
			continue
		}
		if named == nil {
			if named, err = k.mentioned(ctx, cited); err != nil {
				return err
			}
		}
		e, ok, err := k.over(ctx, f, before, req.Now, named, out)
		if err != nil {
			continue // what can't be read stays, and is told
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

// over tells whether a session was not used since a time, and nothing that is kept
// names pages of it.
func (k *Kernel) over(ctx context.Context, name string, before, now time.Time, named map[string]bool, out *Retained) (*EndedSession, bool, error) {
	s, unlock, err := k.visit(ctx, name, false)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	var also []string
	if !s.Upkept {
		also = []string{folder.JournalFile}
	}
	e := &EndedSession{Session: s.Key}
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
func (k *Kernel) endSession(ctx context.Context, name string, e *EndedSession, before, now time.Time) (bool, error) {
	unlock, ok := k.sessions.TakeUnread(name)
	if !ok {
		return false, nil // a call has it, or had it meanwhile
	}
	defer unlock()
	return folder.End(ctx, k.state, name, folder.Tombstone{Key: e.Session, Last: e.Last, Reason: "retention"}, before, now)
}

// mentioned are the pages that memory names: those that are cited, and those that stand
// in the workspace's files.
func (k *Kernel) mentioned(ctx context.Context, cited map[string]bool) (map[string]bool, error) {
	out := map[string]bool{}
	for id := range cited {
		out[id] = true
	}
	if k.memory == nil {
		return out, nil
	}
	snap, err := k.upkeep.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("which sessions memory names can't be told: %w", err)
	}
	for id := range snap.Mentioned() {
		out[id] = true
	}
	return out, nil
}

// pageForm is how the ids of pages and spans look.
var pageForm = regexp.MustCompile(`^[a-z]{2}-[0-9a-f]{16}\b`)

// endedContent is the answer for what a session of that key held before it ended, nil if
// none ended.
func (k *Kernel) endedContent(key, id string) (*Content, error) {
	if !store.IsHash(id) && !workstate.IsCheckpoint(id) && !pageForm.MatchString(id) {
		return nil, nil
	}
	e, at, err := folder.EndOf(k.state, key)
	if e == nil || err != nil {
		return nil, err
	}
	return goneContent(id, erasure.Grave{Reason: e.Reason, Time: at}, "its session ended"), nil
}
