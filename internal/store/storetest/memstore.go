// Package storetest has a store in memory ([Store]) that fails on demand, for tests.
// [Store.SetFault] makes a write fail, makes it write only a part, or simulates the death of the
// process during the write. [Store.SetUnread] makes reads fail. [Store.Restart] returns the store
// that the next process finds after a kill or a power cut. A power cut may lose, tear and reorder
// unsynced bytes.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Op is a step of a write.
type Op string

const (
	Write       Op = "write"  // writes a whole document that nobody sees yet, or an append
	Patch       Op = "patch"  // in place
	cut         Op = "cut"    // of a journal
	rename      Op = "rename" // gives a name another content, or a content another name
	remove      Op = "remove"
	syncContent Op = "sync"      // syncs a content
	syncNames   Op = "syncnames" // syncs the names in a folder
)

// fault is called before each step with the name that the step changes. An error makes the step
// fail without effect. A [*atomicfile.PartialWrite] does part of the step. [ErrCrash], which may be wrapped,
// makes all later steps fail as well: the process is dead.
type fault func(op Op, name string) error

// ErrCrash is the error of every step after the simulated death of the process.
var ErrCrash = errors.New("the process died")

// Store is a store in memory.
type Store struct {
	*core
	folder string // "" or with a slash at its end
}

var _ store.Disk = (*Store)(nil)

type core struct {
	mu    sync.Mutex // guards the fields below
	names map[string]*node
	// disk holds the names that survive a power cut. changes are the later changes to these
	// names, in order. Each gives names new contents in one step. A nil content removes the name.
	disk    map[string]*node
	changes []map[string]*node
	locks   map[string]int // the number of holders that share it, or -1 for an exclusive holder
	fault   fault
	unread  func(name string) error
	dead    bool
	last    time.Time
}

// node is a content.
type node struct {
	data []byte
	time time.Time
	// The first firm bytes survive a power cut, but a power cut may undo patches that were not
	// synced. old has the bytes from before each of these patches. ghost has bytes after the firm
	// ones that were cut off, and that may come back.
	firm  int
	old   []piece
	ghost []byte
}

type piece struct {
	off  int
	data []byte
}

// New returns an empty store.
func New() *Store {
	return &Store{core: &core{names: map[string]*node{}, disk: map[string]*node{}, locks: map[string]int{}}}
}

// SetFault makes every later step call f and fail with the error of f. With nil, all steps
// succeed.
func (c *core) SetFault(f fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault, c.dead = f, false
}

// SetUnread makes every later Get, Stat, List or other read call f with the name, and return the
// error of f. With nil, all reads succeed.
func (c *core) SetUnread(f func(name string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = f
}

// reads returns an error if a name can't be read. The caller must hold the lock.
func (c *core) reads(name string) error {
	if c.unread == nil {
		return nil
	}
	if err := c.unread(name); err != nil {
		return fmt.Errorf("read memory:%s: %w", name, err)
	}
	return nil
}

// step calls the fault that SetFault installed. The caller must hold the lock.
func (c *core) step(op Op, name string) error {
	if c.dead {
		return fmt.Errorf("%s %s: %w", op, name, ErrCrash)
	}
	if c.fault == nil {
		return nil
	}
	err := c.fault(op, name)
	c.dead = c.dead || errors.Is(err, ErrCrash)
	return err
}

func (c *core) now() time.Time {
	if t := time.Now(); t.After(c.last) {
		c.last = t
	} else {
		c.last = c.last.Add(1)
	}
	return c.last
}

// rename makes a change of names. The caller must hold the lock.
func (c *core) rename(set map[string]*node) {
	apply(c.names, set)
	c.changes = append(c.changes, set)
}

// syncNames makes the changes in a folder durable, and all earlier changes.
func (c *core) syncNames(folder string, st *store.Stats) error {
	if err := c.step(syncNames, folder); err != nil {
		return err
	}
	st.Syncs++
	upto := 0
	for i, ch := range c.changes {
		for n := range ch {
			if path.Dir(n) == folder || strings.HasPrefix(n, folder+"/") {
				upto = i + 1
			}
		}
	}
	apply(c.disk, c.changes[:upto]...)
	c.changes = slices.Delete(c.changes, 0, upto)
	return nil
}

func apply(names map[string]*node, changes ...map[string]*node) {
	for _, ch := range changes {
		for n, v := range ch {
			if v == nil {
				delete(names, n)
			} else {
				names[n] = v
			}
		}
	}
}

// Restart returns the store as the next process finds it, without the locks of the old process.
// If pick is nil, this is after a kill: all names and contents are there, and a later power cut
// may still take unsynced contents. Otherwise it is after a power cut, and pick(n) chooses one of
// n outcomes.
func (s *Store) Restart(pick func(n int) int) *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, names := New(), s.names
	if pick != nil {
		names = maps.Clone(s.disk)
		apply(names, s.changes[:pick(len(s.changes)+1)]...)
	}
	for _, n := range slices.Sorted(maps.Keys(names)) { // so that the order of the calls of pick is always the same
		v := names[n]
		fresh := &node{data: slices.Clone(v.data), time: v.time, firm: v.firm, old: slices.Clone(v.old), ghost: slices.Clone(v.ghost)}
		if pick != nil {
			data := v.afterCut(pick)
			fresh = &node{data: data, time: v.time, firm: len(data)}
		}
		next.names[n], next.disk[n] = fresh, fresh
	}
	return &Store{core: next.core, folder: s.folder}
}

