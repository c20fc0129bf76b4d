package pgindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// errOvertaken means that somebody wrote without the lock. This can happen with a pooler that
// gives one connection to several programs.
var errOvertaken = errors.New("another process changed the index at the same time")

// change runs f in a transaction that makes the space's next generation.
func (s *syncer) change(ctx context.Context, f func(tx pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE spaces SET generation=generation+1 WHERE id=$1::integer AND generation=$2::bigint`, s.space, s.generation)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return index.Problem("sync index", s.site.place, index.ErrBusy, errOvertaken)
		}
		return f(tx)
	})
	if err == nil {
		s.generation++
	}
	return err
}

// clear removes all files of the space.
func (s *syncer) clear(ctx context.Context) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM postings WHERE scope = ANY($1::integer[])`, s.own()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM files WHERE scope = ANY($1::integer[])`, s.own())
		return err
	})
}

// Drop removes this agent's part of the index, including its space. If no other agent has a space
// in the workspace, Drop removes the workspace's vectors too.
func (ix *Index) Drop(ctx context.Context) error {
	const op = "drop index"
	s, err := lockSpace(ctx, ix.site, op, defaultWait)
	if err != nil {
		return ix.site.explain(op, err)
	}
	defer s.release()
	if err := s.clear(ctx); err != nil {
		return ix.site.explain(op, err)
	}
	return ix.site.explain(op, s.change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM spaces WHERE id=$1::integer`, s.space); err != nil || !ix.site.vectors {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM embeddings WHERE workspace=$1::text
			AND NOT EXISTS (SELECT 1 FROM spaces WHERE workspace=$1::text)`, ix.site.opts.Workspace)
		return err
	}))
}

// removeBatch is how many files are removed in one transaction.
const removeBatch = 200

// remove removes the rows of deleted files.
func (s *syncer) remove(ctx context.Context, files []*fileRow) error {
	for len(files) > 0 {
		n := min(removeBatch, len(files))
		ids, chunks := make([]int64, n), 0
		for i, f := range files[:n] {
			ids[i], chunks = f.id, chunks+f.chunks
		}
		err := s.change(ctx, func(tx pgx.Tx) error {
			if err := s.empty(ctx, tx, ids); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `DELETE FROM files WHERE id = ANY($2::bigint[]) AND scope = ANY($1::integer[])`, s.own(), ids)
			return err
		})
		if err != nil {
			return err
		}
		s.report.Removed, s.report.ChunksRemoved = s.report.Removed+n, s.report.ChunksRemoved+chunks
		files = files[n:]
	}
	return nil
}

// empty removes the chunks of files, with their words.
func (s *syncer) empty(ctx context.Context, tx pgx.Tx, files []int64) error {
	if _, err := tx.Exec(ctx, `DELETE FROM postings WHERE scope = ANY($1::integer[])
		AND chunk IN (SELECT row FROM chunks WHERE file = ANY($2::bigint[]))`, s.own(), files); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM chunks WHERE scope = ANY($1::integer[]) AND file = ANY($2::bigint[])`, s.own(), files)
	return err
}

// prepared is a file that was read and cut into chunks.
type prepared struct {
	job
	err    error
	hash   []byte
	chunks []index.ReadyChunk
	again  bool
	// same reports that the index has the file's content already.
	same bool
}

// batchBytes and batchFiles bound a transaction in addition to the number of its chunks.
const (
	batchBytes = 8 << 20
	batchFiles = 256
)

// readAll reads files, cuts and analyses them, and writes them batch by batch.
func (s *syncer) readAll(ctx context.Context, jobs []job) error {
	a, err := s.site.analyzers.Lend()
	if err != nil {
		return err
	}
	defer s.site.analyzers.Give(a)
	for len(jobs) > 0 {
		var batch []*prepared
		chunks, bytes := 0, 0
		for len(batch) < min(len(jobs), batchFiles) && chunks < s.opts.BatchChunks && bytes < batchBytes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f := s.prepare(a, jobs[len(batch)])
			batch = append(batch, f)
			for i := range f.chunks {
				chunks, bytes = chunks+1, bytes+len(f.chunks[i].Text)
			}
		}
		if err := s.write(ctx, batch); err != nil {
			return err
		}
		jobs = jobs[len(batch):]
	}
	return nil
}

