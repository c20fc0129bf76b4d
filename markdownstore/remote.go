package markdownstore

import (
	"context"
	"time"
)

// Remote is a Files that several machines share: nobody can watch it, and a machine's knowledge
// of it grows old.
type Remote interface {
	Files
	// Version is a larger number whenever something may have been written to it since, and says
	// something to this process alone. Its answer, and later reads, are at most as old as that. 0
	// asks now, which is one look that also fetches the changes.
	Version(ctx context.Context, old time.Duration) (int64, error)
	// Where names the place, for messages.
	Where() string
	// Moving marks the place as one to which files are being moved from another, which only this
	// process reads or writes until "" takes the mark away. was is the former mark.
	Moving(ctx context.Context, from string) (was string, err error)
}

// IsRemote reports whether the files are where other machines write, too, so that they can't
// be watched.
func IsRemote(s *Store) bool {
	_, ok := s.files.(Remote)
	return ok
}

// Version counts the writes to files that are a [Remote], and makes the next reads see the writes
// of others, except those no older than old. A folder is always read as it is: it has no version,
// 0.
func Version(ctx context.Context, s *Store, old time.Duration) (int64, error) {
	if r, ok := s.files.(Remote); ok {
		return r.Version(ctx, old)
	}
	return 0, nil
}

// PlaceOf names where the files are: a folder by its absolute path, "" if they don't say.
func PlaceOf(s *Store) string {
	if r, ok := s.files.(Remote); ok {
		return r.Where()
	}
	return s.dir
}