// afterCut returns the content that a power cut leaves.
func (v *node) afterCut(pick func(n int) int) []byte {
	data := slices.Clone(v.data[:v.firm])
	switch tail := v.data[v.firm:]; {
	case len(tail) > 0:
		tail = slices.Clone(tail[:pick(len(tail)+1)])
		if pick(2) == 1 { // the end reached the disk before the beginning
			clear(tail[:pick(len(tail)+1)])
		}
		data = append(data, tail...)
	case pick(2) == 1:
		data = append(data, v.ghost...)
	}
	// The disk has the patches up to a moment. The next patch may be torn.
	kept := pick(len(v.old) + 1)
	for i := len(v.old) - 1; i >= kept; i-- {
		p, done := v.old[i], 0
		if i == kept {
			done = pick(len(p.data) + 1)
		}
		if at := p.off + done; at < len(data) {
			copy(data[at:], p.data[done:])
		}
	}
	return data
}

func (s *Store) name(name string) string {
	return strings.TrimSuffix(path.Join(s.folder, name), "/")
}

// In implements [store.Store].
func (s *Store) In(folder string) store.Store {
	return &Store{core: s.core, folder: path.Join(s.folder, folder)}
}

// Where implements [store.Store].
func (s *Store) Where(name string) string { return "memory:" + s.name(name) }

func (s *Store) find(op, name string) (*node, error) {
	v := s.names[s.name(name)]
	switch {
	case v != nil:
		return v, nil
	case s.isFolder(name) && s.name(name) != "":
		return nil, &fs.PathError{Op: op, Path: s.Where(name), Err: errors.New("is a folder")}
	}
	return nil, &fs.PathError{Op: op, Path: s.Where(name), Err: fs.ErrNotExist}
}

func (s *Store) isFolder(name string) bool {
	in := s.name(name)
	for n := range s.names {
		if in == "" || strings.HasPrefix(n, in+"/") {
			return true
		}
	}
	return false
}

// read returns the node of a name.
func (s *Store) read(op, name string) (*node, error) {
	if err := s.reads(s.name(name)); err != nil {
		return nil, err
	}
	return s.find(op, name)
}

// Get implements [store.Store].
func (s *Store) Get(name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.read("open", name)
	if err != nil {
		return nil, err
	}
	return slices.Clone(v.data), nil
}

// Open implements [store.Store].
func (s *Store) Open(name string) (store.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.read("open", name)
	if err != nil {
		return nil, err
	}
	return reader{s.core, s.name(name), v}, nil
}

// Stat implements [store.Store].
func (s *Store) Stat(name string) (store.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reads(s.name(name)); err != nil {
		return store.Info{}, err
	}
	if s.isFolder(name) {
		return store.Info{Folder: true}, nil
	}
	v, err := s.find("lstat", name)
	if err != nil {
		return store.Info{}, err
	}
	return store.Info{Size: int64(len(v.data)), Time: v.time}, nil
}

