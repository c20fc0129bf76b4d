package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/blob"
	"github.com/memkernel/memkernel/internal/statedir"
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
func lastWrite(dir statedir.Dir, now time.Time, also ...string) (last time.Time, bytes int64) {
	filepath.WalkDir(dir.Path(""), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			return nil // it went meanwhile
		}
		bytes += fi.Size()
		switch name := d.Name(); {
		case strings.HasSuffix(name, "lock"), name == usageFile, name == oldTraceFile:
			return nil
		case (name == journalFile || name == journalHead) && len(also) == 0:
			return nil
		}
		if t := fi.ModTime(); t.After(last) {
			last = t
		}
		return nil
	})
	if last.After(now) {
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
	snap, err := k.snapshot(ctx)
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
	unlock, err := lockState(ctx, k.state, sessionsLock, true)
	if err != nil {
		return false, err
	}
	defer unlock()
	if ok, err := s.flock.TryLock(); !ok {
		return false, err // another process has it
	}
	s.flock.Close() // nobody takes it while this process holds the other lock
	if last, _ := lastWrite(s.files, now); !last.Before(before) {
		return false, nil
	}
	if err := k.bury(name, e, now); err != nil {
		return false, err
	}
	to := k.state.Sub(endedFolder).Path(name)
	if err := os.RemoveAll(to); err != nil { // of an end that was cut short
		return false, err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	if err := atomicfile.Rename(s.files.Path(""), to); err != nil {
		return false, err
	}
	if err := atomicfile.SyncDir(filepath.Dir(s.files.Path(""))); err != nil {
		return false, err
	}
	return true, os.RemoveAll(to)
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
	dir, err := k.state.Check(endedFolder)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := lockState(ctx, k.state, sessionsLock, true)
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(dir)
}

// pageForm is how the ids of pages and spans look.
var pageForm = regexp.MustCompile(`^[a-z]{2}-[0-9a-f]{16}\b`)

// endedContent is the answer for what a session of that key held before it ended, nil if
// none ended.
func (k *Kernel) endedContent(key, id string) (*Content, error) {
	if !blob.IsHash(id) && !checkpointID.MatchString(id) && !pageForm.MatchString(id) {
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
