package storetest

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
)

// OpenLog implements [store.Store].
func (s *Store) OpenLog(name string, o store.LogOptions) (store.Log, error) {
	return store.OpenLineLog(s, name, o), nil
}

// Journal implements [store.Disk].
func (s *Store) Journal(name string) (store.Journal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.name(name)
	v := s.names[at]
	if v == nil {
		if err := s.step(rename, at); err != nil {
			return nil, fmt.Errorf("create %s: %w", at, err)
		}
		v = &node{time: s.now()}
		s.rename(map[string]*node{at: v})
		if err := s.syncNames(path.Dir(at), &store.Stats{}); err != nil {
			return nil, fmt.Errorf("create %s: %w", at, err)
		}
	}
	return journal{reader{s.core, at, v}}, nil
}

// journal is a node that is open for appending.
type journal struct{ reader }

func (j journal) Info() (store.Info, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return store.Info{Size: int64(len(j.v.data)), Time: j.v.time}, nil
}

func (j journal) Append(off int64, data []byte, sync bool) (store.Stats, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	st := store.Stats{Files: 1, Bytes: int64(len(data))}
	n, err := j.part(Write, j.at, len(data))
	j.v.data, j.v.time = append(j.v.data, data[:n]...), j.now()
	if err == nil && sync {
		err = j.sync(j.at, j.v, &st)
	}
	if err == nil {
		return st, nil
	}
	err = fmt.Errorf("append to %s: %w", j.at, err)
	if j.cut(off) != nil {
		err = fmt.Errorf("%w: %w", err, atomicfile.ErrTorn)
	}
	return st, err
}

// part returns the number of bytes to write, at most n.
func (c *core) part(op Op, name string, n int) (int, error) {
	err := c.step(op, name)
	if err == nil {
		return n, nil
	}
	if p := (*atomicfile.PartialWrite)(nil); errors.As(err, &p) {
		return min(p.N, n), err
	}
	return 0, err
}

func (j journal) Sync() (st store.Stats, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err = j.sync(j.at, j.v, &st)
	return st, err
}

func (j journal) Cut(size int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.cut(size)
}

func (j journal) cut(size int64) error {
	if err := j.step(cut, j.at); err != nil {
		return err
	}
	if v := j.v; int(size) < v.firm {
		v.ghost = append(slices.Clone(v.data[size:v.firm]), v.ghost...)
		v.firm = int(size)
	}
	j.v.data, j.v.time = j.v.data[:min(int(size), len(j.v.data))], j.now()
	return nil
}

// Patch implements [store.Disk].
func (s *Store) Patch(name string, off int64, data []byte, sync bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.find("open", name)
	if err != nil {
		return err
	}
	at := s.name(name)
	n, err := s.part(Patch, at, len(data))
	end := int(off) + n
	if int(off) < v.firm {
		v.old = append(v.old, piece{int(off), slices.Clone(v.data[off:min(end, v.firm)])})
	}
	if grow := end - len(v.data); grow > 0 {
		v.data = append(v.data, make([]byte, grow)...)
	}
	copy(v.data[off:], data[:n])
	v.time = s.now()
	if err == nil && sync {
		err = s.sync(at, v, &store.Stats{})
	}
	return err
}
