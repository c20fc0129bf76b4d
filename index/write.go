package index

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
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
	// prepared holds the statements that were prepared in this transaction.
	prepared             map[string]*sql.Stmt
	meta                 *meta
	added, removed, kept int
	codes                *vec.Edits
}

func newWriter(ctx context.Context, tx *sql.Tx, m *meta) (*writer, error) {
	codes, err := m.codes.Edit(ctx, tx)
	return &writer{ctx: ctx, tx: tx, prepared: map[string]*sql.Stmt{}, meta: m, codes: codes}, err
}

// statement returns the prepared statement of a query. The end of the transaction closes it.
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

// finish saves the changed codes of vectors. After removals it also corrects FTS5's totals. The
// caller must call it before the commit.
func (w *writer) finish() error {
	if err := w.codes.Save(w.ctx, w.tx, &w.meta.codes); err != nil || w.removed == 0 {
		return err
	}
	return fts5.Mend(w.ctx, w.tx)
}

// stat records a file's stat and leaves its chunks unchanged. A file that was never read gets a row
// without chunks.
func (w *writer) stat(f *prepared, again bool) error {
	if f.Row == nil {
		_, err := w.newFile(f, []byte{}, again)
		return err
	}
	_, err := w.tx.ExecContext(w.ctx, "UPDATE files SET size=?, mtime=?, again=? WHERE id=?",
		f.Stat.Size, f.Stat.Nanos(), again, f.Row.id)
	w.restamp(f)
	return err
}

// restamp replaces the file's part of meta's stamp.
func (w *writer) restamp(f *prepared) {
	w.meta.stamp += f.Stat.hash()
	if f.Row != nil {
		w.meta.stamp -= statHash(f.Row.path, f.Row.size, f.Row.mtime)
	}
}

// newFile adds a row to files.
func (w *writer) newFile(f *prepared, hash []byte, again bool) (id int64, err error) {
	res, err := w.tx.ExecContext(w.ctx, `INSERT INTO files(path, size, mtime, hash, chunks, again, labels) VALUES(?, ?, ?, ?, ?, ?, ?)`,
		f.Stat.Path, f.Stat.Size, f.Stat.Nanos(), hash, len(f.chunks), again, LabelsOf(f.chunks))
	if err != nil {
		return 0, err
	}
	w.restamp(f)
	return res.LastInsertId()
}

// replace makes the index hold the current content of the file.
func (w *writer) replace(f *prepared, again bool) error {
	if f.Row == nil {
		id, err := w.newFile(f, f.hash, again)
		if err != nil {
			return err
		}
		return w.insertAll(f, id, nil)
	}
	_, err := w.tx.ExecContext(w.ctx, "UPDATE files SET size=?, mtime=?, hash=?, chunks=?, again=?, labels=? WHERE id=?",
		f.Stat.Size, f.Stat.Nanos(), f.hash, len(f.chunks), again, LabelsOf(f.chunks), f.Row.id)
	if err != nil {
		return err
	}
	w.restamp(f)
	old, err := oldChunks(w.ctx, w.tx, f.Row.id)
	if err != nil {
		return err
	}
	return w.insertAll(f, f.Row.id, old)
}

// insertAll writes the chunks of a file. It keeps the chunks that are among old, removes the
// other chunks of old, and inserts the new chunks.
func (w *writer) insertAll(f *prepared, file int64, old []oldChunk) error {
	left := map[chunkKey][]oldChunk{}
	for _, o := range old {
		left[o.key] = append(left[o.key], o)
	}
	var fresh []int
	for i := range f.chunks {
		r := &f.chunks[i]
		same := left[r.key()]
		if len(same) == 0 {
			fresh = append(fresh, i)
			continue
		}
		left[r.key()] = same[1:]
		if err := w.move(r, i, same[0]); err != nil {
			return err
		}
	}
	for _, o := range old {
		if rest := left[o.key]; slices.ContainsFunc(rest, func(x oldChunk) bool { return x.row == o.row }) {
			if err := w.remove(o); err != nil {
				return err
			}
		}
	}
	for _, i := range fresh {
		if err := w.insert(f, file, i); err != nil {
			return err
		}
	}
	return nil
}

// move keeps a chunk and corrects its place.
func (w *writer) move(r *ReadyChunk, seq int, o oldChunk) error {
	w.kept++
	if o.seq == seq && o.startLine == r.StartLine && o.endLine == r.EndLine && o.size == r.Tokens {
		return nil
	}
	return w.exec("UPDATE chunks SET seq=?, start_line=?, end_line=?, tokens=? WHERE row=?", seq, r.StartLine, r.EndLine, r.Tokens, o.row)
}

// insert adds a chunk, its words and, if the cache has it, its vector.
func (w *writer) insert(f *prepared, file int64, seq int) error {
	r := &f.chunks[seq]
	if r.Words == nil {
		// When the file was prepared, the index had the chunk, so its words were not made.
		r.Analyse(analysis.New(), f.Stat.Path)
	}
	row := w.meta.nextRow
	w.meta.nextRow++
	err := w.exec(`INSERT INTO chunks(row, file, seq, id, hash, start_line, end_line, tokens, lang, date, trail, keywords, body)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, row, file, seq, r.ID, r.Hash[:], r.StartLine, r.EndLine,
		r.Tokens, r.Words.Lang, r.Date, r.TrailText, r.Keywords, r.Text)
	if err == nil {
		err = w.exec(fts5.Insert, row, r.Words.Body, r.Words.Trail, r.Words.File, r.Words.Names)
	}
	if err != nil {
		return err
	}
	w.added++
	w.meta.langs[r.Words.Lang]++
	if w.meta.model == "" {
		return nil
	}
	err = w.exec(`INSERT INTO chunks_vec(rowid, embedding)
		SELECT ?, vector FROM embedding_cache WHERE hash=? AND model=? AND dim=?`, row, r.Hash[:], w.meta.model, w.meta.dim)
	if err != nil || w.codes == nil {
		return err
	}
	find, err := w.statement("SELECT id, vector FROM embedding_cache WHERE hash=? AND model=? AND dim=?")
	if err != nil {
		return err
	}
	var id int64
	var vector []byte
	err = find.QueryRowContext(w.ctx, r.Hash[:], w.meta.model, w.meta.dim).Scan(&id, &vector)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		w.codes.Put(row, file, id, vector)
	}
	return err
}

// remove deletes a chunk from all tables. Its vector stays in the cache.
func (w *writer) remove(o oldChunk) error {
	w.removed++
	w.meta.langs[o.lang]--
	w.codes.Drop(o.row)
	queries := []string{"DELETE FROM chunks WHERE row=?", fts5.Delete, "DELETE FROM chunks_vec WHERE rowid=?"}
	if w.meta.model == "" {
		queries = queries[:2]
	}
	for _, q := range queries {
		if err := w.exec(q, o.row); err != nil {
			return err
		}
	}
	return nil
}

// removeFile deletes a file with all its chunks.
func (w *writer) removeFile(f *fileRow) error {
	old, err := oldChunks(w.ctx, w.tx, f.id)
	if err != nil {
		return err
	}
	for _, o := range old {
		if err := w.remove(o); err != nil {
			return err
		}
	}
	w.meta.stamp -= statHash(f.path, f.size, f.mtime)
	_, err = w.tx.ExecContext(w.ctx, "DELETE FROM files WHERE id=?", f.id)
	return err
}
