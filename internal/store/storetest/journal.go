package storetest

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/memkernel/memkernel/internal/store"
)

// OpenLog implements [store.Store].
func (s *Store) OpenLog(name string, o store.LogOptions) (store.Log, error) {
	return store.OpenLineLog(s, name, o), nil
}

// Salvage implements [store.Store].
func (s *Store) Salvage(name string, tell func(unit string, done, all int)) ([]store.Record, []store.Lost, error) {
	return store.SalvageLines(s, name, tell)
}

// Reset implements [store.Store].
func (s *Store) Reset(name string, recs []store.Record) ([]string, error) {
	return store.ResetLines(s, name, recs)
}

// Journal implements [store.Disk].
func (s *Store) Journal(name string) store.Journal { return &journal{s: s, at: s.name(name)} }

type journal struct {
	s  *Store
	at string
	v  *node // nil until it is used
}

// use locks the store and finds the content. It makes a missing content if make is set.
func (j *journal) use(make bool) (unlock func(), err error) {
	j.s.mu.Lock()
	defer func() {
		if err != nil {
			j.s.mu.Unlock()
		}
	}()
	if j.v != nil {
		return j.s.mu.Unlock, nil
	}
	if v := j.s.names[j.at]; v != nil {
		j.v = v
		return j.s.mu.Unlock, nil
	}
	if !make {
		_, err := (&Store{core: j.s.core}).find("open", j.at)
		return nil, err
	}
	if err := j.s.step(Rename, j.at); err != nil {
		return nil, fmt.Errorf("create %s: %w", j.at, err)
	}
	v := &node{time: j.s.now()}
	j.s.rename(map[string]*node{j.at: v})
	if err := j.s.syncNames(path.Dir(j.at), &store.Stats{}); err != nil {
		return nil, fmt.Errorf("create %s: %w", j.at, err)
	}
	j.v = v
	return j.s.mu.Unlock, nil
}

func (j *journal) Close() error { j.v = nil; return nil }

func (j *journal) ReadAt(p []byte, off int64) (int, error) {
	unlock, err := j.use(true)
	if err != nil {
		return 0, err
	}
	unlock()
	return (&reader{j.s.core, j.at, j.v}).ReadAt(p, off)
}

func (j *journal) Size() (int64, error) {
	unlock, err := j.use(true)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if err := j.s.reads(j.at); err != nil {
		return 0, err
	}
	return int64(len(j.v.data)), nil
}

func (j *journal) Append(off int64, data []byte, sync bool) (store.Stats, error) {
	st := store.Stats{Files: 1, Bytes: int64(len(data))}
	unlock, err := j.use(true)
	if err != nil {
		return st, err
	}
	defer unlock()
	n, err := j.part(Write, len(data))
	j.v.data, j.v.time = append(j.v.data, data[:n]...), j.s.now()
	if err == nil && sync {
		err = j.s.sync(j.at, j.v, &st)
	}
	if err == nil {
		return st, nil
	}
	err = fmt.Errorf("append to %s: %w", j.at, err)
	if j.cut(off) != nil {
		err = fmt.Errorf("%w: %w", err, store.ErrTorn)
	}
	return st, err
}

// part returns the number of bytes to write, at most n.
func (j *journal) part(op Op, n int) (int, error) {
	err := j.s.step(op, j.at)
	if err == nil {
		return n, nil
	}
	if p := (*Partial)(nil); errors.As(err, &p) {
		return min(p.N, n), err
	}
	return 0, err
}

func (j *journal) Sync() (store.Stats, error) {
	var st store.Stats
	unlock, err := j.use(true)
	if err != nil {
		return st, err
	}
	defer unlock()
	return st, j.s.sync(j.at, j.v, &st)
}

func (j *journal) Cut(size int64) error {
	unlock, err := j.use(true)
	if err != nil {
		return err
	}
	defer unlock()
	return j.cut(size)
}

func (j *journal) cut(size int64) error {
	if err := j.s.step(Cut, j.at); err != nil {
		return err
	}
	if v := j.v; int(size) < v.firm {
		v.ghost = append(slices.Clone(v.data[size:v.firm]), v.ghost...)
		v.firm = int(size)
	}
	j.v.data, j.v.time = j.v.data[:min(int(size), len(j.v.data))], j.s.now()
	return nil
}

func (j *journal) Patch(off int64, data []byte, sync bool) error {
	unlock, err := j.use(false)
	if err != nil {
		return err
	}
	defer unlock()
	n, err := j.part(Patch, len(data))
	v, end := j.v, int(off)+n
	if int(off) < v.firm {
		v.old = append(v.old, piece{int(off), slices.Clone(v.data[off:min(end, v.firm)])})
	}
	if grow := end - len(v.data); grow > 0 {
		v.data = append(v.data, make([]byte, grow)...)
	}
	copy(v.data[off:], data[:n])
	v.time = j.s.now()
	if err == nil && sync {
		err = j.s.sync(j.at, v, &store.Stats{})
	}
	return err
}

func (j *journal) Current() (bool, error) {
	unlock, err := j.use(true)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := j.s.reads(j.at); err != nil {
		return false, err
	}
	return j.s.names[j.at] == j.v, nil
}
