package rows

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
)

// notThere returns the error for a missing name.
func (c *core) notThere(op, at string) error {
	return &fs.PathError{Op: op, Path: c.where(at), Err: fs.ErrNotExist}
}

func isNotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// within runs f with the open unit of a folder, or with one of its own.
func (s *Store) within(folder string, f func() error) error {
	if u := s.core.folder(folder).open(); u != nil {
		return f()
	}
	u, err := (&Store{core: s.core}).Begin(context.Background(), folder, false)
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		_ = u.(*unit).drop(err)
		return err
	}
	return u.End()
}

// open returns the open unit, or nil.
func (f *folder) open() *unit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unit
}

// drop ends a unit without its writes.
func (u *unit) drop(why error) error {
	u.f.mu.Lock()
	u.fail(why)
	u.f.mu.Unlock()
	return u.End()
}

// collected returns the document of a place from an open unit. known is false if the server must be
// asked.
func (s *Store) collected(p place) (d doc, there, known bool) {
	u := s.writing(p)
	if u == nil {
		return d, false, false
	}
	defer u.f.mu.Unlock()
	if w, ok := u.puts[p.at]; ok {
		return doc{size: int64(len(w.data)), data: some(w.data), written: w.written}, true, true
	}
	if hash := p.blob(); hash != "" {
		data, ok := u.blobs[hash]
		return doc{size: int64(len(data)), data: some(data), written: time.Now()}, ok, ok
	}
	if slices.ContainsFunc(u.gone, func(g place) bool { return g.covers(p.at) }) {
		return d, false, true
	}
	if u.f.at != p.folder || p.folder == "" || p.name == "" || p.log() != "" || u.failed != nil {
		return d, false, false
	}
	d, there = u.f.docs[p.name]
	return d, there, true
}

// Get implements [store.Store]. The content of a log is its records as lines of JSON.
func (s *Store) Get(name string) ([]byte, error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	if p.log() != "" {
		l, err := s.log(name, store.LogOptions{ReadOnly: true})
		if err != nil {
			return nil, err
		}
		return l.lines()
	}
	known, there, ok := s.collected(p)
	if ok && there && known.data != nil {
		return slices.Clone(known.data), nil
	}
	var d doc
	if !ok || there {
		found := false
		_, err = s.ask(&get, p.at, []any{p.folder, p.name, p.blob()}, func() { found = false }, func(scan func(...any) error) error {
			found = true
			return scan(&d.data, &d.rev, &d.written, &d.mark)
		})
		switch {
		case err != nil:
			return nil, err
		case ok && (!found || d.mark != known.mark):
			return nil, s.changed(p)
		case found:
			return d.data, nil
		}
	}
	if info, err := s.Stat(name); err != nil || info.Folder {
		return nil, cmp.Or(err, fmt.Errorf("read %s: is a folder", s.where(p.at)))
	}
	return nil, s.notThere("read", p.at)
}

// changed ends the unit of a folder in which somebody else has written a document.
func (s *Store) changed(p place) error {
	f := s.core.folder(p.folder)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unit == nil {
		return fmt.Errorf("read %s: %w", s.where(p.at), store.ErrOvertaken)
	}
	return f.unit.fail(f.unit.overtaken())
}

// content is an open document.
type content struct {
	*bytes.Reader
}

func (c content) Size() (int64, error) { return c.Reader.Size(), nil }
func (c content) Close() error         { return nil }

// Open implements [store.Store].
func (s *Store) Open(name string) (store.Reader, error) {
	data, err := s.Get(name)
	if err != nil {
		return nil, err
	}
	return content{bytes.NewReader(data)}, nil
}

// Stat implements [store.Store].
func (s *Store) Stat(name string) (store.Info, error) {
	p, err := s.at(name)
	if err != nil {
		return store.Info{}, err
	}
	if d, there, ok := s.collected(p); ok && there {
		return store.Info{Size: d.size, Time: d.written}, nil
	} else if ok && p.folder != "" {
		if entries, err := s.List(name); err == nil && len(entries) > 0 {
			return store.Info{Folder: true}, nil
		}
		return store.Info{}, s.notThere("stat", p.at)
	}
	var found bool
	var info store.Info
	_, err = s.ask(&stat, p.at, []any{p.at, p.folder, p.name, p.log(), p.blob()}, func() { found, info = false, store.Info{} }, func(scan func(...any) error) error {
		var i store.Info
		if err := scan(&i.Folder, &i.Size, &i.Time); err != nil {
			return err
		}
		if !found || !i.Folder {
			found, info = true, i
		}
		return nil
	})
	if err != nil {
		return info, err
	}
	if added, count := s.unwritten(p); count >= 0 {
		info.Size, found = info.Size+added, count > 0
		if added > 0 {
			info.Time = time.Now()
		}
	}
	if !found {
		return info, s.notThere("stat", p.at)
	}
	return info, nil
}

