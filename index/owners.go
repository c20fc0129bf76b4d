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
	// same is the one copy of each path in paths.
	same map[string]string
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
	asked, at := map[string]bool{"": false}, 0 // "" is the path of a row that is gone
	return slices.DeleteFunc(rows, func(fts5.Row) bool {
		path := paths[at]
		at++
		ok, known := asked[path]
		if !known {
			ok = want(path)
			asked[path] = ok
		}
		return !ok
	}), nil
}

// pathsOf returns the path of each row, "" for a row that is gone.
func (r *reader) pathsOf(ctx context.Context, rows []fts5.Row) ([]string, error) {
	o, out := &r.owners, make([]string, len(rows))
	var missing []int64
	o.mu.Lock()
	for i, row := range rows {
		if out[i] = o.paths[row.Row]; out[i] == "" {
			missing = append(missing, row.Row)
		}
	}
	o.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.paths == nil || len(o.paths)+len(missing) > maxOwners {
		o.paths, o.same = map[int64]string{}, map[string]string{}
	}
	read := make(map[int64]string, len(missing))
	var row int64
	var path string
	err := drv.Each(ctx, r.tx, []any{&row, &path}, func() error {
		one, ok := o.same[path]
		if !ok {
			one = path
			o.same[path] = path
		}
		o.paths[row], read[row] = one, one
		return nil
	}, ownersQuery, drv.JSONList(missing))
	for i, row := range rows {
		if out[i] == "" {
			out[i] = read[row.Row]
		}
	}
	return out, err
}