// List implements [store.Store].
func (s *Store) List(folder string) ([]store.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.name(folder)
	if err := s.reads(in); err != nil {
		return nil, err
	}
	if in != "" {
		in += "/"
	}
	found := map[string]bool{}
	for n := range s.names {
		if rest, ok := strings.CutPrefix(n, in); ok {
			first, _, deeper := strings.Cut(rest, "/")
			found[first] = deeper
		}
	}
	if len(found) == 0 {
		_, err := s.find("open", folder)
		if err == nil {
			err = &fs.PathError{Op: "open", Path: s.Where(folder), Err: errors.New("is no folder")}
		}
		return nil, err
	}
	var out []store.Entry
	for n, deeper := range found {
		out = append(out, store.Entry{Name: n, Folder: deeper, Info: func() (store.Info, error) { return s.Stat(path.Join(folder, n)) }})
	}
	slices.SortFunc(out, func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Put implements [store.Store].
func (s *Store) Put(how store.Durability, docs ...store.Doc) (store.Stats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var st store.Stats
	for _, d := range docs {
		if err := s.put(how, d, &st); err != nil {
			return st, fmt.Errorf("write %s: %w", s.Where(d.Name), err)
		}
	}
	return st, nil
}

func (s *Store) put(how store.Durability, d store.Doc, st *store.Stats) error {
	at := s.name(d.Name)
	v := s.names[at]
	if how != store.Once || v == nil || len(v.data) != len(d.Data) {
		st.Files++
		st.Bytes += int64(len(d.Data))
		if err := s.step(Write, at); err != nil {
			return err
		}
		v = &node{data: slices.Clone(d.Data), time: s.now()}
		if how != store.Unsynced {
			if err := s.sync(at, v, st); err != nil {
				return err
			}
		}
		if err := s.step(rename, at); err != nil {
			return err
		}
		s.rename(map[string]*node{at: v})
	}
	if how == store.Unsynced || how == store.Once && s.disk[at] == v {
		return nil
	}
	return s.syncNames(path.Dir(at), st)
}

// sync makes a content durable. The caller must hold the lock.
func (c *core) sync(name string, v *node, st *store.Stats) error {
	if err := c.step(syncContent, name); err != nil {
		return err
	}
	st.Syncs++
	v.firm, v.old, v.ghost = len(v.data), nil, nil
	return nil
}

// Move implements [store.Store].
func (s *Store) Move(how store.Durability, from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	set, old, now := map[string]*node{}, s.name(from), s.name(to)
	for n, v := range s.names {
		if rest, ok := strings.CutPrefix(n, old); ok && (rest == "" || rest[0] == '/') {
			set[n], set[now+rest] = nil, v
		}
	}
	if len(set) == 0 {
		return &fs.PathError{Op: "rename", Path: s.Where(from), Err: fs.ErrNotExist}
	}
	if err := s.step(rename, now); err != nil {
		return err
	}
	s.rename(set)
	if how != store.Synced {
		return nil
	}
	return s.syncNames(path.Dir(old), &store.Stats{})
}

// Remove implements [store.Store].
func (s *Store) Remove(how store.Durability, names ...string) (store.Stats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var st store.Stats
	for _, name := range names {
		at, found := s.name(name), false
		for _, n := range slices.Sorted(maps.Keys(s.names)) {
			if n != at && !strings.HasPrefix(n, at+"/") {
				continue
			}
			found = true
			if err := s.step(remove, n); err != nil {
				return st, err
			}
			s.rename(map[string]*node{n: nil})
		}
		if found && how == store.Synced {
			if err := s.syncNames(path.Dir(at), &st); err != nil {
				return st, err
			}
		}
	}
	return st, nil
}

// Tidy implements [store.Store]. It does nothing, because this store leaves no unfinished files.
func (s *Store) Tidy(...string) error { return nil }

// Lock implements [store.Store].
func (s *Store) Lock(name string, share store.Share) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.name(name)
	n := s.locks[at]
	if n < 0 || n > 0 && share == store.Alone {
		return nil, &store.LockedError{Name: s.Where(name), Holder: "this process"}
	}
	if s.locks[at] = n + 1; share == store.Alone {
		s.locks[at] = -1
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.locks[at] = max(s.locks[at]-1, 0)
	}), nil
}

// Begin implements [store.Store].
func (s *Store) Begin(ctx context.Context, folder string, _ bool) (store.Unit, error) {
	return store.LockedUnit(ctx, s, folder)
}

// reader reads a node.
type reader struct {
	*core
	at string
	v  *node
}

func (r reader) ReadAt(p []byte, off int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.reads(r.at); err != nil {
		return 0, err
	}
	n := 0
	if off < int64(len(r.v.data)) {
		n = copy(p, r.v.data[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (r reader) Size() (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.reads(r.at); err != nil {
		return 0, err
	}
	return int64(len(r.v.data)), nil
}

func (r reader) Close() error { return nil }
