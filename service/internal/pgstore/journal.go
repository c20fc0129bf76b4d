package pgstore

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

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
func (s *Store) Journal(name string) store.Journal {
	at, err := s.at(name)
	if hash, _, _ := strings.Cut(path.Base(at), "."); err == nil && store.IsHash(hash) {
		err = fmt.Errorf("%s is named by its content, and is not written on", s.where(at))
	}
	return &journal{c: s.core, at: at, bad: err}
}

// journal is a content that writers append to and patch.
type journal struct {
	c   *core
	at  string
	bad error // the error of an invalid name

	content int64 // 0 until it is used
	f       file  // its last known state
	current bool
}

// use finds the content. With make it creates a missing content.
func (j *journal) use(make bool) error {
	if j.bad != nil || j.content != 0 {
		return j.bad
	}
	f, err := j.c.findNow("open", j.at)
	if err == nil && f.content < 0 {
		if err = j.c.settle([]string{j.at}, f.content); err == nil {
			f, err = j.c.findNow("open", j.at)
		}
	}
	if err == nil && f.folder {
		return fmt.Errorf("open %s: is a folder", j.c.where(j.at))
	}
	if err != nil && (!isNotThere(err) || !make) {
		return err
	}
	for try := 0; err != nil && try < len(pauses); try++ {
		err = j.c.change("create", store.Synced, []string{j.at}, nil, nil, `
			have AS (SELECT content, size, version FROM files WHERE root=$1::bigint AND path=$5::text),
			made AS (INSERT INTO files(root, path, content, size, version, time) SELECT $1::bigint, $5::text, nextval('content_id'), 0, 1, clock_timestamp()
				WHERE (SELECT ok FROM ok) AND NOT EXISTS(SELECT FROM have) ON CONFLICT DO NOTHING RETURNING content, size, version)
			SELECT ok.ok, coalesce(x.content, 0), coalesce(x.size, 0), coalesce(x.version, 0) FROM ok LEFT JOIN (SELECT * FROM have UNION ALL SELECT * FROM made) AS x ON true`,
			[]any{j.at}, &f.content, &f.size, &f.version)
		if err == nil && f.content == 0 { // somebody else made it meanwhile
			err = j.c.notThere("create", j.at)
		} else if err != nil {
			return err
		}
		f.time = time.Now()
		if err == nil {
			j.c.wrote(j.at, f)
		}
	}
	if err != nil {
		return err
	}
	j.content, j.f, j.current = f.content, f, true
	return nil
}

// look reads the content's length, and checks that the name still has the content.
func (j *journal) look() error {
	if err := j.use(true); err != nil {
		return err
	}
	if at, f, ok := j.c.seenContent(j.at, j.content); ok {
		j.f, j.current = f, at == j.at
		return nil
	}
	if err := j.c.settle([]string{j.at}, j.content); err != nil {
		return err
	}
	var f file
	err := j.c.row("read", j.at, `SELECT size, version, path=$3::text FROM files WHERE content=$1::bigint AND root=$2::bigint`, []any{j.content, j.c.root, j.at}, &f.size, &f.version, &j.current)
	if errors.Is(err, pgx.ErrNoRows) {
		j.current = false
		return nil
	}
	if err == nil {
		f.content, j.f = j.content, f
	}
	return err
}

func (j *journal) Close() error {
	*j = journal{c: j.c, at: j.at, bad: j.bad}
	return nil
}

func (j *journal) Size() (int64, error) {
	if err := j.look(); err != nil {
		return 0, err
	}
	return j.f.size, nil
}

func (j *journal) Current() (bool, error) {
	if err := j.look(); err != nil {
		return false, err
	}
	return j.current, nil
}

func (j *journal) ReadAt(p []byte, off int64) (int, error) {
	if err := j.use(true); err != nil {
		return 0, err
	}
	_, f, seen := j.c.seenContent(j.at, j.content)
	if !seen {
		f = j.f // the last known state
	}
	if w := j.c.cache.part(j.content, f.version); w.copy(p, off) == len(p) {
		return len(p), nil
	}
	if seen {
		if n, err, done := j.c.cachedPart(f, p, off); done {
			return n, err
		}
		if err := j.c.settle([]string{j.at}, j.content); err != nil {
			return 0, err
		}
	}
	size, version, data, err := j.c.part(j.at, j.content, off, max(len(p), readAhead))
	if err != nil {
		return 0, err
	}
	if seen && version == f.version {
		j.c.cache.keep(j.content, f.version, window{off, data})
	}
	return ended(copy(p, data), p, off, size)
}

