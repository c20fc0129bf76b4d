package session

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
