// Package moving moves the state of a workspace from one store to another: documents, blobs and
// the records of logs. It opens no session, and does not interpret what it moves. Locks, traces,
// unfinished files and the heads of logs in files stay behind.
package moving

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Options select how a move works.
type Options struct {
	// Names are the documents and folders that move.
	Names []string
	// Also, if not nil, moves what belongs to the state and is in no store. It is called before
	// the target can be opened.
	Also func() error
	// RemoveSource removes the names from the source as soon as all of them are in the target.
	RemoveSource bool
	// Wait is how long to wait for programs that use either store. A database ends the lock of a
	// program that was killed only after a time.
	Wait time.Duration
	// Progress is called with the progress.
	Progress func(what string, done, all int)
}

// Report is the outcome of a move.
type Report struct {
	// From is the source, and To is the target.
	From, To string
	// Documents counts the documents and logs in the target. Copied counts those that this move
	// wrote.
	Documents, Copied int
	// Bytes is the total size of the documents and of the records in the source.
	Bytes int64
	// Removed: the state was removed from the source.
	Removed bool
}

// Move copies all documents and logs of the store from into the store to, reads all of them again
// and compares them. Only then it removes them. An interrupted move leaves the source unchanged,
// and no kernel opens its target. The next move continues the copy.
func Move(ctx context.Context, from, to store.Store, o Options) (*Report, error) {
	r, err := move(ctx, from, to, o)
	if err != nil {
		return nil, fmt.Errorf("move the state: %w", err)
	}
	return r, nil
}

