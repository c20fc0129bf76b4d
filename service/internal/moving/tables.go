package moving

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/service/internal/rows"
)

// Tables moves the state of an earlier version from that version's tables into rows of the same
// database, with the files of its workspace. It moves the state that at names, and all of tenants,
// whose names begin with a prefix. It returns the names of the other states in the tables, and
// leaves the tables as they are.
func Tables(ctx context.Context, at rows.Options, tenants string, o Options) (sum *Report, left []string, err error) {
	roots, err := rows.OldRoots(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	main := at.Root
	sum = &Report{}
	for _, root := range slices.Backward(roots) { // no server opens the tenants before the last one
		if root != main && !strings.HasPrefix(root, tenants) {
			left = append(left, root)
			continue
		}
		at.Root = root
		r, err := table(ctx, at, o)
		if err != nil {
			return nil, nil, err
		}
		sum.From, sum.To = r.From, r.To
		sum.Documents, sum.Copied, sum.Bytes = sum.Documents+r.Documents, sum.Copied+r.Copied, sum.Bytes+r.Bytes
	}
	if sum.From == "" {
		return nil, nil, fmt.Errorf("the tables of the earlier version have no state with the name %s; they have: %s", main, strings.Join(left, ", "))
	}
	return sum, left, nil
}

// table moves one state.
func table(ctx context.Context, at rows.Options, o Options) (*Report, error) {
	from, err := rows.OpenOld(ctx, at)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	at.Filling = true
	to, err := rows.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	var files, copied int
	var bytes int64
	o.Also = func() (err error) {
		files, copied, bytes, err = from.MoveFiles(ctx, to.Workspace())
		return err
	}
	r, err := Move(ctx, from, to, o)
	if err == nil {
		r.Documents, r.Copied, r.Bytes = r.Documents+files, r.Copied+copied, r.Bytes+bytes
	}
	return r, err
}
