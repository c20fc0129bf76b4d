package pgindex

import (
	"context"

	"github.com/memkernel/memkernel/index"
)

// Stats reads the figures of this agent's part of the index. FileBytes is 0, because all agents
// share the server's files.
func (ix *Index) Stats(ctx context.Context) (index.Stats, error) {
	s, err := tryRead(ctx, ix.site, func() (index.Stats, error) { return readStats(ctx, ix.site) })
	return s, ix.site.explain("read statistics", err)
}

func readStats(ctx context.Context, st *site) (index.Stats, error) {
	var s index.Stats
	v, err := st.look(ctx)
	if err != nil {
		return s, err
	}
	s.Chunker, s.Model, s.Dim = v.chunker, v.model, v.dim
	own := ownScopes(v.space)
	err = st.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM files WHERE scope = ANY($1::integer[])),
		(SELECT count(*) FROM files WHERE scope = ANY($1::integer[]) AND again), count(*), coalesce(sum(length(body)), 0)
		FROM chunks WHERE scope = ANY($1::integer[])`, own).Scan(&s.Files, &s.Unread, &s.Chunks, &s.TextBytes)
	if err != nil || !st.vectors {
		return s, err
	}
	return s, st.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM embeddings WHERE workspace=$2::text),
		(SELECT count(*) FROM chunks AS c JOIN embeddings AS e ON e.hash=c.hash WHERE c.scope = ANY($1::integer[])
			AND e.workspace=$2::text AND e.model=$3::text)`, own, st.opts.Workspace, v.model).Scan(&s.Cached, &s.Vectors)
}
