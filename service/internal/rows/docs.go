package rows

import (
	"bytes"
	"cmp"
	"context"
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

// tries is how many units [Store.within] begins while other processes write to the folder.
const tries = 16

// within runs f in the folder's open unit of work. If no unit is open, within opens one and gives f
// its store. If another machine writes the folder meanwhile, f runs again in a new unit. If seen is
// set, the first unit uses the folder's content that this machine already holds.
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
			at.mu.Lock()
			_ = u.fail(err)
			at.mu.Unlock()
		}
		if end := u.End(); err == nil {
			err = end
		}
		if err == nil || !store.Overtaken(err) || try == tries {
			return err
		}
	}
}

// collect runs f with the folder's mutex held. If the unit has failed, it returns the unit's error
// without running f.
func (u *unit) collect(f func() error) error {
	u.f.mu.Lock()
	defer u.f.mu.Unlock()
	if u.failed != nil {
		return u.failed
	}
	return f()
}

// knows reports whether the unit knows all documents of the folder of a place. Callers of knows,
// removes, has and overlay must hold the mutex of the unit's folder.
func (u *unit) knows(p place) bool { return u.f.at == p.folder && p.folder != "" && u.failed == nil }

// removes reports whether the unit removes a path.
func (u *unit) removes(at string) bool {
	p := placeOf(at)
	return slices.ContainsFunc(u.gone, func(g put) bool { return g.covers(at) }) || p.folder == u.f.at && slices.Contains(u.replaced, p.log())
}

// has returns a document or a blob as the unit knows it, nil if it is missing. If known is false,
// the caller must ask the server.
func (u *unit) has(p place) (d *doc, known bool) {
	if w, ok := u.puts[p.at]; ok {
		return &w.doc, true
	}
	if !u.knows(p) {
		return nil, u.removes(p.at)
	}
	if d, ok := u.docs[p.name]; ok {
		return &d, true
	}
	return nil, true
}

// Get implements [store.Store]. The content of a log is its records as lines of JSON.
func (s *Store) Get(name string) ([]byte, error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	if p.log() >= 0 {
		return s.lines(name)
	}
	d, err := s.doc(p)
	switch {
	case err != nil:
		return nil, err
	case d != nil:
		return slices.Clone(d.data), nil
	}
	switch i, err := s.stat("read", name); {
	case err != nil:
		return nil, err
	case !i.Folder: // written since
		return nil, s.notThere("read", p.at)
	}
	return nil, fmt.Errorf("read %s: is a folder", s.where(p.at))
}

// doc returns a document or a blob with its content, and nil for a missing one. If the server
// has another version than the open unit knows, the unit fails with [store.ErrOvertaken].
func (s *Store) doc(p place) (*doc, error) {
	var d *doc
	known := false
	u := s.writing(p)
	if u != nil {
		d, known = u.has(p)
		u.f.mu.Unlock()
	}
	if known && (d == nil || d.data != nil) {
		return d, nil
	}
	now, err := s.get(p)
	if err == nil && d != nil && (now == nil || now.mark != d.mark) {
		err = u.collect(func() error { return u.fail(u.overtaken()) })
	}
	return now, err
}

