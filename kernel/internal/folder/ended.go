package folder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// A session that was unused for as long as sessions are kept ends as a whole:
//
//	ended.jsonl          a tombstone: the key, when it was used last, when and why it
//	                     ended; synced
//	sessions/x → ended/x one rename: from here on there is no such session
//	ended/x              removed, and then blobs that no page holds any more
//
// A kill leaves either the session, or files that the next retention removes. If the host uses
// the key again, a new session begins, in which pages of the old session are FORGOTTEN.
const (
	endedFile   = "ended.jsonl"
	endedFolder = "ended"
	opEnded     = "ended"
)

// Tombstone records the key of a session that ended, its last use, and the reason for its end.
type Tombstone struct {
	Key    string    `json:"key"`
	Bytes  []byte    `json:"key_bytes,omitempty"` // a key that is not valid UTF-8; see session.json
	Last   time.Time `json:"last"`
	Reason string    `json:"reason"`
}

// LastWrite returns the time of the last write to a session's folder, by the times of its files,
// and the size of the files in bytes. Retention's own writes don't count: usage.jsonl and a rotated
// trace never count, and the journal counts only if also is not empty. A time in the future counts
// as now.
func LastWrite(in store.Store, now time.Time, also ...string) (last time.Time, bytes int64) {
	err := store.Walk(in, func(at string, e store.Entry) error {
		info, err := e.Info()
		if store.OutOfReach(err) {
			return err
		}
		if err != nil {
			return nil // the file was removed meanwhile, or does not belong to us
		}
		bytes += info.Size
		switch name := path.Base(at); {
		case strings.HasSuffix(name, "lock"), name == UsageFile, name == trace.OldFile:
			return nil
		case (name == JournalFile || name == HeadFile) && len(also) == 0:
			return nil
		}
		if info.Time.After(last) {
			last = info.Time
		}
		return nil
	})
	if last.After(now) || err != nil && !errors.Is(err, fs.ErrNotExist) { // an unknown time counts as now
		last = now
	}
	return last, bytes
}

// Ended returns the log of sessions that ended, with its head, and their folder.
func Ended() []string { return []string{endedFile, "ended.head", endedFolder} }

// patience is how long End waits for another process that uses the session.
const patience = 50 * time.Millisecond

// End ends a session that this process does not use. It does nothing if another process uses the
// session, or if the session was written to after before.
func End(ctx context.Context, state store.Store, name string, t Tombstone, before, now time.Time) (ended bool, err error) {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	unit, err := state.Begin(soon, Path(name), false)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil // another process uses the session
	}
	if err != nil {
		return false, err
	}
	defer func() {
		if bad := unit.End(); store.Overtaken(bad) {
			ended, err = false, nil
		} else {
			err = cmp.Or(err, bad)
		}
	}()
	if last, _ := LastWrite(In(state, name), now); !last.Before(before) {
		return false, nil
	}
	unlock, err := Lock(ctx, state, store.SessionsLock)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := bury(ctx, state, name, t, now); err != nil {
		return false, err
	}
	to := endedFolder + "/" + name
	if _, err := state.Remove(store.Unsynced, to); err != nil { // left by an interrupted end
		return false, err
	}
	if err := state.Move(store.Synced, Path(name), to); err != nil {
		return false, err
	}
	_, err = state.Remove(store.Unsynced, to)
	return true, err
}

// bury writes a session's tombstone. The caller must hold SessionsLock.
func bury(ctx context.Context, state store.Store, name string, t Tombstone, now time.Time) error {
	t.Bytes, t.Last = asBytes(t.Key), t.Last.UTC()
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	unit, err := state.Begin(ctx, "", false)
	if err != nil {
		return err
	}
	j, err := journal.OpenJournalIn(state, endedFile, nil)
	if err == nil {
		_, err = j.Append(true, store.Record{Op: opEnded, ID: name, Time: now, Body: body})
	}
	return cmp.Or(err, unit.End())
}

// FinishEnded removes the rest of sessions that ended.
func FinishEnded(ctx context.Context, state store.Store) error {
	if _, err := state.Stat(endedFolder); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	unlock, err := Lock(ctx, state, store.SessionsLock)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = state.Remove(store.Unsynced, endedFolder)
	return err
}

// EndOf returns the newest tombstone of a key and its time. It returns nil if no session of the
// key ended.
func EndOf(state store.Store, key string) (end *Tombstone, at time.Time, err error) {
	if size, err := size(state, endedFile); size == 0 || err != nil {
		return nil, at, err
	}
	j, err := journal.OpenJournalIn(state, endedFile, &journal.Options{ReadOnly: true})
	if err != nil {
		return nil, at, err
	}
	for r, err := range j.Records() {
		if err != nil {
			return nil, at, err
		}
		var t Tombstone
		if err := json.Unmarshal(r.Body, &t); err != nil {
			return nil, at, fmt.Errorf("read %s record %s: %w", r.Op, r.ID, err)
		}
		if t.Bytes != nil {
			t.Key = string(t.Bytes)
		}
		if t.Key == key {
			end, at = &t, r.Time
		}
	}
	return end, at, nil
}
