package pgindex

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// Model returns the name of the model whose vectors this agent uses, and their length, or "" and
// 0 if there is none.
func (ix *Index) Model(ctx context.Context) (model string, dim int, err error) {
	v, err := ix.site.look(ctx)
	if errors.Is(err, index.ErrMissing) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, ix.site.explain("read model", err)
	}
	return v.model, v.dim, nil
}

// UseModel makes searches use the vectors of a model. "" and 0 turn vectors off. If the model is
// already in use, UseModel does nothing.
func (ix *Index) UseModel(ctx context.Context, model string, dim int) error {
	const op = "choose model"
	switch {
	case model == "" && dim != 0 || model != "" && dim <= 0:
		return fmt.Errorf("%s of %s: model %q can't have vectors of length %d: give the model's own length", op, ix.site.place, model, dim)
	case model != "" && !ix.site.vectors && !ix.site.index.ReadOnly:
		return noVectors(ix.site, op)
	}
	if used, usedDim, err := ix.Model(ctx); err == nil && used == model && usedDim == dim {
		return nil
	}
	return ix.site.locked(ctx, op, defaultWait, func(s *syncer) error {
		return s.change(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE spaces SET model=$2::text, dim=$3::integer WHERE id=$1::integer`, s.space, model, dim)
			return err
		})
	})
}

// noVectors returns the error of a server without the extension.
func noVectors(st *site, op string) error {
	return &index.Error{Op: op, Path: st.place, Kind: errNoVectors,
		Hint: "install the extension vector there and say CREATE EXTENSION vector, or say embedding.provider: none"}
}

// KeepLength forgets the workspace's vectors of a model that have another length, as
// [index.Index.KeepLength] does. If this agent uses the forgotten vectors, its searches use no
// vectors from then on.
func (ix *Index) KeepLength(ctx context.Context, model string, dim int) (forgotten int64, err error) {
	const op = "forget vectors"
	used, usedDim, err := ix.Model(ctx)
	if err != nil || !ix.site.vectors {
		return 0, err
	}
	if used == model && usedDim != dim {
		if err := ix.UseModel(ctx, "", 0); err != nil {
			return 0, err
		}
	}
	tag, err := ix.site.pool.Exec(ctx, `DELETE FROM embeddings WHERE workspace=$1::text AND model=$2::text AND vector_dims(vector)<>$3::integer`,
		ix.site.opts.Workspace, model, dim)
	return tag.RowsAffected(), ix.site.explain(op, err)
}

// missingStep is how many texts MissingEmbeddings reads at a time.
const missingStep = 200

// MissingEmbeddings yields the texts of this agent that have no vector of the
// model in the workspace, each once. Vectors may be put while it runs.
func (ix *Index) MissingEmbeddings(ctx context.Context, model string) iter.Seq2[index.Missing, error] {
	const op = "list missing embeddings"
	return index.MissingSteps(-1, func(after int64) ([]index.Missing, int64, error) {
		if !ix.site.vectors {
			return nil, after, noVectors(ix.site, op)
		}
		step, last, err := missingAfter(ctx, ix.site, model, after)
		return step, last, ix.site.explain(op, err)
	})
}

func missingAfter(ctx context.Context, st *site, model string, after int64) (out []index.Missing, last int64, err error) {
	v, err := st.look(ctx)
	if err != nil {
		return nil, after, err
	}
	rows, _ := st.pool.Query(ctx, `SELECT c.row, c.hash, c.trail, c.body, f.path FROM chunks AS c JOIN files AS f ON f.id=c.file
		WHERE c.scope = ANY($1::integer[]) AND c.row>$2::bigint AND NOT EXISTS (
			SELECT 1 FROM embeddings AS e WHERE e.hash=c.hash AND e.workspace=$3::text AND e.model=$4::text)
		ORDER BY c.row LIMIT $5::integer`, ownScopes(v.space), after, st.opts.Workspace, model, missingStep)
	last = after
	out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m index.Missing, err error) {
		var hash, trail, body []byte
		err = row.Scan(&last, &hash, &trail, &body, &m.Path)
		copy(m.Hash[:], hash)
		m.Trail, m.Text = index.SplitLines(string(trail)), string(body)
		return m, err
	})
	return out, last, err
}

// PutEmbeddings stores vectors of a model in one transaction, as
// [index.Index.PutEmbeddings] does.
func (ix *Index) PutEmbeddings(ctx context.Context, model string, vectors []index.Embedding) error {
	const op = "store embeddings"
	switch {
	case model == "":
		return fmt.Errorf("%s in %s: the model has no name: name it", op, ix.site.place)
	case ix.site.index.ReadOnly:
		return ix.site.index.Writable(op, ix.site.place)
	case !ix.site.vectors:
		return noVectors(ix.site, op)
	}
	used, dim, err := ix.Model(ctx)
	if err != nil {
		return err
	}
	var batch pgx.Batch
	for _, e := range vectors {
		if used == model && len(e.Vector) != dim {
			return index.Problem(op, ix.site.place, index.ErrModel, fmt.Errorf("vectors of %q have length %d, not %d", model, dim, len(e.Vector)))
		}
		unit, err := index.Unit(e.Vector)
		if err != nil {
			return fmt.Errorf("%s in %s: vector of text %s: %w", op, ix.site.place, e.Hash, err)
		}
		batch.Queue(`INSERT INTO embeddings(workspace, model, hash, vector) VALUES($1::text, $2::text, $3::bytea, $4::real[]::vector)
			ON CONFLICT(workspace, model, hash) DO UPDATE SET vector=excluded.vector`, ix.site.opts.Workspace, model, e.Hash[:], unit)
	}
	return ix.site.explain(op, pgx.BeginFunc(ctx, ix.site.pool, func(tx pgx.Tx) error { return tx.SendBatch(ctx, &batch).Close() }))
}