// get asks the server for a document or a blob. It returns nil for a missing one.
func (c *core) get(p place) (*doc, error) {
	found, _, err := ask(c, &get, p.at, []any{p.folder, p.name, p.blob()}, func(scan scanner, d *doc) error {
		return scan(&d.data, &d.written, &d.mark)
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	found[0].size = int64(len(found[0].data))
	return &found[0], nil
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

// listing describes a path, as "", and the entries directly below it, by their names. It is empty for
// a missing path. A folder need not describe itself if it has entries.
type listing map[string]store.Info

// named is the description of a name.
type named struct {
	name string
	store.Info
}

// listed returns the listing of a path among documents.
func listed(docs map[string]doc, of string) listing {
	l := listing{}
	for at, d := range docs {
		l.add(of, at, d.info())
	}
	return l
}

// add adds the document, log or blob at the path at to the listing of the path of. It adds nothing
// if at is neither of nor below of.
func (l listing) add(of, at string, i store.Info) {
	rest := strings.TrimPrefix(at, of)
	if of != "" && rest != "" && (len(rest) == len(at) || rest[0] != '/') {
		return
	}
	first, _, deeper := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	if deeper {
		i = store.Info{Folder: true}
	}
	l[first] = i
}

// look describes a path, including the writes that the open unit has collected.
func (s *Store) look(op, name string) (l listing, err error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	u := s.writing(p)
	if u == nil || !u.knows(p) {
		if u != nil {
			u.f.mu.Unlock()
		}
		if l, err = s.asked(p); err != nil {
			return nil, err
		}
		u = s.writing(p)
	}
	if u != nil {
		l = u.overlay(p, l)
		u.f.mu.Unlock()
	}
	if len(l) == 0 {
		err = s.notThere(op, p.at)
	}
	return l, err
}

// overlay returns the listing of a path as the unit knows it. l is the server's listing.
func (u *unit) overlay(p place, l listing) listing {
	switch {
	case u.failed != nil:
		return l
	case u.knows(p):
		if l = listed(u.docs, p.name); p.name == "" && u.newest() != 0 {
			l[""] = store.Info{Folder: true}
		}
	default:
		maps.DeleteFunc(l, func(name string, _ store.Info) bool { return u.removes(path.Join(p.at, name)) })
		for at, w := range u.puts {
			l.add(p.at, at, w.info())
		}
	}
	for i, name := range logs {
		if q := placeOf(u.f.path(name + ".jsonl")); q.log() == i && u.counts[i] > 0 {
			l.add(p.at, q.at, store.Info{Size: u.sizes[i], Time: u.times[i]})
		}
	}
	return l
}

// asked returns the server's listing of a path.
func (s *Store) asked(p place) (l listing, err error) {
	if l = (listing{}); p.at == "" {
		l[""] = store.Info{Folder: true}
	}
	if p.at == projectJournal { // once the sessions' journals were listed, one statement serves both
		s.found.mu.Lock()
		defer s.found.mu.Unlock()
		if !s.found.at.IsZero() {
			all, err := s.find(time.Now())
			if i, there := all[p.folder]; there {
				l[""] = i
			}
			return l, err
		}
	}
	lo, hi := "", "\U0010ffff"
	if p.name != "" {
		lo, hi = p.name+"/", p.name+"0"
	}
	rows, _, err := ask(s.core, &list, p.at, []any{p.at, p.folder, p.name, p.log(), p.blob(), lo, hi}, func(scan scanner, n *named) error {
		return scan(&n.name, &n.Folder, &n.Size, &n.Time)
	})
	for _, r := range rows {
		l[r.name] = r.Info
	}
	return l, err
}

// Stat implements [store.Store].
func (s *Store) Stat(name string) (store.Info, error) { return s.stat("stat", name) }

func (s *Store) stat(op, name string) (store.Info, error) {
	l, err := s.look(op, name)
	i, self := l[""]
	return store.Info{Size: i.Size, Time: i.Time, Folder: err == nil && (i.Folder || !self)}, err
}

// List implements [store.Store].
func (s *Store) List(name string) ([]store.Entry, error) {
	l, err := s.look("list", name)
	if i, self := l[""]; self && !i.Folder && len(l) == 1 {
		err = fmt.Errorf("list %s: is no folder", s.Where(name))
	}
	if err != nil {
		return nil, err
	}
	delete(l, "")
	return entries(l), nil
}

func entries(in listing) (out []store.Entry) {
	for _, n := range slices.Sorted(maps.Keys(in)) {
		i := in[n]
		out = append(out, store.Entry{Name: n, Folder: i.Folder, Info: func() (store.Info, error) { return i, nil }})
	}
	return out
}

// found describes the journals of the project and of all sessions at one moment.
type found struct {
	mu   mutex
	at   time.Time // the zero value if nobody has asked yet
	logs listing   // by folder
}

// projectJournal is the log that find describes in addition to the journals of sessions.
const projectJournal = "project/journal.jsonl"

// find returns the journals as they were at since or later. Callers must hold c.found.mu.
func (c *core) find(since time.Time) (listing, error) {
	if !c.found.at.Before(since) {
		return c.found.logs, nil
	}
	at := time.Now()
	rows, _, err := ask(c, &journals, "sessions", nil, func(scan scanner, n *named) error { return scan(&n.name, &n.Size, &n.Time) })
	if err != nil {
		return nil, err
	}
	c.found.at, c.found.logs = at, listing{}
	for _, r := range rows {
		c.found.logs[r.name] = r.Info
	}
	return c.found.logs, nil
}

// Logs answers [store.Logs] for the journals of sessions.
func (s *Store) Logs(folder, name string, since time.Time) (in []store.Entry, ok bool, err error) {
	p, err := s.at(folder)
	if err != nil || p.at != "sessions" || name != logs[0]+".jsonl" {
		return nil, false, err
	}
	s.found.mu.Lock()
	defer s.found.mu.Unlock()
	all, err := s.find(since)
	sessions := listing{}
	for at, i := range all {
		if session, ok := strings.CutPrefix(at, "sessions/"); ok {
			sessions[session] = i
		}
	}
	return entries(sessions), true, err
}

// mostBytes bounds the documents of one statement, because a message of the protocol ends at 1
// GiB.
const mostBytes = 256 << 20

// Put implements [store.Store]. Documents of one call get their new contents in one moment, unless
// they are too large for that.
func (s *Store) Put(how store.Durability, docs ...store.Doc) (st store.Stats, err error) {
	begun, bytes := time.Now(), 0
	var puts []put
	for _, d := range docs {
		p, err := s.at(d.Name)
		if err == nil && (p.name == "" || p.log() >= 0) {
			err = fmt.Errorf("write %s: it is no document", s.where(p.at))
		}
		if bytes += len(d.Data); err == nil && bytes > mostBytes && len(puts) > 0 {
			_, err = s.change(how, puts)
			puts, bytes = nil, len(d.Data)
		}
		if err != nil {
			return st, err
		}
		st.Files, st.Bytes = st.Files+1, st.Bytes+int64(len(d.Data))
		puts = append(puts, put{p, doc{size: int64(len(d.Data)), data: slices.Clone(some(d.Data)), written: begun}})
	}
	asked, err := s.change(how, puts)
	if asked && how != store.Unsynced {
		st.Syncs, st.SyncTime = 1, time.Since(begun)
	}
	return st, err
}

// change collects changes of documents and blobs in the open unit to which any of them belongs. If
// there is none, it makes the changes with a unit of their own, and then returns true as asked.
func (s *Store) change(how store.Durability, all []put) (asked bool, err error) {
	if len(all) == 0 {
		return false, nil
	}
	for _, p := range all {
		if u := s.writing(p.place); u != nil {
			defer u.f.mu.Unlock()
			if u.failed == nil {
				u.change(how, all...)
			}
			return false, u.failed
		}
	}
	if err := s.renew(); err != nil {
		return true, err
	}
	return true, s.within(all[0].folder, true, func(_ *Store, u *unit) error {
		return u.collect(func() error { u.change(how, all...); return nil })
	})
}

// Remove implements [store.Store].
func (s *Store) Remove(how store.Durability, names ...string) (st store.Stats, err error) {
	var docs []put
	var paths, hashes []string
	for _, name := range names {
		p, err := s.at(name)
		switch log, hash := p.log(), p.blob(); {
		case err != nil:
		case p.at == "":
			err = fmt.Errorf("remove %s: a store keeps its root", s.where(""))
		case log >= 0:
			err = s.within(p.folder, false, func(_ *Store, u *unit) error {
				return u.collect(func() error { _, err := u.add(log, nil, true); return err })
			})
		case hash != "":
			hashes = append(hashes, hash)
		case p.name == "" || slices.Contains(above, p.at) || path.Dir(p.at) == "blobs":
			paths = append(paths, p.at)
		default:
			docs = append(docs, put{place: p})
		}
		if err != nil {
			return st, err
		}
	}
	if _, err := s.change(how, docs); err != nil || len(paths)+len(hashes) == 0 {
		return st, err
	}
	if err := s.renew(); err != nil {
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

// above are the folders that only contain folders.
var above = []string{"sessions", "ended", "blobs"}

// forgetBelow forgets all that is known of the folders at or below paths, which were removed or
// moved. The next units there read them again. Open units there drop their collected writes.
func (c *core) forgetBelow(paths []string) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.folders))
	c.mu.Unlock()
	for _, f := range all {
		if slices.ContainsFunc(paths, func(at string) bool { return place{at: at}.covers(f.at) }) {
			f.mu.Lock()
			f.state, f.known = state{docs: map[string]doc{}}, false
			if f.unit != nil {
				f.unit.lose()
			}
			f.mu.Unlock()
		}
	}
}

// Move implements [store.Store] for documents, and for folders that units write to. It moves a folder
// with its records, and only if no other process has written to that folder. The target of a folder
// must not exist.
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
		data, err := s.Get(from)
		if err == nil {
			_, err = s.Put(how, store.Doc{Name: to, Data: data})
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
	_, err := u.c.one(&move, from.at, []any{from.at, to.at, u.f.newest(), newMark()}, &moved, &source, &target)
	switch {
	case err != nil:
	case moved:
		u.c.forgetBelow([]string{from.at, to.at})
	case !source:
		err = u.c.notThere("move", from.at)
	case target:
		err = fmt.Errorf("move %s to %s: it is there already", u.c.where(from.at), u.c.where(to.at))
	default:
		err = u.collect(func() error { return u.fail(u.overtaken()) })
	}
	return err
}

// Tidy implements [store.Store]. No write leaves anything unfinished.
func (s *Store) Tidy(...string) error { return nil }