// wrote records the new size and version of the content. w is the part of that version that is
// known.
func (j *journal) wrote(size, version int64, w window) {
	j.f = file{content: j.content, size: size, version: version, time: time.Now()}
	if j.current {
		j.c.wrote(j.at, j.f)
	}
	j.c.cache.keep(j.content, version, w)
}

// gone returns the error of a write to a content whose name now has another content or no
// content.
func (j *journal) gone(op string) error {
	j.c.unsee(j.at)
	return fmt.Errorf("%s %s: it was replaced or removed meanwhile: %w", op, j.c.where(j.at), store.ErrOvertaken)
}

func (j *journal) Append(off int64, data []byte, sync bool) (store.Stats, error) {
	st := store.Stats{Files: 1, Bytes: int64(len(data))}
	if err := j.use(true); err != nil {
		return st, err
	}
	how := store.Unsynced
	if sync {
		how = store.Synced
	}
	if f, ok := j.c.hold(how, j.at, j.content, off, data, true); ok {
		w := j.c.cache.part(j.content, f.version) // the part with the data that is held back already
		if w.off+int64(len(w.data)) != off || w.data == nil {
			w = window{off, nil}
		}
		j.f = f
		j.c.cache.keep(j.content, f.version, window{w.off, append(w.data[:len(w.data):len(w.data)], data...)})
		return st, nil
	}
	if err := j.c.settle([]string{j.at}, j.content); err != nil {
		return st, err
	}
	offs, pieces := cutUp(data, off)
	mark, unsure, did, version := newMark(), false, false, int64(0)
	err := j.c.change("append to", how, []string{j.at}, &unsure, &st, `
		f AS (UPDATE files SET size=size+$7::bigint, version=version+1, time=clock_timestamp() WHERE root=$1::bigint AND content=$5::bigint AND size=$6::bigint AND (SELECT ok FROM ok) RETURNING version),
		p AS (INSERT INTO pieces(root, content, off, data, mark) SELECT $1::bigint, $5::bigint, x.off, x.data, $8::bigint FROM f, unnest($9::bigint[], $10::bytea[]) AS x(off, data))
		SELECT ok.ok, EXISTS(SELECT FROM f), coalesce((SELECT version FROM f), 0) FROM ok`,
		[]any{j.content, off, len(data), mark, offs, pieces}, &did, &version)
	switch {
	case err != nil && unsure:
		j.c.unsee(j.at)
		return st, fmt.Errorf("%w; %w", err, store.ErrTorn)
	case err != nil:
		return st, err
	case !did:
		j.c.unsee(j.at)
		if unsure && len(data) > 0 {
			done, err := j.marked(off, mark)
			if err != nil {
				return st, fmt.Errorf("%w; %w", err, store.ErrTorn)
			}
			if done && sync {
				// The server may have restarted or ended the session after its commit but before
				// a standby had the data. A later commit waits for the standby.
				_, err = j.Sync()
			}
			if done {
				return st, err
			}
		}
		if ok, err := j.Current(); err != nil || !ok {
			return st, errors.Join(j.gone("append to"), err)
		}
		return st, fmt.Errorf("append to %s at byte %d, and it has %d: %w; nothing was written: make the call again", j.c.where(j.at), off, j.f.size, store.ErrOvertaken)
	}
	j.wrote(off+int64(len(data)), version, window{off, data})
	return st, nil
}

// marked reports whether a write whose answer was lost has been done.
func (j *journal) marked(off, mark int64) (there bool, err error) {
	err = j.c.row("read", j.at, `SELECT EXISTS(SELECT FROM pieces WHERE content=$1::bigint AND off=$2::bigint AND mark=$3::bigint AND root=$4::bigint)`, []any{j.content, off, mark, j.c.root}, &there)
	return there, err
}

func (j *journal) Sync() (store.Stats, error) {
	var st store.Stats
	if err := j.use(true); err != nil {
		return st, err
	}
	// A commit that waits for the disk also waits for all earlier commits.
	err := j.write("sync", store.Synced, &st, `f AS (UPDATE files SET version=version+1 WHERE root=$1::bigint AND content=$5::bigint AND (SELECT ok FROM ok) RETURNING size, version)`)
	return st, err
}

