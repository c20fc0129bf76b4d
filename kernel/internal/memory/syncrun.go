package memory

import (
	"os"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
)

// Ran records a run by the syncer, by a search, or at a caller's request. A failed run is
// recorded, too. A run at a caller's request is not reported.
func (s *syncer) Ran(why string, r *api.Reindexed, err error) {
	run := &api.SyncRun{Reason: why, Time: s.o.Now(), Process: os.Getpid(), Files: r.Read, Removed: r.Removed}
	switch {
	case err != nil:
		run.Error = err.Error()
	case r.EmbedErr != nil:
		run.Error = "vectors: " + r.EmbedErr.Error()
	}
	s.mu.Lock()
	run.Watching = s.watching.On
	s.last = run
	s.mu.Unlock()
	keepDoc(s.o.State, store.Synced, recordName, record{recordFormat, *run})
	if why != api.SyncAsked && s.o.Report != nil {
		s.o.Report(*run)
	}
}

// recordName is the file of the last run.
const recordName = "sync.json"

// recordFormat is the version of sync.json.
//
//	1: first version
const recordFormat = 1

// record is sync.json: the last run of any process. It is information for people, and nothing
// depends on it.
type record struct {
	Format int `json:"format"`
	api.SyncRun
}

// lastRun reads the record of the last run. It returns nil if no record can be read.
func lastRun(state store.Store) *api.SyncRun {
	if r := keptDoc[record](state, recordName); r.Format == recordFormat {
		return &r.SyncRun
	}
	return nil
}
