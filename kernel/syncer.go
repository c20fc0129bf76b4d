package kernel

import (
	"time"

	"github.com/memkernel/memkernel/kernel/api"
)

// SyncOptions set when the index is updated automatically. Searches update the index, and so do
// plans, which search. All other updates run in the background and make vectors. The zero value
// has no background updates. Only one process at a time updates the index.
type SyncOptions struct {
	// Wait is how long a search waits for the index to be made, or for changed files; default 2
	// seconds. With a negative Wait a search uses the index as it is. Only Reindex then updates
	// the index, unless one of the following fields is set.
	Wait time.Duration
	// OnStart updates the index when a session starts: at StartSession, and at a session's first
	// plan.
	OnStart bool
	// OnSearch updates the index after a search that found an index without vectors. With a
	// negative Wait it also updates an index that is older than the files.
	OnSearch bool
	// Interval is the interval of updates by the clock. With 0 there are no such updates.
	Interval time.Duration
	// Watch updates the index when files have changed, after [watch.DefaultDebounce] without
	// another change. If the system can't watch files, the index is updated at Interval or, if
	// that is 0, every five minutes.
	Watch bool
	// Report, if not nil, is called after every run, by the goroutine that made the run.
	Report func(api.SyncRun)
}
