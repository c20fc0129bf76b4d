package markdownstore

import "context"

// Remote is a Files of which several machines know: nobody can watch it, and what a machine
// knows of it grows old.
type Remote interface {
	Files
	// Version counts what was written to it. What is read behind it is no older: it is one
	// look, and what has changed comes with it.
	Version(ctx context.Context) (int64, error)
	// Where names the place, for messages.
	Where() string
	// Moving marks the place as one to which files are being moved from another, which
	// nobody but this process reads or writes until "" takes the mark away.
	Moving(ctx context.Context, from string) error
}

// Refresh has what others wrote until now be seen by what is read next. remote is false
// where there is nothing to be done for it: a folder is always read as it is. version
// counts the writes.
func (s *Store) Refresh(ctx context.Context) (version int64, remote bool, err error) {
	r, ok := s.files.(Remote)
	if !ok {
		return 0, false, nil
	}
	version, err = r.Version(ctx)
	return version, true, err
}

// Place names where the files are: a folder by its absolute path, "" if they don't say.
func (s *Store) Place() string {
	if r, ok := s.files.(Remote); ok {
		return r.Where()
	}
	return s.dir
}
