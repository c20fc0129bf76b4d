package session

import (
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// Deferral is the lock with which a call holds a session, and the writes that wait for the call's
// end.
type Deferral struct {
	files store.Store // the session's folder, nil if its lock is not held
	// sync writes the delayed data.
	sync func() error
	// lost is called at the end of the call if some of that data was not written.
	lost func(error)
	// after is called last.
	after []func()
	// Resumed reports that the lock was resumed. Its holder has not checked for other processes'
	// writes.
	Resumed bool
	// unlocked is the reason why the session's holder has no lock among processes. The holder
	// then writes nothing, even if the journals were opened for writing before.
	unlocked error
}

// Defer delays the call's writes to the session until the end of the call, if the store can do
// all of them at once. If the writes fail then, Defer calls lost. The caller must not answer
// before the end.
func (d *Deferral) Defer(lost func(error)) {
	d.lost = lost
	if d.files != nil {
		d.sync = store.Defer(d.files, folder.LockFile)
	}
}

// Sync makes the session's writes durable. A caller must call Sync before it writes anything
// elsewhere that depends on them.
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
