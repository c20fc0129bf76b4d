package session

import (
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// Deferral is the lock with which a call holds a session, and the writes that wait for the call's
// end.
type Deferral struct {
	files store.Store // the session's folder, nil if its lock is not held
	// sync writes the waiting data. lost is called at the end if some of it is not there. after
	// is called last.
	sync  func() error
	lost  func(error)
	after []func()
	// Resumed: the lock was resumed, and its holder learned nothing of other processes' writes.
	Resumed bool
	// unlocked is why who holds it has no lock among processes, and so writes nothing, though
	// its journals may have been opened to be written before.
	unlocked error
}

// Defer makes the call's writes to the session wait for its end, if the store can do them in one
// go. At the end it calls lost if they are not there, so the caller must not answer before.
func (d *Deferral) Defer(lost func(error)) {
	d.lost = lost
	if d.files != nil {
		d.sync = store.Defer(d.files, folder.LockFile)
	}
}

// Sync makes the session's writes durable. A caller must call it before it writes elsewhere
// anything that follows from them.
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