// unwritten returns the number of bytes that an open unit adds to a log, and the number of records
// that the log then has. Without an open unit, count is -1.
func (s *Store) unwritten(p place) (added int64, count int) {
	i := slices.Index(logs[:], p.log())
	f := s.core.folder(p.folder)
	f.mu.Lock()
	defer f.mu.Unlock()
	if i < 0 || f.unit == nil {
		return 0, -1
	}
	for _, r := range f.unit.recs {
		if r.log == p.log() {
			added += r.size
		}
	}
	return added, f.unit.counts[i]
}

// List implements [store.Store].
func (s *Store) List(name string) ([]store.Entry, error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	in := map[string]store.Info{}
	whole, prefix := false, p.at+"/"
	if p.at == "" {
		prefix = ""
	}
	add := func(at string, i store.Info) {
		if rest, ok := strings.CutPrefix(at, prefix); ok && rest != "" {
			first, _, deeper := strings.Cut(rest, "/")
			if deeper {
				i = store.Info{Folder: true}
			}
			in[first] = i
		}
	}
	if u := s.writing(p); u != nil {
		if u.f.at == p.folder && p.folder != "" && u.failed == nil {
			whole = true
			for n, d := range u.f.docs {
				if at := u.f.path(n); !slices.ContainsFunc(u.gone, func(g place) bool { return g.covers(at) }) {
					add(at, store.Info{Size: d.size, Time: d.written})
				}
			}
			for i, l := range logs {
				if u.counts[i] > 0 {
					add(u.f.path(l+".jsonl"), store.Info{Size: -1})
				}
			}
		}
		u.f.mu.Unlock()
	}
	if !whole {
		lo, hi := "", "\U0010ffff"
		if p.name != "" {
			lo, hi = p.name+"/", p.name+"0"
		}
		_, err := s.ask(&list, p.at, []any{p.at, p.folder, lo, hi}, func() { clear(in) }, func(scan func(...any) error) error {
			var first string
			var i store.Info
			if err := scan(&first, &i.Folder, &i.Size, &i.Time); err != nil {
				return err
			}
			in[first] = i
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if u := s.writing(p); u != nil {
		for _, g := range u.gone {
			if path.Dir(g.at) == cmp.Or(p.at, ".") {
				delete(in, path.Base(g.at))
			}
		}
		for at, w := range u.puts {
			add(at, store.Info{Size: int64(len(w.data)), Time: w.written})
		}
		u.f.mu.Unlock()
	}
	if len(in) == 0 && p.at != "" {
		info, err := store.Info{}, error(nil)
		if !whole || p.name == "" {
			info, err = s.Stat(name)
		} else if _, there, _ := s.collected(p); !there {
			err = s.notThere("list", p.at)
		}
		if err == nil && !info.Folder {
			err = fmt.Errorf("list %s: is no folder", s.where(p.at))
		}
		return nil, err
	}
	var out []store.Entry
	for _, n := range slices.Sorted(maps.Keys(in)) {
		i := in[n]
		e := store.Entry{Name: n, Folder: i.Folder, Info: func() (store.Info, error) { return i, nil }}
		if i.Size < 0 { // a log, whose size the server knows
			e.Info = func() (store.Info, error) { return s.Stat(path.Join(name, n)) }
		}
		out = append(out, e)
	}
	return out, nil
}

// mostBytes bounds the documents of one statement, because a message of the protocol ends at 1
// GiB.
const mostBytes = 256 << 20

// Put implements [store.Store]. Documents of one call get their new contents in one moment, unless
// they are too large for that.
func (s *Store) Put(how store.Durability, docs ...store.Doc) (st store.Stats, err error) {
	places := make([]place, len(docs))
	for i, d := range docs {
		p, err := s.at(d.Name)
		if err == nil && (p.name == "" || p.log() != "") {
			err = fmt.Errorf("write %s: it is no document", s.where(p.at))
		}
		if err != nil {
			return st, err
		}
		places[i] = p
	}
	begun, bytes := time.Now(), 0
	w := writes{puts: map[string]put{}, blobs: map[string][]byte{}, once: how == store.Once}
	for i, d := range docs {
		p := places[i]
		st.Files, st.Bytes = st.Files+1, st.Bytes+int64(len(d.Data))
		hash := p.blob()
		if u := s.writing(p); u != nil {
			switch {
			case u.failed != nil:
				err = u.failed
			case hash != "":
				u.blobs[hash], u.synced = some(d.Data), true
			default:
				u.put(p, d.Data, how)
			}
			u.f.mu.Unlock()
			if err != nil {
				return st, err
			}
			continue
		}
		if bytes += len(d.Data); bytes > mostBytes && len(w.puts)+len(w.blobs) > 0 {
			if err := s.write(how, w); err != nil {
				return st, err
			}
			clear(w.puts)
			clear(w.blobs)
			bytes = len(d.Data)
		}
		if hash != "" {
			w.blobs[hash] = some(d.Data)
		} else {
			w.puts[p.at] = put{place: p, data: some(d.Data)}
		}
	}
	if len(w.puts)+len(w.blobs) > 0 {
		err = s.write(how, w)
		if how != store.Unsynced {
			st.Syncs, st.SyncTime = 1, time.Since(begun)
		}
	}
	return st, err
}

// write writes documents and blobs without a unit.
func (s *Store) write(how store.Durability, w writes) error {
	if err := s.stillHeld(); err != nil {
		return err
	}
	_, _, err := s.commit("", -1, newMark(), how != store.Unsynced, &head{}, &w)
	for _, p := range w.puts {
		s.forget(p.folder)
	}
	return err
}

// Remove implements [store.Store].
func (s *Store) Remove(how store.Durability, names ...string) (st store.Stats, err error) {
	var paths, folders, docs, hashes []string
	for _, name := range names {
		p, err := s.at(name)
		if err != nil {
			return st, err
		}
		if p.at == "" {
			return st, fmt.Errorf("remove %s: a store keeps its root", s.where(""))
		}
		if log := p.log(); log != "" {
			if err := s.within(p.folder, func() error {
				f := s.core.folder(p.folder)
				f.mu.Lock()
				defer f.mu.Unlock()
				return f.unit.restart(log, nil)
			}); err != nil {
				return st, err
			}
			continue
		}
		hash := p.blob()
		if u := s.writing(p); u != nil {
			if p.name != "" && hash == "" {
				if err = u.failed; err == nil {
					u.remove(p, how)
				}
				u.f.mu.Unlock()
				if err != nil {
					return st, err
				}
				continue
			}
			u.f.mu.Unlock()
		}
		if hash != "" {
			hashes = append(hashes, hash)
		}
		paths, folders, docs = append(paths, p.at), append(folders, p.folder), append(docs, p.name)
	}
	if len(paths) == 0 {
		return st, nil
	}
	if err := s.stillHeld(); err != nil {
		return st, err
	}
	var ok bool
	if _, err := s.one(&remove, paths[0], []any{paths, folders, docs, some(hashes), newMark(), s.holding(store.BlobsLock)}, &ok, &st.Files); err != nil {
		return st, err
	}
	s.forgetBelow(paths)
	if !ok {
		return st, &store.LostError{Name: s.where(paths[0]), Lock: s.where(store.BlobsLock)}
	}
	return st, nil
}

// forgetBelow makes the next units read folders that were changed as a whole. A unit that is open
// there begins with nothing.
func (c *core) forgetBelow(paths []string) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.folders))
	c.mu.Unlock()
	for _, f := range all {
		for _, at := range paths {
			switch p := placeOf(at); {
			case p.name == "" && p.covers(f.at), strings.HasPrefix(f.at, at+"/"):
				f.mu.Lock()
				f.head, f.docs, f.tail, f.known = head{}, map[string]doc{}, nil, false
				f.renewed()
				if f.unit != nil {
					f.unit.reset()
				}
				f.mu.Unlock()
			case p.folder == f.at:
				c.forget(f.at)
			}
		}
	}
}