// prepare reads a file, and finds the words of its chunks.
func (s *syncer) prepare(a *analysis.Analyzer, j job) *prepared {
	f := &prepared{job: j, again: j.Stat.Young(time.Now())}
	if !storable(j.Stat.Path) {
		f.err = errors.New("its name is no valid text: PostgreSQL can't hold it")
		return f
	}
	chunks, err := s.read(j.Stat.Path)
	if err != nil {
		f.err = err
		return f
	}
	f.chunks, f.hash = index.Ready(j.Stat.Path, chunks)
	f.same = j.Row != nil && string(j.Row.hash) == string(f.hash) && j.Row.analysis == analysis.Version && j.Row.scope == s.scope(j.Stat.Path)
	if f.same {
		return f
	}
	for i := range f.chunks {
		c := &f.chunks[i]
		if !storable(c.ID) || !storable(c.Date) {
			f.err = fmt.Errorf("chunk %d has a name or date that is no valid text", i)
			return f
		}
		c.Analyse(a, j.Stat.Path)
	}
	return f
}

// storable reports whether PostgreSQL can hold a text unchanged.
func storable(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

func (s *syncer) scope(path string) int32 {
	if s.site.opts.Private(path) {
		return s.private
	}
	return s.shared
}

// write writes files in one transaction. The report counts them only once they
// are committed.
func (s *syncer) write(ctx context.Context, batch []*prepared) error {
	report := s.report
	err := s.change(ctx, func(tx pgx.Tx) error { return s.writeFiles(ctx, tx, batch, &report) })
	if err != nil {
		return err
	}
	s.report = report
	for _, f := range batch {
		s.done.Files++
		s.done.Bytes += f.Stat.Size
	}
	if s.done.Chunks = report.ChunksAdded; s.opts.Progress != nil {
		s.opts.Progress(s.done)
	}
	return nil
}

func (s *syncer) writeFiles(ctx context.Context, tx pgx.Tx, batch []*prepared, r *index.SyncReport) error {
	var replaced []*prepared
	for _, f := range batch {
		replace, err := s.file(ctx, tx, f, r)
		if err != nil {
			return err
		}
		if replace {
			replaced = append(replaced, f)
		}
	}
	return s.replace(ctx, tx, replaced, r)
}

// file decides between removing, keeping and replacing a file, and writes everything but its
// chunks.
func (s *syncer) file(ctx context.Context, tx pgx.Tx, f *prepared, r *index.SyncReport) (replace bool, err error) {
	switch {
	case errors.Is(f.err, fs.ErrNotExist):
		if f.Row == nil {
			return false, nil
		}
		r.Removed, r.ChunksRemoved = r.Removed+1, r.ChunksRemoved+f.Row.chunks
		if err := s.empty(ctx, tx, []int64{f.Row.id}); err != nil {
			return false, err
		}
		_, err := tx.Exec(ctx, `DELETE FROM files WHERE id=$2::bigint AND scope = ANY($1::integer[])`, s.own(), f.Row.id)
		return false, err
	case errors.Is(f.err, index.ErrSkip):
		r.Read, r.Skipped = r.Read+1, r.Skipped+1
		f.chunks, f.hash, f.again = nil, []byte{}, false
		return true, nil
	case f.err != nil:
		r.Failed = append(r.Failed, index.FileError{Path: f.Stat.Path, Err: f.err})
		if f.Row == nil {
			return false, nil // the next Sync treats the file as new again
		}
		return false, s.stat(ctx, tx, f, true)
	}
	r.Read, r.Bytes = r.Read+1, r.Bytes+f.Stat.Size
	switch {
	case f.same && f.Row.size == f.Stat.Size && f.Row.mtime == f.Stat.Nanos():
		r.Unchanged++
	case f.same:
		r.Touched++
	case f.Row == nil:
		r.Added++
	default:
		r.Changed++
	}
	if f.same {
		return false, s.stat(ctx, tx, f, f.again)
	}
	return true, nil
}

// stat records a file's stat and leaves its chunks unchanged.
func (s *syncer) stat(ctx context.Context, tx pgx.Tx, f *prepared, again bool) error {
	_, err := tx.Exec(ctx, `UPDATE files SET size=$3::bigint, mtime=$4::bigint, again=$5::boolean WHERE id=$2::bigint AND scope = ANY($1::integer[])`,
		s.own(), f.Row.id, f.Stat.Size, f.Stat.Nanos(), again)
	return err
}

// replace makes the index hold the current content of files.
func (s *syncer) replace(ctx context.Context, tx pgx.Tx, files []*prepared, r *index.SyncReport) error {
	var c chunkRows
	var old []int64
	for _, f := range files {
		id, err := s.upsert(ctx, tx, f)
		if err != nil {
			return err
		}
		kept, err := s.present(ctx, tx, f)
		if err != nil {
			return err
		}
		if f.Row != nil {
			old = append(old, id)
			r.ChunksRemoved += f.Row.chunks - kept
		}
		r.ChunksKept, r.ChunksAdded = r.ChunksKept+kept, r.ChunksAdded+len(f.chunks)-kept
		for i := range f.chunks {
			r.ChunkBytes += int64(len(f.chunks[i].Text))
			c.add(id, s.scope(f.Stat.Path), i, &f.chunks[i])
		}
	}
	if len(old) > 0 {
		if err := s.empty(ctx, tx, old); err != nil {
			return err
		}
	}
	return c.insert(ctx, tx)
}

// upsert writes the row of a file.
func (s *syncer) upsert(ctx context.Context, tx pgx.Tx, f *prepared) (id int64, err error) {
	err = tx.QueryRow(ctx, `INSERT INTO files(space, scope, path, size, mtime, hash, chunks, again, analysis)
		VALUES($1::integer, $2::integer, $3::text, $4::bigint, $5::bigint, $6::bytea, $7::integer, $8::boolean, $9::integer)
		ON CONFLICT(space, path) DO UPDATE SET scope=excluded.scope, size=excluded.size, mtime=excluded.mtime, hash=excluded.hash,
			chunks=excluded.chunks, again=excluded.again, analysis=excluded.analysis
		RETURNING id`,
		s.space, s.scope(f.Stat.Path), f.Stat.Path, f.Stat.Size, f.Stat.Nanos(), f.hash, len(f.chunks), f.again, analysis.Version).Scan(&id)
	return id, err
}

// present counts the chunks of a file that the index has already.
func (s *syncer) present(ctx context.Context, tx pgx.Tx, f *prepared) (n int, err error) {
	if f.Row == nil || f.Row.chunks == 0 {
		return 0, nil
	}
	rows, err := tx.Query(ctx, `SELECT id, hash FROM chunks WHERE scope = ANY($1::integer[]) AND file=$2::bigint`, s.own(), f.Row.id)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	type key struct {
		id   string
		hash index.Hash
	}
	have := map[key]int{}
	for rows.Next() {
		var k key
		var hash []byte
		if err := rows.Scan(&k.id, &hash); err != nil {
			return 0, err
		}
		copy(k.hash[:], hash)
		have[k]++
	}
	for i := range f.chunks {
		k := key{f.chunks[i].ID, f.chunks[i].Hash}
		if have[k] > 0 {
			have[k]--
			n++
		}
	}
	return n, rows.Err()
}
