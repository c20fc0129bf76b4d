package pgindex

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// The longest vectors that pgvector's HNSW index holds, in full and in half precision.
const (
	maxIndexed = 2000
	maxHalved  = 4000
	// maxNeighbours is the most that hnsw.ef_search may be.
	maxNeighbours = 1000
)

// operand returns the expression by which a model's vectors are indexed and
// compared.
func operand(column string, dim int) string {
	kind := "vector"
	if dim > maxIndexed && dim <= maxHalved {
		kind = "halfvec"
	}
	return fmt.Sprintf("%s::%s(%d)", column, kind, dim)
}

// nearestHits returns the chunks with the nearest vectors.
func nearestHits(ctx context.Context, st *site, v *view, q index.Query) ([]index.Hit, error) {
	if v.model != q.Model || q.Model == "" || v.dim != len(q.Vector) {
		return nil, index.Problem("search vectors", st.place, index.ErrModel,
			fmt.Errorf("the index has %q of %d, the question %q of %d", v.model, v.dim, q.Model, len(q.Vector)))
	}
	vec, err := index.Unit(q.Vector)
	if err != nil || q.K <= 0 {
		return nil, err
	}
	for limit := min(q.K+index.Ties, maxNeighbours); ; limit = min(4*limit, maxNeighbours) {
		var hits []index.Hit
		err := st.read(ctx, func() (err error) {
			hits, err = walkVectors(ctx, st, v, vec, limit)
			return err
		})
		if err != nil {
			return nil, err
		}
		found := len(hits)
		if hits = keep(hits, q.Want); found < limit || len(hits) >= q.K || limit == maxNeighbours {
			return index.RankVector(hits, q.K), nil
		}
	}
}

// walkVectors runs one query. The statement holds the model's number as a literal, because the
// index covers only the rows of that model.
func walkVectors(ctx context.Context, st *site, v *view, vec []float32, limit int) (hits []index.Hit, err error) {
	by := operand("e.vector", v.dim) + " <#> " + operand("$3::real[]", v.dim)
	query := fmt.Sprintf(`SELECT %s, -(e.vector::vector(%d) <#> $3::real[]::vector(%[2]d))
		FROM embeddings AS e JOIN chunks AS c ON c.hash=e.hash JOIN files AS f ON f.id=c.file
		WHERE e.model=%d AND e.workspace=$2::text AND c.scope = ANY($1::integer[])
		ORDER BY %s LIMIT $4::bigint`, hitColumns, v.dim, v.modelRow, by)
	err = pgx.BeginTxFunc(ctx, st.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		set := fmt.Sprintf("SET LOCAL hnsw.ef_search = %d", min(max(2*limit, 100), maxNeighbours))
		if st.iterates {
			set += "; SET LOCAL hnsw.iterative_scan = strict_order"
		}
		if err := script(ctx, tx, set); err != nil {
			return err
		}
		hits, err = readHits(ctx, st, tx, v, query, v.scopes, st.opts.Workspace, vec, limit)
		return err
	})
	return hits, err
}
