package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index"
)

// The reasons that keep an index from being audited.
// errCopy is returned if the index could not be copied for the check.
var errCopy = errors.New("the index could not be copied to be checked")

// auditTries is the number of attempts to check an index that others write during the check.
const auditTries = 3

// Audit checks the index in a file, leaves no file of its own next to it, and returns the faults of
// the index. An older index counts as faultless, because the next reindex replaces it. skipped is
// why the index was not checked. If the index can't be opened, err is the reason.
//
// If a write-ahead log is in use, even a reader makes SQLite create and change files. So an index
// without a log is read as immutable, and an index with a log is copied first. The faults count
// only if nobody wrote to the index meanwhile.
func (m *Memory) Audit(ctx context.Context, path string) (found []error, skipped string, err error) {
	for range auditTries {
		before := stampOf(path)
		found, err := checkCopy(ctx, path, m.index.options(), before.logBytes > 0)
		switch {
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case stampOf(path) != before:
		case errors.Is(err, errCopy):
			return nil, err.Error(), nil
		default:
			return found, "", err
		}
	}
	return nil, "somebody is writing the index", nil
}

// stamp has the size and time of the index and of its log.
type stamp struct {
	bytes, logBytes int64
	time, logTime   time.Time
}

func stampOf(path string) (s stamp) {
	if fi, err := os.Stat(path); err == nil {
		s.bytes, s.time = fi.Size(), fi.ModTime()
	}
	if fi, err := os.Stat(path + "-wal"); err == nil {
		s.logBytes, s.logTime = fi.Size(), fi.ModTime()
	}
	return s
}

// checkCopy checks the index itself if it has no log, else a copy of the index and its log.
func checkCopy(ctx context.Context, path string, o *index.Options, logged bool) ([]error, error) {
	at := path
	o.Immutable = true
	if logged {
		dir, err := os.MkdirTemp("", "memkernel-audit-")
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errCopy, err)
		}
		defer os.RemoveAll(dir)
		to := filepath.Join(dir, filepath.Base(path))
		for _, ending := range [...]string{"", "-wal"} {
			if err := copyFile(path+ending, to+ending); err != nil {
				return nil, fmt.Errorf("%w: %w", errCopy, err)
			}
		}
		at, o.Immutable, o.ReadOnly = to, false, true
	}
	ix, err := index.Open(at, o)
	if errors.Is(err, index.ErrOlder) {
		return nil, nil
	}
	said := func(err error) error { return &placed{err, strings.ReplaceAll(err.Error(), at, path)} }
	if err != nil {
		return nil, said(err)
	}
	defer ix.Close()
	var found []error
	for err := range ix.Check(ctx) {
		found = append(found, said(err))
	}
	return found, nil
}

// placed reports an error in a copy as an error of the index itself.
type placed struct {
	err  error
	text string
}

func (p *placed) Error() string { return p.text }
func (p *placed) Unwrap() error { return p.err }

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
