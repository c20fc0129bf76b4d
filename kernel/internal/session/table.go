package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// Table holds the sessions that this process has used, by folder. It is safe for concurrent use.
type Table struct {
	o *Options

	mu     sync.Mutex // never held while waiting for a session
	all    map[string]*Session
	closed bool
}

// NewTable makes a table without sessions.
func NewTable(o *Options) *Table { return &Table{o: o, all: map[string]*Session{}} }

// journalLooks is how many times a journal is read again when another process may be rewriting it.
const journalLooks = 4

// Read returns the session of key, and reads the data on disk that this process has not seen. No
// other caller has the session until unlock is called.
func (t *Table) Read(ctx context.Context, key string) (s *Session, unlock func(), err error) {
	key = KeyOr(key)
	return t.read(ctx, key, folder.Of(key))
}

// ReadFolder is Read by the session's folder, which names the session.
func (t *Table) ReadFolder(ctx context.Context, name string) (s *Session, unlock func(), err error) {
	return t.read(ctx, "", name)
}

// Visit is ReadFolder for a caller that goes through all sessions. A session that was not in
// memory before is not kept in memory afterwards.
func (t *Table) Visit(ctx context.Context, name string) (*Session, func(), error) {
	had := t.Holds(name)
	s, unlock, err := t.read(ctx, "", name)
	if err != nil || had {
		return s, unlock, err
	}
	return s, func() { s.Invalidate(); unlock() }, nil
}

func (t *Table) read(ctx context.Context, key, name string) (*Session, func(), error) {
	s, err := t.take(ctx, key, name)
	if err != nil {
		return nil, nil, err
	}
	if err := s.look(key, false); err != nil {
		s.mu.Unlock()
		return nil, nil, err
	}
	t.releaseOldest(s)
	return s, s.mu.Unlock, nil
}

// sharedCalls is the number of calls without a write by another process after which a session
// counts as this process's own again. Until then each call first looks for such writes, since
// repeating a call costs more than looking.
const sharedCalls = 32

// mostAttempts is the number of times that a call is made while others write to its session.
const mostAttempts = 6

// Write calls f with the session of key, opened for writing, and returns when the writes of f are
// as durable as they must be. If another process has written to the session meanwhile, the writes
// of f are lost, and Write calls f again with the session's new state. f must therefore set its
// results anew in each call. Work that f did elsewhere after [Session.Sync] is not undone, and f
// must find it.
//
// If nothing can be written, Write still calls f, and the writes of f fail. Write returns an error
// of f unchanged. If f succeeded and its writes can't be made, Write returns an [UnkeptError].
func (t *Table) Write(ctx context.Context, key string, f func(*Session) error) error {
	key = KeyOr(key)
	return t.write(ctx, "", key, folder.Of(key), f)
}

// In is Write for a call with a result. plan is the plan that the call follows, "" if it follows
// none. Most turns are observed by the process that planned them. So if the plan is the newest one
// of a conversation here, In does not first ask whether another process has written since.
func In[T any](ctx context.Context, t *Table, plan, key string, f func(*Session) (T, error)) (T, error) {
	var out, none T
	key = KeyOr(key)
	err := t.write(ctx, plan, key, folder.Of(key), func(s *Session) (err error) {
		out, err = f(s)
		return err
	})
	if err != nil {
		return none, err
	}
	return out, nil
}

// Failed returns the error of a call that may have written a part. The session is read again,
// because the data on disk counts.
func (s *Session) Failed(doing string, err error) error {
	s.Invalidate()
	return fmt.Errorf("%s session %s: %w", doing, s.Key, err)
}

// WriteFolder is Write by the session's folder. A session that was not in memory before is not
// kept in memory afterwards.
func (t *Table) WriteFolder(ctx context.Context, name string, f func(*Session) error) error {
	had := t.Holds(name)
	err := t.write(ctx, "", "", name, f)
	if s := t.find(name); s != nil && !had {
		s.release()
	}
	return err
}

func (t *Table) write(ctx context.Context, plan, key, name string, f func(*Session) error) error {
	for attempt := 1; ; attempt++ {
		err := t.writeOnce(ctx, plan, key, name, f)
		if !store.Overtaken(err) || attempt == mostAttempts || ctx.Err() != nil {
			return err
		}
	}
}

