package session

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/pagevm"
)

// Erasable returns the contents of the session that can be forgotten.
func (s *Session) Erasable() erasure.Held {
	return erasure.Held{Pages: s.Pages, Spans: s.Spans, Gone: &s.Graves}
}

// PromiseErasure durably records the contents to remove. After it returns, no reader gets these
// contents.
func (s *Session) PromiseErasure(b *erasure.Promise, now time.Time) error {
	rec, err := b.Record(s.Name, now)
	if err != nil {
		return err
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	_, err = s.Journal.Append(true, rec)
	if err == nil {
		err = s.Sync()
	}
	if err != nil {
		s.Invalidate()
		return err
	}
	return s.replay(rec)
}

// Recover completes work that a kill interrupted, in a session that is opened for writing. It
// removes half-written files, erases promised contents, writes promised entries of memory to
// their files, and finishes runs over memory's files. Work that can't be done now stays promised.
// If the session can't be read again, Recover returns an error, and the session is invalid.
func (s *Session) Recover(ctx context.Context) error {
	if s.untidy {
		// Files that can't be removed are left to the next call.
		_ = s.Files.Tidy("", "state", "checkpoints")
		_ = s.o.State.Tidy("")
		s.untidy = false
	}
	if err := s.eraseAll(ctx); err != nil {
		s.Invalidate()
		return fmt.Errorf("open session %s: %w", s.Key, err)
	}
	s.WriteMemories(ctx)
	if s.Name == folder.Project {
		s.upkeepErr = s.o.Upkeep.Redo(ctx, runs{s})
	}
	return nil
}

// eraseAll removes all contents whose erasure was promised, and reads the session again. If
// contents can't be removed now, their erasure stays promised, and EraseErr has the reason.
func (s *Session) eraseAll(ctx context.Context) error {
	s.EraseErr = nil
	if !s.Graves.Owes() {
		return nil
	}
	if s.EraseErr = s.openJournal(); s.EraseErr == nil {
		s.EraseErr = s.Graves.Erase(ctx, erasedOf(s), quoting{s})
	}
	s.Invalidate()
	s.untidy = false
	return s.Refresh(true)
}

func erasedOf(s *Session) erasure.Session {
	return erasure.Session{State: s.o.State, Dir: s.Files, Local: s.Local, Journal: s.Journal, Blobs: s.Blobs, Reader: s.Reader(), Sync: s.Sync,
		Own: []pagevm.Type{summaryType, sessionType}, Said: []string{opRemember}}
}

// Censor removes words from the journal's records, pages excepted, and reports whether it did.
// clean returns a text without the words. Censor reads the session again.
func (s *Session) Censor(ctx context.Context, clean func(string) string) (bool, error) {
	if err := s.openJournal(); err != nil {
		return false, err
	}
	found, err := erasure.Censor(ctx, erasedOf(s), quoting{s}, clean)
	if err != nil || found {
		s.Invalidate()
	}
	if err != nil || !found {
		return found, err
	}
	s.untidy = false
	return true, s.Refresh(true)
}

// quoting reaches the other places that may quote a session.
type quoting struct{ s *Session }

func (q quoting) Backups(ctx context.Context, clean func(string) string, whole bool) error {
	if q.s.Name == folder.Project {
		return nil
	}
	if whole {
		var err error
		if clean, err = q.s.o.Upkeep.Unwritten(ctx, q.s.Name, clean); err != nil {
			return err
		}
	}
	return q.s.o.Upkeep.Forget(ctx, clean)
}

func (q quoting) Nets(ctx context.Context) error { return q.s.Life.ForgetMarkdown(ctx) }

func (q quoting) Derived() {
	closeFile(&q.s.records)
	q.s.Tracer.Forget()
}
