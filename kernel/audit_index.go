package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/index"
)

// auditTries is how often the index is checked that is written meanwhile.
const auditTries = 3

// auditIndex checks the index without leaving anything beside it. Even a reader
// makes SQLite create and change files where a write-ahead log is in use, so an index
// without one is read as immutable, and one with a log is copied first. What was
// found counts only if nobody wrote meanwhile.
func (k *Kernel) auditIndex(ctx context.Context, r *consolidation.Report, _ time.Time) error {
	path := k.memory.opts.IndexPath
	for range auditTries {
		before := indexStamp(path)
		found, err := k.memory.checkCopy(ctx, path, before[1].size > 0)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if indexStamp(path) != before {
			continue
		}
		switch {
		case errors.Is(err, index.ErrMissing):
			r.Skip(consolidation.CheckIndex, "there is no index yet")
			return nil
		case errors.Is(err, errCopy):
			r.Skip(consolidation.CheckIndex, err.Error())
			return nil
		case err != nil:
			found = []Finding{indexFinding(err)}
		}
		for _, f := range found {
			r.Add(consolidation.CheckIndex, consolidation.Finding{Severity: consolidation.Error, What: f.What, Hint: f.Hint})
		}
		return nil
	}
	r.Skip(consolidation.CheckIndex, "somebody is writing the index")
	return nil
}

// indexStamp is size and time of the index and of its log.
func indexStamp(path string) (out [2]fileStamp) {
	for i, p := range [...]string{path, path + "-wal"} {
		if fi, err := os.Stat(p); err == nil {
			out[i] = fileStamp{fi.Size(), fi.ModTime()}
		}
	}
	return out
}

// errCopy is that the index could not be copied to be checked.
var errCopy = errors.New("the index could not be copied to be checked")

// checkCopy checks the index as it stands, or a copy of it with its log.
func (m *memory) checkCopy(ctx context.Context, path string, logged bool) ([]Finding, error) {
	o, at := m.indexOptions(), path
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
		return nil, nil // the next reindex replaces it
	}
	if err != nil {
		return nil, err
	}
	defer ix.Close()
	var found []Finding
	for err := range ix.Check(ctx) {
		f := indexFinding(err)
		f.What = strings.ReplaceAll(f.What, at, path)
		found = append(found, f)
	}
	return found, nil
}

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