// write runs statements that end in f, the row of the file after the write.
func (j *journal) write(op string, how store.Durability, st *store.Stats, q string, args ...any) error {
	if err := j.c.settle([]string{j.at}, j.content); err != nil {
		return err
	}
	var did bool
	var size, version int64
	err := j.c.change(op, how, []string{j.at}, nil, st, q+` SELECT ok.ok, f.version IS NOT NULL, coalesce(f.size, 0), coalesce(f.version, 0) FROM ok LEFT JOIN f ON true`,
		append([]any{j.content}, args...), &did, &size, &version)
	if err != nil {
		j.c.unsee(j.at)
		return err
	}
	if !did {
		return j.gone(op)
	}
	j.wrote(size, version, window{})
	return nil
}

func (j *journal) Cut(size int64) error {
	if err := j.use(true); err != nil {
		return err
	}
	return j.write("cut", store.Unsynced, nil, `
		f AS (UPDATE files SET size=least(size, $6::bigint), version=version+1, time=clock_timestamp() WHERE root=$1::bigint AND content=$5::bigint AND (SELECT ok FROM ok) RETURNING size, version),
		d AS (DELETE FROM pieces WHERE root=$1::bigint AND content=$5::bigint AND off >= $6::bigint AND EXISTS(SELECT FROM f)),
		u AS (UPDATE pieces SET data=substring(data FROM 1 FOR ($6::bigint-off)::int) WHERE root=$1::bigint AND content=$5::bigint AND EXISTS(SELECT FROM f)
			AND off=(SELECT max(off) FROM pieces WHERE root=$1::bigint AND content=$5::bigint AND off < $6::bigint) AND off+length(data) > $6::bigint)`, size)
}

func (j *journal) Patch(off int64, data []byte, sync bool) error {
	if err := j.use(false); err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	how := store.Unsynced
	if sync {
		how = store.Synced
	} else if was, f, ok := j.held(off, data); ok {
		j.f = f
		whole := window{}
		if was.off == 0 && int64(len(was.data)) == f.size {
			whole.data = append([]byte(nil), was.data...)
			copy(whole.data[off:], data)
		}
		j.c.cache.keep(j.content, f.version, whole)
		return nil
	}
	return j.write("patch", how, nil, `
		was AS (SELECT size FROM files WHERE root=$1::bigint AND content=$5::bigint),
		f AS (UPDATE files SET size=greatest(size, $7::bigint), version=version+1, time=clock_timestamp() WHERE root=$1::bigint AND content=$5::bigint AND (SELECT ok FROM ok) RETURNING size, version),
		u AS (UPDATE pieces SET data=overlay(data PLACING
				substring($8::bytea FROM (greatest(off, $6::bigint)-$6::bigint+1)::int FOR (least(off+length(data), $7::bigint)-greatest(off, $6::bigint))::int)
				FROM (greatest(off, $6::bigint)-off+1)::int)
			WHERE root=$1::bigint AND content=$5::bigint AND EXISTS(SELECT FROM f) AND off < $7::bigint AND off+length(data) > $6::bigint
			AND off >= coalesce((SELECT max(off) FROM pieces WHERE root=$1::bigint AND content=$5::bigint AND off <= $6::bigint), 0)),
		i AS (INSERT INTO pieces(root, content, off, data, mark) SELECT $1::bigint, $5::bigint, was.size,
				decode(repeat('00', greatest($6::bigint-was.size, 0)::int), 'hex') || substring($8::bytea FROM greatest(was.size-$6::bigint, 0)::int+1), 0
			FROM was, f WHERE $7::bigint > was.size)`, off, off+int64(len(data)), data)
}

// held holds a patch back, and returns the content as it was cached before the patch. It holds
// back only patches of a small content, which is one piece.
func (j *journal) held(off int64, data []byte) (was window, f file, ok bool) {
	_, before, seen := j.c.seenContent(j.at, j.content)
	if !seen || before.size > smallContent {
		return was, f, false
	}
	was = j.c.cache.part(j.content, before.version)
	f, ok = j.c.hold(store.Unsynced, j.at, j.content, off, data, false)
	return was, f, ok
}

// smallContent is the size of a journal's head, which is created as one piece.
const smallContent = 512
