package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// errInUse is returned for a session that somebody else holds.
var errInUse = errors.New("the session is in use")

// Table holds the sessions that this process has used, by folder. It is safe for concurrent use.
type Table struct {
	o Options

	mu     sync.Mutex // never held while waiting for a session
	all    map[string]*Session
	closed bool
}

// NewTable makes a table without sessions.
func NewTable(o Options) *Table { return &Table{o: o, all: map[string]*Session{}} }

// journalLooks is how many times a journal is read again if another process may be rewriting it.
const journalLooks = 4

// Open returns the session of a folder, and reads the data on disk that this process has not
// seen. No other caller has the session until unlock is called. If key is "", the folder names
// it. If write is true, the session is locked among processes, too. If nothing can be written,
// the session is opened for reading. Open repairs nothing, unlike [Table.Use].
func (t *Table) Open(ctx context.Context, key, name string, write bool) (s *Session, unlock func(), err error) {
	if !write {
		return t.open(ctx, key, name, nil)
	}
	return t.open(ctx, key, name, lockFolder)
}

// open is Open with a function that locks the folder. If lock is nil, the folder is opened for
// reading.
func (t *Table) open(ctx context.Context, key, name string, lock func(context.Context, *Session) (release func(), err error)) (s *Session, unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s, err = t.take(key, name); err != nil {
		return nil, nil, err
	}
	if err := s.mu.LockContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("open session %s: %w", s.Key, err)
	}
	s.held.Store(true)
	s.used.Store(time.Now().UnixNano())
	unlock = func() {
		if s.servers.changed(s.Files) {
			s.Invalidate() // the data came from two servers
		}
		s.mu.Unlock()
	}
	s.Deferral = Deferral{}
	if s.servers.changed(s.Files) {
		s.Invalidate()
	}
	write := lock != nil
	if write {
		switch release, err := lock(ctx, s); {
		case err == nil:
			s.files = s.Files
			unhold := unlock
			unlock = func() {
				release()
				ended(s, store.Unwritten(s.Files, folder.LockFile))
				unhold()
			}
		case store.Unwritable(err):
			write, s.unlocked = false, err
		default:
			s.mu.Unlock()
			return nil, nil, err
		}
	}
	if write, err = s.read(key, write); err != nil {
		s.Invalidate()
		unlock()
		return nil, nil, fmt.Errorf("open session %s: %w", s.Key, err)
	}
	s.untidy = s.readOnly && write
	s.readOnly, s.writing = s.readOnly && !write, write
	return s, unlock, nil
}

// servers counts the servers that have answered for a session's files.
type servers struct{ n int64 }

// changed reports whether the answering server differs from the server of the last call. The new
// server may lack the data in memory.
func (v *servers) changed(files store.Store) bool {
	was := v.n
	v.n = store.Takeovers(files)
	return v.n != was
}

// ended takes the result of a call's deferred writes after the lock is released. If some writes
// are missing, the session is read again.
func ended(s *Session, err error) {
	for _, f := range s.after {
		f()
	}
	if err == nil {
		return
	}
	s.Invalidate()
	if s.lost != nil {
		s.lost(fmt.Errorf("write session %s: %w", s.Key, err))
	}
}

// KeyOr returns key, or the key of the session without one.
func KeyOr(key string) string { return cmp.Or(key, api.DefaultSession) }

// UseKey is Use by the session's key.
func (t *Table) UseKey(ctx context.Context, key string, write bool) (*Session, func(), error) {
	key = KeyOr(key)
	name, err := folder.Of(t.o.State, key)
	if err != nil {
		return nil, nil, err
	}
	return t.Use(ctx, key, name, write)
}

// Use is Open for a call that works on the session. With write the session is recovered first.
// The sessions that were unused for longest leave memory.
func (t *Table) Use(ctx context.Context, key, name string, write bool) (*Session, func(), error) {
	s, unlock, err := t.Open(ctx, key, name, write)
	if err != nil {
		return nil, nil, err
	}
	if s.writing {
		if err := s.Recover(ctx); err != nil {
			unlock()
			return nil, nil, err
		}
	}
	t.releaseOldest(s)
	return s, unlock, nil
}

// UseDeferred is Use for writing, with the writes delayed until the end of the call; see
// [Deferral.Defer]. If resume is true, UseDeferred also delays the check whether another machine
// has written to the session since this machine did. If another machine has, UseDeferred calls
// lost, and the caller must repeat the call without resume.
func (t *Table) UseDeferred(ctx context.Context, key string, resume bool, lost func(error)) (*Session, func(), error) {
	key = KeyOr(key)
	name, err := folder.Of(t.o.State, key)
	if err != nil {
		return nil, nil, err
	}
	if resume {
		s, unlock, err := t.open(ctx, key, name, resumeFolder)
		if err == nil && !owes(s) {
			t.releaseOldest(s)
			s.Defer(lost)
			s.Resumed = true
			return s, unlock, nil
		}
		if err == nil {
			unlock() // promised work is done under a lock that others respect
		} // else, if the lock was resumed, two machines may have written the data that was read
	}
	s, unlock, err := t.Use(ctx, key, name, true)
	if err == nil {
		s.Defer(lost)
	}
	return s, unlock, err
}