func (t *Table) writeOnce(ctx context.Context, plan, key, name string, f func(*Session) error) (err error) {
	s, end, err := t.begin(ctx, plan, key, name)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned { // f panicked, and left the session in memory half changed
			s.Invalidate()
		}
		// Another process may have written first. The error of f may be a consequence of that.
		if bad := end(); bad != nil && (err == nil || store.Overtaken(bad)) {
			err = &UnkeptError{Session: s.Key, Err: bad}
		}
	}()
	err = f(s)
	returned = true
	return err
}

// UnkeptError reports that a call in a session succeeded, and that its writes are lost.
type UnkeptError struct {
	Session string
	Err     error
}

func (e *UnkeptError) Error() string { return fmt.Sprintf("write session %s: %v", e.Session, e.Err) }
func (e *UnkeptError) Unwrap() error { return e.Err }

// Project returns the session that holds the workspace's shared pages and the runs over memory's
// files, for a run that syncs each of its writes. end ends the run.
func (t *Table) Project(ctx context.Context) (s *Session, end func(), err error) {
	s, done, err := t.begin(ctx, "", folder.Project, folder.Project)
	return s, func() { _ = done() }, err // unwritten work stays promised, and the next run finishes it
}

// begin opens a session for writing and completes the work that a kill interrupted. No other caller
// writes to the session until end is called. An error of end reports that writes are lost.
func (t *Table) begin(ctx context.Context, plan, key, name string) (s *Session, end func() error, err error) {
	if s, err = t.take(ctx, key, name); err != nil {
		return nil, nil, err
	}
	seen := s.shared == 0
	for _, l := range s.Branches.All { // or the plan is the newest one of a conversation
		seen = seen || plan != "" && l.Plan == plan
	}
	seen = seen && s.held.Load()
	s.shared = max(s.shared-1, 0)
	s.unit, s.unlocked, s.Spent = nil, nil, api.Stats{}
	switch unit, err := t.o.State.Begin(ctx, folder.Path(name), seen); {
	case err == nil:
		s.unit = unit
	case store.Unwritable(err):
		s.unlocked = err
	default:
		s.mu.Unlock()
		return nil, nil, fmt.Errorf("lock session %s: %w", s.Key, err)
	}
	end = func() (err error) {
		if s.unit != nil {
			err = s.unit.End()
		}
		s.unit, s.unlocked = nil, nil
		if store.Overtaken(err) {
			s.shared = sharedCalls
		}
		if err != nil {
			s.Invalidate()
		}
		s.mu.Unlock()
		return err
	}
	if err = s.look(key, s.unit != nil); err == nil && s.unlocked == nil {
		err = s.Recover(ctx)
	}
	if err != nil {
		if bad := end(); store.Overtaken(bad) {
			err = bad
		}
		return nil, nil, err
	}
	t.releaseOldest(s)
	return s, end, nil
}

// KeyOr returns key, or the key of the session without one.
func KeyOr(key string) string { return cmp.Or(key, api.DefaultSession) }

// look reads new data from disk. With write the holder may write to the session afterwards. If the
// session can't be written, look only reads it, and sets s.unlocked.
func (s *Session) look(key string, write bool) error {
	s.held.Store(true)
	known := s.known()
	look := func() (err error) {
		s.Key, err = s.owner.Identify(s.o.State, s.Name, s.Key, key)
		if s.Branches.session = s.Key; err != nil {
			return err
		}
		return s.Refresh(write)
	}
	err := look()
	for range journalLooks {
		// Another process may have compacted or ended the journal. A second read then begins at the
		// journal's start.
		d := (*store.LogError)(nil)
		if replaced := errors.As(err, &d) && (d.Replaced || s.Journal != nil) || errors.Is(err, fs.ErrNotExist) && s.Journal != nil; !replaced {
			break
		}
		s.Invalidate()
		err = look()
	}
	if write && store.Unwritable(err) {
		s.Invalidate()
		s.unlocked = err
		write, err = false, s.Refresh(false)
	}
	if err != nil {
		s.Invalidate()
		return fmt.Errorf("open session %s: %w", s.Key, err)
	}
	if known > 0 && s.known() > known { // another process writes to the session, too
		s.shared = sharedCalls
	}
	return nil
}

