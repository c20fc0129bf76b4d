package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"

	"github.com/memkernel/memkernel/internal/store"
)

// log is an open log. Its place is after the record with the number seq. Records are numbered
// across all logs of a folder.
type log struct {
	s        *Store
	f        *folder
	name     string // relative to s
	i        int    // the log's index in logs
	readOnly bool

	// mark is the folder's newest mark when the log was last read or written, and noMark if the log
	// has read records that were not written.
	mark int64
	seq  int64
	n    int
	size int64
}

// OpenLog implements [store.Store].
func (s *Store) OpenLog(name string, o store.LogOptions) (store.Log, error) { return s.log(name, o) }

func (s *Store) log(name string, o store.LogOptions) (*log, error) {
	p, err := s.at(name)
	if err != nil {
		return nil, err
	}
	l := &log{s: s, f: s.core.folder(p.folder), name: name, i: p.log(), readOnly: o.ReadOnly}
	if l.i < 0 {
		return nil, fmt.Errorf("open %s: the database has no log of this name", s.where(p.at))
	}
	return l, nil
}

// noMark is a mark that no folder has.
const noMark = -1

// fits reports whether a unit's folder still has the records up to the place.
func (l *log) fits(u *unit) bool {
	if !u.logs[l] && l.mark != 0 && (!slices.Contains(u.trail, l.mark) || slices.Contains(u.replaced, l.i)) {
		return false
	}
	u.logs[l], l.mark = true, u.newest()
	return true
}

// error returns the error of a log that can't be read further.
func (l *log) error(reason string, replaced bool) error {
	hint := "run 'memkernel salvage' on its session, which keeps the sound records"
	if replaced {
		hint = "open it again"
	}
	return &store.LogError{File: l.s.Where(l.name), Line: l.n + 1, Offset: l.size, Reason: reason, Hint: hint, Replaced: replaced}
}

func (l *log) wasReplaced() error { return l.error("it was replaced meanwhile", true) }

// written returns the log's records on the server whose numbers are above seq, and the count of all
// records of the log. It returns an error if the folder's trail lacks l.mark.
func (l *log) written(seq int64) (out []row, count int, err error) {
	n, err := l.s.read(l.f.at, l.mark, 0, seq, []int{l.i}, false)
	if err == nil && !n.same && l.mark != 0 {
		err = l.wasReplaced()
	}
	if err != nil {
		return nil, 0, err
	}
	l.mark = n.newest()
	return n.tail, n.counts[l.i], nil
}

// behind returns what written returns, and in addition the records that the open unit has
// collected.
func (l *log) behind(seq int64) (out []row, count int, err error) {
	if l.readOnly && l.s.unit == nil { // an open unit may be another caller's, and may know only an old state
		return l.written(seq)
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	u := l.f.of(l.s)
	switch {
	case u == nil:
		return l.written(seq)
	case u.failed != nil:
		return nil, 0, u.failed
	case !l.fits(u):
		return nil, 0, l.wasReplaced()
	}
	mine := func(rows []row) []row {
		return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.log != l.i || r.seq <= seq })
	}
	out = mine(u.tail)
	n := len(out)
	if seq == l.seq {
		n += l.n
	}
	if n < u.counts[l.i] && !slices.Contains(u.replaced, l.i) { // the log has more records after the place
		now, err := l.s.read(l.f.at, u.newest(), 0, seq, []int{l.i}, false)
		if err == nil && now.newest() != u.newest() {
			err = u.overtaken()
		}
		if err != nil {
			return nil, 0, u.fail(err)
		}
		out = append(now.tail, mine(u.recs)...)
	}
	return out, u.counts[l.i], nil
}

// advance moves the place to the end of a record.
func (l *log) advance(r row) { l.seq, l.n, l.size = r.seq, r.n, l.size+int64(len(r.rec.Body)) }

// Read implements [store.Log].
func (l *log) Read(each func(store.Record) error) error {
	return l.pass(func(r store.Record, n, _ int) error {
		if err := each(r); err != nil {
			return fmt.Errorf("%s, record %d: %w", l.s.Where(l.name), n, err)
		}
		return nil
	}, func(missing string) error { return l.error(missing, false) })
}

// pass calls each for every record after the place, and moves the place after that record. n and
// last are the positions of the record and of the log's last record, counted from 1. Where records
// are missing, pass calls lost, and continues if lost returns nil.
func (l *log) pass(each func(r store.Record, n, last int) error, lost func(missing string) error) error {
	rows, count, err := l.behind(l.seq)
	if err != nil {
		return err
	}
	missing := func(to int) error {
		if l.n >= to {
			return nil
		}
		return lost(fmt.Sprintf("the records %d to %d are missing", l.n+1, to))
	}
	for _, r := range rows {
		if err := missing(r.n - 1); err != nil {
			return err
		}
		if err := each(r.rec, r.n, count); err != nil {
			return err
		}
		l.advance(r)
	}
	return missing(count)
}

