package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// ErrConflict is what a *ConflictError is.
var ErrConflict = errors.New("conflict")

// ConflictError is returned when a file is not what the caller has seen.
// Nothing was written.
type ConflictError struct {
	Path string
	// Want is the hash that the caller has seen, Have the file's; "" stands
	// for a file that does not exist.
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

// Replace puts text in the place of a file, durably and atomically, if its hash
// (Loaded.Hash) is still wantHash; "" wants that there is no file. It returns
// the hash of what stands now: of text in the file's own manner, with its
// byte-order mark and, if all its lines end in carriage return and line feed,
// those line ends. Logs of past days are refused.
func (s *Store) Replace(ctx context.Context, path, wantHash, text string) (hash string, err error) {
	return s.replace(ctx, path, wantHash, text, false)
}

// Redact is Replace for content that must go: it may also rewrite the log of a
// past day.
func (s *Store) Redact(ctx context.Context, path, wantHash, text string) (hash string, err error) {
	return s.replace(ctx, path, wantHash, text, true)
}

func (s *Store) replace(ctx context.Context, path, wantHash, text string, closed bool) (hash string, err error) {
	if why := binaryWhy(text); why != "" {
		return "", fmt.Errorf("replace %s: the new text is not text: %s", path, why)
	}
	err = s.write(ctx, func() error {
		pl, err := s.locate(path)
		if err != nil {
			return err
		}
		pl = s.winner(pl)
		if !closed && s.isClosed(pl) {
			return deny(path, DenyClosed)
		}
		hash, err = s.swap(pl, wantHash, text)
		return err
	})
	if err != nil && !errors.Is(err, ErrDenied) && !errors.Is(err, ErrConflict) {
		err = fmt.Errorf("replace %s: %w", path, unwritable(err))
	}
	return hash, err
}

// winner makes a write to memory.md one to MEMORY.md if there are both.
func (s *Store) winner(pl place) place {
	if pl.path == memoryLower {
		if up, err := s.follow(memoryName, pl.class); err == nil && up.info != nil {
			return up
		}
	}
	return pl
}

// isClosed tells whether a place is the log of a day that is over.
func (s *Store) isClosed(pl place) bool {
	return pl.class.Kind == KindDaily && pl.class.Date < s.Today(s.opts.Now())
}

// swap compares and writes. Requires the lock.
func (s *Store) swap(pl place, want, text string) (string, error) {
	if pl.info == nil {
		if want != "" {
			return "", &ConflictError{Path: pl.path, Want: want}
		}
		return hashOf(text), s.create(pl, text)
	}
	if err := checkWritable(pl.info); err != nil {
		return "", err
	}
	f, fi, err := s.open(pl)
	if err != nil {
		return "", err
	}
	defer f.Close()
	old, err := s.readWhole(f)
	if err != nil {
		return "", err
	}
	have := hashOf(old)
	if have != want && (want != "" || old != "") { // nothing in it is as good as none
		return "", &ConflictError{Path: pl.path, Want: want, Have: have}
	}
	if text = inManner(text, old); text == old {
		return have, nil
	}
	if s.guard != nil && pl.class.Kind == KindMemory {
		if err := s.guard(pl.path, old, text); err != nil {
			return "", err
		}
	}
	if now, err := os.Lstat(s.abs(pl.real)); err != nil || !os.SameFile(now, fi) {
		return "", s.changed(pl, have)
	}
	if runtime.GOOS == "windows" {
		// An open file cannot be replaced there, so there is no second look.
		f.Close()
		return hashOf(text), atomicfile.WriteFile(s.abs(pl.real), []byte(text), fi.Mode().Perm())
	}
	if err := atomicfile.WriteFile(s.abs(pl.real), []byte(text), fi.Mode().Perm()); err != nil {
		return "", err
	}
	return hashOf(text), s.verify(pl, f, have, text, fi)
}

// verify looks at the file that was replaced, which is still open: if an editor
// wrote into it while the new one was being synced, what it wrote is put back
// and the replacement is a conflict.
func (s *Store) verify(pl place, f *os.File, want, text string, fi fs.FileInfo) error {
	old, err := readFrom(f)
	if err != nil {
		return err
	}
	have := hashOf(old)
	if have == want {
		return nil
	}
	if now, err := os.ReadFile(s.abs(pl.real)); err == nil && string(now) == text {
		if err := atomicfile.WriteFile(s.abs(pl.real), []byte(old), fi.Mode().Perm()); err != nil {
			return err
		}
	}
	return &ConflictError{Path: pl.path, Want: want, Have: have}
}

// changed is the conflict with a file that took the place of the one we read.
func (s *Store) changed(pl place, want string) error {
	c := &ConflictError{Path: pl.path, Want: want}
	if b, err := os.ReadFile(s.abs(pl.real)); err == nil {
		c.Have = hashOf(string(b))
	}
	return c
}

// create writes a file that must not exist yet, and its folders.
func (s *Store) create(pl place, text string) error {
	if err := s.makeFolder(pl.real); err != nil {
		return err
	}
	// The name is claimed first: an editor may have been faster.
	f, err := s.root.OpenFile(pl.real, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return s.changed(pl, "")
	}
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(s.abs(pl.real), []byte(text), fi.Mode().Perm()); err != nil {
		return errors.Join(err, s.unclaim(pl))
	}
	return nil
}

// unclaim takes back a claimed name if nobody wrote to it.
func (s *Store) unclaim(pl place) error {
	if fi, err := s.root.Lstat(pl.real); err == nil && fi.Size() == 0 {
		return s.root.Remove(pl.real)
	}
	return nil
}

// makeFolder makes the folders of a path. None of them is a symbolic link:
// locate has seen to that.
func (s *Store) makeFolder(p string) error {
	if dir := path.Dir(p); dir != "." {
		return atomicfile.MkdirAll(s.abs(dir), 0o755)
	}
	return nil
}

// readWhole reads a file that is to be written to, unless it is above the
// limit.
func (s *Store) readWhole(f *os.File) (string, error) {
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	if fi.Size() > s.opts.MaxFileBytes {
		return "", s.tooLarge(fi.Size())
	}
	return readFrom(f)
}

func readFrom(f *os.File) (string, error) {
	var b strings.Builder
	_, err := io.Copy(&b, io.NewSectionReader(f, 0, 1<<62))
	return b.String(), err
}

// inManner gives text the byte-order mark and the line ends of old.
func inManner(text, old string) string {
	if strings.HasPrefix(old, bom) && !strings.HasPrefix(text, bom) {
		text = bom + text
	}
	if eolOf(old) == EOLDOS {
		text = toDOS(text)
	}
	return text
}

// toDOS makes every line end one of carriage return and line feed.
func toDOS(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}
