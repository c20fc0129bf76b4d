package kernel

import (
	"context"
	"sync"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// DefaultKeepSessions is how many sessions a kernel holds in memory.
const DefaultKeepSessions = 64

// sessionTable is the sessions that this process has had to do with, by folder.
type sessionTable struct {
	mu     sync.Mutex // nobody waits for a session under it
	all    map[string]*session
	closed bool
}

// take gives a session, made if it is new.
func (t *sessionTable) take(name string, fresh func() *session) (*session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrClosed
	}
	s := t.all[name]
	if s == nil {
		s = fresh()
		t.all[name] = s
	}
	return s, nil
}

// find gives a session, nil if this process has had nothing to do with it.
func (t *sessionTable) find(name string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[name]
}

// holds tells whether something of a session is in memory.
func (t *sessionTable) holds(name string) bool {
	s := t.find(name)
	return s != nil && s.held.Load()
}

// held lists the sessions of which something was read.
func (t *sessionTable) held() (out []*session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.all {
		if s.held.Load() {
			out = append(out, s)
		}
	}
	return out
}

// releaseOldest releases those sessions that were not used for longest, other than the
// one that is being used, where more than keep are in memory.
func (t *sessionTable) releaseOldest(keep int, but *session) {
	all := t.held()
	for n := len(all) - keep; n > 0; n-- {
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

// close ends the table, and gives what was in it; it is idempotent.
func (t *sessionTable) close() (sessions map[string]*session, was bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sessions, was = t.all, t.closed
	t.all, t.closed = map[string]*session{}, true
	return sessions, was
}

// Release drops what this process holds in memory of a session, once no call uses it.
// Nothing is lost: the next call reads it from disk, and counts the conversation again.
func (k *Kernel) Release(sessionKey string) {
	if sessionKey == "" {
		sessionKey = DefaultSession
	}
	name, err := folder.Of(k.state, sessionKey)
	if err != nil {
		return // nothing of it was opened
	}
	s := k.sessions.find(name)
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invalidate()
}

// ReleaseIdle releases the sessions that no call has used for so long, and says how
// many. A process that serves many sessions for long calls it now and then.
func (k *Kernel) ReleaseIdle(idle time.Duration) (n int) {
	for _, s := range k.sessions.held() {
		if time.Since(time.Unix(0, s.used.Load())) >= idle && s.release() {
			n++
		}
	}
	return n
}

// visit is openFolder for who goes through all sessions: what was not in memory before is
// not kept there.
func (k *Kernel) visit(ctx context.Context, name string, write bool) (*session, func(), error) {
	had := k.sessions.holds(name)
	s, unlock, err := k.openFolder(ctx, "", name, write)
	if err != nil || had {
		return s, unlock, err
	}
	return s, func() { s.invalidate(); unlock() }, nil
}

// release drops what was read, unless a call uses it.
func (s *session) release() bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	was := s.held.Load()
	s.invalidate()
	return was
}
