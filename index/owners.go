package index

import (
	"context"
	"slices"
	"sync"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
)

// owners holds the paths of the rows that searches have read. The paths hold for all states of
// the index, because a row number is never used again and stays with its file. The zero value is
// empty.
type owners struct {
	mu    sync.Mutex
	paths map[int64]string
}

// maxOwners bounds the rows whose paths are kept.
const maxOwners = 1 << 18

// ownersQuery returns the paths of rows.
const ownersQuery = `SELECT c.row, f.path FROM chunks AS c JOIN files AS f ON f.id=c.file
WHERE c.row IN (SELECT value FROM json_each(?))`

// wanted returns the rows whose file is wanted, in the given order. It calls want once for each
// file. If want is nil, all files are wanted.
func (r *reader) wanted(ctx context.Context, rows []fts5.Row, want func(path string) bool) ([]fts5.Row, error) {
	if want == nil {
		return rows, nil
	}
	paths, err := r.pathsOf(ctx, rows)
	if err != nil {
		return nil, err
	}
	asked, at := onceEach(want), 0
	return slices.DeleteFunc(rows, func(fts5.Row) bool {
		at++
		return !asked(paths[at-1])
	}), nil
}

// onceEach returns a function that calls want once for each path. It refuses "", the path of rows
// that are gone.
func onceEach(want func(path string) bool) func(path string) bool {
	asked := map[string]bool{"": false}
	return func(path string) bool {
		ok, known := asked[path]
		if !known {
			ok = want(path)
			asked[path] = ok
		}
		return ok
	}
}

// pathsOf returns the path of each row, "" for a row that is gone.
func (r *reader) pathsOf(ctx context.Context, rows []fts5.Row) ([]string, error) {
	o := &r.owners
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.paths == nil || len(o.paths) > maxOwners {
		o.paths = map[int64]string{}
	}
	var missing []int64
	for _, row := range rows {
		if o.paths[row.Row] == "" {
			missing = append(missing, row.Row)
		}
	}
	if len(missing) > 0 {
		var row int64
		var path string
		err := drv.Each(ctx, r.tx, []any{&row, &path}, func() error {
			o.paths[row] = path
			return nil
		}, ownersQuery, drv.JSONList(missing))
		if err != nil {
			return nil, err
		}
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = o.paths[row.Row]
	}
	return out, nil
}
