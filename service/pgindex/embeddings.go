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

// UseModel makes searches use the vectors of a model, and makes an index over them. "" and 0 turn
// vectors off.
func (ix *Index) UseModel(ctx context.Context, model string, dim int) error {
	const op = "choose model"
	switch {
	case model == "" && dim != 0 || model != "" && dim <= 0:
		return fmt.Errorf("%s of %s: model %q can't have vectors of length %d: give the model's own length", op, ix.site.place, model, dim)
	case ix.site.index.ReadOnly:
		return ix.site.index.Writable(op, ix.site.place)
	case model != "" && !ix.site.vectors:
		return errNoVectors(ix.site, op)
	}
	s, err := lockSpace(ctx, ix.site, op, defaultWait)
	if err != nil {
		return ix.site.explain(op, err)
	}
	defer s.release()
	return ix.site.explain(op, s.useModel(ctx, model, dim))
}

// errNoVectors returns the error of a server without the extension.
func errNoVectors(st *site, op string) error {
	return &index.Error{Op: op, Path: st.place, Kind: ErrNoVectors,
		Hint: "install the extension vector there and say CREATE EXTENSION vector, or say embedding.provider: none"}
}

func (s *syncer) useModel(ctx context.Context, model string, dim int) error {
	if model == "" {
		return s.change(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE spaces SET model=NULL WHERE id=$1::integer`, s.space)
			return err
		})
	}
	id, err := modelRow(ctx, s.conn, model, dim)
	if err != nil {
		return err
	}
	if dim <= maxHalved {
		kind := "vector"
		if dim > maxIndexed {
			kind = "halfvec"
		}
		_, err = s.conn.Exec(ctx, fmt.Sprintf(`CREATE INDEX IF NOT EXISTS embeddings_model_%d ON embeddings USING hnsw ((%s) %s_ip_ops) WHERE model=%[1]d`,
			id, operand("vector", dim), kind))
		if err != nil {
			return err
		}
	}
	var now int32
	err = s.conn.QueryRow(ctx, `SELECT coalesce(model, 0) FROM spaces WHERE id=$1::integer`, s.space).Scan(&now)
	if err != nil || now == id {
		return err
	}
	return s.change(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE spaces SET model=$2::integer WHERE id=$1::integer`, s.space, id)
		return err
	})
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
	err = ix.site.transact(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `DELETE FROM embeddings AS e USING models AS m
			WHERE m.id=e.model AND m.name=$2::text AND m.dim<>$3::integer AND e.workspace=$1::text`, ix.site.opts.Workspace, model, dim)
		forgotten = tag.RowsAffected()
		return err
	})
	return forgotten, ix.site.explain(op, err)
}

// modelRow finds or makes the row of a model.
func modelRow(ctx context.Context, db querier, model string, dim int) (id int32, err error) {
	const find = `SELECT id FROM models WHERE name=$1::text AND dim=$2::integer`
	if err = db.QueryRow(ctx, find, model, dim).Scan(&id); !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	if _, err := db.Exec(ctx, `INSERT INTO models(name, dim) VALUES($1::text, $2::integer) ON CONFLICT DO NOTHING`, model, dim); err != nil {
		return 0, err
	}
	return id, db.QueryRow(ctx, find, model, dim).Scan(&id)
}

// missingStep is how many texts MissingEmbeddings reads at a time.
const missingStep = 200

// MissingEmbeddings yields the texts of this agent that have no vector of the
// model in the workspace, each once. Vectors may be put while it runs.
func (ix *Index) MissingEmbeddings(ctx context.Context, model string) iter.Seq2[index.Missing, error] {
	const op = "list missing embeddings"
	return index.Once(index.Steps(-1, func(after int64) ([]index.Missing, int64, error) {
		if !ix.site.vectors {
			return nil, after, errNoVectors(ix.site, op)
		}
		step, last, err := missingAfter(ctx, ix.site, model, after)
		return step, last, ix.site.explain(op, err)
	}))
}

func missingAfter(ctx context.Context, st *site, model string, after int64) (out []index.Missing, last int64, err error) {
	v, err := st.look(ctx)
	if err != nil {
		return nil, after, err
	}
	own, err := ownScopes(ctx, st, v)
	if err != nil {
		return nil, after, err
	}
	rows, err := st.pool.Query(ctx, `SELECT c.row, c.hash, c.trail, c.body, f.path FROM chunks AS c JOIN files AS f ON f.id=c.file
		WHERE c.scope = ANY($1::integer[]) AND c.row>$2::bigint AND NOT EXISTS (
			SELECT 1 FROM embeddings AS e JOIN models AS m ON m.id=e.model WHERE e.hash=c.hash AND e.workspace=$3::text AND m.name=$4::text)
		ORDER BY c.row LIMIT $5::integer`, own, after, st.opts.Workspace, model, missingStep)
	if err != nil {
		return nil, after, err
	}
	defer rows.Close()
	last = after
	for rows.Next() {
		var m index.Missing
		var hash, trail, body []byte
		if err := rows.Scan(&last, &hash, &trail, &body, &m.Path); err != nil {
			return nil, after, err
		}
		copy(m.Hash[:], hash)
		m.Trail, m.Text = index.SplitTrail(string(trail)), string(body)
		out = append(out, m)
	}
	return out, last, rows.Err()
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
		return errNoVectors(ix.site, op)
	}
	used, dim, err := ix.Model(ctx)
	if err != nil {
		return err
	}
	units := make([][]float32, len(vectors))
	for i, e := range vectors {
		if used == model && len(e.Vector) != dim {
			return index.Problem(op, ix.site.place, index.ErrModel, fmt.Errorf("vectors of %q have length %d, not %d", model, dim, len(e.Vector)))
		}
		if units[i], err = index.Unit(e.Vector); err != nil {
			return fmt.Errorf("%s in %s: vector of text %s: %w", op, ix.site.place, e.Hash, err)
		}
	}
	return ix.site.explain(op, ix.site.transact(ctx, func(tx pgx.Tx) error {
		for i, e := range vectors {
			id, err := modelRow(ctx, tx, model, len(e.Vector))
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `INSERT INTO embeddings(workspace, model, hash, vector) VALUES($1::text, $2::integer, $3::bytea, $4::real[]::vector)
				ON CONFLICT(workspace, model, hash) DO UPDATE SET vector=excluded.vector`, ix.site.opts.Workspace, id, e.Hash[:], units[i])
			if err != nil {
				return err
			}
		}
		return nil
	}))
}
