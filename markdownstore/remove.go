package markdownstore

import (
	"context"
	"fmt"
	"io/fs"
)

// Editable returns an error unless a file may be changed line by line, replaced or removed. It
// must be a memory file of the workspace itself, under its own name. A file that does not exist
// has no modification time.
func (s *Store) Editable(p string) (File, error) {
	pl, err := s.written(p)
	if err != nil {
		return File{}, wrapped("read", p, err)
	}
	return editable(s, pl)
}

func editable(s *Store, pl place) (File, error) {
	switch k := pl.class.Kind; {
	case pl.class.PageType == pageBootstrap, instructs(s.files, pl.info):
		return File{}, deny(pl.path, DenyInstructions)
	case !pl.class.Memory, k == KindBuffer, k == KindFacts, k == KindState:
		return File{}, deny(pl.path, DenyNotMemory)
	case pl.real != pl.path:
		return File{}, deny(pl.path, denyLink)
	case s.isClosed(pl):
		return File{}, deny(pl.path, DenyClosed)
	case pl.info == nil:
		for i, c := range pl.path {
			if fi, err := s.files.Lstat(pl.path[:i]); c == '/' && err == nil && !fi.IsDir() {
				return File{}, deny(pl.path, denyNotFile)
			}
		}
		return File{Path: pl.path, Class: pl.class}, nil
	}
	if err := pl.checkWritable(s.opts.MaxFileBytes); err != nil {
		return File{}, fmt.Errorf("write to %s: %w", pl.path, err)
	}
	return fileOf(pl.path, pl.class, pl.info, s.opts.MaxFileBytes), nil
}

// Remove deletes a file, durably, if its hash (Loaded.Hash) is still wantHash. It also deletes
// the folders below memory/ that are then empty. It refuses files that [Store.Editable] refuses.
// For a missing file it returns a *ConflictError.
func (s *Store) Remove(ctx context.Context, p, wantHash string) error {
	return s.write(ctx, "remove", p, func(w Writer, pl place) error {
		if _, err := editable(s, pl); err != nil {
			return err
		}
		if pl.info == nil {
			return &ConflictError{Path: pl.path, Want: wantHash}
		}
		return pl.named(w.Remove(pl.real, func(fi fs.FileInfo, old string) error {
			if s.withheld(fi) {
				return deny(pl.path, DenyPrivate)
			}
			if have := hashOf(old); have != wantHash {
				return &ConflictError{Path: pl.path, Want: wantHash, Have: have}
			}
			if s.guard != nil && pl.class.Kind == KindMemory {
				return s.guard(pl.path, old, "")
			}
			return nil
		}))
	})
}