func move(ctx context.Context, from, to store.Store, o Options) (*Report, error) {
	r := &Report{From: from.Where(""), To: to.Where("")}
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
	if err := begin(from, to, have, there); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(have))
	for len(names) > r.Documents {
		if err := folder(ctx, from, to, names, there, r, o.Progress); err != nil {
			return nil, err
		}
	}
	for name := range there { // of a move that began when the source had more
		if _, ok := have[name]; !ok {
			if _, err := to.Remove(store.Synced, name); err != nil {
				return nil, err
			}
		}
	}
	for i, name := range names {
		o.Progress("comparing", i, len(names))
		r.Bytes += have[name]
		if same, err := alike(from, to, name, false); err != nil || ctx.Err() != nil {
			return nil, cmp.Or(err, ctx.Err())
		} else if !same {
			return nil, fmt.Errorf("%s is not what %s is after it was copied: nothing was removed; run it again, and look after the target's disk if that does not help", to.Where(name), from.Where(name))
		}
	}
	if o.Also != nil {
		if err := o.Also(); err != nil {
			return nil, err
		}
	}
	if _, err := to.Remove(store.Synced, store.MoveMark); err != nil {
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
// and present holders by the lock of each folder. A database has no locks of folders. Callers must
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
	for _, name := range [...]string{store.SessionsLock, store.BlobsLock, "nightly.lock"} {
		r, err := take(name)
		if err != nil {
			return release, err
		}
		held = append(held, r)
	}
	for _, name := range [...]string{"sessions", "project"} {
		err := store.Walk(s.In(name), func(at string, _ store.Entry) error {
			if path.Base(at) != "lock" {
				return nil
			}
			r, err := take(path.Join(name, at))
			if err == nil {
				r() // no process takes this lock while we hold the lock of all sessions
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return release, err
		}
	}
	return release, nil
}

// listed returns the documents and logs under some names, with their sizes.
func listed(s store.Store, names []string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, name := range names {
		info, err := s.Stat(name)
		if err == nil && !info.Folder && path.Ext(name) != ".head" {
			out[name] = info.Size
		}
		if err == nil && info.Folder {
			err = store.Walk(s.In(name), func(at string, e store.Entry) error {
				switch base := path.Base(at); {
				case base == "lock", path.Ext(base) == ".lock", path.Ext(base) == ".head", base[0] == '.', path.Dir(at) == "tmp", base == "trace.jsonl", base == "trace.1.jsonl":
					return nil
				}
				i, err := e.Info()
				if err == nil {
					out[path.Join(name, at)] = i.Size
				}
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				return err
			})
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return out, nil
}

// begin marks the target. It refuses a target that has something which did not come from the
// source.
func begin(from, to store.Store, have, there map[string]int64) error {
	was, half := store.HalfMoved(to)
	switch {
	case store.OutOfReach(half):
		return half
	case was != "" && was != from.Where(""):
		return fmt.Errorf("%s has a part of what %s has: move that first, or name another target", to.Where(""), was)
	case half == nil:
		for _, name := range slices.Sorted(maps.Keys(there)) {
			_, same := have[name]
			if same {
				var err error
				if same, err = alike(from, to, name, true); err != nil {
					return err
				}
			}
			if !same {
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

// most is how many bytes are collected before they are written.
const most = 16 << 20

// folder copies the next names, which the target writes as one unit: those of one folder of a
// session, or of none.
func folder(ctx context.Context, from, to store.Store, names []string, there map[string]int64, r *Report, progress func(string, int, int)) (err error) {
	at := unitOf(names[r.Documents])
	sync := func() error { return nil }
	if _, files := to.(store.Disk); !files { // the locks of files are held already
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
	for collected := int64(0); r.Documents < len(names) && unitOf(names[r.Documents]) == at; r.Documents++ {
		progress("moving", r.Documents, len(names))
		if err := ctx.Err(); err != nil {
			return err
		}
		name := names[r.Documents]
		_, old := there[name]
		if old {
			if same, err := alike(from, to, name, false); err != nil {
				return err
			} else if same {
				continue
			}
		}
		r.Copied++
		if isLog(name) {
			if err := copyLog(from, to, name, sync); err != nil {
				return err
			}
			continue
		}
		data, err := from.Get(name)
		if err == nil {
			_, err = to.Put(store.Synced, store.Doc{Name: name, Data: data})
		}
		if collected += int64(len(data)); err == nil && collected > most {
			collected, err = 0, sync()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unitOf returns the folder of the unit that writes a name.
func unitOf(name string) string {
	parts := strings.Split(name, "/")
	switch {
	case parts[0] == "project":
		return "project"
	case len(parts) > 2 && (parts[0] == "sessions" || parts[0] == "ended"):
		return parts[0] + "/" + parts[1]
	}
	return ""
}

// isLog reports whether a name is one of a log.
func isLog(name string) bool {
	at := unitOf(name)
	switch strings.TrimPrefix(name, at+"/") {
	case "journal.jsonl", "projection.jsonl", "usage.jsonl":
		return at != ""
	}
	return name == "ended.jsonl"
}

// openLog opens a log and reads it to its end.
func openLog(s store.Store, name string, write bool) (store.Log, error) {
	derived := path.Base(name) == "projection.jsonl" || path.Base(name) == "usage.jsonl"
	l, err := s.OpenLog(name, store.LogOptions{ReadOnly: !write, Derived: derived})
	if err != nil {
		return nil, err
	}
	if err := l.Read(func(store.Record) error { return nil }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// copyLog appends to the target's log the records that it lacks. A target with other records is of
// a move that began when the source had them; it loses them.
func copyLog(from, to store.Store, name string, sync func() error) error {
	src, err := openLog(from, name, false)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := openLog(to, name, true)
	if err != nil {
		return err
	}
	defer dst.Close()
	begins, err := beginsWith(src, dst)
	if err == nil && !begins {
		err = dst.Replace(func(func(store.Record, error) bool) {})
	}
	if err != nil {
		return err
	}
	var recs []store.Record
	skip, collected := dst.Len(), 0
	for r, err := range src.Records() {
		if skip--; err == nil && skip >= 0 {
			continue
		}
		if recs, collected = append(recs, r), collected+len(r.Body); err == nil && collected > most {
			if _, err = dst.Append(true, recs...); err == nil {
				err = sync()
			}
			recs, collected = nil, 0
		}
		if err != nil {
			return err
		}
	}
	_, err = dst.Append(true, recs...)
	return err
}

// alike reports whether the target has under a name what the source has. With part, the source's
// log may have more records.
func alike(from, to store.Store, name string, part bool) (bool, error) {
	if !isLog(name) {
		a, err := from.Get(name)
		if err != nil {
			return false, err
		}
		b, err := to.Get(name)
		return err == nil && bytes.Equal(a, b), err
	}
	src, err := openLog(from, name, false)
	if err != nil {
		return false, err
	}
	defer src.Close()
	dst, err := openLog(to, name, false)
	if err != nil {
		return false, err
	}
	defer dst.Close()
	if !part && src.Len() != dst.Len() {
		return false, nil
	}
	return beginsWith(src, dst)
}

// beginsWith reports whether a log begins with the records of another.
func beginsWith(src, dst store.Log) (bool, error) {
	next, stop := iter.Pull2(src.Records())
	defer stop()
	for b, err := range dst.Records() {
		a, err2, ok := next()
		if err := cmp.Or(err, err2); err != nil {
			return false, err
		}
		if !ok || a.Op != b.Op || a.ID != b.ID || !a.Time.Equal(b.Time) || !bytes.Equal(a.Body, b.Body) {
			return false, nil
		}
	}
	return true, nil
}
