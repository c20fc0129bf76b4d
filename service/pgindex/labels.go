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
	var out map[string][]string
	err = ix.site.read(ctx, func() error {
		out = map[string][]string{}
		rows, err := ix.site.pool.Query(ctx, `SELECT space, path, labels FROM files WHERE scope = ANY($1::integer[]) AND labels<>''`, v.scopes)
		if err != nil {
			return err
		}
		var space int32
		var path string
		var labels []byte
		_, err = pgx.ForEachRow(rows, []any{&space, &path, &labels}, func() error {
			if space != v.space {
				path = index.OwnedPath(v.agents[space], path)
			}
			out[path] = index.SplitLabels(string(labels))
			return nil
		})
		return err
	})
	return out, ix.site.explain("read labels", err)
}
