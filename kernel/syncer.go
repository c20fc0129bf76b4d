package kernel

import (
	"time"

	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/memory/syncer"
)

// DefaultSyncInterval is the default interval of the index's updates by the clock.
const DefaultSyncInterval = syncer.DefaultInterval

// SyncOptions set when the index is updated by itself. Searches update it, and so do plans, which
// search. All other updates run in the background, with vectors; the zero value has none. Only
// one process at a time updates the index.
type SyncOptions struct {
	// Wait is how long a search waits for the index to be made, or for changed files; default 2
	// seconds. A negative Wait searches the index as it is: then only Reindex updates it, unless
	// one of the following fields is set.
	Wait time.Duration
	// OnStart updates the index when a session starts: at StartSession, and at a session's first
	// plan.
	OnStart bool
	// OnSearch updates the index when a search found it without vectors or, with a negative Wait,
	// older than the files.
	OnSearch bool
	// Interval is the interval of updates by the clock; 0 is never.
	Interval time.Duration
	// Watch updates it when files have changed, after [watch.DefaultDebounce] without another
	// change. If the system can't watch, Interval is used, or its default.
	Watch bool
	// Report, if not nil, is called after every run, by the goroutine that did it.
	Report func(api.SyncRun)
}

// room are the options as package syncer has them.
func (o *SyncOptions) room() syncer.Options {
	out := syncer.Options{OnStart: o.OnStart, OnSearch: o.OnSearch, Interval: o.Interval}
	if o.Watch {
		out.Watch = &watch.Options{}
	}
	if tell := o.Report; tell != nil {
		out.Report = func(r syncer.Run) { tell(api.SyncRun(r)) }
	}
	return out
}
