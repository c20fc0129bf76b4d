package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// Missing is a text that has no vector of a model yet.
type Missing struct {
	Hash Hash
	// Trail and Text are the input of the vector.
	Trail []string
	Text  string
	// Path is one of the files that hold the text.
	Path string
}

// Embedding is a text's vector.
type Embedding struct {
	Hash Hash
	// Vector need not have length 1. It is stored with length 1.
	Vector []float32
}

// UseModel makes searches use the vectors of a model. dim is their length. Vectors of the model that
// are already stored are used at once. PutEmbeddings must store the others. With "" and 0 the index
// uses no vectors. If the model is already in use, UseModel does nothing.
func (ix *Index) UseModel(ctx context.Context, model string, dim int) error {
	const op = "choose model"
	if model == "" && dim != 0 || model != "" && dim <= 0 {
		return fmt.Errorf("%s of %s: model %q can't have vectors of length %d: give the model's own length", op, ix.door.path, model, dim)
	}
	return ix.write(ctx, op, true, func(tx *sql.Tx, m *meta) error {
		if m.model == model && m.dim == dim {
			return nil
		}
		m.model, m.dim = model, dim
		m.generation++
		if err := m.codes.Drop(ctx, tx); err != nil {
			return err
		}
		// From now on, chunks are looked up by hash. An index without vectors does not need this
		// SQL index, which makes every write slower.
		if _, err := tx.ExecContext(ctx, "CREATE INDEX IF NOT EXISTS chunks_hash ON chunks(hash)"); err != nil {
			return err
		}
		return fillVectors(ctx, tx, m)
	})
}

// write runs f in a transaction on the current meta, and then makes the codes of vectors if they are
// due. If alone is set, it holds the lock of Sync meanwhile.
func (ix *Index) write(ctx context.Context, op string, alone bool, f func(tx *sql.Tx, m *meta) error) error {
	var h *handles
	var done func()
	var err error
	if alone {
		h, done, err = ix.door.exclusive(ctx, op, defaultWait)
	} else {
		h, done, err = ix.door.writer(ctx, op)
	}
	if err != nil {
		return err
	}
	defer done()
	if err = h.update(ctx, f); err == nil {
		err = tune(ctx, h, ix.door.opts)
	}
	return explain(op, ix.door.path, err)
}

// Model returns the model whose vectors are in use, and their length. It returns "" and 0 if none
// are in use.
func (ix *Index) Model(ctx context.Context) (model string, dim int, err error) {
	err = ix.read(ctx, "read model", func(_ *handles, v *view) error {
		model, dim = v.model, v.dim
		return nil
	})
	return model, dim, err
}

// missingStep is how many texts MissingEmbeddings reads at a time.
const missingStep = 200

// MissingEmbeddings yields each text that has no vector of the model. Equal texts are yielded once.
// Callers may call PutEmbeddings while it runs, because no read stays open between two texts.
func (ix *Index) MissingEmbeddings(ctx context.Context, model string) iter.Seq2[Missing, error] {
	return MissingSteps(-1, func(after int64) ([]Missing, int64, error) {
		return ix.missing(ctx, model, after)
	})
}

// missing reads up to missingStep texts without a vector, from the chunks after a row.
func (ix *Index) missing(ctx context.Context, model string, after int64) (out []Missing, last int64, err error) {
	var m Missing
	var trail string
	last = after
	err = ix.read(ctx, "list missing embeddings", func(h *handles, _ *view) error {
		return drv.Each(ctx, h.read, []any{&last, &m.Hash, &trail, &m.Text, &m.Path}, func() error {
			m.Trail = SplitLines(trail)
			out = append(out, m)
			return nil
		}, `SELECT c.row, c.hash, c.trail, c.body, f.path FROM chunks AS c JOIN files AS f ON f.id=c.file
			WHERE c.row>? AND NOT EXISTS (SELECT 1 FROM embedding_cache AS e WHERE e.hash=c.hash AND e.model=?)
			ORDER BY c.row LIMIT ?`, after, model, missingStep)
	})
	return out, last, err
}

// PutEmbeddings stores vectors of a model in one transaction. The vectors are also kept for texts
// that are added later. If the model is in use, the vectors must have its length. If a vector is
// all zeros or holds a NaN, PutEmbeddings returns an error and stores nothing.
func (ix *Index) PutEmbeddings(ctx context.Context, model string, vectors []Embedding) error {
	const op = "store embeddings"
	if model == "" {
		return fmt.Errorf("%s in %s: the model has no name: name it", op, ix.door.path)
	}
	blobs := make([][]byte, len(vectors))
	for i, v := range vectors {
		var err error
		if blobs[i], err = vec.Unit(v.Vector); err != nil {
			return fmt.Errorf("%s in %s: vector of text %s: %w", op, ix.door.path, v.Hash, err)
		}
	}
	return ix.write(ctx, op, false, func(tx *sql.Tx, m *meta) error {
		edits, err := m.codes.Edit(ctx, tx)
		if err != nil {
			return err
		}
		for i, v := range vectors {
			if m.model == model && len(v.Vector) != m.dim {
				return Problem(op, ix.door.path, ErrModel, fmt.Errorf("vectors of %q have length %d, not %d", model, m.dim, len(v.Vector)))
			}
			if err := putVector(ctx, tx, m, edits, model, v, blobs[i]); err != nil {
				return err
			}
		}
		if m.model == model {
			m.codes.Stamp++
		}
		return edits.Save(ctx, tx, &m.codes)
	})
}

