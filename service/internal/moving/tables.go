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
	old, err := rows.OpenOld(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	defer old.Close()
	roots, err := old.Roots(ctx)
	if err != nil {
		return nil, nil, err
	}
	sum = &Report{}
	for _, root := range slices.Backward(roots) { // no server opens the tenants before the last one
		if root != at.Root && !strings.HasPrefix(root, tenants) {
			left = append(left, root)
			continue
		}
		r, err := table(ctx, old, at, root, o)
		if err != nil {
			return nil, nil, err
		}
		sum.From, sum.To = r.From, r.To
		sum.Documents, sum.Copied, sum.Bytes = sum.Documents+r.Documents, sum.Copied+r.Copied, sum.Bytes+r.Bytes
	}
	if sum.From == "" {
		return nil, nil, fmt.Errorf("the tables of the earlier version have no state with the name %s; they have: %s", at.Root, strings.Join(left, ", "))
	}
	return sum, left, nil
}

// table moves one state.
func table(ctx context.Context, old *rows.Old, at rows.Options, root string, o Options) (*Report, error) {
	from, err := old.Root(ctx, root)
	if err != nil {
		return nil, err
	}
	at.Root, at.Filling = root, true
	to, err := rows.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	var files int
	var bytes int64
	o.Also = func() (err error) {
		files, bytes, err = from.MoveFiles(ctx, to.Workspace())
		return err
	}
	r, err := Move(ctx, from, to, o)
	if err == nil {
		r.Documents, r.Copied, r.Bytes = r.Documents+files, r.Copied+files, r.Bytes+bytes
	}
	return r, err
}
