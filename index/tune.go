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

// due returns the rows with a vector if the codes must be measured, else none.
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
