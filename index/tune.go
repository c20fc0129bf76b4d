package index

import (
	"context"
	"database/sql"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// defaultExact is the default of Options.ExactVectors. Comparing more vectors than that one by
// one takes longer than a search by words.
const defaultExact = 10_000

// tune makes codes if there are many vectors. It measures which codes find the same vectors as
// comparing every vector, and measures again whenever the number of vectors has doubled. It reads
// in one transaction and writes in another. If the index changed between the two, tune writes
// nothing, and the next call makes the codes.
func tune(ctx context.Context, h *handles, o *Options, again bool) error {
	m, n, err := due(ctx, h, int64(o.ExactVectors), again)
	if err != nil || n == 0 {
		return err
	}
	found, err := measure(ctx, h, m)
	if err != nil {
		return err
	}
	return h.transact(ctx, func(tx *sql.Tx) error {
		old, err := loadMeta(ctx, tx)
		if err != nil || old.generation != m.generation || old.codes != m.codes {
			return err
		}
		now := old.clone()
		if err := found.Write(ctx, tx, &now.codes); err != nil {
			return err
		}
		return now.save(ctx, tx, old)
	})
}

// due returns the number of vectors if the codes must be measured, else 0.
func due(ctx context.Context, h *handles, most int64, again bool) (*meta, int64, error) {
	m, err := loadMeta(ctx, h.read)
	if err != nil || m.model == "" || m.dim > vec.MaxCoded || most < 0 || m.nextRow <= most {
		return m, 0, err
	}
	n := m.codes.Now
	if !m.codes.Coded() {
		if err := h.read.QueryRowContext(ctx, "SELECT count(*) FROM chunks_vec_rowids").Scan(&n); err != nil {
			return m, 0, err
		}
	}
	if n <= most || !again && m.codes.Of > 0 && n < 2*m.codes.Of {
		return m, 0, nil
	}
	return m, n, nil
}

// measure measures codes for the vectors in use, in one transaction.
func measure(ctx context.Context, h *handles, m *meta) (*vec.Measurement, error) {
	tx, err := h.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	all, err := drv.All(ctx, tx, func(row *int64) []any { return []any{row} }, "SELECT rowid FROM chunks_vec_rowids")
	if err != nil {
		return nil, err
	}
	return vec.Measure(m.dim, all, vectorsIn(ctx, tx, m))
}

// eachVector reads vectors in the order of their rows. It reads all vectors, or the vectors of
// some rows.
func eachVector(ctx context.Context, db drv.Conn, m *meta, rows []int64, f func(row, file, id int64, v []byte) error) error {
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

// vectorsIn returns the vectors in use as db sees them.
func vectorsIn(ctx context.Context, db drv.Conn, m *meta) vec.Each {
	return func(rows []int64, f func(row, file, id int64, v []byte) error) error {
		return eachVector(ctx, db, m, rows, f)
	}
}
