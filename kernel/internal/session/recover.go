package session

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/kernel/internal/folder"
)

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
	// If contents can't be removed now, their erasure stays promised, and EraseErr has the reason.
	if s.EraseErr = nil; len(s.Graves.unerased) > 0 {
		err := s.erase(ctx)
		s.Invalidate()
		s.EraseErr, s.untidy = err, false
		if err := s.Refresh(true); err != nil {
			s.Invalidate()
			return fmt.Errorf("open session %s: %w", s.Key, err)
		}
	}
	s.WriteMemories(ctx)
	if s.Name == folder.Project {
		s.upkeepErr = s.o.Upkeep.Redo(ctx, runs{s})
	}
	return nil
}
