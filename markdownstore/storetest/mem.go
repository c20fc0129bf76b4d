// Package storetest tests that a keeper of a workspace's files behaves as package
// markdownstore requires, and has a keeper in memory that fails on demand. It is for tests
// only, and never reads meaning into a file.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
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

	mu     sync.Mutex
	files  map[string]*file
	faults []Fault
	killed bool
	clock  time.Time
}

// file is one that was put at a path; another one put there is another file.
type file struct {
	text string
	time time.Time
}

var _ markdownstore.Files = (*Mem)(nil)

// NewMem returns an empty workspace.
func NewMem() *Mem {
	return &Mem{writing: make(chan struct{}, 1), files: map[string]*file{}, clock: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
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
	m.files[name] = &file{text, m.tick()}
}

// Text returns a file's current text.
func (m *Mem) Text(name string) (text string, there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[name]
	if f == nil {
		return "", false
	}
	return f.text, true
}

// tick returns a later time than any before. Requires mu.
func (m *Mem) tick() time.Time {
	m.clock = m.clock.Add(time.Second)
	return m.clock
}

// info is the stat of a file or a folder.
type info struct {
	name string
	size int64
	time time.Time
	file *file // nil for a folder
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) ModTime() time.Time         { return i.time }
func (i info) IsDir() bool                { return i.file == nil }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Mode() fs.FileMode {
	if i.file == nil {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

func (m *Mem) look(op, name string) (info, error) {
	if m.killed {
		return info{}, &fs.PathError{Op: op, Path: name, Err: ErrKilled}
	}
	if f := m.files[name]; f != nil {
		return info{path.Base(name), int64(len(f.text)), f.time, f}, nil
	}
	for p := range m.files {
		if name == "." || strings.HasPrefix(p, name+"/") {
			return info{name: path.Base(name)}, nil
		}
	}
	return info{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

func (m *Mem) Lstat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, err := m.look("lstat", name)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (m *Mem) Stat(name string) (fs.FileInfo, error) { return m.Lstat(name) }

func (m *Mem) Resolve(link string) (string, bool, error) {
	i, err := m.Lstat(link)
	return link, err == nil && i.IsDir(), err
}

func (m *Mem) Same(a, b fs.FileInfo) bool {
	x, ok := a.(info)
	y, too := b.(info)
	return ok && too && x.file != nil && x.file == y.file
}

// opened is a file or a folder as it was when it was opened.
type opened struct {
	*bytes.Reader
	info    info
	entries []fs.DirEntry
}

func (o *opened) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *opened) Close() error               { return nil }

func (o *opened) ReadDir(n int) ([]fs.DirEntry, error) {
	if !o.info.IsDir() || n > 0 {
		return nil, &fs.PathError{Op: "readdir", Path: o.info.name, Err: errors.ErrUnsupported}
	}
	return o.entries, nil
}

func (m *Mem) Open(name string) (fs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, err := m.look("open", name)
	if err != nil {
		return nil, err
	}
	o := &opened{info: i, Reader: bytes.NewReader(nil)}
	if i.file != nil {
		o.Reader = bytes.NewReader([]byte(i.file.text))
		return o, nil
	}
	var names []string
	for p := range m.files {
		rest, ok := strings.CutPrefix(p, name+"/")
		if name == "." {
			rest, ok = p, true
		}
		if first, _, _ := strings.Cut(rest, "/"); ok && !slices.Contains(names, first) {
			names = append(names, first)
		}
	}
	for _, n := range names {
		if e, err := m.look("stat", path.Join(name, n)); err == nil {
			o.entries = append(o.entries, e)
		}
	}
	return o, nil
}

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
type writer struct{ m *Mem }

// read returns a file before it is written, nil if there is none, and the fault of the write.
func (w writer) read(op, name string) (*file, Fault, error) {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	var fault Fault
	if len(w.m.faults) > 0 {
		fault, w.m.faults = w.m.faults[0], w.m.faults[1:]
	}
	i, err := w.m.look(op, name)
	switch {
	case w.m.killed:
		return nil, fault, err
	case fault.Refuse != nil:
		return nil, fault, &fs.PathError{Op: op, Path: name, Err: fault.Refuse}
	case err == nil && i.file == nil:
		return nil, fault, &fs.PathError{Op: op, Path: name, Err: errors.New("is a folder")}
	}
	return i.file, fault, nil
}

// commit runs f, or kills the writer, after the events that happen meanwhile.
func (w writer) commit(fault Fault, f func() error) error {
	if fault.Meanwhile != nil {
		fault.Meanwhile()
	}
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if fault.Lose {
		w.m.killed = true
		return ErrKilled
	}
	return f()
}

func (w writer) Append(name string, add func(old string) (string, error)) (now string, settled bool, err error) {
	before, fault, err := w.read("append", name)
	if err != nil {
		return "", false, err
	}
	old := ""
	if before != nil {
		old = before.text
	}
	block, err := add(old)
	if err != nil || block == "" {
		return old, true, err
	}
	err = w.commit(fault, func() error {
		f := w.m.files[name]
		if f != before {
			return nil // it went into a file that has no name any more
		}
		if f == nil {
			f = &file{}
			w.m.files[name] = f
		}
		f.text, f.time, settled = f.text+block, w.m.tick(), true
		now = f.text
		return nil
	})
	if fault.Lose {
		w.m.mu.Lock()
		defer w.m.mu.Unlock()
		w.m.files[name] = &file{old + block[:min(fault.Torn, len(block))], w.m.tick()}
	}
	return now, settled, err
}

func (w writer) Create(name, text string) error {
	_, fault, err := w.read("create", name)
	if err != nil {
		return err
	}
	return w.commit(fault, func() error {
		if f := w.m.files[name]; f != nil {
			return conflict(name, "", f)
		}
		w.m.files[name] = &file{text, w.m.tick()}
		return nil
	})
}

func (w writer) Swap(name string, change func(fi fs.FileInfo, old string) (string, error)) error {
	before, fault, err := w.read("swap", name)
	if err == nil && before == nil {
		err = &fs.PathError{Op: "swap", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	old := before.text
	text, err := change(info{path.Base(name), int64(len(old)), before.time, before}, old)
	if err != nil || text == old {
		return err
	}
	return w.commit(fault, func() error {
		if f := w.m.files[name]; f != before || f.text != old {
			return conflict(name, hash(old), f)
		}
		w.m.files[name] = &file{text, w.m.tick()}
		return nil
	})
}

func (w writer) Remove(name string, check func(fi fs.FileInfo, old string) error) error {
	before, fault, err := w.read("remove", name)
	if err == nil && before == nil {
		err = &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	old := before.text
	if err := check(info{path.Base(name), int64(len(old)), before.time, before}, old); err != nil {
		return err
	}
	return w.commit(fault, func() error {
		if f := w.m.files[name]; f != before || f.text != old {
			return conflict(name, hash(old), f)
		}
		delete(w.m.files, name)
		return nil
	})
}

func conflict(name, want string, now *file) error {
	c := &markdownstore.ConflictError{Path: name, Want: want}
	if now != nil {
		c.Have = hash(now.text)
	}
	return c
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
