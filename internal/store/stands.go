package store

// Stands waits until all that is read under a lock, which the caller holds, survives what a
// synced write survives, whoever wrote it: as a write that waits for a standby, and whose
// session was ended meanwhile, is there to be read before the standby has it. It is for who
// answers that something is there already. A store that leaves it to [Journal.Sync] says ok is
// false.
func Stands(s Store, lock string) (ok bool, err error) {
	h, ok := s.(interface{ Stands(lock string) error })
	if ok {
		err = h.Stands(lock)
	}
	return ok, err
}

// Takeovers counts how often another server has come to answer for a store, as a standby that
// takes over. What was read before says nothing of what that one has: it may lack what was
// written last, and have given the same numbers and times to something else.
func Takeovers(s Store) int64 {
	if h, ok := s.(interface{ Takeovers() int64 }); ok {
		return h.Takeovers()
	}
	return 0
}
