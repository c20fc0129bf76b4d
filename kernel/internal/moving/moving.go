// Package moving moves the state of a workspace from one store to another. It moves everything
// that a kernel keeps in the store, except data that belongs to a machine. It opens no session,
// and does not interpret the moved data.
package moving

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/trace"
)

// Marker is a file in the target until the move is complete. A kernel does not open a target with
// this file.
const Marker = "moving.json"

// markerFormat is the version of the marker.
//
//	1: first version
const markerFormat = 1

type marker struct {
	Format int       `json:"format"`
	From   string    `json:"from"`
	Begun  time.Time `json:"begun"`
}

// Half returns an error if a store is the target of an interrupted move.
func Half(s store.Store) error {
	data, err := s.Get(Marker)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var m marker
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("read %s: %w; 'memkernel-server migrate --state' writes it anew", s.Where(Marker), err)
	}
	return fmt.Errorf("%s has a part of what %s has: a move was cut short; run 'memkernel-server migrate --state' again, which goes on there", s.Where(""), m.From)
}

// Options select how a move works.
type Options struct {
	// Names are the documents and folders that move.
	Names []string
	// RemoveSource removes the documents from the source when all of them are in the target.
	RemoveSource bool
	// Wait is how long a move waits for a writer.
	Wait     time.Duration
	Progress func(what string, done, all int)
	Now      time.Time
}

// Move copies all documents of the store from into the store to, and compares all documents by
// hash. Only then it removes documents.
func Move(ctx context.Context, from, to store.Store, o Options) (*api.MoveReport, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	r := &api.MoveReport{From: from.Where(""), To: to.Where("")}
	if r.From == r.To {
		return nil, fmt.Errorf("%s can't be moved to itself", r.From)
	}
	if err := Half(from); err != nil {
		return nil, err
	}
	for _, s := range []store.Store{from, to} {
		release, err := alone(ctx, s, o.Wait)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	have, err := listed(from, o.Names)
	if err != nil {
		return nil, err
	}
	if err := begin(from, to, have, o); err != nil {
		return nil, err
	}
	names := sorted(have)
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.Progress("moving", i, len(names))
		copied, n, err := one(from, to, name, have[name])
		if err != nil {
			return nil, err
		}
		r.Documents++
		r.Bytes += n
		if copied {
			r.Copied++
		}
	}
	there, err := listed(to, o.Names)
	if err != nil {
		return nil, err
	}
	for name := range there { // of a move that began when the source had more
		if _, ok := have[name]; !ok {
			if _, err := to.Remove(store.Synced, name); err != nil {
				return nil, err
			}
		}
	}
	// A copied document is read back, because the target's content counts and not the bytes that
	// were sent.
	for i, name := range names {
		o.Progress("comparing", i, len(names))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if same, err := equal(from, to, name); err != nil {
			return nil, err
		} else if !same {
			return nil, fmt.Errorf("%s is not what %s is after it was copied: nothing was removed; run it again, and look after the target's disk if that does not help", to.Where(name), from.Where(name))
		}
	}
	if _, err := to.Remove(store.Synced, Marker); err != nil {
		return nil, err
	}
	if o.RemoveSource {
		for i, name := range o.Names {
			o.Progress("removing", i, len(o.Names))
			if _, err := from.Remove(store.Synced, name); err != nil {
				return nil, err
			}
		}
		r.Removed = true
	}
	return r, nil
}

// alone keeps all processes from writing: new holders by the locks of all sessions and all blobs,
// and present holders by the lock of each session.
func alone(ctx context.Context, s store.Store, wait time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var held []func()
	release = func() {
		for _, r := range slices.Backward(held) {
			r()
		}
	}
	take := func(in store.Store, name string) (func(), error) {
		r, err := store.Wait(ctx, in, name, store.Alone)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s is in use: end the programs that use %s, and run it again; in a database one that was killed counts until its lock ends", in.Where(name), s.Where(""))
		}
		return r, err
	}
	for _, name := range []string{store.SessionsLock, store.BlobsLock, "nightly.lock"} {
		r, err := take(s, name)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, r)
	}
	names, err := folder.AllAndProject(s)
	if err != nil {
		release()
		return nil, err
	}
	for _, name := range names {
		var r func()
		if r, err = take(folder.In(s, name), folder.LockFile); err != nil {
			break
		}
		r() // no process takes this lock while we hold the lock of all sessions
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// listed returns the documents under some names, with their sizes. It leaves out locks, and
// traces, which stay on their machine.
func listed(s store.Store, names []string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, name := range names {
		info, err := s.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.Folder {
			out[name] = info.Size
			continue
		}
		err = store.Walk(s.In(name), func(at string, e store.Entry) error {
			switch base := path.Base(at); {
			case base == folder.LockFile, path.Ext(base) == ".lock", path.Dir(at) == "tmp", base == trace.File, base == trace.OldFile:
				return nil
			}
			i, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			out[path.Join(name, at)] = i.Size
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return out, nil
}

func sorted(docs map[string]int64) []string {
	out := make([]string, 0, len(docs))
	for name := range docs {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// begin marks the target. It refuses a target that has a document which did not come from the
// source.
func begin(from, to store.Store, have map[string]int64, o Options) error {
	var m marker
	data, err := to.Get(Marker)
	switch {
	case err == nil:
		if err := json.Unmarshal(data, &m); err != nil || m.From == from.Where("") {
			break
		}
		return fmt.Errorf("%s has a part of what %s has: move that first, or name another target", to.Where(""), m.From)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		there, err := listed(to, o.Names)
		if err != nil {
			return err
		}
		for _, name := range sorted(there) {
			same := false
			if size, ok := have[name]; ok && size == there[name] {
				if same, err = equal(from, to, name); err != nil {
					return err
				}
			}
			if !same {
				return fmt.Errorf("%s has state of its own, as %s: name an empty target, or move what it has elsewhere first", to.Where(""), name)
			}
		}
	}
	data, err = json.Marshal(marker{markerFormat, from.Where(""), o.Now.UTC()})
	if err == nil {
		_, err = to.Put(store.Synced, store.Doc{Name: Marker, Data: append(data, '\n')})
	}
	return err
}

// one copies a document that the target does not have.
func one(from, to store.Store, name string, size int64) (copied bool, n int64, err error) {
	if info, err := to.Stat(name); err == nil && info.Size == size {
		same, err := equal(from, to, name)
		if same || err != nil {
			return false, size, err
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, 0, err
	}
	data, err := from.Get(name)
	if err != nil {
		return false, 0, err
	}
	_, err = to.Put(store.Synced, store.Doc{Name: name, Data: data})
	return true, int64(len(data)), err
}

// equal reports whether both stores have the same content under a name.
func equal(a, b store.Store, name string) (bool, error) {
	x, err := hash(a, name)
	if err != nil {
		return false, err
	}
	y, err := hash(b, name)
	return err == nil && bytes.Equal(x, y), err
}

func hash(s store.Store, name string) ([]byte, error) {
	r, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	size, err := r.Size()
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, io.NewSectionReader(r, 0, size), make([]byte, 1<<20)); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Where(name), err)
	}
	return sum.Sum(nil), nil
}
