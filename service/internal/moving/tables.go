package moving

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// Tables moves the state of an earlier version from that version's tables into rows of the same
// database, with the files of its workspace. It moves the state that at names, and all of tenants,
// whose names begin with a prefix, unless they were moved before. It returns the names of the other
// states in the tables, and leaves the tables as they are.
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
		if err := table(ctx, at, o, sum); err != nil {
			return nil, nil, err
		}
	}
	if sum.From == "" {
		return nil, nil, fmt.Errorf("the tables of the earlier version have no state with the name %s that was not moved; they also have: %s", main, strings.Join(left, ", "))
	}
	return sum, left, nil
}

// table moves one state, and adds its report to sum.
func table(ctx context.Context, at rows.Options, o Options, sum *Report) error {
	to, err := rows.Open(ctx, at)
	if errors.Is(err, rows.ErrNotMoved) {
		at.Filling = true
		to, err = rows.Open(ctx, at)
	}
	if err != nil {
		return err
	}
	defer to.Close()
	if _, half := store.HalfMoved(to); half == nil && !at.Filling {
		return nil
	}
	from, err := rows.OpenOld(ctx, at)
	if err != nil {
		return err
	}
	defer from.Close()
	var files, copied int
	var bytes int64
	o.Also = func() (err error) {
		files, copied, bytes, err = from.MoveFiles(ctx, to.Workspace())
		return err
	}
	r, err := Move(ctx, from, to, o)
	if err == nil {
		sum.From, sum.To = r.From, r.To
		sum.Documents, sum.Copied, sum.Bytes = sum.Documents+r.Documents+files, sum.Copied+r.Copied+copied, sum.Bytes+r.Bytes+bytes
	}
	return err
}
