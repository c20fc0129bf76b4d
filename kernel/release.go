package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// DefaultKeepSessions is how many sessions a kernel holds in memory.
const DefaultKeepSessions = 64

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
	k.mu.Lock()
	s := k.sessions[name]
	k.mu.Unlock()
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
	for _, s := range k.inMemory() {
		if time.Since(time.Unix(0, s.used.Load())) >= idle && s.release() {
			n++
		}
	}
	return n
}

// keepFew releases those sessions that were not used for longest, other than the one
// that is being used, where more than [Options.KeepSessions] are in memory.
func (k *Kernel) keepFew(but *session) {
	all := k.inMemory()
	for n := len(all) - k.keep; n > 0; n-- {
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

// visit is openFolder for who goes through all sessions: what was not in memory before is
// not kept there.
func (k *Kernel) visit(ctx context.Context, name string, write bool) (*session, func(), error) {
	had := k.holdsSession(name)
	s, unlock, err := k.openFolder(ctx, "", name, write)
	if err != nil || had {
		return s, unlock, err
	}
	return s, func() { s.invalidate(); unlock() }, nil
}

// holdsSession tells whether something of a session is in memory.
func (k *Kernel) holdsSession(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sessions[name]
	return s != nil && s.held.Load()
}

// inMemory lists the sessions of which something was read.
func (k *Kernel) inMemory() (out []*session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.sessions {
		if s.held.Load() {
			out = append(out, s)
		}
	}
	return out
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
