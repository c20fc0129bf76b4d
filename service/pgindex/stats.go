package pgindex

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// Stats reads the figures of this agent's part of the index. FileBytes is 0, because all agents
// share the server's files.
func (ix *Index) Stats(ctx context.Context) (index.Stats, error) {
	var s index.Stats
	err := ix.site.read(ctx, func() (err error) { s, err = readStats(ctx, ix.site); return err })
	return s, ix.site.explain("read statistics", err)
}

func readStats(ctx context.Context, st *site) (index.Stats, error) {
	s := index.Stats{Languages: map[string]int64{}, Analysis: analysis.Version, Format: len(migrations), Driver: "pgx"}
	v, err := st.look(ctx)
	if err != nil {
		return s, err
	}
	own, err := ownScopes(ctx, st, v)
	if err != nil {
		return s, err
	}
	var newest int64
	err = st.pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE again), coalesce(max(mtime), 0),
		coalesce(min(analysis), $2::integer) FROM files WHERE scope = ANY($1::integer[])`, own, analysis.Version).Scan(&s.Files, &s.Unread, &newest, &s.Analysis)
	if err != nil {
		return s, err
	}
	if newest > 0 {
		s.Newest = time.Unix(0, newest)
	}
	err = st.pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(length(body)), 0), coalesce(sum(tokens), 0) FROM chunks WHERE scope = ANY($1::integer[])`,
		own).Scan(&s.Chunks, &s.TextBytes, &s.Tokens)
	if err != nil {
		return s, err
	}
	if err := countLanguages(ctx, st, own, s.Languages); err != nil {
		return s, err
	}
	err = st.pool.QueryRow(ctx, `SELECT generation, chunker FROM spaces WHERE id=$1::integer
		UNION ALL SELECT 0, '' LIMIT 1`, v.space).Scan(&s.Generation, &s.Chunker)
	if err != nil || !st.vectors {
		return s, err
	}
	s.Model, s.Dim = v.model, v.dim
	return s, st.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM embeddings WHERE workspace=$2::text),
		(SELECT count(*) FROM chunks AS c JOIN embeddings AS e ON e.hash=c.hash WHERE c.scope = ANY($1::integer[])
			AND e.workspace=$2::text AND e.model=$3::integer)`, own, st.opts.Workspace, v.modelRow).Scan(&s.Cached, &s.Vectors)
}

func countLanguages(ctx context.Context, st *site, scopes []int32, into map[string]int64) error {
	rows, err := st.pool.Query(ctx, `SELECT lang, count(*) FROM chunks WHERE scope = ANY($1::integer[]) GROUP BY lang`, scopes)
	if err != nil {
		return err
	}
	var lang string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&lang, &n}, func() error { into[lang] = n; return nil })
	return err
}
