package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// A session that nobody has used for as long as sessions are kept ends as a whole:
//
//	ended.jsonl          a tombstone: the key, when it was used last, when and why it
//	                     ended; synced
//	sessions/x → ended/x one rename: from here on there is no such session
//	ended/x              removed, and then blobs that no page holds any more
//
// A kill leaves the session, or what the next retention removes. The host may take the
// key up again: that is a new session, in which pages of the old one are FORGOTTEN.
const (
	endedFile   = "ended.jsonl"
	endedFolder = "ended"
	opEnded     = "ended"
	// sessionsLock is shared by who takes a session's lock, and held alone by who
	// ends sessions: a lock that is removed is then one that nobody waits for.
	sessionsLock = "sessions.lock"
)

// EndedSession is a session that is removed.
type EndedSession struct {
	// Session is its key, Last when it was used last.
	Session string    `json:"session"`
	Last    time.Time `json:"last"`
	// Bytes is what its folder holds, without blobs.
	Bytes int64 `json:"bytes"`
}

// endedBody is a tombstone.
type endedBody struct {
	Key    string    `json:"key"`
	Bytes  []byte    `json:"key_bytes,omitempty"`
	Last   time.Time `json:"last"`
	Reason string    `json:"reason"`
}

// endSessions finds the sessions that are over and, if it is to be done, ends them. What
// goes, or would go, is noted in gone by folder.
func (k *Kernel) endSessions(ctx context.Context, req *RetainRequest, out *Retained, cited, gone map[string]bool) error {
	if req.Sessions <= 0 {
		return nil
	}
	folders, err := k.sessionFolders()
	if err != nil {
		return err
	}
	before := req.Now.Add(-req.Sessions)
	named := map[string]bool(nil)
	for _, f := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		if last, _ := lastWrite(k.folder(f), req.Now); !last.Before(before) || k.holdsSession(f) {
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

// lastWrite is when a session's folder was written to last, as its files tell. What
// retention itself writes does not count: the journal counts only if it is told to, and
// usage and traces that were put aside never do. A time to come is now.
func lastWrite(in store.Store, now time.Time, also ...string) (last time.Time, bytes int64) {
	err := store.Walk(in, func(at string, e store.Entry) error {
		info, err := e.Info()
		if err != nil {
			return nil // it went meanwhile, or is none of ours
		}
		bytes += info.Size
		switch name := path.Base(at); {
		case strings.HasSuffix(name, "lock"), name == usageFile, name == trace.OldFile:
			return nil
		case (name == journalFile || name == journalHead) && len(also) == 0:
			return nil
		}
		if info.Time.After(last) {
			last = info.Time
		}
		return nil
	})
	if last.After(now) || err != nil && !errors.Is(err, fs.ErrNotExist) { // what can't be looked at stays
		last = now
	}
	return last, bytes
}

// over tells whether a session was not used since a time, and nothing that is kept
// names pages of it.
func (k *Kernel) over(ctx context.Context, name string, before, now time.Time, named map[string]bool, out *Retained) (*EndedSession, bool, error) {
	s, unlock, err := k.visit(ctx, name, false)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	e := s.lastUse(now)
	if !e.Last.Before(before) || !s.idleSince(before) {
		return nil, false, nil
	}
	for id := range s.pages {
		if named[id] {
			out.Cited = append(out.Cited, s.key)
			return nil, false, nil
		}
	}
	for id := range s.spans {
		if named[id] {
			out.Cited = append(out.Cited, s.key)
			return nil, false, nil
		}
	}
	return e, true, nil
}

// lastUse is when the session was used last, by what it says and by its files.
func (s *session) lastUse(now time.Time) *EndedSession {
	e := &EndedSession{Session: s.key}
	if s.upkept {
		e.Last, e.Bytes = lastWrite(s.files, now)
	} else {
		e.Last, e.Bytes = lastWrite(s.files, now, journalFile)
	}
	for _, l := range s.lines {
		if t := l.Ledger.LastStart; t.After(e.Last) {
			e.Last = t
		}
	}
	return e
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

// endSession ends a session, unless somebody uses it.
func (k *Kernel) endSession(ctx context.Context, name string, e *EndedSession, before, now time.Time) (bool, error) {
	k.mu.Lock()
	s := k.sessions[name]
	k.mu.Unlock()
	if s == nil || !s.mu.TryLock() {
		return false, nil // a call has it
	}
	defer s.mu.Unlock()
	if s.held.Load() {
		return false, nil
	}
	unlock, err := lockState(ctx, k.state, sessionsLock, store.Alone)
	if err != nil {
		return false, err
	}
	defer unlock()
	release, err := s.files.Lock(lockName, store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return false, nil // another process has it
	}
	if err != nil {
		return false, err
	}
	release() // nobody takes it while this process holds the other lock
	if last, _ := lastWrite(s.files, now); !last.Before(before) {
		return false, nil
	}
	if err := k.bury(name, e, now); err != nil {
		return false, err
	}
	to := endedFolder + "/" + name
	if _, err := k.state.Remove(store.Unsynced, to); err != nil { // of an end that was cut short
		return false, err
	}
	if err := k.state.Move(store.Synced, sessionsFolder+"/"+name, to); err != nil {
		return false, err
	}
	_, err = k.state.Remove(store.Unsynced, to)
	return true, err
}

// bury writes a session's tombstone.
func (k *Kernel) bury(name string, e *EndedSession, now time.Time) error {
	b := endedBody{Key: e.Session, Bytes: asBytes(e.Session), Last: e.Last.UTC(), Reason: "retention"}
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	j, err := journal.OpenJournalIn(k.state, endedFile, nil)
	if err != nil {
		return err
	}
	defer j.Close()
	_, err = j.Append(true, journal.Record{Op: opEnded, ID: name, Time: now, Body: body})
	return err
}

// finishEnded removes what is left of sessions that ended.
func (k *Kernel) finishEnded(ctx context.Context) error {
	if _, err := k.state.Stat(endedFolder); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	unlock, err := lockState(ctx, k.state, sessionsLock, store.Alone)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = k.state.Remove(store.Unsynced, endedFolder)
	return err
}

// pageForm is how the ids of pages and spans look.
var pageForm = regexp.MustCompile(`^[a-z]{2}-[0-9a-f]{16}\b`)

// endedContent is the answer for what a session of that key held before it ended, nil if
// none ended.
func (k *Kernel) endedContent(key, id string) (*Content, error) {
	if !store.IsHash(id) && !workstate.IsCheckpoint(id) && !pageForm.MatchString(id) {
		return nil, nil
	}
	if size(k.state, endedFile) == 0 {
		return nil, nil
	}
	j, err := journal.OpenJournalIn(k.state, endedFile, &journal.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	var c *Content
	for r, err := range j.Records() {
		if err != nil {
			return nil, err
		}
		var b endedBody
		if err := unmarshal(r, &b); err != nil {
			return nil, err
		}
		if b.Bytes != nil {
			b.Key = string(b.Bytes)
		}
		if b.Key == key {
			c = goneContent(id, grave{reason: b.Reason, time: r.Time}, "its session ended")
		}
	}
	return c, nil
}
