package session

import (
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// Deferral is the lock that a call holds a session with, and what waits for the call's end.
type Deferral struct {
	files store.Store // the session's folder, nil if its lock is not held
	// sync writes what waits, lost is told at the end that some of it is not there, and
	// after is done behind it.
	sync  func() error
	lost  func(error)
	after []func()
	// Resumed: the lock was resumed, and told nothing of what others did.
	Resumed bool
	// unlocked is why who holds it has no lock among processes, and so writes nothing, though
	// its journals may have been opened to be written before.
	unlocked error
}

// Defer has what the call writes to the session wait for its end, where the store can do that
// in one go. At the end lost is told if it is not there: the caller answers nobody before.
func (d *Deferral) Defer(lost func(error)) {
	d.lost = lost
	if d.files != nil {
		d.sync = store.Defer(d.files, folder.LockFile)
	}
}

// Sync makes durable what was written to the session. Who writes elsewhere what follows from
// it calls it first.
func (d *Deferral) Sync() error {
	if d.sync == nil {
		return nil
	}
	return d.sync()
}

// done has something done once all is written, now if nothing waits.
func (d *Deferral) done(f func()) {
	if d.sync == nil {
		f()
		return
	}
	d.after = append(d.after, f)
}
