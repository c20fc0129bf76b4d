package syncer

import (
	"encoding/json"
	"os"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Run is one update of the index.
type Run struct {
	Reason string `json:"reason"`
	// Time is when the run ended.
	Time time.Time `json:"time"`
	// Files were read, Removed are gone.
	Files   int `json:"files"`
	Removed int `json:"removed"`
	// Process is the process that did the run.
	Process int `json:"process"`
	// Watching reports whether Process saw changes as they happened.
	Watching bool `json:"watching"`
	// Error is why the run failed, or why vectors are missing. It is "" if the run had no
	// problem.
	Error string `json:"error,omitempty"`
}

// Ran records a run by the syncer, by a search, or at a caller's request. A failed run is
// recorded, too. A run at a caller's request is not reported.
func (s *Syncer) Ran(why string, d Done, err error) {
	run := &Run{Reason: why, Time: s.o.Now(), Process: os.Getpid(), Files: d.Files, Removed: d.Removed}
	switch {
	case err != nil:
		run.Error = err.Error()
	case d.Vectors != nil:
		run.Error = "vectors: " + d.Vectors.Error()
	}
	s.mu.Lock()
	run.Watching = s.watching.On
	s.last = run
	s.mu.Unlock()
	keepRun(s.o.State, run)
	if why != Asked && s.o.Report != nil {
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
	Run
}

// keepRun writes the record of a run. A failed write is ignored, because it is not a fault of the
// run.
func keepRun(state store.Store, run *Run) {
	data, err := json.Marshal(record{recordFormat, *run})
	if err == nil {
		_, _ = state.Put(store.Synced, store.Doc{Name: recordName, Data: append(data, '\n')})
	}
}

// lastRun reads the record of the last run. It returns nil if no record can be read.
func lastRun(state store.Store) *Run {
	data, err := state.Get(recordName)
	var r record
	if err != nil || json.Unmarshal(data, &r) != nil || r.Format != recordFormat {
		return nil
	}
	return &r.Run
}
