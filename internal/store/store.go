// Package store keeps the program's state: documents, logs of records and blobs by name, and locks
// among processes. [Files] keeps them in a state directory. Package storetest keeps them in memory
// and fails on demand, for tests. [Store], [Log], [Disk] and [Journal] document the contract, and
// one suite of tests checks every store against it.
//
// A name consists of parts between slashes, such as sessions/main/journal.jsonl. The parts before
// the last are folders, which the store makes as needed. Callers must choose names themselves and
// never use a user's text as one. Package store interprets no content, except that it checks
// blobs ([Blobs]) against their hashes.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// Store keeps documents and logs by name. It is safe for concurrent use, also by several processes.
// Writers that must not write at the same time must take a lock.
//
// For a missing name, methods return an error that wraps [fs.ErrNotExist]. If a file under a name
// does not belong to the store, such as a link that somebody put there, they refuse it before
// they read or write a byte, with an error that [Foreign] recognises.
type Store interface {
	// In returns a folder as a store of its own. It does not access the folder.
	In(folder string) Store
	// Where returns the place of a name, or of the store itself for "", for messages to people.
	Where(name string) string

	// Get returns the whole content of a name, as the content was at one moment.
	Get(name string) ([]byte, error)
	// Open opens a name for reading in parts. The reader does not see later replacements of the
	// content.
	Open(name string) (Reader, error)
	// Stat describes a document, a log or a folder. The name "" is the store itself.
	Stat(name string) (Info, error)
	// List returns the entries of a folder, sorted by name. The name "" is the store itself.
	List(folder string) ([]Entry, error)

	// Put gives documents a new content. It makes missing documents. At any instant, and after a
	// kill at any instant, each document has its whole old content or its whole new content. The
	// same holds after a power cut, unless the document was put Unsynced. The parameter how sets
	// the durability that callers may rely on when Put returns nil. After an error the first few of
	// docs may have the new content.
	Put(how Durability, docs ...Doc) (Stats, error)
	// Move renames a document, log or folder, and replaces a document or log that has the new name.
	// A folder keeps its content. Move is atomic. With Synced, the old name cannot come back.
	Move(how Durability, from, to string) error
	// Remove removes documents, logs, and folders with their content, in the given order. It
	// skips missing names. A kill may leave part of a folder.
	Remove(how Durability, names ...string) (Stats, error)
	// Tidy removes the unfinished files of killed writers from folders. Such files show up only
	// in lists.
	Tidy(folders ...string) error

	// OpenLog opens the log of a name. It reads and makes nothing yet. A missing log is an empty
	// one, and the first append makes it.
	OpenLog(name string, o LogOptions) (Log, error)
	// Lock takes a lock among processes and among callers in this process. The parameter share
	// sets whether the holder shares the lock with other sharing holders. It does not wait: if
	// others hold the lock, it returns a [*LockedError]. The system releases a lock when its
	// process ends. Use [Wait] to wait for a lock.
	Lock(name string, share Share) (release func(), err error)

	// Begin begins a unit of work on a folder. While another writer in this process has a unit on
	// the folder, Begin waits until that unit or ctx ends. In a store that locks folders, it also
	// waits for writers in other processes. The parameter seen reports that the caller has read
	// everything in the folder up to its own last unit. A store that collects writes then need not
	// ask whether other processes have written since: [Unit.Sync] and [Unit.End] return an error if
	// they have. If nothing can be written, Begin returns an error that [Unwritable] recognises.
	Begin(ctx context.Context, folder string, seen bool) (Unit, error)
}

// Reader reads the content that a name had when it was opened.
type Reader interface {
	io.ReaderAt
	io.Closer
	// Size returns the present length in bytes.
	Size() (int64, error)
}

// Durability says which failures a write survives.
type Durability int

