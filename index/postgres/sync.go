package postgres

import (
	"context"
	"errors"
	"hash/fnv"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// Sync brings this agent's part of the index up to date with the files that source
// lists, as [index.Index.Sync] does.
func (ix *Index) Sync(ctx context.Context, source iter.Seq2[index.FileStat, error], read index.Reader, opts *index.SyncOptions) (index.SyncReport, error) {
	o := index.SyncOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	if o.BatchChunks <= 0 {
		o.BatchChunks = defaultBatch
	}
	const op = "sync index"
	if ix.index.ReadOnly {
		return index.SyncReport{}, index.Problem(op, ix.place, index.ErrReadOnly, errors.New("opened for reading"))
	}
	s, err := ix.exclusive(ctx, op, o.Wait)
	if err != nil {
		return index.SyncReport{}, ix.explain(op, err)
	}
	defer s.release()
	s.opts, s.read = o, read
	began := time.Now()
	err = s.sync(ctx, source)
	s.report.Elapsed = time.Since(began)
	return s.report, ix.explain(op, err)
}

// defaultBatch is how many new chunks go into one transaction.
const defaultBatch = 500

// syncer is one Sync, on a connection that holds the space's lock.
type syncer struct {
	*Index
	conn *pgxpool.Conn
	key  int64
	opts index.SyncOptions
	read index.Reader

	space      int32
	private    int32 // scopes
	shared     int32
	generation int64

	report index.SyncReport
	done   index.Progress
}

// lockPoll is how often the lock is asked for again.
const lockPoll = 50 * time.Millisecond

// exclusive takes a connection and the lock of those who write this space.
func (ix *Index) exclusive(ctx context.Context, op string, wait time.Duration) (*syncer, error) {
	conn, err := ix.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	s := &syncer{Index: ix, conn: conn, key: ix.lockKey()}
	if err := s.lock(ctx, op, wait); err != nil {
		conn.Release()
		return nil, err
	}
	if err := s.load(ctx); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// lockKey is the space's key among the server's advisory locks.
func (ix *Index) lockKey() int64 {
	h := fnv.New64a()
	for _, s := range []string{ix.opts.Schema, ix.opts.Workspace, ix.opts.Agent} {
		h.Write(append([]byte(s), 0))
	}
	return int64(h.Sum64())
}

func (s *syncer) lock(ctx context.Context, op string, wait time.Duration) error {
	var timeout <-chan time.Time
	if wait >= 0 {
		timeout = time.After(wait)
	}
	for {
		var ok bool
		if err := s.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1::bigint)`, s.key).Scan(&ok); err != nil || ok {
			return err
		}
		select {
		case <-time.After(lockPoll):
		case <-timeout:
			return index.Problem(op, s.place, index.ErrBusy, nil)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release gives lock and connection back. A connection that can't be asked any
// more is closed, which frees the lock too.
func (s *syncer) release() {
	ctx, cancel := context.WithTimeout(context.Background(), s.Index.opts.ConnectTimeout)
	defer cancel()
	if _, err := s.conn.Exec(ctx, `SELECT pg_advisory_unlock($1::bigint)`, s.key); err != nil {
		s.conn.Conn().Close(ctx)
	}
	s.conn.Release()
}

// load finds the space, and makes it if it is new.
func (s *syncer) load(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO spaces(workspace, agent, chunker) VALUES($1::text, $2::text, $3::text) ON CONFLICT DO NOTHING`,
			s.Index.opts.Workspace, s.Index.opts.Agent, s.index.Chunker)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT id, generation FROM spaces WHERE workspace=$1::text AND agent=$2::text`,
			s.Index.opts.Workspace, s.Index.opts.Agent).Scan(&s.space, &s.generation)
		if err != nil {
			return err
		}
		for private, scope := range map[bool]*int32{true: &s.private, false: &s.shared} {
			_, err := tx.Exec(ctx, `INSERT INTO scopes(space, private) VALUES($1::integer, $2::boolean) ON CONFLICT DO NOTHING`, s.space, private)
			if err != nil {
				return err
			}
			err = tx.QueryRow(ctx, `SELECT id FROM scopes WHERE space=$1::integer AND private=$2::boolean`, s.space, private).Scan(scope)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// own are the scopes of this agent's space.
func (s *syncer) own() []int32 { return []int32{s.private, s.shared} }

func (s *syncer) sync(ctx context.Context, source iter.Seq2[index.FileStat, error]) error {
	if err := s.rules(ctx); err != nil {
		return err
	}
	l, err := index.List(ctx, source)
	if err != nil {
		return err
	}
	s.report.Files, s.report.Failed = len(l.Files), l.Problems
	known, err := knownFiles(ctx, s.conn, s.own())
	if err != nil {
		return err
	}
	w := s.compare(l, known, true)
	s.report.Unchanged = w.unchanged
	s.done.FilesTotal = len(w.read)
	for _, j := range w.read {
		s.done.BytesTotal += j.stat.Size
	}
	if err := s.remove(ctx, w.remove); err != nil {
		return err
	}
	return s.readAll(ctx, w.read)
}

// rules marks the files that are to be read whatever their stat.
func (s *syncer) rules(ctx context.Context) error {
	var chunker string
	if err := s.conn.QueryRow(ctx, `SELECT chunker FROM spaces WHERE id=$1::integer`, s.space).Scan(&chunker); err != nil {
		return err
	}
	if !s.opts.Full && chunker == s.index.Chunker {
		return nil
	}
	return s.change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE spaces SET chunker=$2::text WHERE id=$1::integer`, s.space, s.index.Chunker); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE files SET again=true WHERE scope = ANY($1::integer[])`, s.own())
		return err
	})
}

// fileRow is a row of files.
type fileRow struct {
	id          int64
	path        string
	scope       int32
	size, mtime int64
	hash        []byte
	chunks      int
	again       bool
	analysis    int
}

func knownFiles(ctx context.Context, db querier, scopes []int32) (map[string]*fileRow, error) {
	rows, err := db.Query(ctx, `SELECT id, path, scope, size, mtime, hash, chunks, again, analysis FROM files WHERE scope = ANY($1::integer[])`, scopes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]*fileRow{}
	for rows.Next() {
		f := &fileRow{}
		if err := rows.Scan(&f.id, &f.path, &f.scope, &f.size, &f.mtime, &f.hash, &f.chunks, &f.again, &f.analysis); err != nil {
			return nil, err
		}
		out[f.path] = f
	}
	return out, rows.Err()
}

// job is a file to be read; row is nil if it is new.
type job struct {
	stat index.FileStat
	row  *fileRow
}

// work is what there is to do.
type work struct {
	read      []job
	remove    []*fileRow
	unchanged int
}

// compare lays a listing and the files that are known side by side. again includes
// those that are to be read whatever their stat.
func (ix *Index) compare(l *index.Listing, known map[string]*fileRow, again bool) work {
	var w work
	listed := make(map[string]bool, len(l.Files))
	for _, f := range l.Files {
		listed[f.Path] = true
		row := known[f.Path]
		if row != nil && row.size == f.Size && row.mtime == f.Nanos() && row.analysis == analysis.Version && !(again && row.again) {
			w.unchanged++
			continue
		}
		w.read = append(w.read, job{f, row})
	}
	for path, row := range known {
		if !listed[path] && !l.Unsure(path) {
			w.remove = append(w.remove, row)
		}
	}
	return w
}

// Lag says by how much this agent's files have changed since the last Sync. It opens
// none of them.
func (ix *Index) Lag(ctx context.Context, source iter.Seq2[index.FileStat, error]) (index.Lag, error) {
	const op = "compare index"
	v, err := ix.look(ctx)
	if err != nil {
		return index.Lag{}, ix.explain(op, err)
	}
	l, err := index.List(ctx, source)
	if err != nil {
		return index.Lag{}, err
	}
	var known map[string]*fileRow
	err = ix.read(ctx, func() (err error) {
		scopes, err := ix.ownScopes(ctx, v)
		if err == nil {
			known, err = knownFiles(ctx, ix.pool, scopes)
		}
		return err
	})
	if err != nil {
		return index.Lag{}, ix.explain(op, err)
	}
	w := ix.compare(l, known, false)
	lag := index.Lag{Files: len(w.read), Removed: len(w.remove), Rules: ix.outdated(v)}
	for _, j := range w.read {
		lag.Bytes += j.stat.Size
	}
	return lag, nil
}

// ownScopes are the scopes of this agent's space.
func (ix *Index) ownScopes(ctx context.Context, v *view) ([]int32, error) {
	rows, err := ix.pool.Query(ctx, `SELECT id FROM scopes WHERE space=$1::integer`, v.space)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int32])
}
