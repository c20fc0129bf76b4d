package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Memory is written by a validated append to one page of the session's journal. The commit is the
// promise. The promised text is added to the file at once, or when the session is next opened for
// writing.
const (
	memoryType  pagevm.Type = "memory"
	memoryKey   string      = "memory"
	memoryField string      = "entries"
	// opRemember was the operation of a promise before memory was written by validated appends.
	// Journals that have it are still read.
	opRemember = "remember"
)

// An entry is at most a mebibyte long, and a session keeps at most a million entries. These
// bounds stop a host in a loop, and are far above any real use.
const maxMemoryBytes, maxMemoryEntries = 1 << 20, 1_000_000

// UnwrittenError reports an entry that the journal keeps but its file lacks, because the file
// can't be written.
type UnwrittenError struct {
	ID, Path string
	Err      error
}

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("entry %s is not written to %s: %v; the session's journal keeps it, and it is written when the file can be", e.ID, e.Path, e.Err)
}

func (e *UnwrittenError) Unwrap() error { return e.Err }

// Appendable checks whether a file may be appended to. Callers must check before they promise an
// entry.
func Appendable(store *markdownstore.Store, path string) error {
	f, err := store.Stat(path)
	if err != nil {
		return err
	}
	if f.Kind == markdownstore.KindInstructions {
		return &markdownstore.DeniedError{Path: path, Reason: markdownstore.DenyInstructions}
	}
	return nil
}

// memories are the entries of memory that the session has promised.
type memories struct {
	// Entries has all promised entries, by id.
	Entries map[string]workstate.Entry
	// unwritten has the entries that their file may still lack. written has the entries that
	// are in their file.
	unwritten, written map[string]bool
	flushed            map[string]bool // the entries that a flush has written, by hash
	read               int             // number of entries that were read from the journal's page
}

// Remember promises an entry in the journal and appends it to its file. The entry cites evidence,
// or the session itself if evidence is "". If the file can't be written now, Remember returns an
// [UnwrittenError].
func (s *Session) Remember(ctx context.Context, id string, e workstate.Entry, evidence string, now time.Time) (markdownstore.Appended, error) {
	if before, ok := s.Memories.Entries[id]; ok && !before.Same(&e) {
		return markdownstore.Appended{}, fmt.Errorf("entry %s was remembered with another text or in another file", id)
	} else if ok {
		if err := s.Stands(); err != nil {
			return markdownstore.Appended{}, err
		}
	} else {
		u, err := MemoryUpdate(id, e, cmp.Or(evidence, s.Evidence()))
		if err == nil {
			err = s.commitEntry("remember", id, u, fmt.Sprintf("entry %s was remembered from other evidence", id), now)
		}
		if err != nil {
			return markdownstore.Appended{}, err
		}
		s.Memories.Entries[id], s.Memories.unwritten[id] = e, true
	}
	out, err := s.write(ctx, id, e)
	if errors.Is(err, markdownstore.ErrReadOnly) || errors.Is(err, markdownstore.ErrFull) {
		err = &UnwrittenError{ID: id, Path: e.Path, Err: err}
	}
	return out, err
}

// MemoryUpdate returns the update that promises an entry of memory when the update is committed.
func MemoryUpdate(id string, e workstate.Entry, evidence string) (journal.Update, error) {
	return entryUpdate(memoryType, memoryKey, memoryField, id, e, evidence)
}

// Promised returns the entries of memory as the journal has them.
func (s *Session) Promised() []journal.Entry {
	p, _ := s.Page(memoryKey)
	f, _ := p.Field(memoryField)
	return f.Entries
}

// Heard returns a function that reports whether a passage of a day's log has nothing but what persons
// stated in this session. The function is nil if a message of the session may have left the prompts of
// its host, which then must be reminded of these words, and if the session's entries can't be read.
func (s *Session) Heard() func(passage string) bool {
	if p := (kept{s}).Progress(); s.Journal == nil || p.Compactions > 0 || p.Cut != "" {
		return nil
	}
	said, read := map[string]bool{}, 0
	if err := recall(s, memoryKey, memoryField, "entry of memory", &read, func(_ string, e *workstate.Entry) {
		for _, i := range e.Items {
			said[i] = true
		}
	}); err != nil || len(said) == 0 {
		return nil
	}
	return func(passage string) bool { return workstate.Repeats(passage, said) }
}

// write adds the promised entry to its file. It searches the file for the entry's id, so the file
// never has the entry twice.
func (s *Session) write(ctx context.Context, id string, e workstate.Entry) (markdownstore.Appended, error) {
	if err := s.Sync(); err != nil {
		return markdownstore.Appended{}, err
	}
	a, err := s.o.Memory.Store(e.Private).Append(ctx, e.Path, id, e.Text)
	if err != nil {
		return a, err
	}
	if s.Memories.unwritten[id] {
		delete(s.Memories.unwritten, id)
		s.Memories.written[id] = true
		if _, err := s.Journal.Append(false, store.Record{Op: journal.OpRemembered, ID: id, Time: s.o.Now(), Body: []byte("{}")}); err != nil {
			return a, err
		}
	}
	return a, nil
}

// WriteMemories writes the promised entries that are not written yet. An entry that can't be
// written now stays promised.
func (s *Session) WriteMemories(ctx context.Context) {
	m := &s.Memories
	err := recall(s, memoryKey, memoryField, "entry of memory", &m.read, func(id string, e *workstate.Entry) {
		if m.Entries[id] = *e; !m.written[id] {
			m.unwritten[id] = true
		}
		for _, i := range e.Items {
			m.flushed[i] = true
		}
	})
	if err != nil || s.o.Memory == nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(m.unwritten)) {
		if err := s.openJournal(); err != nil {
			return
		}
		if _, err := s.write(ctx, id, m.Entries[id]); err != nil {
			return
		}
	}
}
