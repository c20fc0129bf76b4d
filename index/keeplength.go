package index

import (
	"context"
	"database/sql"
	"errors"
)

// KeepLength forgets the vectors of a model that have not the length dim, and tells
// how many they were; if that is the length in use, the index does without vectors
// from then on. It is for models that give other vectors under their old name.
func (ix *Index) KeepLength(ctx context.Context, model string, dim int) (forgotten int64, err error) {
	const op = "forget vectors"
	if model == "" {
		return 0, problem(op, ix.path, ErrModel, errors.New("the model has no name"))
	}
	h, done, err := ix.exclusive(ctx, op, defaultWait)
	if err != nil {
		return 0, err
	}
	defer done()
	err = h.transact(ctx, func(tx *sql.Tx) error {
		old, err := loadMeta(ctx, tx)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "DELETE FROM embedding_cache WHERE model=? AND dim<>?", model, dim)
		if err != nil {
			return err
		}
		if forgotten, err = res.RowsAffected(); err != nil || old.model != model || old.dim == dim {
			return err
		}
		m := old.clone()
		m.model, m.dim = "", 0
		m.generation++
		if err := fillVectors(ctx, tx, m); err != nil {
			return err
		}
		return m.save(ctx, tx, old)
	})
	return forgotten, explain(op, ix.path, err)
}
