package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	// mod is the time at which the tombstones were written.
	mod time.Time
}

type cachedTombs struct {
	size  int64
	mod   time.Time
	tombs *tombs
}

// tombs reads the tombstones. It returns an error if they can't be read, since without them
// forgotten conversations would come back.
func (s *Store) tombs() (*tombs, error) {
	fi, err := s.in.Stat(tombName)
	if errors.Is(err, fs.ErrNotExist) {
		return &tombs{sessions: map[string]*tomb{}, turns: map[string]bool{}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.tomb; c.tombs != nil && c.size == fi.Size && c.mod.Equal(fi.Time) {
		return c.tombs, nil
	}
	t, err := readTombs(s.in)
	if err != nil {
		return nil, err
	}
	t.mod = fi.Time
	s.tomb = cachedTombs{fi.Size, fi.Time, t}
	return t, nil
}

func readTombs(in store.Store) (*tombs, error) {
	path := in.Where(tombName)
	data, err := in.Get(tombName)
	if err != nil {
		return nil, fmt.Errorf("read tombstones: %w", err)
	}
	var f tombFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read tombstones %s: %w: restore the file from a backup; removing it lets forgotten sessions be searched again", path, err)
	}
	if f.Format > tombFormat {
		return nil, fmt.Errorf("read tombstones %s: a newer version wrote it (format %d): update memkernel", path, f.Format)
	}
	t := &tombs{sessions: f.Sessions, turns: make(map[string]bool, len(f.Turns))}
	if t.sessions == nil {
		t.sessions = map[string]*tomb{}
	}
	for _, m := range f.Turns {
		t.turns[m] = true
	}
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
}

// Matching lists the conversations of a session key, of all agents, that Forget would forget.
func (s *Store) Matching(key string) ([]Forgotten, error) {
	folders, err := s.matching(key)
	if err != nil {
		return nil, err
	}
	out := []Forgotten{}
	for _, f := range folders {
		l := s.load(f)
		out = append(out, Forgotten{Agent: l.Agent, Key: l.Key, Path: l.Path, Turns: l.Turns})
	}
	return out, nil
}

func (s *Store) matching(key string) ([]string, error) {
	folders, err := s.folders()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(folders, func(f string) bool {
		l := s.load(f)
		_, name, _ := strings.Cut(f, "/")
		return l == nil || l.Key != key && name != key
	}), nil
}

// ForgetRequest names the conversations to forget.
type ForgetRequest struct {
	// Key is the conversations' session key, or the name of their folder.
	Key string
	// Folders are conversations, named by [Folder], that are forgotten even if they have not been
	// read yet.
	Folders []string
	Reason  string
	Now     time.Time
}

// Forget removes the conversations of a session key, for good. It writes the tombstones durably
// before it removes any document. A later error does not undo the forgetting.
func (s *Store) Forget(ctx context.Context, req ForgetRequest) ([]Forgotten, error) {
	release, err := s.lock(ctx, true)
	if err != nil {
		return nil, err
	}
	defer release()
	folders, err := s.matching(req.Key)
	if err != nil {
		return nil, err
	}
	out, marks := []Forgotten{}, []string{}
	for _, f := range folders {
		ms, err := s.marks(f)
		if err != nil {
			return nil, err
		}
		marks = append(marks, ms...)
	}
	err = s.bury(func(t *tombs) {
		for _, m := range marks {
			t.turns[m] = true
		}
		for _, f := range folders {
			l := s.load(f)
			t.sessions[f] = &tomb{Key: l.Key, Path: l.Path, Time: req.Now, Reason: req.Reason}
			out = append(out, Forgotten{Agent: l.Agent, Key: l.Key, Path: l.Path, Turns: l.Turns})
		}
		for _, f := range req.Folders {
			f = strings.TrimSuffix(strings.TrimPrefix(f, Prefix), "/")
			if t.sessions[f] == nil {
				t.sessions[f] = &tomb{Key: req.Key, Time: req.Now, Reason: req.Reason}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, s.unearth()
}

// ForgetTurns removes turns by their text, wherever they are.
func (s *Store) ForgetTurns(ctx context.Context, turns []Turn) error {
	release, err := s.lock(ctx, true)
	if err != nil {
		return err
	}
	defer release()
	err = s.bury(func(t *tombs) {
		for i := range turns {
			turns[i].Text = strings.TrimSpace(s.opts.Mask(turns[i].Text))
			t.turns[mark(&turns[i])] = true
		}
	})
	if err != nil {
		return err
	}
	return s.unearth()
}

// bury adds tombstones, durably.
func (s *Store) bury(add func(*tombs)) error {
	t, err := s.tombs()
	if err != nil {
		return err
	}
	next := &tombs{sessions: map[string]*tomb{}, turns: map[string]bool{}}
	for f, b := range t.sessions {
		next.sessions[f] = b
	}
	for m := range t.turns {
		next.turns[m] = true
	}
	add(next)
	f := tombFile{Format: tombFormat, Sessions: next.sessions, Turns: make([]string, 0, len(next.turns))}
	for m := range next.turns {
		f.Turns = append(f.Turns, m)
	}
	slices.Sort(f.Turns)
	data, err := json.Marshal(f)
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
	if len(t.turns) == 0 || s.load(folder) == nil {
		return false, nil
	}
	s.mu.Lock()
	written := s.logs[folder].mod
	s.mu.Unlock()
	if written.After(t.mod) {
		return false, nil
	}
	marks, err := s.marks(folder)
	return slices.ContainsFunc(marks, func(m string) bool { return t.turns[m] }), err
}
