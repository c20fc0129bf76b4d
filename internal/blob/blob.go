// Package blob stores content under its own hash. It holds the masked bytes of
// large tool results and media, so that a pointer in a prompt can always be
// followed back to them.
//
// It never changes a blob, never invents a name, and never returns content
// that does not match its hash: damage is an error that names the file. It
// masks nothing itself; callers do that before adding. Sizes are bytes, hashes
// are sha256 in lower-case hex.
//
//	<dir>/
//	  ab/abcd…ef     the bytes, nothing else, named by their sha256
//	  tmp/           temps of batches on their way in
package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"

	"github.com/memkernel/memkernel/internal/statedir"
)

// HashLen is the length of a hash in hex digits.
const HashLen = 2 * sha256.Size

// ErrNotFound is returned when no blob has the hash. It wraps fs.ErrNotExist.
var ErrNotFound = fmt.Errorf("no such blob: %w", fs.ErrNotExist)

// ErrBadHash is returned for a string that is not a sha256 in lower-case hex.
var ErrBadHash = errors.New("not a blob hash")

// DamageError says that the file of a blob does not hold the bytes it should.
type DamageError struct {
	// Hash is what the content should hash to; Got is what it hashes to, ""
	// if it could not be read to its end.
	Hash, Got string
	// File is the damaged file.
	File string
	// Hint is the way out.
	Hint string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("blob %s is damaged: content hashes to %s (%s)", e.File, e.Got, e.Hint)
}

// Info describes a stored blob.
type Info struct {
	Hash string
	// Bytes is the size of the content.
	Bytes int64
}

// Store is a directory of blobs. It is safe for concurrent use, also by
// several processes: blobs only ever appear whole, and two writers of one blob
// write the same bytes.
type Store struct {
	in  statedir.Dir
	dir string // its path

	mu sync.Mutex
	// durable holds what this Store knows to survive a power cut. A file that
	// another process has just renamed may not, yet.
	durable map[string]struct{}
	ready   bool // dir and tmp exist, stale temps are gone
}

// Open returns the store in dir. Nothing is read or made before it is needed:
// a store that is only read leaves no trace.
func Open(dir statedir.Dir) *Store {
	return &Store{in: dir, dir: dir.Path(""), durable: make(map[string]struct{})}
}

// Dir is the directory of the store.
func (s *Store) Dir() string { return s.dir }

// File returns the path at which the blob stands or would stand, "" for a
// string that is no hash.
func (s *Store) File(hash string) string {
	if !IsHash(hash) {
		return ""
	}
	return s.file(hash)
}

func (s *Store) file(hash string) string {
	sep := string(filepath.Separator)
	return s.dir + sep + hash[:2] + sep + hash
}

// name is the file of a blob within the store.
func name(hash string) string { return hash[:2] + "/" + hash }

// IsHash tells whether h is a well-formed hash.
func IsHash(h string) bool {
	if len(h) != HashLen {
		return false
	}
	for i := 0; i < len(h); i++ {
		if c := h[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Sum returns the hash of content.
func Sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

// Has tells whether the blob is there. It does not read it.
func (s *Store) Has(hash string) bool {
	_, err := s.Stat(hash)
	return err == nil
}

// Stat returns the blob's size without reading it.
func (s *Store) Stat(hash string) (Info, error) {
	if !IsHash(hash) {
		return Info{}, fmt.Errorf("stat blob %q: %w", hash, ErrBadHash)
	}
	fi, err := s.in.Stat(name(hash))
	if err != nil {
		return Info{}, s.notFound("stat", hash, err)
	}
	return Info{Hash: hash, Bytes: fi.Size()}, nil
}

func (s *Store) notFound(verb, hash string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s blob %s in %s: %w", verb, hash, s.dir, ErrNotFound)
	}
	return fmt.Errorf("%s blob: %w", verb, err)
}

// Delete removes the blob, durably. One that is not there is no error.
func (s *Store) Delete(hash string) error {
	if !IsHash(hash) {
		return fmt.Errorf("delete blob %q: %w", hash, ErrBadHash)
	}
	s.mu.Lock()
	delete(s.durable, hash)
	s.mu.Unlock()
	if !s.Has(hash) {
		return nil
	}
	_, err := s.in.Remove(name(hash))
	return err
}

// Walk yields every blob in order of its hash. Files that are not blobs are
// passed over. An error ends the walk.
func (s *Store) Walk() iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		dirs, err := s.in.ReadDir("")
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				yield(Info{}, fmt.Errorf("walk blobs: %w", err))
			}
			return
		}
		for _, d := range dirs {
			if len(d.Name()) == 2 && d.IsDir() && !s.walkDir(d.Name(), yield) {
				return
			}
		}
	}
}

func (s *Store) walkDir(name string, yield func(Info, error) bool) bool {
	entries, err := s.in.ReadDir(name)
	if err != nil {
		yield(Info{}, fmt.Errorf("walk blobs: %w", err))
		return false
	}
	for _, e := range entries {
		if !IsHash(e.Name()) || e.Name()[:2] != name {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			yield(Info{}, fmt.Errorf("walk blobs: %w", err))
			return false
		}
		if !yield(Info{Hash: e.Name(), Bytes: fi.Size()}, nil) {
			return false
		}
	}
	return true
}

// prepare makes the store's directories and clears away the temps of killed
// processes, once.
func (s *Store) prepare() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return nil
	}
	if _, err := s.in.MkdirAll(tmpName, 0o700); err != nil {
		return err
	}
	if _, err := s.in.CleanTemps(tmpName); err != nil {
		return err
	}
	s.ready = true
	return nil
}

const tmpName = "tmp"

func (s *Store) tmp() string { return filepath.Join(s.dir, tmpName) }
