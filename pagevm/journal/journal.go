package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Every event in the journal has happened, and every other file can be made again from the
// journal. It has one record per line:
//
//	journal.jsonl
//	┌───────────────────────────────────────────────────────────────────┐
//	│ {"v":2,"n":<bytes of rec>,"crc":"<crc32c of rec>","sum":"…","rec":{…}}⏎ │
//	│ {"v":2,"n":…,"crc":"…","sum":"…","rec":{"op":…,"id":…,"body":…}}⏎ │
//	│ …                                                                 │
//	└───────────────────────────────────────────────────────────────────┘
//	v    format version of the line; a reader refuses newer ones
//	n    length of rec in bytes, decimal
//	crc  CRC-32C (Castagnoli) of rec, eight lower-case hex digits
//	sum  over the records up to this one, sixteen lower-case hex digits (chain)
//	rec  the record, one JSON object without line breaks
//
// Lines are only ever appended. All lines of one unit are appended by one write and made durable
// by one fsync. The journal's head (head.go) records how far the journal was synced. A tail that
// a crash tore can only be after that place, and its writer never reported success. Such a tail
// is dropped, or put aside if it has whole lines. Any other broken, missing, moved or doubled
// line is damage: reading returns an error that names the line, and the file stays unchanged.
//
// A journal from a version without heads may end in the beginning of a line. CRLF line ends,
// blank lines and a missing last line break are accepted: other tools may have touched the file.

// journalVersion is the version of the lines that are written. plainVersion is the version of
// lines without a sum, which are older lines and the lines of traces.
//
//	1: first version
//	2: with a sum
const journalVersion, plainVersion = 2, 1

// These operations are the phases of a commit, shown in writeback.go. Only Commit and Writeback
// write them. Other operations ("ingest", "turn", "cut", "forget", ...) belong to the packages
// that write them.
const (
	OpStaged    = "staged"
	opValidated = "validated"
	OpRejected  = "rejected"
	OpCommitted = "committed"
)

// OpRemembered records that a file holds an entry that the journal promised. Losing the record
// costs one look into the file, so [Journal.Sync] never syncs for it alone.
const OpRemembered = "remembered"

// Record is one entry of the journal.
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

// ErrNewer is wrapped by the error for a line of a newer format version.
var ErrNewer = errors.New("written by a newer version")

// DamageError reports a journal that is broken before its tail.
type DamageError struct {
	File string
	// Line is the 1-based number of the first broken line.
	Line int
	// Offset is the offset of the line's first byte.
	Offset int64
	// Reason is the fault of the line.
	Reason string
	// Hint tells the user how to repair the journal.
	Hint string

	// whole marks a line that passes its checksum, which is never a torn tail. unvouched marks a
	// file that its head does not describe, such as one that was just replaced.
	whole, unvouched bool
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %s, line %d (byte %d): %s (%s)", e.File, e.Line, e.Offset, e.Reason, e.Hint)
}

// Options are the options of OpenJournal; nil means defaults.
type Options struct {
	// ReadOnly leaves the file unchanged. A torn tail is skipped and not cut off.
	ReadOnly bool
	// Each, if not nil, is called in order for every record that is read on opening. An error
	// from Each ends the reading. If the journal was rewritten meanwhile, opening fails with an
	// error for which [DamageError.Replaced] is true, and the caller must open the journal again.
	Each func(Record) error
	// Derived: the content of the file can be made again. Such a file has no head, and its tail
	// may be torn at any place.
	Derived bool
}

// Stats describes the cost of an append.
type Stats struct {
	Records int
	Bytes   int64
	// Syncs is the number of fsync calls.
	Syncs int
	// SyncTime is the time spent in these calls.
	SyncTime time.Duration
}

// Journal is an open journal file. It is safe for concurrent use by one process. Several
// processes may read at any time. Callers that open it for writing or append must hold the
// session's lock.
type Journal struct {
	in       store.Store
	name     string
	path     string // its place, for messages
	readOnly bool
	derived  bool

	mu sync.Mutex
	// Invariant: the file's first off bytes are whole valid lines. If f is open, all lines after
	// these bytes were appended by another process.
	f       store.Journal // nil until the first append
	hf      store.Journal // of the head, nil until it is written
	off     int64
	line    int // lines up to off
	sum     chain
	head    *journalHead // the newest state, nil if there is none
	headErr error        // why there is none, though there should be
	// halfHead: one of the head's two states can't be read.
	halfHead bool
	needed   int64 // end of the last record up to off that Sync must make durable
	records  int   // records up to off
	needNL   bool  // the last line lacks its line break
	chained  bool  // a line up to off has a sum
	torn     int64
	commits  map[string]string // committed key to hash of its body
	store    *State
	last     lineHead // of the last line up to off
	broken   error    // set once an append could not be taken back
}

