package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// logFormat is the version of log.json.
//
//	1: first version
const logFormat = 1

const (
	logName = "log.json"
	// marksName has what a conversation's turns are known again by, one to a line. It
	// is written before the log, and read only where something is forgotten.
	marksName = "marks"
)

// log says what of a conversation stands in parts. It is written behind them.
type log struct {
	Format int    `json:"format"`
	Agent  string `json:"agent"`
	Key    string `json:"key"`
	Path   string `json:"path"`
	// Size and ModTime are the file's when it was last read, Position how far.
	Size     int64     `json:"size"`
	ModTime  time.Time `json:"mod_time"`
	Position Position  `json:"position"`
	// Prefix is the sha256 of the file up to Position.
	Prefix string `json:"prefix"`
	Turns  int    `json:"turns"`
	Parts  []part `json:"parts"`
}

// part is a document.
type part struct {
	Name string `json:"name"`
	// Date is the day of its turns, YYYY-MM-DD or "".
	Date  string `json:"date,omitempty"`
	Bytes int64  `json:"bytes"`
}

// cachedLog is a log as it was read when its file had this stat.
type cachedLog struct {
	size int64
	mod  time.Time
	log  *log
}

// load reads a conversation's log by its folder, agent/name; nil if there is none,
// or none that this version can read: it is then made anew.
func (s *Store) load(folder string) *log {
	fi, err := s.in.Stat(folder + "/" + logName)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	c := s.logs[folder]
	s.mu.Unlock()
	if c.log != nil && c.size == fi.Size() && c.mod.Equal(fi.ModTime()) {
		return c.log
	}
	data, err := s.in.ReadFile(folder + "/" + logName)
	l := &log{}
	if err != nil || json.Unmarshal(data, l) != nil || l.Format != logFormat {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs[folder] = cachedLog{fi.Size(), fi.ModTime(), l}
	return l
}

// save writes a log, and removes the parts that it doesn't name.
func (s *Store) save(folder string, l *log) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	dir := s.in.Sub(folder)
	if _, err := dir.WriteFile(logName, append(data, '\n'), 0o600); err != nil {
		return err
	}
	named := map[string]bool{logName: true, marksName: true}
	for _, p := range l.Parts {
		named[p.Name] = true
	}
	entries, err := dir.ReadDir("")
	for _, e := range entries {
		if !named[e.Name()] && !e.IsDir() {
			err = errors.Join(err, os.Remove(dir.Path(e.Name())))
		}
	}
	return err
}

// marks are those of a conversation's turns.
func (s *Store) marks(folder string) ([]string, error) {
	data, err := s.in.ReadFile(folder + "/" + marksName)
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
	agents, err := s.in.ReadDir("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	var out []string
	for _, a := range agents {
		if !a.IsDir() {
			continue
		}
		names, err := s.in.ReadDir(a.Name())
		if err != nil {
			return nil, fmt.Errorf("list conversations: %w", err)
		}
		for _, n := range names {
			if n.IsDir() {
				out = append(out, a.Name()+"/"+n.Name())
			}
		}
	}
	return out, nil
}

// remove takes a conversation's documents away, the log first.
func (s *Store) remove(folder string) error {
	at, err := s.in.Check(folder)
	if err != nil {
		return fmt.Errorf("remove documents: %w", err)
	}
	if err := os.Remove(filepath.Join(at, logName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove documents: %w", err)
	}
	if err := os.RemoveAll(at); err != nil {
		return fmt.Errorf("remove documents: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logs, folder)
	return nil
}

// hashPrefix is the sha256 of a file's first n bytes in hex; short is false if it
// has fewer.
func hashPrefix(path string, n int64) (sum string, enough bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	h := sha256.New()
	got, err := io.CopyN(h, f, n)
	if err == io.EOF {
		return "", false, nil
	}
	return hex.EncodeToString(h.Sum(nil)), got == n, err
}

// linesFrom counts the lines of a file from an offset on.
func linesFrom(path string, offset, size int64) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, io.NewSectionReader(f, offset, size-offset)); err != nil {
		return 0, err
	}
	return strings.Count(b.String(), "\n"), nil
}
