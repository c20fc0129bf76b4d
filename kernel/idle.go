package kernel

// DefaultKeepSessions is how many sessions a kernel holds in memory.
const DefaultKeepSessions = 64

// used notes that a session was opened, and drops from memory what was read of those
// that were not used for longest, so that a process that serves many sessions stays
// small. Nothing is lost: a session is read again when it is used again, as after a
// restart. One that is in use is left for the next time.
func (k *Kernel) used(s *session) {
	k.mu.Lock()
	k.uses++
	s.lastUse = k.uses
	var idle []*session
	for n := k.held() - k.keep; n > 0; n-- {
		old := k.oldest(s)
		if old == nil {
			break
		}
		old.lastUse = 0
		idle = append(idle, old)
	}
	k.mu.Unlock()
	for _, old := range idle {
		if old.mu.TryLock() {
			old.forget()
			old.mu.Unlock()
		}
	}
}

// held counts the sessions that are in memory. k.mu is held.
func (k *Kernel) held() (n int) {
	for _, s := range k.sessions {
		if s.lastUse > 0 {
			n++
		}
	}
	return n
}

// oldest is the session in memory that was not used for longest, other than the one
// that is being used. k.mu is held.
func (k *Kernel) oldest(but *session) (old *session) {
	for _, s := range k.sessions {
		if s != but && s.lastUse > 0 && (old == nil || s.lastUse < old.lastUse) {
			old = s
		}
	}
	return old
}