// putVector stores one vector in the cache and, if its model is in use, for every chunk with its
// text. sqlite-vec has no "insert or replace".
func putVector(ctx context.Context, tx drv.Conn, m *meta, edits *vec.Edits, model string, v Embedding, blob []byte) error {
	var id int64
	err := tx.QueryRowContext(ctx, `INSERT INTO embedding_cache(model, hash, dim, vector) VALUES(?, ?, ?, ?)
		ON CONFLICT(hash, model) DO UPDATE SET dim=excluded.dim, vector=excluded.vector RETURNING id`,
		model, v.Hash[:], len(v.Vector), blob).Scan(&id)
	if err != nil || m.model != model {
		return err
	}
	rows, err := drv.All(ctx, tx, func(r *rowOfFile) []any { return []any{&r.row, &r.file} }, "SELECT row, file FROM chunks WHERE hash=?", v.Hash[:])
	if err != nil {
		return err
	}
	for _, r := range rows {
		edits.Put(r.row, r.file, id, blob)
		res, err := tx.ExecContext(ctx, "UPDATE chunks_vec SET embedding=? WHERE rowid=?", blob, r.row)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			continue
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO chunks_vec(rowid, embedding) VALUES(?, ?)", r.row, blob); err != nil {
			return err
		}
	}
	return nil
}

// rowOfFile is a chunk's row number and the number of its file.
type rowOfFile struct{ row, file int64 }

// KeepLength deletes the vectors of a model whose length is not dim, and returns the number of
// deleted vectors. If the index used these vectors, it then uses no vectors. Call it when a model
// returns vectors of a new length under its old name.
func (ix *Index) KeepLength(ctx context.Context, model string, dim int) (forgotten int64, err error) {
	const op = "forget vectors"
	if model == "" {
		return 0, Problem(op, ix.door.path, ErrModel, errors.New("the model has no name"))
	}
	err = ix.write(ctx, op, true, func(tx *sql.Tx, m *meta) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM embedding_cache WHERE model=? AND dim<>?", model, dim)
		if err != nil {
			return err
		}
		if forgotten, err = res.RowsAffected(); err != nil || m.model != model || m.dim == dim {
			return err
		}
		m.model, m.dim = "", 0
		m.generation++
		return fillVectors(ctx, tx, m)
	})
	return forgotten, err
}

// defaultExact is the default of Options.ExactVectors. Comparing more vectors than that one by
// one takes longer than a search by words.
const defaultExact = 10_000

// tune makes codes if there are many vectors. It measures which codes find the same vectors as
// comparing every vector, and measures again whenever the number of vectors has doubled. It reads
// in one transaction and writes in another. If the index changed between the two, tune writes
// nothing, and the next call makes the codes.
func tune(ctx context.Context, h *handles, o *Options) error {
	tx, err := h.read.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	m, all, err := due(ctx, tx, int64(o.ExactVectors))
	if err != nil || len(all) == 0 {
		return err
	}
	found, err := vec.Measure(m.dim, all, m.vectors(ctx, tx))
	if err != nil {
		return err
	}
	tx.Rollback()
	return h.update(ctx, func(tx *sql.Tx, now *meta) error {
		if now.generation != m.generation || now.codes != m.codes {
			return nil
		}
		return found.Write(ctx, tx, &now.codes)
	})
}

// due returns all rows that have a vector if codes must be made or measured again, else no rows.
func due(ctx context.Context, db drv.Conn, most int64) (*meta, []int64, error) {
	m, err := loadMeta(ctx, db)
	if err != nil || m.model == "" || most < 0 || m.nextRow <= most {
		return m, nil, err
	}
	n := m.codes.Now
	if !m.codes.Coded() {
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM chunks_vec_rowids").Scan(&n); err != nil {
			return m, nil, err
		}
	}
	if n <= most || m.codes.Of > 0 && n < 2*m.codes.Of {
		return m, nil, nil
	}
	all, err := drv.All(ctx, db, func(row *int64) []any { return []any{row} }, "SELECT rowid FROM chunks_vec_rowids")
	return m, all, err
}

// vectors returns a function that calls f for the vectors in use as db sees them, in the order of
// their rows. It calls f for all vectors, or for the vectors of some rows.
func (m *meta) vectors(ctx context.Context, db drv.Conn) func(rows []int64, f func(row, file, id int64, v []byte) error) error {
	return func(rows []int64, f func(row, file, id int64, v []byte) error) error {
		query := `SELECT c.row, c.file, e.id, e.vector FROM chunks AS c
			JOIN embedding_cache AS e ON e.hash=c.hash AND e.model=? AND e.dim=?`
		args := []any{m.model, m.dim}
		if rows != nil {
			query += " WHERE c.row IN (SELECT value FROM json_each(?))"
			args = append(args, drv.JSONList(rows))
		}
		var row, file, id int64
		var v sql.RawBytes
		return drv.Each(ctx, db, []any{&row, &file, &id, &v}, func() error {
			if len(v) != 4*m.dim {
				return nil
			}
			return f(row, file, id, v)
		}, query+" ORDER BY c.row", args...)
	}
}
