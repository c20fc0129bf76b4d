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
	s := index.Stats{Languages: map[string]int64{}, Format: schemaNumber, Driver: "pgx"}
	v, err := st.look(ctx)
	if err != nil {
		return s, err
	}
	s.Generation, s.Chunker, s.Model, s.Dim = v.generation, v.chunker, v.model, v.dim
	own := ownScopes(v.space)
	var newest int64
	err = st.pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE again), coalesce(max(mtime), 0),
		coalesce(min(analysis), $2::integer) FROM files WHERE scope = ANY($1::integer[])`, own, analysis.Version).Scan(&s.Files, &s.Unread, &newest, &s.Analysis)
	if err != nil {
		return s, err
	}
	if newest > 0 {
		s.Newest = time.Unix(0, newest)
	}
	rows, err := st.pool.Query(ctx, `SELECT lang, count(*), sum(length(body)), sum(tokens) FROM chunks WHERE scope = ANY($1::integer[]) GROUP BY lang`, own)
	if err != nil {
		return s, err
	}
	var lang string
	var n, bytes, tokens int64
	_, err = pgx.ForEachRow(rows, []any{&lang, &n, &bytes, &tokens}, func() error {
		s.Languages[lang] = n
		s.Chunks, s.TextBytes, s.Tokens = s.Chunks+n, s.TextBytes+bytes, s.Tokens+tokens
		return nil
	})
	if err != nil || !st.vectors {
		return s, err
	}
	return s, st.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM embeddings WHERE workspace=$2::text),
		(SELECT count(*) FROM chunks AS c JOIN embeddings AS e ON e.hash=c.hash WHERE c.scope = ANY($1::integer[])
			AND e.workspace=$2::text AND e.model=$3::text)`, own, st.opts.Workspace, v.model).Scan(&s.Cached, &s.Vectors)
}
