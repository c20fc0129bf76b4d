// Package store is where the program's state is kept: documents, journals and blobs
// by name, and locks among processes. [Files] keeps them in a state directory;
// package storetest keeps them in memory and fails on demand, for tests. What
// both promise is at [Store] and [Journal], and one suite of tests holds them to it.
//
// A name is made of parts between slashes, as sessions/main/journal.jsonl; the parts
// before the last are folders, which come with what is in them. Names are the
// caller's and never a user's. Package store interprets no content but that of blobs
// ([Blobs]), which it holds against their hashes.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/memkernel/memkernel/internal/store/internal/statedir"
)

// Store keeps documents and journals by name. It is safe for concurrent use, also by
// several processes; who must not write at the same time takes a lock.
//
// What is not there is an error that wraps [fs.ErrNotExist]. What is under a name
// and is none of the store's, as a link that somebody put there, is refused by an error
// that [Foreign] recognises, before a byte is read or written.
type Store interface {
	// In returns a folder as a store of its own. Nothing is looked at.
	In(folder string) Store
	// Where returns where a name is, "" the store itself: for messages, to people.
	Where(name string) string

	// Get reads what is under a name, whole and of one moment.
	Get(name string) ([]byte, error)
	// Open opens it to be read in parts. What takes the name later is not seen.
	Open(name string) (Reader, error)
	// Stat describes a document, a journal or a folder; "" is the store itself.
	Stat(name string) (Info, error)
	// List names what is in a folder, by name; "" is the store itself.
	List(folder string) ([]Entry, error)

	// Put gives documents and journals a new content, whether or not the names had one.
	// At any instant, and after a kill at any instant, each has its old content or its
	// new one, whole; after a power cut too, but for what was put Unsynced. how sets what
	// is durable when it returns nil; after an error a beginning of them has the new
	// content.
	Put(how Durability, docs ...Doc) (Stats, error)
	// Move gives what is under a name another one, over a document or journal that
	// has it; a folder takes with it what is in it. It is done or not done. Synced,
	// the old name is gone for good.
	Move(how Durability, from, to string) error
	// Remove takes documents, journals and folders with all that is in them away, in
	// their order. What is not there is no error. A kill may leave part of a folder.
	Remove(how Durability, names ...string) (Stats, error)
	// Tidy removes what killed writers left half done in some folders, which nobody
	// sees but in lists.
	Tidy(folders ...string) error

	// Journal returns what is under a name, to be written on. Nothing is opened or made
	// yet.
	Journal(name string) Journal
	// Lock takes a lock among processes, and among those who ask in this one: alone, or
	// shared with all who share it. It does not wait: one that others hold is a
	// [*LockedError]. A lock ends with its process. [Wait] waits.
	Lock(name string, share Share) (release func(), err error)
}

// Journal is a content that grows at its end. It is for one goroutine, and one writer
// at a time: whoever writes holds a lock, which is the caller's. Readers may be many,
// and see whole appends or, at the end, the beginning of one.
//
// The first use but Patch makes a journal that is not there, durably, and its folder.
type Journal interface {
	// Reader reads what is in it; Size asks anew, and counts what others appended.
	Reader
	// Append writes behind the first off bytes, which are all there are, in one piece,
	// and durably if sync is set. After a kill all of it is there, or a beginning of it,
	// or nothing; what a power cut leaves of what was appended without sync may have
	// holes. If it fails it is taken back; an error that wraps [ErrTorn] means that it
	// could not be, and the journal must be read before it is appended to again.
	Append(off int64, data []byte, sync bool) (Stats, error)
	// Sync makes durable what was appended without.
	Sync() (Stats, error)
	// Cut takes what follows size bytes off, durably with the next sync.
	Cut(size int64) error
	// Patch writes over existing bytes, in place. It is not atomic: who reads them
	// recognises by their content what a crash has torn. Bytes beside them are not touched.
	// A power cut leaves those without sync up to some moment, and may tear the next.
	Patch(off int64, data []byte, sync bool) error
	// Current reports whether the name still has what this is: false after a Put, a Move
	// or a Remove of it, and what is then appended here is lost.
	Current() (bool, error)
}

// Reader is an open content.
type Reader interface {
	io.ReaderAt
	io.Closer
	// Size is its length now, in bytes.
	Size() (int64, error)
}

// Durability is what a write survives.
type Durability int

const (
	// Synced survives a power cut, each write before the next is begun.
	Synced Durability = iota
	// Unsynced survives the end of the process at any instant, in the order of the
	// writes; a power cut may take any of them. It is for what can be made again.
	Unsynced
	// Once is for names that stand for their content: what is in that length is left
	// as it is. When it returns all survive a power cut; before, in no order.
	Once
)

// Share is how a lock is held.
type Share bool

const (
	Alone  Share = false
	Shared Share = true
)

