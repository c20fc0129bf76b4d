package pgindex

import (
	"context"
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
	o := opts.OrDefaults(defaultBatch)
	var report index.SyncReport
	err := ix.site.locked(ctx, "sync index", o.Wait, func(s *syncer) error {
		s.opts, s.read = o, read
		began := time.Now()
		err := s.sync(ctx, source)
		report = s.report
		report.Elapsed = time.Since(began)
		return err
	})
	return report, err
}

// locked runs f with the lock that writers of this space must hold.
func (st *site) locked(ctx context.Context, op string, wait time.Duration, f func(s *syncer) error) error {
	if err := st.index.Writable(op, st.place); err != nil {
		return err
	}
	s, err := lockSpace(ctx, st, op, wait)
	if err == nil {
		defer s.release()
		err = f(s)
	}
	return st.explain(op, err)
}

// defaultBatch is how many new chunks go into one transaction.
const defaultBatch = 500

// syncer is one Sync, on a connection that holds the space's lock.
type syncer struct {
	site *site
	conn *pgxpool.Conn
	key  int64
	opts index.SyncOptions
	read index.Reader

	space      int32
	generation int64
	chunker    string

	report index.SyncReport
	done   index.Progress
}

// lockPoll is how often the lock is tried again.
const lockPoll = 50 * time.Millisecond

// lockSpace takes a connection and the lock that writers of this space must hold.
func lockSpace(ctx context.Context, st *site, op string, wait time.Duration) (*syncer, error) {
	s, err := hold(ctx, st, op, spaceKey(st), wait)
	if err == nil {
		if err = s.load(ctx); err != nil {
			s.release()
		}
	}
	return s, err
}

// hold takes a connection and an advisory lock. It waits for the lock for up to wait, or for ever if
// wait is negative.
func hold(ctx context.Context, st *site, op string, key int64, wait time.Duration) (*syncer, error) {
	conn, err := st.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	s := &syncer{site: st, conn: conn, key: key}
	if err := s.lock(ctx, op, wait); err != nil {
		conn.Release()
		return nil, err
	}
	return s, nil
}

// spaceKey returns the space's key among the server's advisory locks.
func spaceKey(st *site) int64 {
	h := fnv.New64a()
	for _, s := range []string{st.opts.Schema, st.opts.Workspace, st.opts.Agent} {
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
			return index.Problem(op, s.site.place, index.ErrBusy, nil)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release frees the lock and returns the connection to the pool. It closes a broken connection,
// which frees the lock too.
func (s *syncer) release() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	if _, err := s.conn.Exec(ctx, `SELECT pg_advisory_unlock($1::bigint)`, s.key); err != nil {
		s.conn.Conn().Close(ctx)
	}
	s.conn.Release()
}

// load reads the row of the space, and inserts it if the space is new.
func (s *syncer) load(ctx context.Context) error {
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO spaces(workspace, agent, chunker) VALUES($1::text, $2::text, $3::text) ON CONFLICT DO NOTHING`,
			s.site.opts.Workspace, s.site.opts.Agent, s.site.index.Chunker)
		if err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT id, generation, chunker FROM spaces WHERE workspace=$1::text AND agent=$2::text`,
			s.site.opts.Workspace, s.site.opts.Agent).Scan(&s.space, &s.generation, &s.chunker)
	})
}

func (s *syncer) sync(ctx context.Context, source iter.Seq2[index.FileStat, error]) error {
	if err := s.rules(ctx); err != nil {
		return err
	}
	l, err := index.List(ctx, source)
	if err != nil {
		return err
	}
	s.report.Files, s.report.Failed = len(l.Files), l.Problems
	known, err := knownFiles(ctx, s.conn, s.space)
	if err != nil {
		return err
	}
	w := compare(l, known, true)
	s.report.Unchanged = w.Unchanged
	s.done.FilesTotal = len(w.Read)
	s.done.BytesTotal = w.Bytes()
	if err := s.remove(ctx, w.Remove); err != nil {
		return err
	}
	if err := s.readAll(ctx, w.Read); err != nil || !s.opts.Full || len(s.report.Failed) > 0 || !s.site.vectors {
		return err
	}
	return s.forget(ctx)
}

// forget deletes the vectors of texts that no agent of the workspace has any more. Such a vector
// would still reveal the subject of the text.
func (s *syncer) forget(ctx context.Context) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `SELECT id FROM spaces WHERE workspace=$1::text`, s.site.opts.Workspace)
		spaces, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			return err
		}
		var scopes []int32
		for _, space := range spaces {
			scopes = append(scopes, ownScopes(space)...)
		}
		_, err = tx.Exec(ctx, `DELETE FROM embeddings AS e WHERE e.workspace=$2::text AND NOT EXISTS (
			SELECT 1 FROM chunks AS c WHERE c.scope = ANY($1::integer[]) AND c.hash=e.hash)`, scopes, s.site.opts.Workspace)
		return err
	})
}

// rules marks, in the table of files, the files that must be read even if their stat is unchanged.
func (s *syncer) rules(ctx context.Context) error {
	if !s.opts.Full && s.chunker == s.site.index.Chunker {
		return nil
	}
	return s.change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE spaces SET chunker=$2::text WHERE id=$1::integer`, s.space, s.site.index.Chunker); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE files SET again=true WHERE scope = ANY($1::integer[])`, ownScopes(s.space))
		return err
	})
}

// fileRow is a row of files.
type fileRow struct {
	ID       int64
	Path     string
	Scope    int32
	Size     int64
	Mtime    int64
	Hash     []byte
	Chunks   int
	Again    bool
	Analysis int
}

// knownFiles returns the rows of a space's files, by path.
func knownFiles(ctx context.Context, db querier, space int32) ([]fileRow, error) {
	rows, _ := db.Query(ctx, `SELECT id, path, scope, size, mtime, hash, chunks, again, analysis FROM files
		WHERE scope = ANY($1::integer[]) ORDER BY path`, ownScopes(space))
	return pgx.CollectRows(rows, pgx.RowToStructByPos[fileRow])
}

// job is a file to be read.
type job = index.Job[fileRow]

// compare matches a listing with the known files. With again, the result includes the files that
// must be read even if their stat is unchanged. Files whose words were made by other rules are
// always included.
func compare(l *index.Listing, known []fileRow, again bool) index.Work[fileRow] {
	return index.Compare(l, known, func(r *fileRow) string { return r.Path }, func(r *fileRow, f index.FileStat) bool {
		return r.Size == f.Size && r.Mtime == f.Nanos() && !(again && r.Again) && r.Analysis == analysis.Version
	})
}

// Lag returns how much this agent's files have changed since the last Sync. It opens no file.
func (ix *Index) Lag(ctx context.Context, source iter.Seq2[index.FileStat, error]) (index.Lag, error) {
	const op = "compare index"
	v, err := ix.site.look(ctx)
	if err != nil {
		return index.Lag{}, ix.site.explain(op, err)
	}
	l, err := index.List(ctx, source)
	if err != nil {
		return index.Lag{}, err
	}
	known, err := tryRead(ctx, ix.site, func() ([]fileRow, error) { return knownFiles(ctx, ix.site.pool, v.space) })
	if err != nil {
		return index.Lag{}, ix.site.explain(op, err)
	}
	w := compare(l, known, false)
	return index.Lag{Files: len(w.Read), Removed: len(w.Remove), Bytes: w.Bytes(), Rules: outdated(ix.site, v)}, nil
}
