package markdownstore

import (
	"context"
	"time"
)

// Remote is a Files that several machines share. Nobody can watch it, and a machine's knowledge
// of it may be out of date.
type Remote interface {
	Files
	// Version returns a number that is larger whenever something may have been written since the
	// last call. The number is only valid in this process. The number and later reads are at most
	// as old as the parameter old. If old is 0, Version makes one request that also fetches the
	// changes.
	Version(ctx context.Context, old time.Duration) (int64, error)
	// Where names the place, for messages.
	Where() string
	// Moving marks the place as the target of a move of files from the place from. Only this
	// process reads or writes the place until Moving is called with "", which removes the mark.
	// was is the former mark.
	Moving(ctx context.Context, from string) (was string, err error)
}

// IsRemote reports whether other machines may write the files too, so that the files can't be
// watched.
func (s *Store) IsRemote() bool {
	_, ok := s.files.(Remote)
	return ok
}

// Version returns the version of files that are a [Remote]. The next reads see the writes of
// others, except writes that are no older than old. For a folder it returns 0, because a folder
// is always read as it is.
func (s *Store) Version(ctx context.Context, old time.Duration) (int64, error) {
	if r, ok := s.files.(Remote); ok {
		return r.Version(ctx, old)
	}
	return 0, nil
}

// Place names the place of the files. For a folder it returns the absolute path. It returns ""
// if the files have no name for their place.
func (s *Store) Place() string {
	if r, ok := s.files.(Remote); ok {
		return r.Where()
	}
	return s.dir
}
