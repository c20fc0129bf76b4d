package store

// Stands waits until everything that can be read under a lock is as durable as a synced write, no
// matter which process wrote it. The caller must hold the lock. A write can be readable before it
// is durable: for example, a database makes it visible while its standby does not have it yet,
// because the writer's connection was ended. Callers that report something as already stored
// should call Stands first. ok is false if the store leaves this to [Log.Sync].
func Stands(s Store, lock string) (ok bool, err error) {
	h, ok := s.(interface{ Stands(lock string) error })
	if ok {
		err = h.Stands(lock)
	}
	return ok, err
}

// Takeovers returns how often another server, such as a standby, has taken over for a store.
// Callers must discard everything read before a takeover: the new server may lack the last writes
// and may have reused their numbers and times.
func Takeovers(s Store) int64 {
	if h, ok := s.(interface{ Takeovers() int64 }); ok {
		return h.Takeovers()
	}
	return 0
}
