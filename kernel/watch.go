package kernel

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
)

// watcher receives reports of work. A nil watcher ignores them.
type watcher func(context.Context, *api.Done)

// begin starts the report of a piece of work. It returns nil if there is no watcher.
func (w watcher) begin(op api.Op) *api.Done {
	if w == nil {
		return nil
	}
	return &api.Done{Op: op, Began: time.Now()}
}

// end reports finished work to the watcher. If the work did not fail, fill adds the result to the
// report.
func (w watcher) end(ctx context.Context, d *api.Done, err error, fill func(*api.Done)) {
	if d == nil {
		return
	}
	d.Took, d.Err = time.Since(d.Began), err
	if err == nil {
		fill(d)
	}
	w(ctx, d)
}

// IndexStatus reads the size of the index, and how far the index is older than the files. It
// compares the stats of the files, opens no file and changes nothing.
func (k *Kernel) IndexStatus(ctx context.Context) api.IndexStatus { return k.inspect.IndexStatus(ctx) }
