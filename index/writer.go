package index

import (
	"database/sql"
	"errors"
	"slices"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/fts5"
)

// stat notes a file's stat and leaves its chunks as they are. A file that was
// never read is noted too, without chunks.
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

// restamp replaces the file's part in the stamp.
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
		// The chunk was in the index when the file was prepared.
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