// Records implements [store.Log].
func (l *log) Records() iter.Seq2[store.Record, error] {
	end := l.seq
	return func(yield func(store.Record, error) bool) {
		if end == 0 {
			return
		}
		rows, _, err := l.behind(0)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		for _, r := range rows {
			if r.seq > end || !yield(r.rec, nil) {
				return
			}
		}
	}
}

// write runs f with the open unit of the folder. It returns an error without running f if the place
// is not the log's end, if there is no open unit, or if the log is read-only.
func (l *log) write(f func(u *unit) error) error {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	u := l.f.of(l.s)
	switch {
	case l.readOnly:
		return fmt.Errorf("%s is open for reading only", l.s.Where(l.name))
	case u == nil:
		return fmt.Errorf("write %s: only a unit of work may write to a log", l.s.Where(l.name))
	case u.failed != nil:
		return u.failed
	case !l.fits(u), u.counts[l.i] != l.n:
		return u.overtaken()
	}
	return f(u)
}

// Append implements [store.Log].
func (l *log) Append(sync bool, recs ...store.Record) (st store.Stats, err error) {
	return st, l.write(func(u *unit) error {
		rows, err := u.add(l.i, recs, false)
		if err != nil || len(rows) == 0 {
			return err
		}
		u.synced = u.synced || sync
		st.Files = 1
		for _, r := range rows {
			st.Bytes += int64(len(r.rec.Body))
			l.advance(r)
		}
		return nil
	})
}

// Sync implements [store.Log]. In a unit it does not wait: the unit's next Sync, or its End, does.
func (l *log) Sync(n int) error {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if u := l.f.of(l.s); u != nil {
		u.synced = true
		return u.failed
	}
	has, _, err := l.s.stand(l.f.at, l.mark)
	if err == nil && !has && n > 0 {
		err = l.wasReplaced()
	}
	return err
}

// Replace implements [store.Log].
func (l *log) Replace(recs iter.Seq2[store.Record, error]) error {
	var all []store.Record
	for r, err := range recs {
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	return l.write(func(u *unit) error {
		rows, err := u.add(l.i, all, true)
		if err != nil {
			return err
		}
		u.logs[l], l.mark, l.n, l.size = true, u.newest(), 0, 0
		for _, r := range rows {
			l.advance(r)
		}
		return nil
	})
}

func (l *log) Writable()    { l.readOnly = false }
func (l *log) Len() int     { return l.n }
func (l *log) Size() int64  { return l.size }
func (l *log) Torn() int64  { return 0 }
func (l *log) Fault() error { return nil }
func (l *log) Mend() error  { return nil }

// Salvage implements [store.Log]. Lost records are those that were removed from the table by hand.
func (l *log) Salvage(tell func(unit string, done, all int)) (sound []store.Record, lost []store.Lost, err error) {
	err = l.pass(func(r store.Record, _, last int) error {
		tell("record", len(sound), last)
		sound = append(sound, r)
		return nil
	}, func(missing string) error {
		lost = append(lost, store.Lost{Line: l.n + 1, Offset: l.size, Reason: missing})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	tell("record", len(sound), len(sound))
	return sound, lost, nil
}

// Reset implements [store.Log]. The old records become a document of lines.
func (l *log) Reset(recs []store.Record) (aside []string, err error) {
	err = l.s.within(l.f.at, false, func(s *Store, u *unit) error {
		aside = nil
		old, err := s.lines(l.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil {
			to, err := store.AsideName(s, l.name)
			if err == nil {
				_, err = s.Put(store.Synced, store.Doc{Name: to, Data: old})
			}
			if err != nil {
				return err
			}
			aside = []string{s.Where(to)}
		}
		return u.collect(func() error { _, err := u.add(l.i, recs, true); return err })
	})
	return aside, err
}

// lines returns the records of a log as the lines that a file of the log would have.
func (s *Store) lines(name string) ([]byte, error) {
	l, err := s.log(name, store.LogOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err = l.pass(func(r store.Record, _, _ int) error { return e.Encode(r) }, func(string) error { return nil })
	if err == nil && b.Len() == 0 {
		err = s.notThere("read", path.Join(s.folder, name))
	}
	return b.Bytes(), err
}
