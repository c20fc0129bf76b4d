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

// tries is how often a unit of [Store.within] is made anew while others write in its folder.
const tries = 16

// within runs f with the open unit of a folder, or with one of its own and the store of that unit.
// If others write in the folder meanwhile, f runs again. With seen, the first run does not ask for
// their writes.
func (s *Store) within(folder string, seen bool, f func(s *Store, u *unit) error) error {
	at := s.core.folder(folder)
	at.mu.Lock()
	u := at.of(s)
	at.mu.Unlock()
	if u != nil {
		return f(s, u)
	}
	for try := 1; ; try++ {
		u, err := s.begin(context.Background(), at, seen && try == 1, true)
		if err != nil {
			return err
		}
		if err = f(&Store{core: s.core, folder: s.folder, unit: u}, u); err != nil {
			_ = u.drop(err)
		} else {
			err = u.End()
		}
		if err == nil || !store.Overtaken(err) || try == tries {
			return err
		}
	}
}

// collect runs f, which collects writes, unless the unit has failed.
func (u *unit) collect(f func() error) error {
	u.f.mu.Lock()
	defer u.f.mu.Unlock()
	if u.failed != nil {
		return u.failed
	}
	return f()
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
	if u.f.at != p.folder || p.folder == "" || p.name == "" || p.log() >= 0 || u.failed != nil {
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
	if p.log() >= 0 {
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
	if !ok || there {
		var d doc
		var found bool
		d, found, err = s.get(p)
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

// get asks the server for a document or a blob.
func (c *core) get(p place) (d doc, found bool, err error) {
	_, err = c.ask(&get, p.at, []any{p.folder, p.name, p.blob()}, func() { found = false }, func(scan func(...any) error) error {
		found = true
		return scan(&d.data, &d.rev, &d.written, &d.mark)
	})
	d.size = int64(len(d.data))
	return d, found, err
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

// listing is what a path is and has.
type listing struct {
	self          store.Info
	there, folder bool
	below         map[string]store.Info
}

// add adds the document, log or blob of a path to the listing of another path.
func (l *listing) add(of, at string, i store.Info) {
	rest, below := strings.CutPrefix(at, of+"/")
	if of == "" {
		rest, below = at, true
	}
	first, _, deeper := strings.Cut(rest, "/")
	switch {
	case at == of:
		l.self, l.there = i, true
	case below && deeper:
		l.below[first] = store.Info{Folder: true}
	case below:
		l.below[first] = i
	}
}

// look describes a path, with what the open unit has collected.
func (s *Store) look(p place) (l listing, err error) {
	l = listing{folder: p.at == "", below: map[string]store.Info{}}
	u := s.writing(p)
	whole := u != nil && u.f.at == p.folder && p.folder != "" && u.failed == nil
	if whole {
		for n, d := range u.f.docs {
			if at := u.f.path(n); !slices.ContainsFunc(u.gone, func(g place) bool { return g.covers(at) }) {
				l.add(p.at, at, store.Info{Size: d.size, Time: d.written})
			}
		}
		l.folder = p.name == "" && u.f.mark() != 0
	} else {
		if u != nil {
			u.f.mu.Unlock()
		}
		if p.at == projectJournal {
			l, err = s.project(p)
		} else {
			l, err = s.asked(p)
		}
		if err != nil {
			return l, err
		}
		u = s.writing(p)
	}
	if u == nil {
		return l, nil
	}
	defer u.f.mu.Unlock()
	for _, g := range u.gone {
		if g.covers(p.at) {
			l = listing{below: map[string]store.Info{}}
		} else if path.Dir(g.at) == cmp.Or(p.at, ".") {
			delete(l.below, path.Base(g.at))
		}
	}
	for at, w := range u.puts {
		l.add(p.at, at, store.Info{Size: int64(len(w.data)), Time: w.written})
	}
	if hash := p.blob(); hash != "" && u.blobs[hash] != nil {
		l.add(p.at, p.at, store.Info{Size: int64(len(u.blobs[hash])), Time: time.Now()})
	}
	for i, name := range logs {
		switch at := u.f.path(name + ".jsonl"); {
		case u.f.at != p.folder || u.failed != nil:
		case u.counts[i] > 0 && placeOf(at).log() == i:
			l.add(p.at, at, store.Info{Size: u.sizes[i], Time: u.times[i]})
		case at == p.at:
			l.there = false
		case path.Dir(at) == cmp.Or(p.at, "."):
			delete(l.below, path.Base(at))
		}
	}
	return l, nil
}

// asked asks the server what a path is and has.
func (s *Store) asked(p place) (l listing, err error) {
	lo, hi := "", "\U0010ffff"
	if p.name != "" {
		lo, hi = p.name+"/", p.name+"0"
	}
	_, err = s.ask(&list, p.at, []any{p.at, p.folder, p.name, p.log(), p.blob(), lo, hi}, func() { l = listing{folder: p.at == "", below: map[string]store.Info{}} }, func(scan func(...any) error) error {
		var first string
		var i store.Info
		if err := scan(&first, &i.Folder, &i.Size, &i.Time); err != nil {
			return err
		}
		switch {
		case first != "":
			l.below[first] = i
		case i.Folder:
			l.folder = true
		default:
			l.self, l.there = i, true
		}
		return nil
	})
	return l, err
}

// Stat implements [store.Store].
func (s *Store) Stat(name string) (store.Info, error) {
	p, err := s.at(name)
	if err != nil {
		return store.Info{}, err
	}
	l, err := s.look(p)
	switch {
	case err != nil:
	case l.there:
		return l.self, nil
	case l.folder || len(l.below) > 0:
		return store.Info{Folder: true}, nil
	default:
		err = s.notThere("stat", p.at)
	}
	return store.Info{}, err
}

// found are the journals of the project and of all sessions at a moment.
type found struct {
	mu   mutex
	at   time.Time // the zero value if nobody has asked yet
	logs map[string]store.Info
}

// projectJournal is the log that is looked for with the journals of sessions.
const projectJournal = "project/journal.jsonl"

// find asks for the journals. Callers must hold found.mu.
func (c *core) find() error {
	at := time.Now()
	var logs map[string]store.Info
	_, err := c.ask(&journals, "sessions", nil, func() { logs = map[string]store.Info{} }, func(scan func(...any) error) error {
		var folder string
		var i store.Info
		err := scan(&folder, &i.Size, &i.Time)
		logs[folder] = i
		return err
	})
	if err == nil {
		c.found.at, c.found.logs = at, logs
	}
	return err
}

// project describes the project's journal. If sessions are listed as well, one statement does both.
func (s *Store) project(p place) (l listing, err error) {
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	if s.found.at.IsZero() {
		return s.asked(p)
	}
	err = s.find()
	l.self, l.there = s.found.logs[p.folder]
	return l, err
}

// Logs answers [store.Logs] for the journals of sessions.
func (s *Store) Logs(folder, name string, since time.Time) (in []store.Entry, ok bool, err error) {
	p, err := s.at(folder)
	if err != nil || p.at != "sessions" || name != logs[0]+".jsonl" {
		return nil, false, err
	}
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	if s.found.at.Before(since) {
		if err := s.find(); err != nil {
			return nil, true, err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(s.found.logs)) {
		if session, ok := strings.CutPrefix(at, p.at+"/"); ok {
			i := s.found.logs[at]
			in = append(in, store.Entry{Name: session, Info: func() (store.Info, error) { return i, nil }})
		}
	}
	return in, true, nil
}

// List implements [store.Store].
func (s *Store) List(name string) ([]store.Entry, error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	l, err := s.look(p)
	switch {
	case err != nil:
		return nil, err
	case len(l.below) > 0:
	case l.there:
		return nil, fmt.Errorf("list %s: is no folder", s.where(p.at))
	case !l.folder:
		return nil, s.notThere("list", p.at)
	}
	var out []store.Entry
	for _, n := range slices.Sorted(maps.Keys(l.below)) {
		i := l.below[n]
		out = append(out, store.Entry{Name: n, Folder: i.Folder, Info: func() (store.Info, error) { return i, nil }})
	}
	return out, nil
}

// mostBytes bounds the documents of one statement, because a message of the protocol ends at 1
// GiB.
const mostBytes = 256 << 20

// Put implements [store.Store]. Documents of one call get their new contents in one moment, unless
// they are too large for that.
func (s *Store) Put(how store.Durability, docs ...store.Doc) (st store.Stats, err error) {
	begun, bytes := time.Now(), 0
	var rest []put // which belong to no open unit
	for _, d := range docs {
		p, err := s.at(d.Name)
		if err == nil && (p.name == "" || p.log() >= 0) {
			err = fmt.Errorf("write %s: it is no document", s.where(p.at))
		}
		if err != nil {
			return st, err
		}
		st.Files, st.Bytes = st.Files+1, st.Bytes+int64(len(d.Data))
		w := put{p, slices.Clone(some(d.Data)), begun}
		if u := s.writing(p); u != nil {
			err = u.failed
			u.put(w, how)
			u.f.mu.Unlock()
			if err != nil {
				return st, err
			}
			continue
		}
		if bytes += len(d.Data); bytes > mostBytes && len(rest) > 0 {
			if err := s.write(how, rest); err != nil {
				return st, err
			}
			rest, bytes = nil, len(d.Data)
		}
		rest = append(rest, w)
	}
	if len(rest) > 0 {
		err = s.write(how, rest)
		if how != store.Unsynced {
			st.Syncs, st.SyncTime = 1, time.Since(begun)
		}
	}
	return st, err
}

// write writes documents and blobs with a unit of their own.
func (s *Store) write(how store.Durability, puts []put) error {
	if err := s.renew(); err != nil {
		return err
	}
	i := slices.IndexFunc(puts, func(p put) bool { return p.blob() == "" })
	if i < 0 { // blobs need no unit: their contents never change
		w := writes{blobs: map[string][]byte{}}
		for _, p := range puts {
			w.blobs[p.blob()] = p.data
		}
		_, _, err := s.commit("", -1, newMark(), true, &head{}, &w)
		return err
	}
	return s.within(puts[i].folder, true, func(_ *Store, u *unit) error {
		return u.collect(func() error {
			for _, p := range puts {
				u.put(p, how)
			}
			return nil
		})
	})
}

// Remove implements [store.Store].
func (s *Store) Remove(how store.Durability, names ...string) (st store.Stats, err error) {
	var docs []place
	var paths, hashes []string
	for _, name := range names {
		p, err := s.at(name)
		if err != nil {
			return st, err
		}
		switch log, hash := p.log(), p.blob(); {
		case p.at == "":
			return st, fmt.Errorf("remove %s: a store keeps its root", s.where(""))
		case log >= 0:
			err = s.within(p.folder, false, func(_ *Store, u *unit) error {
				return u.collect(func() error { return u.restart(log, nil) })
			})
		case hash != "":
			hashes = append(hashes, hash)
		case p.name == "" || slices.Contains(above, p.at) || path.Dir(p.at) == "blobs":
			paths = append(paths, p.at)
		default:
			u := s.writing(p)
			if u == nil {
				docs = append(docs, p)
				continue
			}
			if err = u.failed; err == nil {
				u.remove(p, how)
			}
			u.f.mu.Unlock()
		}
		if err != nil {
			return st, err
		}
	}
	if err := s.renew(); err != nil {
		return st, err
	}
	if len(docs) > 0 {
		err = s.within(docs[0].folder, true, func(_ *Store, u *unit) error {
			return u.collect(func() error {
				for _, p := range docs {
					u.remove(p, how)
				}
				return nil
			})
		})
	}
	if err != nil || len(paths)+len(hashes) == 0 {
		return st, err
	}
	where := slices.Concat(paths, hashes)[0]
	holders, unread := s.removing()
	var held bool
	_, err = s.one(&remove, where, []any{paths, hashes, holders, unread}, &held, &st.Files)
	if s.forgetBelow(paths); err == nil && !held {
		err = &store.LostError{Name: s.where(where), Lock: s.where(store.BlobsLock)}
	}
	return st, err
}

// above are the folders that have folders of their own.
var above = []string{"sessions", "ended", "blobs"}

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

// Move implements [store.Store]. A folder is moved with its records, and only if nobody else has
// written to it; it must not be there yet.
func (s *Store) Move(how store.Durability, from, to string) error {
	old, err := s.at(from)
	now, err2 := s.at(to)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	folder := old.name == "" && now.name == "" && old.folder != "" && now.folder != ""
	switch {
	case old.at == now.at:
		_, err := s.Stat(from)
		return err
	case !folder && (old.name == "" || now.name == "" || old.log() >= 0 || now.log() >= 0 || now.blob() != ""):
		return fmt.Errorf("move %s to %s: the database can't", s.where(old.at), s.where(now.at))
	}
	return s.within(old.folder, false, func(s *Store, u *unit) error {
		if folder {
			return u.move(now)
		}
		var docs []store.Doc
		take := func(below string, _ store.Entry) error {
			data, err := s.Get(path.Join(from, below))
			docs = append(docs, store.Doc{Name: path.Join(to, below), Data: data})
			return err
		}
		i, err := s.Stat(from)
		switch {
		case err != nil:
		case i.Folder:
			err = store.Walk(s.In(from), take)
		default:
			err = take("", store.Entry{})
		}
		if err == nil {
			_, err = s.Put(how, docs...)
		}
		if err == nil {
			_, err = s.Remove(how, from)
		}
		return err
	})
}

// move renames the unit's folder.
func (u *unit) move(to place) error {
	if err := u.Sync(); err != nil {
		return err
	}
	from := place{at: u.f.at, folder: u.f.at}
	var moved, source, target bool
	_, err := u.c.one(&move, from.at, []any{from.at, to.at, u.f.mark(), newMark()}, &moved, &source, &target)
	switch {
	case err != nil:
	case moved:
		u.c.forgetBelow([]string{from.at, to.at})
	case !source:
		err = u.c.notThere("move", from.at)
	case target:
		err = fmt.Errorf("move %s to %s: it is there already", u.c.where(from.at), u.c.where(to.at))
	default:
		u.f.mu.Lock()
		defer u.f.mu.Unlock()
		err = u.fail(u.overtaken())
	}
	return err
}

// Tidy implements [store.Store]. No write leaves anything unfinished.
func (s *Store) Tidy(...string) error { return nil }
