package session

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/pagevm"
)

// Erasable is what the session holds that can be forgotten.
func (s *Session) Erasable() erasure.Held {
	return erasure.Held{Pages: s.Pages, Spans: s.Spans, Gone: &s.Graves}
}

// PromiseErasure writes down what is to go, durably. From here on it is gone for
// whoever asks.
func (s *Session) PromiseErasure(b *erasure.Promise, now time.Time) error {
	rec, err := b.Record(s.Name, now)
	if err != nil {
		return err
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	if _, err := s.Journal.Append(true, rec); err != nil {
		s.Invalidate()
		return err
	}
	return s.replay(rec)
}

// Recover makes good what a kill left undone, in a session that is opened to be written:
// half-written files go, what was to be erased is, entries of memory are brought to their
// files and runs over memory's files to their end. What can't be done now stays promised.
// An error is one of reading the session anew; it is invalid then.
func (s *Session) Recover(ctx context.Context) error {
	if s.untidy {
		// What can't be removed is left to the next.
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

// owes reports whether Recover may have something to do.
func owes(s *Session) bool {
	if s.Journal != nil && s.Memories.recall(s.Journal.Store(), addressIn(s.Name, memoryKey)) != nil {
		return true
	}
	return s.untidy || s.Name == folder.Project || s.Graves.Owes() || s.o.Memory != nil && len(s.Memories.unwritten) > 0
}

// eraseAll removes what promises say, if there are any, and reads the session
// again. What can't be removed now stays promised, with the reason in EraseErr.
func (s *Session) eraseAll(ctx context.Context) error {
	s.EraseErr = nil
	if !s.Graves.Owes() {
		return nil
	}
	if s.EraseErr = s.openJournal(); s.EraseErr == nil {
		s.EraseErr = s.Graves.Erase(ctx, erasedOf(s), quoting{s})
	}
	s.Invalidate()
	s.readOnly = false
	return s.Refresh(true)
}

func erasedOf(s *Session) erasure.Session {
	return erasure.Session{State: s.o.State, Dir: s.Files, Journal: s.Journal, Blobs: s.Blobs, Reader: s.Reader(),
		Own: []pagevm.Type{summaryType, sessionType}, Said: []string{opRemember}}
}

// Censor takes words out of what the journal holds beside pages, and reports whether it did;
// clean gives a text without them. The session is read anew.
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
	s.readOnly = false
	return true, s.Refresh(true)
}

// quoting is who else holds what a session is to forget.
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
