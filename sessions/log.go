package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// logFormat is the version of log.json.
//
//	1: first version
const logFormat = 1

const (
	logName = "log.json"
	// marksName is the file of the hashes that identify a conversation's turns, one hash on each
	// line. It is written before the log, and read only when something is forgotten.
	marksName = "marks"
)

// log records how much of a conversation the parts hold. It is written after the parts.
type log struct {
	Format int    `json:"format"`
	Agent  string `json:"agent"`
	Key    string `json:"key"`
	Path   string `json:"path"`
	// Size and ModTime are the size and time of the file when it was last read. Position is the
	// position up to which it was read.
	Size     int64     `json:"size"`
	ModTime  time.Time `json:"mod_time"`
	Position Position  `json:"position"`
	// Prefix is the sha256 of the file up to Position, "" for a conversation with Far.
	Prefix string `json:"prefix"`
	Turns  int    `json:"turns"`
	Parts  []part `json:"parts"`

	// bytes and written are the stat of the log's file when the log was read.
	bytes   int64
	written time.Time
}

// part is a document.
type part struct {
	Name string `json:"name"`
	// Date is the day of the part's turns, YYYY-MM-DD or "".
	Date  string `json:"date,omitempty"`
	Bytes int64  `json:"bytes"`
}

// load reads a conversation's log by its folder, agent/name. It returns nil if the log is missing
// or this version can't read it. The caller then makes a new log.
func (s *Store) load(folder string) *log {
	fi, err := s.in.Stat(folder + "/" + logName)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.logs[folder]; c != nil && c.bytes == fi.Size && c.written.Equal(fi.Time) {
		return c
	}
	data, err := s.in.Get(folder + "/" + logName)
	l := &log{}
	if err != nil || json.Unmarshal(data, l) != nil || l.Format != logFormat {
		return nil
	}
	l.bytes, l.written = fi.Size, fi.Time
	s.logs[folder] = l
	return l
}

// save writes a log, and removes the parts that it doesn't name.
func (s *Store) save(folder string, l *log) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	in := s.in.In(folder)
	if _, err := in.Put(store.Synced, store.Doc{Name: logName, Data: append(data, '\n')}); err != nil {
		return err
	}
	named := map[string]bool{logName: true, marksName: true}
	for _, p := range l.Parts {
		named[p.Name] = true
	}
	entries, err := in.List("")
	for _, e := range entries {
		if !named[e.Name] && !e.Folder {
			_, gone := in.Remove(store.Unsynced, e.Name)
			err = errors.Join(err, gone)
		}
	}
	return err
}

// marks returns the hashes of a conversation's turns.
func (s *Store) marks(folder string) ([]string, error) {
	data, err := s.in.Get(folder + "/" + marksName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read marks of turns: %w", err)
	}
	return strings.Fields(string(data)), nil
}

// folders lists the conversations that have a folder, as agent/name.
func (s *Store) folders() ([]string, error) {
	agents, err := s.in.List("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	var out []string
	for _, a := range agents {
		if !a.Folder {
			continue
		}
		names, err := s.in.List(a.Name)
		if err != nil {
			return nil, fmt.Errorf("list conversations: %w", err)
		}
		for _, n := range names {
			if n.Folder {
				out = append(out, a.Name+"/"+n.Name)
			}
		}
	}
	return out, nil
}

// remove deletes a conversation's documents, beginning with the log.
func (s *Store) remove(folder string) error {
	if _, err := s.in.Remove(store.Unsynced, folder+"/"+logName, folder); err != nil {
		return fmt.Errorf("remove documents: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logs, folder)
	return nil
}
