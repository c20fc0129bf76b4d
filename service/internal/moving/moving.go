// Package moving moves the state of a workspace from one store to another: documents, blobs and the
// records of logs. It opens no session, and does not interpret the contents. It does not move
// locks, unfinished files, or the heads of logs in files.
package moving

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// Options select how a move works.
type Options struct {
	// Names are the documents and folders that move.
	Names []string
	// RemoveSource removes the names from the source as soon as all of them are in the target.
	RemoveSource bool
	// Wait is how long to wait for programs that use either store. A database ends the lock of a
	// killed program only after a time.
	Wait time.Duration
	// Progress is called with the progress.
	Progress func(what string, done, all int)
}

// Report is the outcome of a move.
type Report struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Documents is the number of documents in the target.
	Documents int `json:"documents"`
	// Copied is the number of these documents that were not in the target before.
	Copied  int   `json:"copied"`
	Bytes   int64 `json:"bytes"`
	Removed bool  `json:"removed"`
}

// Move copies the documents and logs named by [Options.Names] from the store from into the store to.
// It then reads all of them again and compares them. With [Options.RemoveSource] it finally removes
// them from the source. An interrupted copy leaves the source unchanged, and no kernel opens its
// target. The next move continues the copy.
func Move(ctx context.Context, from, to store.Store, o Options) (r *Report, err error) {
	defer func() {
		if err != nil {
			r, err = nil, fmt.Errorf("move the state: %w", err)
		}
	}()
	r = &Report{From: from.Where(""), To: to.Where("")}
	if r.From == r.To {
		return nil, fmt.Errorf("%s can't be moved to itself", r.From)
	}
	if _, err := store.HalfMoved(from); err != nil {
		return nil, err
	}
	for _, s := range [...]store.Store{from, to} {
		release, err := alone(ctx, s, o.Wait)
		defer release()
		if err != nil {
			return nil, err
		}
	}
	have, err := listed(from, o.Names)
	if err != nil {
		return nil, err
	}
	there, err := listed(to, o.Names)
	if err != nil {
		return nil, err
	}
	if err := begin(from, to, there); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(have))
	for r.Documents < len(names) {
		if err := folder(ctx, from, to, names, have, there, r, o.Progress); err != nil {
			return nil, err
		}
	}
	for name := range there { // names that the source lost since an earlier move began
		if _, ok := have[name]; !ok {
			if _, err := to.Remove(store.Synced, name); err != nil {
				return nil, err
			}
		}
	}
	for i, name := range names {
		o.Progress("comparing", i, len(names))
		r.Bytes += have[name]
		whole, _, err := one(from, to, name, true, nil)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if !whole {
			return nil, fmt.Errorf("%s is not what %s is after it was copied: nothing was removed; run it again, and look after the target's disk if that does not help", to.Where(name), from.Where(name))
		}
	}
	if _, err := to.Remove(store.Synced, store.MoveMark); err != nil || !o.RemoveSource {
		return r, err
	}
	r.Removed = true
	_, err = from.Remove(store.Synced, o.Names...)
	return r, err
}

// alone keeps all other processes from writing. It takes the locks of all sessions, of the nightly
// run and of all blobs, so that no process can begin to write. It then waits for the lock of each
// folder, until the present writers have ended. A database has no locks of folders. Callers must
// call release even after an error.
func alone(ctx context.Context, s store.Store, wait time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var held []func()
	release = func() {
		for _, r := range slices.Backward(held) {
			r()
		}
	}
	take := func(name string) (func(), error) {
		r, err := store.Wait(ctx, s, name, store.Alone)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s is in use: end the programs that use %s, and run it again; in a database one that was killed counts until its lock ends", s.Where(name), s.Where(""))
		}
		return r, err
	}
	locks := []string{store.SessionsLock, "nightly.lock"}
	if _, files := s.(store.Disk); files { // a database would refuse blobs of this process too
		locks = append(locks, store.BlobsLock)
	}
	for _, name := range locks {
		r, err := take(name)
		if err != nil {
			return release, err
		}
		held = append(held, r)
	}
	return release, walk(s, func(at string, _ store.Entry) error {
		if path.Base(at) != "lock" {
			return nil
		}
		r, err := take(at)
		if err == nil {
			r() // no process takes this lock while we hold the lock of all sessions
		}
		return err
	})
}

