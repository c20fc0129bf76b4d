package store

import "github.com/memkernel/memkernel/internal/atomicfile"

// Disk is a store that keeps bytes: files, or contents in memory that fail as files do. Its logs
// are files of lines, see [OpenLineLog]. [Store.In] of a Disk returns a Disk.
type Disk interface {
	Store
	// Journal opens the journal of a name for appending. It durably makes a missing journal and
	// its folder.
	Journal(name string) (Journal, error)
	// Patch overwrites existing bytes of a name in place and changes no other bytes. It is not
	// atomic: readers must recognise a patch torn by a crash by its content. After a power cut,
	// only the first few of the patches without sync may be there, and the patch after them may be
	// torn.
	Patch(name string, off int64, data []byte, sync bool) error
}

// Journal is an open content that grows at its end. Only one goroutine may use a Journal value,
// and only one writer may write at a time: callers must hold a lock while they write, and must
// open the journal anew whenever they took the lock, since the name may have got another content.
// There may be many readers. Readers see whole appends, except that the last append may be there
// in part.
type Journal interface {
	// Reader reads the journal's content. Size asks the store each time, so it includes the
	// appends of others.
	Reader
	// Info describes the content as it is now, as [Store.Stat] does.
	Info() (Info, error)
	// Append writes data in one piece after the first off bytes. The write is durable if sync is
	// set. The journal must hold exactly off bytes. After a kill the journal holds all of data,
	// the beginning of data, or none of it. After a power cut, data that was appended without
	// sync may have holes. If the write fails, Append takes it back. If that fails too, Append
	// returns an error that wraps [ErrTorn], and the caller must read the journal before
	// appending to it again.
	Append(off int64, data []byte, sync bool) (Stats, error)
	// Sync makes earlier appends without sync durable.
	Sync() (Stats, error)
	// Cut truncates the journal to size bytes. The next sync makes this durable.
	Cut(size int64) error
}

// ErrTorn is wrapped by the error of an append that could not be taken back.
var ErrTorn = atomicfile.ErrTorn
