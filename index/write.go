package index

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// Limits of one transaction, in addition to SyncOptions.BatchChunks. The first transaction is
// small, so that the writer need not wait long for it. Each later transaction is twice as large
// as the one before.
const (
	batchBytes = 8 << 20
	batchFiles = 512
	batchFirst = 125 // chunks
	batchTime  = 300 * time.Millisecond
)

// readAll reads, analyses and writes files. One goroutine collects the files of the next
// transaction while the calling goroutine writes the last one. Writing takes longer than reading,
// so more goroutines would not help.
func (s *syncer) readAll(ctx context.Context, jobs []job) error {
	if len(jobs) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan []*prepared)
	failed := make(chan error, 1)
	go func() { failed <- s.prepare(ctx, jobs, batches) }()
	var err error
	for batch := range batches {
		if err = s.writeBatch(ctx, batch); err != nil {
			break
		}
	}
	cancel()
	for range batches { // let the other goroutine end
	}
	if perr := <-failed; err == nil {
		err = perr
	}
	return err
}

// writeBatch writes files in one transaction. The report counts them only once
// they are committed.
func (s *syncer) writeBatch(ctx context.Context, batch []*prepared) error {
	report := s.report
	err := s.change(ctx, func(tx *sql.Tx, m *meta) error {
		w, err := newWriter(ctx, tx, m)
		if err != nil {
			return err
		}
		for _, f := range batch {
			if err := w.file(f, &report); err != nil {
				return err
			}
		}
		report.ChunksAdded += w.added
		report.ChunksRemoved += w.removed
		report.ChunksKept += w.kept
		return w.finish()
	})
	if err != nil {
		return err
	}
	s.report = report
	for _, f := range batch {
		s.done.Files++
		s.done.Bytes += f.Stat.Size
	}
	s.done.Chunks = report.ChunksAdded
	if s.opts.Progress != nil {
		s.opts.Progress(s.done)
	}
	return nil
}

// file writes one file and counts its outcome.
func (w *writer) file(f *prepared, r *SyncReport) error {
	switch {
	case errors.Is(f.err, fs.ErrNotExist):
		if f.Row == nil {
			return nil
		}
		r.Removed++
		return w.removeFile(f.Row)
	case errors.Is(f.err, ErrSkip):
		r.Read++
		r.Skipped++
		f.chunks, f.hash = nil, []byte{}
		return w.replace(f, false)
	case f.err != nil:
		r.Failed = append(r.Failed, FileError{f.Stat.Path, f.err})
		return w.stat(f, true)
	}
	r.Read++
	r.Bytes += f.Stat.Size
	switch {
	case f.same():
		if f.Row.size != f.Stat.Size || f.Row.mtime != f.Stat.Nanos() {
			r.Touched++
		} else {
			r.Unchanged++
		}
		return w.stat(f, f.again)
	case f.Row == nil:
		r.Added++
	default:
		r.Changed++
	}
	for i := range f.chunks {
		if f.chunks[i].Words != nil {
			r.ChunkBytes += int64(len(f.chunks[i].Text))
		}
	}
	return w.replace(f, f.again)
}

// chunkKey distinguishes the chunks of one file by their id, content, keywords and date.
type chunkKey struct {
	id             string
	hash           Hash
	keywords, date string
}

func (r *ReadyChunk) key() chunkKey { return chunkKey{r.ID, r.Hash, r.Keywords, r.Date} }

// oldChunk is a stored chunk without its text.
type oldChunk struct {
	key                           chunkKey
	row                           int64
	seq, startLine, endLine, size int
	lang                          string
}

// oldChunks reads a file's chunks in order.
func oldChunks(ctx context.Context, db drv.Conn, file int64) ([]oldChunk, error) {
	return drv.All(ctx, db, func(o *oldChunk) []any {
		return []any{&o.row, &o.seq, &o.key.id, &o.key.hash, &o.startLine, &o.endLine, &o.size, &o.lang, &o.key.date, &o.key.keywords}
	}, `SELECT row, seq, id, hash, start_line, end_line, tokens, lang, date, keywords
		FROM chunks WHERE file=? ORDER BY seq`, file)
}

// writer writes files within one transaction.
type writer struct {
	ctx context.Context
	tx  *sql.Tx
	// prepared are the statements that were run before.
	prepared             map[string]*sql.Stmt
	meta                 *meta
	added, removed, kept int
	codes                *vec.Edits
}

func newWriter(ctx context.Context, tx *sql.Tx, m *meta) (*writer, error) {
	codes, err := m.codes.Edit(ctx, tx)
	return &writer{ctx: ctx, tx: tx, prepared: map[string]*sql.Stmt{}, meta: m, codes: codes}, err
}

// statement returns a query, prepared once for the transaction, which closes it.
func (w *writer) statement(query string) (s *sql.Stmt, err error) {
	if s = w.prepared[query]; s == nil {
		s, err = w.tx.PrepareContext(w.ctx, query)
		w.prepared[query] = s
	}
	return s, err
}

func (w *writer) exec(query string, args ...any) error {
	s, err := w.statement(query)
	if err == nil {
		_, err = s.ExecContext(w.ctx, args...)
	}
	return err
}

// finish is called when all is written.
func (w *writer) finish() error {
	if err := w.codes.Save(w.ctx, w.tx, &w.meta.codes); err != nil || w.removed == 0 {
		return err
	}
	return fts5.Mend(w.ctx, w.tx)
}
