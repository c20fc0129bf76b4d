package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// tombFormat is the version of forgotten.json.
//
//	1: first version
const tombFormat = 1

const tombName = "forgotten.json"

// tombFile is forgotten.json. It names the forgotten conversations and holds none of their text.
type tombFile struct {
	Format   int              `json:"format"`
	Sessions map[string]*tomb `json:"sessions"`
	Turns    []string         `json:"turns"`
}

// tomb is the record that remains of a forgotten conversation.
type tomb struct {
	Key    string    `json:"key"`
	Path   string    `json:"path,omitempty"`
	Time   time.Time `json:"time"`
	Reason string    `json:"reason,omitempty"`
}

// tombs are the tombstones: conversations by folder, turns by mark.
type tombs struct {
	sessions map[string]*tomb
	turns    map[string]bool
	// size and mod are the stat of the file when it was read.
	size int64
	mod  time.Time
}

// tombs reads the tombstones. It returns an error if they can't be read, since without them
// forgotten conversations would come back.
func (s *Store) tombs() (*tombs, error) {
	t := &tombs{sessions: map[string]*tomb{}, turns: map[string]bool{}}
	fi, err := s.in.Stat(tombName)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.tomb; c != nil && c.size == fi.Size && c.mod.Equal(fi.Time) {
		return c, nil
	}
	data, err := s.in.Get(tombName)
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	path, f := s.in.Where(tombName), tombFile{}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read tombstones %s: %w: restore the file from a backup; removing it lets forgotten sessions be searched again", path, err)
	}
	if f.Format > tombFormat {
		return nil, fmt.Errorf("read tombstones %s: a newer version wrote it (format %d): update memkernel", path, f.Format)
	}
	maps.Copy(t.sessions, f.Sessions)
	for _, m := range f.Turns {
		t.turns[m] = true
	}
	t.size, t.mod, s.tomb = fi.Size, fi.Time, t
	return t, nil
}

// Forgotten is a conversation that was forgotten or would be forgotten.
type Forgotten struct {
	Agent string `json:"agent"`
	Key   string `json:"key"`
	// Path is the transcript from which the conversation was read. Forget does not change the
	// transcript.
	Path string `json:"path"`
	// Turns counts the turns that could be found.
	Turns int `json:"turns"`

	folder string
}

// Matching lists the conversations of a session key, of all agents, that Forget would forget.
func (s *Store) Matching(key string) (out []Forgotten, err error) {
	folders, err := s.folders()
	for _, f := range folders {
		_, name, _ := strings.Cut(f, "/")
		if l := s.load(f); l != nil && (l.Key == key || name == key) {
			out = append(out, Forgotten{Agent: l.Agent, Key: l.Key, Path: l.Path, Turns: l.Turns, folder: f})
		}
	}
	return out, err
}

// Forget permanently removes the conversations whose session key or folder name is key. own is a
// conversation, named by [Folder], that is forgotten even if it has not been read yet. Forget
// writes the tombstones durably before it removes any document. A later error does not undo the
// forgetting.
func (s *Store) Forget(ctx context.Context, key, own, reason string, now time.Time) (out []Forgotten, err error) {
	err = s.forget(ctx, func(t *tombs) error {
		found, err := s.Matching(key)
		if err != nil {
			return err
		}
		for _, f := range found {
			marks, err := s.marks(f.folder)
			if err != nil {
				return err
			}
			for _, m := range marks {
				t.turns[m] = true
			}
			t.sessions[f.folder] = &tomb{Key: f.Key, Path: f.Path, Time: now, Reason: reason}
		}
		if f := strings.TrimSuffix(strings.TrimPrefix(own, Prefix), "/"); f != "" && t.sessions[f] == nil {
			t.sessions[f] = &tomb{Key: key, Time: now, Reason: reason}
		}
		out = found
		return nil
	})
	return out, err
}

// ForgetTurns removes turns by their text, wherever they are.
func (s *Store) ForgetTurns(ctx context.Context, turns []Turn) error {
	return s.forget(ctx, func(t *tombs) error {
		for i := range turns {
			turns[i].Text = strings.TrimSpace(s.opts.Mask(turns[i].Text))
			t.turns[mark(&turns[i])] = true
		}
		return nil
	})
}

// forget adds tombstones, and then removes the documents.
func (s *Store) forget(ctx context.Context, add func(*tombs) error) error {
	release, err := s.lock(ctx, true)
	if err != nil {
		return err
	}
	defer release()
	if err := s.bury(add); err != nil {
		return err
	}
	return s.unearth()
}

// bury adds tombstones, durably.
func (s *Store) bury(add func(*tombs) error) error {
	t, err := s.tombs()
	if err != nil {
		return err
	}
	next := &tombs{sessions: maps.Clone(t.sessions), turns: maps.Clone(t.turns)}
	if err := add(next); err != nil {
		return err
	}
	turns := slices.AppendSeq([]string{}, maps.Keys(next.turns)) // never null
	slices.Sort(turns)
	data, err := json.Marshal(tombFile{Format: tombFormat, Sessions: next.sessions, Turns: turns})
	if err == nil {
		_, err = s.in.Put(store.Synced, store.Doc{Name: tombName, Data: append(data, '\n')})
	}
	if err != nil {
		return fmt.Errorf("write tombstones: %w", err)
	}
	return nil
}

// unearth removes the documents of forgotten conversations, and of conversations with forgotten
// turns. The other turns of the latter conversations are read again.
func (s *Store) unearth() error {
	t, err := s.tombs()
	if err != nil {
		return err
	}
	folders, err := s.folders()
	for _, f := range folders {
		touched, terr := s.touched(f, t)
		if err = errors.Join(err, terr); t.sessions[f] != nil || touched {
			err = errors.Join(err, s.remove(f))
		}
	}
	return err
}

// touched reports whether a conversation holds turns that were forgotten after its documents were
// last written.
func (s *Store) touched(folder string, t *tombs) (bool, error) {
	l := s.load(folder)
	if len(t.turns) == 0 || l == nil || l.written.After(t.mod) {
		return false, nil
	}
	marks, err := s.marks(folder)
	return slices.ContainsFunc(marks, func(m string) bool { return t.turns[m] }), err
}