const (
	// Synced writes survive a power cut. Each write is durable before the next begins.
	Synced Durability = iota
	// Unsynced writes survive the end of the process at any instant, in the order of the writes.
	// A power cut may lose any of them, so callers must be able to make the content again.
	Unsynced
	// Once is for names that are derived from their content. A document that already has this
	// length is not written again. When the call returns, all documents survive a power cut.
	// Until then, they become durable in any order.
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

// Info describes the document, log or folder of a name.
type Info struct {
	Size   int64     // in bytes; without meaning for a folder
	Time   time.Time // when it was written last
	Folder bool
}

// Entry is a name in a folder.
type Entry struct {
	Name   string // the last part of the name
	Folder bool
	// Info describes the entry. If the entry is gone when Info is called, Info returns an error
	// that wraps fs.ErrNotExist.
	Info func() (Info, error)
}

// Stats describes the cost of a write.
type Stats = atomicfile.Stats

// ErrOutOfReach is wrapped by the error of a store that can't be reached now. The error says
// nothing about the store's content.
var ErrOutOfReach = errors.New("the store can't be asked now")

// OutOfReach reports whether an error says nothing about the content, so that callers must treat
// the content as neither damaged nor missing. It returns true if the store can't be reached now.
// It also returns true if the system refuses a file because of too many open files, no memory,
// missing rights or a failing disk. Only an error that wraps [fs.ErrNotExist] means that a name
// is missing.
func OutOfReach(err error) bool {
	if err == nil || errors.Is(err, ErrOutOfReach) || errors.Is(err, errReplaced) {
		return err != nil
	}
	var system syscall.Errno
	return errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// passing lists the system's errors that usually pass soon.
var passing = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.EINTR, syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT}

// ErrReadOnly is wrapped by the error of Lock if the lock can't be made because the store can't
// be written to, and by the error of every write to a state directory that was removed.
var ErrReadOnly = errors.New("nothing can be written")

// LockedError reports a lock that another holder has.
type LockedError struct {
	// Name is the name of the lock, as [Store.Where] returns it. Holder names the holder of the
	// lock, "" if the store does not know the holder.
	Name, Holder string
}

func (e *LockedError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("%s is held by %s", e.Name, e.Holder)
	}
	return e.Name + " is held by another process"
}

// Find reports whether a name exists and may be used. It returns an error if it can't find out.
func Find(s Store, name string) (bool, error) {
	_, err := s.Stat(name)
	if OutOfReach(err) {
		return false, err
	}
	return err == nil, nil
}

// lister is a store that describes the logs of many folders at once.
type lister interface {
	// Logs returns what the function [Logs] returns. If ok is false, the caller must ask the store
	// folder by folder.
	Logs(folder, name string, since time.Time) (in []Entry, ok bool, err error)
}