// Doc is a document to be put.
type Doc struct {
	Name string
	Data []byte
}

// Info describes what is under a name.
type Info struct {
	Size   int64     // in bytes; of a folder, nothing
	Time   time.Time // when it was written last
	Folder bool
}

// Entry is a name in a folder.
type Entry struct {
	Name   string // its last part
	Folder bool
	// Info describes it; one that is gone by then wraps fs.ErrNotExist.
	Info func() (Info, error)
}

// Stats describes what a write cost.
type Stats struct {
	// Files and Bytes count what was written.
	Files int
	Bytes int64
	// Syncs counts waits for a disk, SyncTime is the time inside them.
	Syncs    int
	SyncTime time.Duration
}

// Add sums o into s.
func (s *Stats) Add(o Stats) {
	s.Files += o.Files
	s.Bytes += o.Bytes
	s.Syncs += o.Syncs
	s.SyncTime += o.SyncTime
}

// ErrTorn is wrapped by the error of an append that could not be taken back.
var ErrTorn = errors.New("bytes of unknown content may stand at the end")

// ErrOutOfReach is wrapped by the error of a store that can't be asked now. It says nothing
// of what is there.
var ErrOutOfReach = errors.New("the store can't be asked now")

// OutOfReach reports whether an error says nothing of what is there, so that it is neither
// damaged nor absent: a store that can't be asked now, and of files whatever the system
// refuses, be it for a moment (too many open files, no memory) or for as long as somebody
// has no right to read them or their disk fails. Only what was read can be damaged, and only
// what wraps [fs.ErrNotExist] is not there.
func OutOfReach(err error) bool {
	if err == nil || errors.Is(err, ErrOutOfReach) || statedir.Replaced(err) {
		return err != nil
	}
	var system syscall.Errno
	return errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// passing are the system's refusals that are mostly over soon.
var passing = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.EINTR, syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT}

// ErrReadOnly is wrapped by the error of a lock that can't be made where it should
// be kept.
var ErrReadOnly = errors.New("nothing can be written")

// LockedError reports a lock that somebody else holds.
type LockedError struct {
	// Name is the lock's, as [Store.Where] returns it; Holder who has it, "" if the store
	// does not know.
	Name, Holder string
}

func (e *LockedError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("%s is held by %s", e.Name, e.Holder)
	}
	return e.Name + " is held by another process"
}

// Unwritten is why something that was written under a lock is not there though the process
// lives: a store may hold back until the lock is let go what was written Unsynced, or
// under a lock that [Defer] was asked for, and fail then. It is asked once, by whoever let the
// lock go and before anybody here takes it again; nil says that all is there.
func Unwritten(s Store, lock string) error {
	if h, ok := s.(interface{ Unwritten(lock string) error }); ok {
		return h.Unwritten(lock)
	}
	return nil
}

// Defer lets a store hold back what is written Synced, too, in the folder of a lock that the
// caller holds alone: it is durable, all of it or nothing, when the lock was let go, unless
// [Unwritten] says why not, or when sync returns nil. It is for who answers nobody before
// that, and syncs before it does elsewhere what follows from what it wrote. A store that
// has nothing to gain by it writes as ever.
func Defer(s Store, lock string) (sync func() error) {
	if h, ok := s.(interface {
		Defer(lock string) func() error
	}); ok {
		return h.Defer(lock)
	}
	return func() error { return nil }
}

// Resume takes a lock alone that this process let go last, without asking whether another has
// had it since: what was known of its folder then is believed, no more comes with it, and others may take it meanwhile. It is for
// who asks for [Defer] at once, and answers nobody before the lock was let go and
// [Unwritten] said nil: where another had it, that says so, and nothing that would have been
// written is there. It is nil where the lock has to be taken by [Store.Lock].
func Resume(s Store, lock string) (release func()) {
	if h, ok := s.(interface{ Resume(lock string) func() }); ok {
		return h.Resume(lock)
	}
	return nil
}

// WholeAppends reports whether an append to a journal is there whole or not at all, whatever
// happened: its end need not be looked at.
func WholeAppends(j Journal) bool {
	h, ok := j.(interface{ WholeAppends() bool })
	return ok && h.WholeAppends()
}

// Find reports whether something that may be used is under a name. It is an error if it can't
// be told.
func Find(s Store, name string) (bool, error) {
	_, err := s.Stat(name)
	if OutOfReach(err) {
		return false, err
	}
	return err == nil, nil
}

// Exists is [Find] for who decides nothing by it that can't be made good, as what is shown.
func Exists(s Store, name string) bool {
	there, _ := Find(s, name)
	return there
}

// Walk calls f for all that is neither a folder nor in a folder that went meanwhile,
// with names from s on. An error of f ends it.
func Walk(s Store, f func(name string, e Entry) error) error { return walk(s, "", f) }

