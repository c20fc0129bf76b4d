package main

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
)

// indexer opens the kernel for reindex; to follow the files, it syncs by itself and
// tells of every run.
func (a *app) indexer(ctx context.Context, follow bool) (*kernel.Kernel, error) {
	p, err := a.embedder()
	if err != nil {
		return nil, err
	}
	o, err := a.kernelOptions(nil, p)
	if err != nil {
		return nil, err
	}
	if follow {
		o.Memory.Sync = syncOptions(&a.config.Index.Sync)
		o.Memory.Sync.Watch = true
		o.Memory.Sync.Report = a.showRun
	}
	k, err := kernel.Open(ctx, a.workspace, o)
	if err != nil {
		return nil, hint(err, "name the project's folder with --workspace")
	}
	return k, nil
}

// follow waits until the user has enough.
func (a *app) follow(ctx context.Context) error {
	a.tip("following the files; interrupt to end")
	<-ctx.Done()
	return nil
}

// showRun tells of a run that did something.
func (a *app) showRun(r kernel.SyncRun) {
	if r.Error == "" && r.Files+r.Removed == 0 {
		return
	}
	line := fmt.Sprintf("%s  by %s: %s read, %d gone", r.Time.UTC().Format("15:04:05"), r.Reason, display.Plural(r.Files, "file"), r.Removed)
	if r.Error != "" {
		line += "; " + display.Printable(r.Error)
	}
	fmt.Fprintln(a.out, line)
}