// lineHead is the beginning of a line and its place. The beginning contains the checksum, which
// shows that the file up to this line is still the one that was read.
type lineHead struct {
	at    int64
	bytes []byte
}

// maxLineHead holds the envelope up to the record.
const maxLineHead = 64

// OpenJournalIn reads a journal and prepares it for appending. A missing file is an empty
// journal, and the first append makes it. OpenJournalIn returns a *DamageError for damage, and an
// error that wraps ErrNewer for a line of a newer version. Both errors leave the file unchanged.
func OpenJournalIn(in store.Store, name string, opt *Options) (*Journal, error) {
	if opt == nil {
		opt = &Options{}
	}
	j, err := readJournal(in, name, opt)
	for range rewritesMet {
		// A reader without the lock may meet a journal that is just being rewritten.
		d := (*DamageError)(nil)
		if !errors.As(err, &d) || !d.unvouched || !opt.ReadOnly || opt.Each != nil {
			break
		}
		j, err = readJournal(in, name, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if j.torn > 0 && !j.readOnly {
		if err := j.dropTail(); err != nil {
			j.Close()
			return nil, fmt.Errorf("open journal: drop torn tail: %w", err)
		}
	}
	return j, nil
}

// rewritesMet is how often a reader reads a journal and a head again that don't fit each other.
const rewritesMet = 4

func readJournal(in store.Store, name string, opt *Options) (*Journal, error) {
	j := newJournal(in, name)
	j.readOnly, j.derived = opt.ReadOnly, opt.Derived
	if opt.Each == nil {
		return j, j.catchUp(nil)
	}
	var failed error
	err := j.catchUp(func(r Record) {
		if failed == nil {
			failed = opt.Each(r)
		}
	})
	return j, cmp.Or(failed, err)
}

// Replaced reports whether the file does not fit its head. The file is then damaged, or is just
// being rewritten. A second read tells the two apart.
func (e *DamageError) Replaced() bool { return e.unvouched }

func newJournal(in store.Store, name string) *Journal {
	return &Journal{in: in, name: name, path: in.Where(name), commits: make(map[string]string), store: newStore()}
}

// dropTail cuts the torn tail off the file. It keeps a tail with whole lines in a file next to
// the journal, since one killed write does not leave such a tail.
func (j *Journal) dropTail() error {
	if err := j.openFile(); err != nil {
		return err
	}
	tail := make([]byte, j.torn)
	if _, err := j.f.ReadAt(tail, j.off); err != nil && err != io.EOF {
		return err
	}
	if bytes.IndexByte(tail, '\n') >= 0 {
		aside, err := store.AsideName(j.in, j.name)
		if err != nil {
			return err
		}
		if _, err := j.in.Put(store.Synced, store.Doc{Name: aside, Data: tail}); err != nil {
			return err
		}
	}
	return j.f.Cut(j.off)
}

// Torn returns the size in bytes of the torn tail that was found on open or by the last Refresh,
// 0 if there was no torn tail.
func (j *Journal) Torn() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.torn
}

// Len returns the number of records read and written so far.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.records
}

// Size returns how much of the file has been read and is whole, in bytes.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.off
}

// Path returns the journal's file.
func (j *Journal) Path() string { return j.path }

// Close closes the file. It syncs nothing: records that Append was asked to sync are durable
// already.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closeHead()
	if j.f == nil {
		return nil
	}
	err := j.f.Close()
	j.f = nil
	return err
}

