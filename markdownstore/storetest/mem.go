// Package storetest tests that a keeper of a workspace's files behaves as package
// markdownstore requires, and has a keeper in memory that fails on demand. It is for tests
// only, and never reads meaning into a file.
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"sync"
	"testing/fstest"
	"time"

	"github.com/memkernel/memkernel/markdownstore"
)

// ErrKilled is returned to a writer that was killed before its write was synced, and to everybody
// until Restart.
var ErrKilled = errors.New("killed before the write was synced")

// Fault is the failure of one write.
type Fault struct {
	// Refuse is the error with which nothing is written.
	Refuse error
	// Meanwhile runs between the reading of a file and its writing, as another program
	// that takes no lock.
	Meanwhile func()
	// Lose kills the writer before the write is synced. Of an append Torn bytes are
	// left, of anything else nothing.
	Lose bool
	Torn int
}

// Mem is a workspace in memory. It has no links.
type Mem struct {
	// A writer must hold writing.
	writing chan struct{}

	mu sync.Mutex
	// files are replaced and never changed. Sys is a pointer that a file keeps for its life: another
	// file that is put at its path has another one.
	files  fstest.MapFS
	faults []Fault
	killed bool
	clock  time.Time
}

var _ markdownstore.Files = (*Mem)(nil)

// NewMem returns an empty workspace.
func NewMem() *Mem {
	return &Mem{writing: make(chan struct{}, 1), files: fstest.MapFS{}, clock: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
}

// Next gives faults to the writes that follow, one to each.
func (m *Mem) Next(faults ...Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = append(m.faults, faults...)
}

// Restart ends the time after a kill.
func (m *Mem) Restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.killed = false
}

// Put writes a file as another program does: a new one in the place of the old.
func (m *Mem) Put(name, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(name, text, new(int))
}

// set writes a file, at a later time than any before. Requires mu.
func (m *Mem) set(name, text string, file any) {
	m.clock = m.clock.Add(time.Second)
	m.files[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644, ModTime: m.clock, Sys: file}
}

// Text returns a file's current text.
func (m *Mem) Text(name string) (text string, there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[name]
	if f == nil {
		return "", false
	}
	return string(f.Data), true
}

func (m *Mem) Open(name string) (fs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrKilled}
	}
	return m.files.Open(name)
}

func (m *Mem) Lstat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: ErrKilled}
	}
	return m.files.Lstat(name)
}

func (m *Mem) Stat(name string) (fs.FileInfo, error) { return m.Lstat(name) }

func (m *Mem) Resolve(link string) (string, bool, error) {
	i, err := m.Lstat(link)
	return link, err == nil && i.IsDir(), err
}

func (m *Mem) Same(a, b fs.FileInfo) bool { return a.Sys() != nil && a.Sys() == b.Sys() }

// Close does nothing: there may be other stores of these files.
func (m *Mem) Close() error { return nil }

func (m *Mem) Write(ctx context.Context, f func(markdownstore.Writer) error) error {
	select {
	case m.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-m.writing }()
	return f(writer{m})
}

// writer is Mem while it is written to.
type writer struct{ *Mem }

// read returns a file before it is written, with the fault of the write. A missing file has no
// Sys.
func (w writer) read(op, name string) (fstest.MapFile, Fault, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var fault Fault
	if len(w.faults) > 0 {
		fault, w.faults = w.faults[0], w.faults[1:]
	}
	err := fault.Refuse
	if fi, e := w.files.Stat(name); e == nil && fi.IsDir() {
		err = errors.New("is a folder")
	}
	if w.killed {
		err = ErrKilled
	}
	if err != nil {
		return fstest.MapFile{}, fault, &fs.PathError{Op: op, Path: name, Err: err}
	}
	if f := w.files[name]; f != nil {
		return *f, fault, nil
	}
	return fstest.MapFile{}, fault, nil
}

// commit runs f, or kills the writer, after the events that happen meanwhile. f gets the file as
// it is then.
func (w writer) commit(name string, fault Fault, f func(now fstest.MapFile) error) error {
	if fault.Meanwhile != nil {
		fault.Meanwhile()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if fault.Lose {
		w.killed = true
		return ErrKilled
	}
	if now := w.files[name]; now != nil {
		return f(*now)
	}
	return f(fstest.MapFile{})
}

func (w writer) Append(name string, add func(old string) (string, error)) (now string, settled bool, err error) {
	before, fault, err := w.read("append", name)
	if err != nil {
		return "", false, err
	}
	old := string(before.Data)
	block, err := add(old)
	if err != nil || block == "" {
		return old, true, err
	}
	err = w.commit(name, fault, func(f fstest.MapFile) error {
		if f.Sys != before.Sys {
			return nil // it went into a file that has no name any more
		}
		if f.Sys == nil {
			f.Sys = new(int)
		}
		now, settled = string(f.Data)+block, true
		w.set(name, now, f.Sys)
		return nil
	})
	if fault.Lose {
		w.Put(name, old+block[:min(fault.Torn, len(block))])
	}
	return now, settled, err
}

func (w writer) Create(name, text string) error {
	_, fault, err := w.read("create", name)
	if err != nil {
		return err
	}
	return w.commit(name, fault, func(f fstest.MapFile) error {
		if f.Sys != nil {
			return conflict(name, "", f)
		}
		w.set(name, text, new(int))
		return nil
	})
}

func (w writer) Swap(name string, change func(fi fs.FileInfo, old string) (string, error)) error {
	return w.change("swap", name, change, func(text string) { w.set(name, text, new(int)) })
}

func (w writer) Remove(name string, check func(fi fs.FileInfo, old string) error) error {
	decide := func(fi fs.FileInfo, old string) (string, error) { return old + ".", check(fi, old) }
	return w.change("remove", name, decide, func(string) { delete(w.files, name) })
}

// change calls put with the text that decide returns, if that differs from the file's and nothing
// changed the file meanwhile.
func (w writer) change(op, name string, decide func(fi fs.FileInfo, old string) (string, error), put func(text string)) error {
	before, fault, err := w.read(op, name)
	if err != nil {
		return err
	}
	fi, err := w.Lstat(name)
	if err != nil {
		return err
	}
	old := string(before.Data)
	text, err := decide(fi, old)
	if err != nil || text == old {
		return err
	}
	return w.commit(name, fault, func(f fstest.MapFile) error {
		if f.Sys != before.Sys || string(f.Data) != old {
			return conflict(name, hash(old), f)
		}
		put(text)
		return nil
	})
}

// conflict returns the conflict with the file that is there now. No file has no hash.
func conflict(name, want string, now fstest.MapFile) error {
	c := &markdownstore.ConflictError{Path: name, Want: want}
	if now.Sys != nil {
		c.Have = hash(string(now.Data))
	}
	return c
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