// known returns the number of records in the journal that this process has read.
func (s *Session) known() int {
	if s.Journal == nil {
		return 0
	}
	return s.Journal.Len()
}

// Unread calls f with a session for writing, or for reading, and does not read the session first.
// This process's data of the session is dropped before and after the call. If a call of this
// process uses the session, Unread fails.
func (t *Table) Unread(ctx context.Context, key, name string, write bool, f func(*Session) error) (err error) {
	s, err := t.get(key, name)
	if err != nil {
		return err
	}
	if !s.mu.TryLock() {
		return errors.New("the session is in use")
	}
	defer func() { s.unit = nil; s.Invalidate(); s.mu.Unlock() }()
	s.Invalidate()
	if !write {
		return f(s)
	}
	unit, err := t.o.State.Begin(ctx, folder.Path(name), false)
	if err != nil {
		return fmt.Errorf("lock session %s: %w", s.Key, err)
	}
	s.unit = unit
	defer func() { err = cmp.Or(err, unit.End()) }()
	return f(s)
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

// take returns a session that no other caller has until its mutex is unlocked.
func (t *Table) take(ctx context.Context, key, name string) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := t.get(key, name)
	if err != nil {
		return nil, err
	}
	select {
	case s.mu.slot <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("open session %s: %w", s.Key, ctx.Err())
	}
	s.used.Store(time.Now().UnixNano())
	return s, nil
}

// get returns a session. It makes a new session if this process does not know it.
func (t *Table) get(key, name string) (*Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, api.ErrClosed
	}
	s := t.all[name]
	if s == nil {
		s = newSession(t.o, key, name)
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

// Holds reports whether data of a session is in memory.
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

// held lists the sessions with data in memory.
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
// memory. It does not release the session but.
func (t *Table) releaseOldest(but *Session) {
	all := t.held()
	n := len(all) - t.o.Keep
	if n <= 0 {
		return
	}
	all = slices.DeleteFunc(all, func(s *Session) bool { return s == but })
	slices.SortFunc(all, func(s, o *Session) int { return cmp.Compare(s.used.Load(), o.used.Load()) })
	for _, s := range all[:min(n, len(all))] {
		s.release()
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

// Close ends the table and waits for the calls that use its sessions. It is idempotent. was reports
// whether the table was closed before.
func (t *Table) Close() (was bool) {
	t.mu.Lock()
	all := t.all
	was, t.all, t.closed = t.closed, map[string]*Session{}, true
	t.mu.Unlock()
	for _, s := range all {
		s.mu.Lock() // waits for the call that uses the session
		s.mu.Unlock()
	}
	return was
}

// lock is a mutex. A call that waits for its slot can give up.
type lock struct{ slot chan struct{} }

func (l lock) Lock() { l.slot <- struct{}{} }

func (l lock) Unlock() { <-l.slot }

func (l lock) TryLock() bool {
	select {
	case l.slot <- struct{}{}:
		return true
	default:
		return false
	}
}

// Recover completes work that a kill interrupted, in a session that is opened for writing. It
// removes half-written files, erases promised contents, writes promised entries of memory to
// their files, and finishes runs over memory's files. Work that can't be done now stays promised.
// If the session can't be read again, Recover returns an error, and the session is invalid.
func (s *Session) Recover(ctx context.Context) error {
	if s.untidy {
		// Files that can't be removed are left to the next call.
		_ = s.Files.Tidy("", "state", "checkpoints")
		_ = s.o.State.Tidy("")
		s.untidy = false
	}
	// If contents can't be removed now, their erasure stays promised, and EraseErr has the reason.
	if s.EraseErr = nil; len(s.Graves.unerased) > 0 {
		err := s.erase(ctx)
		s.Invalidate()
		s.EraseErr, s.untidy = err, false
		if err := s.Refresh(true); err != nil {
			s.Invalidate()
			return fmt.Errorf("open session %s: %w", s.Key, err)
		}
	}
	s.WriteMemories(ctx)
	if s.Name == folder.Project {
		s.upkeepErr = s.o.Upkeep.Redo(ctx, runs{s})
	}
	return nil
}
