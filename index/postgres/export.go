package postgres

import (
	"context"
	"iter"

	"github.com/memkernel/memkernel/index"
)

// Files lists the files that this agent's part of the index holds, by path, as
// [index.Index.Files] does.
func (ix *Index) Files(ctx context.Context) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		known, err := ownFiles(ctx, ix.site)
		if err != nil {
			yield(index.FileStat{}, ix.site.explain("list indexed files", err))
			return
		}
		for _, f := range known {
			if !yield(index.KnownStat(f.path, f.size, f.mtime, f.again), nil) {
				return
			}
		}
	}
}

func ownFiles(ctx context.Context, st *site) ([]fileRow, error) {
	v, err := st.look(ctx)
	if err != nil {
		return nil, err
	}
	own, err := ownScopes(ctx, st, v)
	if err != nil {
		return nil, err
	}
	return knownFiles(ctx, st.pool, own)
}

// FileChunks returns the chunks that the index holds of one of this agent's files,
// in order.
func (ix *Index) FileChunks(ctx context.Context, path string) ([]index.Chunk, error) {
	out, err := readChunks(ctx, ix.site, path)
	return out, ix.site.explain("read chunks", err)
}

func readChunks(ctx context.Context, st *site, path string) ([]index.Chunk, error) {
	v, err := st.look(ctx)
	if err != nil {
		return nil, err
	}
	own, err := ownScopes(ctx, st, v)
	if err != nil {
		return nil, err
	}
	rows, err := st.pool.Query(ctx, `SELECT c.id, c.start_line, c.end_line, c.trail, c.date, c.tokens, c.body, c.keywords
		FROM files AS f JOIN chunks AS c ON c.file=f.id
		WHERE f.path=$2::text AND f.scope = ANY($1::integer[]) AND c.scope = ANY($1::integer[]) ORDER BY c.seq`, own, path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []index.Chunk
	for rows.Next() {
		var c index.Chunk
		var trail, body, keywords []byte
		if err := rows.Scan(&c.ID, &c.StartLine, &c.EndLine, &trail, &c.Date, &c.Tokens, &body, &keywords); err != nil {
			return nil, err
		}
		c.Trail, c.Text = index.SplitTrail(string(trail)), string(body)
		c.Keywords, c.Facts = index.SplitFacts(string(keywords), c.StartLine)
		out = append(out, c)
	}
	return out, rows.Err()
}

// Chunker names the rules by which this agent's chunks were cut.
func (ix *Index) Chunker(ctx context.Context) (string, error) {
	v, err := ix.site.look(ctx)
	if err != nil {
		return "", ix.site.explain("read rules", err)
	}
	return v.chunker, nil
}
