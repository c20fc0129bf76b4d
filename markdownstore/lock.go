package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// ErrReadOnly is returned when the workspace, or the file, cannot be written.
var ErrReadOnly = errors.New("not writable")

// ErrFull is returned when the disk, or this user's share of it, is full. What
// stood in the file stands.
var ErrFull = errors.New("the disk is full")

// lockPoll is how often a lock that another process holds is asked for again.
const lockPoll = 5 * time.Millisecond

// write runs f while this process, and this goroutine in it, is the only one
// that writes to the workspace through this package. The kernel drops the lock
// of a process that dies. What errors mean is for the callers to tell, once.
func (s *Store) write(ctx context.Context, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.makeLockDir(); err != nil {
		return fmt.Errorf("lock workspace: %w", err)
	}
	if _, err := s.lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("lock workspace: %w", err)
	}
	defer s.lock.Unlock()
	return f()
}

// makeLockDir makes the folder of the lock file. The default one is the
// kernel's own: it is kept out of the user's version control.
func (s *Store) makeLockDir() error {
	dir := filepath.Dir(s.opts.LockFile)
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if s.opts.LockFile != s.abs(DefaultLockName) {
		return nil
	}
	return atomicfile.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
}

// unwritable marks the errors of places that may not be written, or are full.
func unwritable(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%w); make the workspace writable for this user", ErrReadOnly, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (%w); free some space and try again", ErrFull, err)
	}
	return err
}

// checkWritable refuses a file that its owner made read-only, also where the
// folder would let us replace it.
func checkWritable(fi fs.FileInfo) error {
	if fi.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%w: the file's mode is %s; chmod u+w allows it", ErrReadOnly, fi.Mode().Perm())
	}
	return nil
}