// Logs returns an entry for each folder in folder that has the log name, sorted by the folders'
// names. The entry's Info describes that log, as it was at since or later. Folders without the log
// may be among the entries.
func Logs(s Store, folder, name string, since time.Time) ([]Entry, error) {
	if l, ok := s.(lister); ok {
		if in, ok, err := l.Logs(folder, name, since); ok || err != nil {
			return in, err
		}
	}
	entries, err := s.List(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var in []Entry
	for _, e := range entries {
		if e.Folder {
			e.Info = func() (Info, error) { return s.Stat(path.Join(folder, e.Name, name)) }
			in = append(in, e)
		}
	}
	return in, err
}

// Exists is [Find] without an error. Callers must use it only where a wrong answer does no harm,
// such as for display.
func Exists(s Store, name string) bool {
	there, _ := Find(s, name)
	return there
}

// Walk calls f for every entry that is not a folder, with its name relative to s. It skips
// folders that are removed meanwhile. An error of f ends the walk.
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

// asides is the largest number of damaged documents kept for one name.
const asides = 10_000

const asideMark = ".damaged-"

// IsAside reports whether [PutAside] gave this name.
func IsAside(name string) bool { return strings.Contains(name, asideMark) }

// AsideName returns the first unused name of NAME.damaged-1, -2, ….
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

// PutAside moves a damaged document or log to an [AsideName] and returns that name. If
// nothing has the name, it returns "" and no error.
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

// KeepOutOfGit makes git ignore the content of a store. It replaces a link in place of the ignore
// file, and an ignore file that does not ignore everything except itself and the configuration.
// Such files may have come with the project.
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

// ignoresAll reports whether git's rules ignore everything in a folder except the rules
// themselves and the configuration.
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

// ErrOvertaken is wrapped by the error of an append if somebody else appended first. Nothing was
// written, and the caller must read the log again.
var ErrOvertaken = errors.New("somebody else appended first")

// ErrAgain is wrapped by errors after which the caller may repeat the call unchanged: the store
// is out of reach or overloaded.
var ErrAgain = errors.New("try again")

// Again reports whether a failed call may be repeated unchanged. Either all writes of the failed
// call are there, and the repeated call finds them, or no write is there.
func Again(err error) bool {
	return errors.Is(err, ErrAgain) || Overtaken(err) || slices.ContainsFunc(passing, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// Overtaken reports whether a call failed because another writer was at work in the same place.
// The caller should begin again from that writer's state.
func Overtaken(err error) bool {
	var lost *LostError
	return errors.Is(err, ErrOvertaken) || errors.As(err, &lost)
}

// LostError reports that the holder lost its lock, for example because it was paused for longer
// than the lease. Its write did not happen.
type LostError struct {
	// Name is the name that the holder tried to write. Lock is the lost lock. Both are in the
	// form of [Store.Where].
	Name, Lock string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: nothing was written: this process was out of reach for so long that %s is no longer its own; make the call again", e.Name, e.Lock)
}

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
// and only one writer may write at a time. Callers must hold a lock while they write. Whenever they
// have taken the lock, they must open the journal anew, since the name may have another content.
// There may be many readers. Readers see whole appends, except that the last append may be there
// in part.
type Journal interface {
	// Reader reads the journal's content. Its Size asks the store each time, so it includes the
	// appends of other writers.
	Reader
	// Info describes the content as it is now, as [Store.Stat] does.
	Info() (Info, error)
	// Append writes data in one piece after the first off bytes. The write is durable if sync is
	// set. The journal must hold exactly off bytes. After a kill the journal holds all of data,
	// the beginning of data, or none of it. After a power cut, data that was appended without
	// sync may have holes. If the write fails, Append takes it back. If that fails too, Append
	// returns an error that wraps [atomicfile.ErrTorn], and the caller must read the journal before
	// appending to it again.
	Append(off int64, data []byte, sync bool) (Stats, error)
	// Sync makes earlier appends without sync durable.
	Sync() (Stats, error)
	// Cut truncates the journal to size bytes. The next sync makes this durable.
	Cut(size int64) error
}

// Record is one entry of a log.
type Record struct {
	// Op is the kind of event.
	Op string `json:"op"`
	// ID is the idempotency key of the record's subject.
	ID string `json:"id"`
	// Time is the time of the event by the writer's clock. It is zero if unknown.
	Time time.Time `json:"time,omitzero"`
	// Body is the operation's own content, compact JSON.
	Body json.RawMessage `json:"body,omitempty"`
}

// LogOptions say how a log is opened.
type LogOptions struct {
	// ReadOnly leaves the log unchanged until [Log.Writable] is called.
	ReadOnly bool
	// Derived reports that the content can be made again. A crash may lose the newest records, even
	// if they were synced.
	Derived bool
}

// Log is an open log: records that are only ever appended, unless the log is replaced as a whole. A
// Log value has read the records up to a place, and appends after that place. It is for one
// goroutine. There may be many readers and one writer, which must hold a [Unit] of the log's
// folder.
type Log interface {
	// Read passes the records after the place to each, in order, and moves the place to their end.
	// If each returns an error, Read stops before that record, and returns the error with the
	// record's place. If the log no longer begins with the records that were read before, Read
	// returns an error for which [ReplacedLog] is true, and the caller must open the log again. For
	// a damaged log, Read returns a *LogError. For a log of a newer program, it returns an error
	// that wraps ErrNewer. Unless the log is ReadOnly, its first Read removes the remains of a
	// killed append.
	Read(each func(Record) error) error
	// Records yields the records from the beginning up to the place at the time of the call. It
	// reads them again. An error ends the sequence.
	Records() iter.Seq2[Record, error]
	// Append puts records after the place, all of them or none, and moves the place to their end.
	// The records survive the end of the process, and with sync a power cut. If another process
	// appended after the place, Append writes nothing and returns an error that wraps
	// [ErrOvertaken]. The caller must then read the other process's records. A store that collects
	// writes may return that error only from [Unit.Sync] or [Unit.End]. Append without records
	// returns an error if the log can't be appended to.
	Append(sync bool, recs ...Record) (Stats, error)
	// Sync makes the first n records durable, also those of other writers. It returns the same
	// errors as Append.
	Sync(n int) error
	// Replace replaces the records up to the place by new records, in one step, and moves the place
	// to their end. If recs yields an error, the log is unchanged. For other Log values of this
	// log, the next Read returns an error for which [ReplacedLog] is true. Replace returns the same
	// errors as Append.
	Replace(recs iter.Seq2[Record, error]) error
	// Writable makes a log that was opened for reading accept writes from now on.
	Writable()
	// Len returns the number of records up to the place, and Size returns their bytes.
	Len() int
	Size() int64
	// Torn returns the number of bytes of a killed writer that the last Read found after the place,
	// 0 if there were none.
	Torn() int64
	// Fault returns a fault of the log that costs no record, such as [ErrHalfHead]. It returns nil
	// if there is no fault. Mend removes the fault. The caller of Mend must hold a [Unit].
	Fault() error
	Mend() error
	// Salvage returns the sound records of a log, even if the rest is damaged, and the lost
	// stretches. It writes nothing. It calls tell with the number of records that it has examined.
	// Callers must not have read the log.
	Salvage(tell func(unit string, done, all int)) (sound []Record, lost []Lost, err error)
	// Reset gives a damaged log new records, in one step, and puts the whole old content aside. It
	// returns the places of the files that it put aside, as [Store.Where] returns them. No other
	// caller may hold the log's folder. All callers must open the log again.
	Reset(recs []Record) (aside []string, err error)
}

// ErrDamaged is the error that every [LogError] wraps.
var ErrDamaged = errors.New("the journal is damaged")

// LogError reports a log that is damaged.
type LogError struct {
	File string
	// Line is the 1-based number of the first broken line.
	Line int
	// Offset is the offset of the line's first byte.
	Offset int64
	// Reason is the fault of the line.
	Reason string
	// Hint tells the user how to repair the log.
	Hint string
	// Replaced reports that the log does not begin with the records that were read before, or that
	// it does not fit its head. The log is then damaged, or was just replaced. If it was replaced,
	// a second reading succeeds.
	Replaced bool

	// whole marks a line that passes its checksum, which is never a torn tail.
	whole bool
}

func (e *LogError) Error() string {
	return fmt.Sprintf("journal %s, line %d (byte %d): %s (%s)", e.File, e.Line, e.Offset, e.Reason, e.Hint)
}

func (e *LogError) Unwrap() error { return ErrDamaged }

// ReplacedLog reports whether a log that can't be read may have been replaced meanwhile, so that
// the caller must open it again.
func ReplacedLog(err error) bool {
	var e *LogError
	return errors.As(err, &e) && e.Replaced
}

// ErrHalfHead is the fault of a head of which one of the two states can't be read, for example after
// a power cut. No record is lost, and the next synced append writes the state again.
var ErrHalfHead = errors.New("one of its two states can't be read; the other says how far the journal was synced")

// ErrNewer is wrapped by the error for a record that a newer program wrote.
var ErrNewer = errors.New("written by a newer version")

// Lost is a stretch of a journal that can't be used.
type Lost struct {
	// Line is the first line of the stretch, counted from 1.
	Line int `json:"line"`
	// Offset is the offset of the stretch's first byte.
	Offset int64 `json:"offset"`
	// Bytes is the length of the stretch, or the number of missing bytes.
	Bytes int64 `json:"bytes"`
	// Reason says why the stretch can't be used.
	Reason string `json:"reason"`
	// About is the record that the line seems to have been. It is "" if the record can't be
	// determined.
	About string `json:"about,omitempty"`
}

// MoveMark is a document in the target of a move of state until the move is complete. No kernel
// opens such a store.
const MoveMark = "moving.json"

// moveMarkFormat is the version of the mark.
//
//	1: first version
const moveMarkFormat = 1

type moveMark struct {
	Format int       `json:"format"`
	From   string    `json:"from"`
	Begun  time.Time `json:"begun"`
}

// NewMoveMark returns the content of the document [MoveMark] for a move from a place.
func NewMoveMark(from string, now time.Time) ([]byte, error) {
	data, err := json.Marshal(moveMark{moveMarkFormat, from, now.UTC()})
	return append(data, '\n'), err
}

// HalfMoved returns an error if a store is the target of an interrupted move, and the source of the
// move. The source is "" if the mark can't be read.
func HalfMoved(s Store) (from string, err error) {
	data, err := s.Get(MoveMark)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var m moveMark
	if err := json.Unmarshal(data, &m); err != nil {
		return "", fmt.Errorf("read %s: %w; 'memkernel-server migrate --state' writes it anew", s.Where(MoveMark), err)
	}
	return m.From, fmt.Errorf("%s has a part of what %s has: a move was cut short; run 'memkernel-server migrate --state' again, which goes on there", s.Where(""), m.From)
}
