package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// ErrConflict matches every *ConflictError.
var ErrConflict = errors.New("conflict")

// ConflictError is returned when a file has changed since the caller read it. Nothing was
// written.
type ConflictError struct {
	Path string
	// Want is the hash that the caller expects. Have is the file's present hash. "" means that
	// the file does not exist.
	Want, Have string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("replace %s: conflict: expected %s, found %s; read it again", e.Path, hashName(e.Want), hashName(e.Have))
}

// Is makes every ConflictError an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

func hashName(h string) string {
	if h == "" {
		return "no file"
	}
	return "sha256 " + h
}

// Replace replaces the content of a file by text, durably and atomically, if the file's hash
// (Loaded.Hash) is still wantHash. If wantHash is "", the file must not exist. The new content
// keeps the file's byte-order mark. It also keeps the file's line ends if all of them are
// carriage return and line feed. Replace returns the hash of the new content. It refuses the logs
// of past days.
func (s *Store) Replace(ctx context.Context, path, wantHash, text string) (hash string, err error) {
	return s.replace(ctx, path, wantHash, text, false)
}

// Redact works like Replace, for content that must be removed. It may also rewrite the log of a
// past day, and the guard of MEMORY.md does not limit it.
func (s *Store) Redact(ctx context.Context, path, wantHash, text string) (hash string, err error) {
	return s.replace(ctx, path, wantHash, text, true)
}

func (s *Store) replace(ctx context.Context, path, wantHash, text string, redact bool) (hash string, err error) {
	if why := binaryWhy(text); why != "" {
		return "", fmt.Errorf("replace %s: the new text is not text: %s", path, why)
	}
	err = s.write(ctx, "replace", path, func(w Writer, pl place) error {
		if !redact && s.isClosed(pl) {
			return deny(path, DenyClosed)
		}
		if pl.info == nil {
			if hash = hashOf(text); wantHash != "" {
				return &ConflictError{Path: pl.path, Want: wantHash}
			}
			return pl.named(w.Create(pl.real, text))
		}
		if err := pl.checkWritable(s.opts.MaxFileBytes); err != nil {
			return err
		}
		return pl.named(w.Swap(pl.real, func(fi fs.FileInfo, old string) (string, error) {
			if why := binaryWhy(old); why != "" && textutil.UTF8(old) != old {
				return "", fmt.Errorf("the file is not written to: %s", why)
			}
			if s.withheld(fi) {
				return "", deny(pl.path, DenyPrivate)
			}
			have := hashOf(old)
			if have != wantHash && (wantHash != "" || old != "") { // an empty file counts as a missing file
				return "", &ConflictError{Path: pl.path, Want: wantHash, Have: have}
			}
			text := inManner(text, old)
			if hash = hashOf(text); text != old && s.guard != nil && !redact && pl.class.Kind == KindMemory {
				return text, s.guard(pl.path, old, text)
			}
			return text, nil
		}))
	})
	if err != nil {
		return "", err
	}
	return hash, nil
}

// write calls f with the file of a path while no other writer is active. It returns refusals and
// conflicts unchanged, and wraps all other errors.
func (s *Store) write(ctx context.Context, verb, path string, f func(w Writer, pl place) error) error {
	if s.opts.Settle != nil {
		_ = s.opts.Settle() // an index reports the error
	}
	err := s.files.Write(ctx, func(w Writer) error {
		pl, err := s.written(path)
		if err != nil {
			return err
		}
		return f(w, pl)
	})
	if err != nil && !errors.Is(err, ErrDenied) && !errors.Is(err, ErrConflict) {
		err = fmt.Errorf("%s %s: %w", verb, path, unwritable(err))
	}
	return err
}

// written finds the file of a path for writing. It refuses a file that is memory only because it is
// included. For memory.md it returns MEMORY.md if both files exist.
func (s *Store) written(path string) (place, error) {
	pl, err := s.locate(path)
	if err != nil {
		return place{}, err
	}
	if isNote(pl.path) && pl.class.Memory {
		own, ok := Classify(pl.path)
		if !ok {
			return place{}, deny(path, DenyNotWritten)
		}
		pl.class = own
	}
	if pl.path == memoryLower {
		if up, err := s.follow(memoryName, pl.class); err == nil && up.info != nil {
			return up, nil
		}
	}
	return pl, nil
}

// ByHand returns a store for the edits of a person. It allows changes to the logs of past days, and
// calls no guard.
func (s *Store) ByHand() *Store {
	out := *s
	out.byHand, out.guard = true, nil
	return &out
}

// isClosed reports whether a place is the log of a past day, which only a person may change.
func (s *Store) isClosed(pl place) bool {
	return !s.byHand && pl.class.Kind == KindDaily && pl.class.Date < s.Today(s.opts.Now())
}

// inManner gives text the byte-order mark and the line ends of old.
func inManner(text, old string) string {
	if strings.HasPrefix(old, bom) && !strings.HasPrefix(text, bom) {
		text = bom + text
	}
	if isDOS(old) {
		text = toDOS(text)
	}
	return text
}

// toDOS replaces every line end by carriage return and line feed.
func toDOS(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

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
	case !pl.class.Memory, k == KindBuffer, k == kindFacts, k == KindState:
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