// Move implements [store.Store]. A folder is moved with its records; it must not be there yet.
func (s *Store) Move(how store.Durability, from, to string) error {
	old, err := s.at(from)
	now, err2 := s.at(to)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	if old.at == now.at {
		_, err := s.Stat(from)
		return err
	}
	if old.name == "" && now.name == "" && old.folder != "" && now.folder != "" {
		return s.moveFolder(old, now)
	}
	if old.name == "" || now.name == "" || old.log() != "" || now.log() != "" || now.blob() != "" {
		return fmt.Errorf("move %s to %s: the database can't", s.where(old.at), s.where(now.at))
	}
	u := s.writing(old)
	if u != nil {
		u.f.mu.Unlock()
	}
	if u != nil || old.blob() != "" { // in a unit, the two are written together
		data, err := s.Get(from)
		if err != nil {
			return err
		}
		if _, err = s.Put(how, store.Doc{Name: to, Data: data}); err == nil {
			_, err = s.Remove(how, from)
		}
		return err
	}
	var moved int
	var there bool
	unsure, err := s.one(&move, old.at, []any{old.folder, old.name, now.folder, now.name, newMark()}, &moved, &there)
	s.forget(old.folder)
	s.forget(now.folder)
	if err == nil && moved == 0 && !(unsure && there) {
		err = s.notThere("move", old.at)
	}
	return err
}

// moveFolder renames a folder. In a unit of the folder, it does so only if nobody else has written
// to it.
func (s *Store) moveFolder(old, now place) error {
	base, u := int64(0), s.core.folder(old.folder).open()
	if u != nil {
		if err := u.Sync(); err != nil {
			return err
		}
		base = u.f.mark()
	}
	var moved, source, target bool
	_, err := s.one(&moveFolder, old.at, []any{old.folder, now.folder, base, newMark()}, &moved, &source, &target)
	if err != nil {
		return err
	}
	switch {
	case moved:
		s.forgetBelow([]string{old.at, now.at})
	case !source:
		return s.notThere("move", old.at)
	case target:
		return fmt.Errorf("move %s to %s: it is there already", s.where(old.at), s.where(now.at))
	default:
		return u.drop(u.overtaken())
	}
	return nil
}

// Tidy implements [store.Store]. No write leaves anything unfinished.
func (s *Store) Tidy(...string) error { return nil }