// read reads new data from disk, and reports whether it may be written.
func (s *Session) read(key string, write bool) (writable bool, err error) {
	look := func() (err error) {
		s.Key, err = s.owner.Identify(s.o.State, s.Name, s.Key, key)
		if s.Branches.session = s.Key; err != nil {
			return err
		}
		return s.Refresh(write)
	}
	err = look()
	for range journalLooks {
		// Another process may have compacted or ended the journal, which can then be read from
		// its beginning.
		d := (*journal.DamageError)(nil)
		if replaced := errors.As(err, &d) && (d.Replaced() || s.Journal != nil) || errors.Is(err, fs.ErrNotExist) && s.Journal != nil; !replaced {
			break
		}
		s.Invalidate()
		err = look()
	}
	if write && store.Unwritable(err) {
		s.Invalidate()
		write, err = false, s.Refresh(false)
	}
	return write, err
}

// lockFolder takes a session's lock among processes. It waits until ctx ends.
func lockFolder(ctx context.Context, s *Session) (release func(), err error) {
	if release, err = folder.Lock(ctx, s.o.State, s.Name); err != nil {
		return nil, fmt.Errorf("lock session %s: %w", s.Key, err)
	}
	return release, nil
}

var errNotResumed = errors.New("the lock has to be taken")

// resumeFolder resumes a session's lock, see [store.Resume].
func resumeFolder(_ context.Context, s *Session) (release func(), err error) {
	if release = store.Resume(s.Files, folder.LockFile); release == nil {
		return nil, errNotResumed
	}
	return release, nil
}

// Visit is Use for a caller that goes through all sessions. A session that was not in memory
// before is not kept in memory afterwards.
func (t *Table) Visit(ctx context.Context, name string, write bool) (*Session, func(), error) {
	had := t.Holds(name)
	s, unlock, err := t.Use(ctx, "", name, write)
	if err != nil || had {
		return s, unlock, err
	}
	return s, func() { s.Invalidate(); unlock() }, nil
}

// Hold returns a session with its locks and without reading it. This process's data of the
// session is dropped before and after the call.
func (t *Table) Hold(ctx context.Context, key, name string, write bool) (*Session, func(), error) {
	s, err := t.take(key, name)
	if err != nil {
		return nil, nil, err
	}
	if !s.mu.TryLock() {
		return nil, nil, errInUse
	}
	unlock := func() { s.Invalidate(); s.mu.Unlock() }
	s.Invalidate()
	if !write {
		return s, unlock, nil
	}
	release, err := lockFolder(ctx, s)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return s, func() { release(); unlock() }, nil
}

// TakeUnread takes a session that has no data in memory, so that no other caller can read it. ok
// is false if another caller has it, or if this process does not know it.
func (t *Table) TakeUnread(name string) (unlock func(), ok bool) {
	s := t.find(name)
	if s == nil || !s.mu.TryLock() {
		return nil, false
	}
	if s.held.Load() {
		s.mu.Unlock()
		return nil, false
	}
	return s.mu.Unlock, true
}

// take returns a session. It makes a new session if this process does not know it.
func (t *Table) take(key, name string) (*Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, api.ErrClosed
	}
	s := t.all[name]
	if s == nil {
		s = newSession(&t.o, key, name)
		t.all[name] = s
	}
	return s, nil
}

// find returns a session, or nil if this process does not know the session.
func (t *Table) find(name string) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[name]
}

// Holds reports whether something of a session is in memory.
func (t *Table) Holds(name string) bool {
	s := t.find(name)
	return s != nil && s.held.Load()
}

// Keeps reports whether any content of a session is in memory. It waits for the holder of the
// session.
func (t *Table) Keeps(name string) bool {
	s := t.find(name)
	if s == nil || !s.held.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Keeps()
}

// Len returns the number of sessions in memory.
func (t *Table) Len() int { return len(t.held()) }

// held lists the sessions of which something was read.
func (t *Table) held() (out []*Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.all {
		if s.held.Load() {
			out = append(out, s)
		}
	}
	return out
}

// releaseOldest releases the sessions that were unused for longest, if too many sessions are in
// memory. It never releases but.
func (t *Table) releaseOldest(but *Session) {
	all := t.held()
	for n := len(all) - t.o.Keep; n > 0; n-- {
		oldest := -1
		for i, s := range all {
			if s != nil && s != but && (oldest < 0 || s.used.Load() < all[oldest].used.Load()) {
				oldest = i
			}
		}
		if oldest < 0 {
			return
		}
		all[oldest].release()
		all[oldest] = nil
	}
}

// Release drops a session's data from memory, once nobody holds it.
func (t *Table) Release(name string) {
	if s := t.find(name); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Invalidate()
	}
}

// ReleaseIdle releases the sessions that were unused for idle, and returns their number.
func (t *Table) ReleaseIdle(idle time.Duration) (n int) {
	for _, s := range t.held() {
		if time.Since(time.Unix(0, s.used.Load())) >= idle && s.release() {
			n++
		}
	}
	return n
}

// release drops a session's data from memory, unless a call uses the session.
func (s *Session) release() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	was := s.held.Load()
	s.Invalidate()
	return was
}

// Close closes the sessions and ends the table. It is idempotent. was reports whether the table
// had ended before.
func (t *Table) Close() (was bool, err error) {
	t.mu.Lock()
	all := t.all
	was, t.all, t.closed = t.closed, map[string]*Session{}, true
	t.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.close())
	}
	return was, errors.Join(errs...)
}
