package sessions

import (
	"fmt"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// file describes a document by its path, size and time.
type file struct {
	// Path is the document's path in the index.
	Path    string
	Size    int64
	ModTime time.Time
}

// Files lists the documents that may be searched. It reads only their sizes and times.
func (s *Store) Files() iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		t, err := s.tombs()
		folders, ferr := s.folders()
		if err == nil {
			err = ferr
		}
		if err != nil {
			yield(file{Path: strings.TrimSuffix(Prefix, "/")}, err)
			return
		}
		for _, f := range folders {
			l := s.load(f)
			if l == nil || t.sessions[f] != nil {
				continue
			}
			for _, p := range l.Parts {
				fi, err := s.in.Stat(f + "/" + p.Name)
				if err != nil {
					continue // it was just made again
				}
				if !yield(file{Path: Prefix + f + "/" + p.Name, Size: fi.Size, ModTime: fi.Time}, nil) {
					return
				}
			}
		}
	}
}

// form matches a document's path.
var form = regexp.MustCompile(`^sessions/([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)/(\d{4,}(?:-(\d{4}-\d{2}-\d{2}))?\.md)$`)

// Date returns the day of a document, YYYY-MM-DD, or "" if its name has no day.
func Date(p string) string {
	if m := form.FindStringSubmatch(p); m != nil {
		return m[3]
	}
	return ""
}

// Read returns a document's text. Read returns fs.ErrNotExist for a document that does not exist
// or was forgotten.
func (s *Store) Read(p string) (string, error) {
	m := form.FindStringSubmatch(p)
	if m == nil || path.Clean(p) != p {
		return "", fmt.Errorf("read %s: %w", p, fs.ErrNotExist)
	}
	hidden, err := s.Hidden()
	if err != nil {
		return "", err
	}
	if hidden(p) {
		return "", fmt.Errorf("read %s: it was forgotten: %w", p, fs.ErrNotExist)
	}
	text, err := s.readPart(m[1] + "/" + m[2])
	return string(text), err
}

// readPart reads a part. If the path is not a regular file, the part counts as absent.
func (s *Store) readPart(name string) ([]byte, error) {
	text, err := s.in.Get(name)
	if store.Foreign(err) {
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return text, err
}

// Hidden returns a function that reports whether a document must not be shown because its
// conversation was forgotten. An index may still hold such a document.
func (s *Store) Hidden() (func(path string) bool, error) {
	t, err := s.tombs()
	if err != nil {
		return nil, err
	}
	return func(p string) bool {
		folder, _ := path.Split(strings.TrimPrefix(p, Prefix))
		return t.sessions[strings.TrimSuffix(folder, "/")] != nil
	}, nil
}

// stats count the kept documents.
type stats struct {
	// Forgotten counts session keys.
	Conversations, Turns, Forgotten int
}

// Stats reads the size of the store's content.
func (s *Store) Stats() (out stats, err error) {
	t, err := s.tombs()
	if err != nil {
		return out, err
	}
	keys := map[string]bool{}
	for _, b := range t.sessions {
		keys[b.Key] = true
	}
	out.Forgotten = len(keys)
	folders, err := s.folders()
	for _, f := range folders {
		if l := s.load(f); l != nil && t.sessions[f] == nil {
			out.Conversations++
			out.Turns += l.Turns
		}
	}
	return out, err
}

// Exists reports whether the store has ever kept a document or a tombstone. It returns an error
// if it can't find out.
func (s *Store) Exists() (bool, error) {
	return store.Find(s.in, "")
}

var hashed = regexp.MustCompile(`^-[0-9a-f]{8}/`)

// Of reports whether a document belongs to the session of an agent with the given key. The
// document may be of the session's transcript, or of a conversation with that name.
func Of(p, agent, key string) bool {
	rest, ok := strings.CutPrefix(p, Under(agent)+safe(key))
	return ok && (strings.HasPrefix(rest, "/") || hashed.MatchString(rest))
}
