package postgres

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/memkernel/memkernel/index"
)

// Files lists the files that this agent's part of the index holds, by path, as
// [index.Index.Files] does.
func (ix *Index) Files(ctx context.Context) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		known, err := ix.known(ctx)
		if err != nil {
			yield(index.FileStat{}, ix.explain("list indexed files", err))
			return
		}
		for _, path := range slices.Sorted(maps.Keys(known)) {
			f := known[path]
			if !yield(index.KnownStat(path, f.size, f.mtime, f.again), nil) {
				return
			}
		}
	}
}

func (ix *Index) known(ctx context.Context) (map[string]*fileRow, error) {
	v, err := ix.look(ctx)
	if err != nil {
		return nil, err
	}
	own, err := ix.ownScopes(ctx, v)
	if err != nil {
		return nil, err
	}
	return knownFiles(ctx, ix.pool, own)
}

// FileChunks returns the chunks that the index holds of one of this agent's files,
// in order.
func (ix *Index) FileChunks(ctx context.Context, path string) ([]index.Chunk, error) {
	out, err := ix.fileChunks(ctx, path)
	return out, ix.explain("read chunks", err)
}

func (ix *Index) fileChunks(ctx context.Context, path string) ([]index.Chunk, error) {
	v, err := ix.look(ctx)
	if err != nil {
		return nil, err
	}
	own, err := ix.ownScopes(ctx, v)
	if err != nil {
		return nil, err
	}
	rows, err := ix.pool.Query(ctx, `SELECT c.id, c.start_line, c.end_line, c.trail, c.date, c.tokens, c.body, c.keywords
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
		c.Trail, c.Text, c.Keywords = index.SplitTrail(string(trail)), string(body), string(keywords)
		out = append(out, c)
	}
	return out, rows.Err()
}

// Chunker names the rules by which this agent's chunks were cut.
func (ix *Index) Chunker(ctx context.Context) (string, error) {
	v, err := ix.look(ctx)
	if err != nil {
		return "", ix.explain("read rules", err)
	}
	return v.chunker, nil
}