// walk is store.Walk for a store that may be missing.
func walk(s store.Store, f func(string, store.Entry) error) error {
	if err := store.Walk(s, f); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// listed returns the documents and logs under some names, with their sizes.
func listed(s store.Store, names []string) (map[string]int64, error) {
	out := map[string]int64{}
	return out, walk(s, func(at string, e store.Entry) error {
		first, _, _ := strings.Cut(at, "/")
		switch base := path.Base(at); {
		case !slices.Contains(names, first), base == "lock", path.Ext(base) == ".lock", path.Ext(base) == ".head", base[0] == '.', path.Base(path.Dir(at)) == "tmp":
			return nil
		}
		i, err := e.Info()
		if err == nil {
			out[at] = i.Size
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// begin marks the target. It refuses a target with contents that did not come from the source.
func begin(from, to store.Store, there map[string]int64) error {
	was, half := store.HalfMoved(to)
	switch {
	case store.OutOfReach(half):
		return half
	case was != "" && was != from.Where(""):
		return fmt.Errorf("%s has a part of what %s has: move that first, or name another target", to.Where(""), was)
	case half == nil:
		for _, name := range slices.Sorted(maps.Keys(there)) {
			_, part, err := one(from, to, name, true, nil)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if !part {
				return fmt.Errorf("%s has state of its own, as %s: name an empty target, or move what it has elsewhere first", to.Where(""), name)
			}
		}
	}
	mark, err := store.NewMoveMark(from.Where(""), time.Now())
	if err == nil {
		_, err = to.Put(store.Synced, store.Doc{Name: store.MoveMark, Data: mark})
	}
	return err
}

// most is how many bytes of contents folder collects before it writes them.
const most = 16 << 20

// folder copies the next names, which the target writes as one unit: the names in one session's
// folder, or names outside of sessions.
func folder(ctx context.Context, from, to store.Store, names []string, have, there map[string]int64, r *Report, progress func(string, int, int)) (err error) {
	at, _ := rows.Place(names[r.Documents])
	sync := func() error { return nil }
	if _, files := to.(store.Disk); !files { // in files, alone holds the locks already
		u, err := to.Begin(ctx, at, false)
		if err != nil {
			return err
		}
		sync = u.Sync
		defer func() {
			end := u.End()
			err = cmp.Or(err, end)
		}()
	}
	for collected := int64(0); r.Documents < len(names); r.Documents++ {
		name := names[r.Documents]
		if in, _ := rows.Place(name); in != at {
			return nil
		}
		progress("moving", r.Documents, len(names))
		if err := ctx.Err(); err != nil {
			return err
		}
		_, old := there[name]
		whole, _, err := one(from, to, name, old, sync)
		if collected += have[name]; err == nil && collected > most {
			collected, err = 0, sync()
		}
		if err != nil {
			return err
		}
		if !whole {
			r.Copied++
		}
	}
	return nil
}

// one reports whether the target has the source's whole content of a name, and whether it has a
// part of it: a log may have fewer records. old says whether the target has the name. With sync,
// one then copies the missing part. If the contents differ, the source has changed since an earlier
// move began.
func one(from, to store.Store, name string, old bool, sync func() error) (whole, part bool, err error) {
	if _, log := rows.Place(name); log {
		return oneLog(from, to, name, sync)
	}
	data, err := from.Get(name)
	if err == nil && old {
		var now []byte
		now, err = to.Get(name)
		whole = bytes.Equal(data, now)
	}
	if err == nil && sync != nil && !whole {
		_, err = to.Put(store.Synced, store.Doc{Name: name, Data: data})
	}
	return whole, whole, err
}

// oneLog does the same as one, for a log.
func oneLog(from, to store.Store, name string, sync func() error) (whole, part bool, err error) {
	_, recs, err := records(from, name, false)
	if err != nil {
		return false, false, err
	}
	dst, old, err := records(to, name, sync != nil)
	if sync != nil && errors.As(err, new(*store.LogError)) { // a kill tore the copy, and the source still has the whole log
		if _, err = to.Remove(store.Synced, name); err == nil {
			dst, old, err = records(to, name, true)
		}
	}
	if err != nil {
		return false, false, err
	}
	part = len(recs) >= len(old) && slices.EqualFunc(recs[:len(old)], old, func(a, b store.Record) bool {
		return a.Op == b.Op && a.ID == b.ID && a.Time.Equal(b.Time) && bytes.Equal(a.Body, b.Body)
	})
	if whole = part && len(recs) == len(old); whole || sync == nil {
		return whole, part, nil
	}
	if !part {
		old = nil
		err = dst.Replace(func(func(store.Record, error) bool) {})
	}
	for some := range slices.Chunk(recs[len(old):], 1000) {
		if err == nil {
			_, err = dst.Append(true, some...)
		}
		if err == nil {
			err = sync()
		}
	}
	return whole, part, err
}

// records opens a log and reads it to its end.
func records(s store.Store, name string, write bool) (l store.Log, recs []store.Record, err error) {
	base := path.Base(name)
	l, err = s.OpenLog(name, store.LogOptions{ReadOnly: !write, Derived: base == "projection.jsonl" || base == "usage.jsonl"})
	if err != nil {
		return nil, nil, err
	}
	err = l.Read(func(r store.Record) error {
		recs = append(recs, r)
		return nil
	})
	return l, recs, err
}
