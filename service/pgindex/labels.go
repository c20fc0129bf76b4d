package pgindex

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// Labels returns the labels of all visible files that have labels, by path.
func (ix *Index) Labels(ctx context.Context) (map[string][]string, error) {
	v, err := ix.site.look(ctx)
	if err != nil {
		return nil, ix.site.explain("read labels", err)
	}
	out, err := tryRead(ctx, ix.site, func() (map[string][]string, error) {
		out := map[string][]string{}
		rows, _ := ix.site.pool.Query(ctx, `SELECT space, path, labels FROM files WHERE scope = ANY($1::integer[]) AND labels<>''`, v.scopes)
		var space int32
		var path string
		var labels []byte
		_, err := pgx.ForEachRow(rows, []any{&space, &path, &labels}, func() error {
			if space != v.space {
				path = index.OwnedPath(v.agents[space], path)
			}
			out[path] = index.SplitLines(string(labels))
			return nil
		})
		return out, err
	})
	return out, ix.site.explain("read labels", err)
}