// Records yields every record that the journal has at the time of the call. It reads the file
// again, one line at a time. An error ends the sequence.
func (j *Journal) Records() iter.Seq2[Record, error] {
	j.mu.Lock()
	end := j.off
	j.mu.Unlock()
	return func(yield func(Record, error) bool) {
		f, err := j.in.Open(j.name)
		if errors.Is(err, fs.ErrNotExist) && end == 0 {
			return
		}
		if err != nil {
			yield(Record{}, fmt.Errorf("read journal: %w", err))
			return
		}
		defer f.Close()
		r := newLineReader(j.path, io.NewSectionReader(f, 0, end), 0, 0)
		for {
			rec, err := r.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("read journal: %w", err))
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// Refresh reads and returns the records that another process has appended since. If the file was
// rewritten, as by a compaction, it returns a *DamageError and the caller must open the journal
// again.
func (j *Journal) Refresh() ([]Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var recs []Record
	if err := j.catchUp(func(r Record) { recs = append(recs, r) }); err != nil {
		return recs, fmt.Errorf("refresh journal: %w", err)
	}
	return recs, nil
}

// Writable makes a journal that was opened for reading accept writes from now on.
func (j *Journal) Writable() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readOnly = false
}

// Append writes records with one write call, durably if sync is set. It first reads the records
// that another process has appended. On an error none of the caller's records are in the journal.
func (j *Journal) Append(sync bool, recs ...Record) (Stats, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(recs) == 0 {
		return Stats{}, nil
	}
	for i := range recs {
		switch op := recs[i].Op; op {
		case OpStaged, opValidated, OpRejected, OpCommitted, OpSnapshot:
			return Stats{}, fmt.Errorf("append to journal: %q belongs to commits; use Commit or Writeback", op)
		}
	}
	if err := j.ready(); err != nil {
		return Stats{}, fmt.Errorf("append to journal: %w", err)
	}
	return j.write(sync, recs)
}

// Sync makes durable all records that were read or appended, unless the head shows that they are
// durable already. Records that were read may not be durable, since a killed process may not have
// synced its records. It does nothing if every record after the head's mark is an [OpRemembered].
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.off == 0 || j.head.at(j.off, j.sum) != nil || j.head != nil && j.head.Next == nil && j.head.Off >= j.needed {
		return nil
	}
	if err := j.ready(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	if _, err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	j.keepHead()
	return nil
}

// ready opens the file and reads the records that other processes appended.
func (j *Journal) ready() error {
	if j.readOnly {
		return fmt.Errorf("%s is open for reading only", j.path)
	}
	if j.broken != nil {
		return fmt.Errorf("%s must be opened again after: %w", j.path, j.broken)
	}
	if err := j.dropStale(); err != nil {
		return err
	}
	if err := j.openFile(); err != nil {
		return err
	}
	size, err := j.f.Size()
	if err != nil {
		return err
	}
	same, err := j.sameStart(j.f)
	if err != nil {
		return err
	}
	if size != j.off || !same {
		if err := j.catchUp(nil); err != nil {
			return fmt.Errorf("refresh journal: %w", err)
		}
		if j.torn > 0 {
			if err := j.dropTail(); err != nil {
				return err
			}
		}
	}
	return j.needHead()
}

// dropStale closes the file if another file has taken its name, for example in a compaction by
// another process. Anything appended to the old file would be lost.
func (j *Journal) dropStale() error {
	if j.f == nil {
		return nil
	}
	if ok, err := j.f.Current(); ok && err == nil {
		return nil
	}
	j.f.Close()
	j.f = nil
	j.closeHead()
	return nil
}

func (j *Journal) openFile() error {
	if j.f != nil {
		return nil
	}
	f := j.in.Journal(j.name)
	if _, err := f.Size(); err != nil {
		return err
	}
	j.f = f
	return nil
}

func (j *Journal) write(sync bool, recs []Record) (Stats, error) {
	var buf bytes.Buffer
	if j.needNL {
		buf.WriteByte('\n')
	}
	last, sum := 0, j.sum
	for i := range recs {
		last = buf.Len()
		if err := encodeRecord(&buf, &recs[i], &sum); err != nil {
			return Stats{}, fmt.Errorf("append to journal: %w", err)
		}
	}
	ast, err := j.f.Append(j.off, buf.Bytes(), sync)
	st := Stats{Records: len(recs), Bytes: int64(buf.Len()), Syncs: ast.Syncs, SyncTime: ast.SyncTime}
	if err != nil {
		if errors.Is(err, store.ErrTorn) {
			j.broken = err
		}
		return st, fmt.Errorf("append to journal: %w", err)
	}
	head := buf.Bytes()[last:min(last+maxLineHead, buf.Len())]
	j.last = lineHead{j.off + int64(last), append(j.last.bytes[:0], head...)}
	j.off += int64(buf.Len())
	j.line += len(recs)
	j.sum, j.needNL, j.chained = sum, false, true
	if slices.ContainsFunc(recs, func(r Record) bool { return r.Op != OpRemembered }) {
		j.needed = j.off
	}
	if sync {
		j.keepHead()
	}
	for i := range recs {
		if err := j.learn(recs[i]); err != nil {
			j.broken = err
			return st, fmt.Errorf("append to journal: %w", err)
		}
	}
	return st, nil
}