func walk(s Store, folder string, f func(string, Entry) error) error {
	entries, err := s.List(folder)
	if errors.Is(err, fs.ErrNotExist) && folder != "" {
		return nil
	}
	for _, e := range entries {
		if err != nil {
			break
		}
		if name := path.Join(folder, e.Name); e.Folder {
			err = walk(s, name, f)
		} else {
			err = f(name, e)
		}
	}
	return err
}

// asides are how many damaged documents of one name are kept apart.
const asides = 10_000

const asideMark = ".damaged-"

// IsAside reports whether a name is one that [PutAside] gives.
func IsAside(name string) bool { return strings.Contains(name, asideMark) }

// AsideName returns the first of NAME.damaged-1, -2, … that nothing has yet.
func AsideName(s Store, name string) (string, error) {
	for n := 1; n < asides; n++ {
		aside := fmt.Sprintf("%s%s%d", name, asideMark, n)
		switch _, err := s.Stat(aside); {
		case errors.Is(err, fs.ErrNotExist):
			return aside, nil
		case OutOfReach(err):
			return "", err
		}
	}
	return "", fmt.Errorf("%s: too many damaged files stand beside it; move them away", s.Where(name))
}

// PutAside moves what is damaged to an [AsideName], and returns that. What is not
// there is no error, and no name.
func PutAside(s Store, name string) (string, error) {
	if _, err := s.Stat(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return "", err
	}
	aside, err := AsideName(s, name)
	if err != nil {
		return "", err
	}
	return aside, s.Move(Unsynced, name, aside)
}

// KeepOutOfGit has git pass over what is in a store. A file that lets more through than
// itself and the configuration, or a link in its place, may have come with the project: it
// is made anew.
func KeepOutOfGit(s Store) error {
	const name = ".gitignore"
	data, err := s.Get(name)
	switch {
	case err == nil && ignoresAll(string(data)):
		return nil
	case Foreign(err):
		if _, err := s.Remove(Synced, name); err != nil {
			return err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	_, err = s.Put(Synced, Doc{Name: name, Data: []byte("*\n")})
	return err
}

// ignoresAll reports whether rules of git leave out all of a folder, but for themselves and
// the configuration.
func ignoresAll(rules string) bool {
	all := false
	for line := range strings.Lines(rules) {
		switch line = strings.TrimSpace(line); {
		case line == "*":
			all = true
		case strings.HasPrefix(line, "!") && !slices.Contains([]string{".gitignore", "config.yaml"}, strings.TrimPrefix(line[1:], "/")):
			return false
		}
	}
	return all
}

// ErrOvertaken is wrapped by the error of an append where somebody else appended first,
// without the lock: nothing was written, and the journal must be read again.
var ErrOvertaken = errors.New("somebody else appended first")

// ErrAgain is wrapped by errors after which the call may be made again as it is, and may
// then go well: what keeps the state is out of reach, or has too much to do.
var ErrAgain = errors.New("try again")

// Again reports whether a call that failed may be made again as it is: nothing that it was
// to write is there, or all of it, which the next one finds.
func Again(err error) bool {
	return errors.Is(err, ErrAgain) || Overtaken(err) || slices.ContainsFunc(passing, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// Overtaken reports whether a call failed because somebody else was at work where it was to
// write: it begins anew with what that one wrote.
func Overtaken(err error) bool {
	var lost *LostError
	return errors.Is(err, ErrOvertaken) || errors.As(err, &lost)
}

// LostError reports a lock that its holder has no more, as one has that was paused for
// longer than a lease lasts: what it would have written was not.
type LostError struct {
	// Name is what was to be written, Lock what was lost, as [Store.Where] returns them.
	Name, Lock string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: nothing was written: this process was out of reach for so long that %s is no longer its own; make the call again", e.Name, e.Lock)
}

// Apart is a store that keeps large contents beside itself, as in a bucket.
type Apart interface {
	Store
	// Sweep removes from there what no name has any more, and what never got one: after a
	// time in which its writer may be at work, or now, which fails that writer. It returns
	// how many went. An error may leave some, which the next sweep removes.
	Sweep(ctx context.Context, now bool) (int, error)
	// Strays calls f for all that is there and that no name has.
	Strays(ctx context.Context, f func(Stray) error) error
}

// Stray is a content that no name has.
type Stray struct {
	Where string
	Size  int64
	// Known: it is being written or removed, or was, and a sweep removes it in time. Another
	// came from elsewhere, or so late that nobody waited for it any more.
	Known bool
}

// Sweep is [Apart.Sweep] of a store that keeps something apart, and nothing of others.
func Sweep(ctx context.Context, s Store, now bool) error {
	if a, ok := s.(Apart); ok {
		_, err := a.Sweep(ctx, now)
		return err
	}
	return nil
}
