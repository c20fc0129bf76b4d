package syncer

import (
	"encoding/json"
	"os"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Run is one time that the index was brought up to date.
type Run struct {
	Reason string `json:"reason"`
	// Time is when it ended.
	Time time.Time `json:"time"`
	// Files were read, Removed are gone.
	Files   int `json:"files"`
	Removed int `json:"removed"`
	// Process did it; Watching whether it saw changes as they happened.
	Process  int  `json:"process"`
	Watching bool `json:"watching"`
	// Error is why it failed, or why vectors are missing; "" if neither.
	Error string `json:"error,omitempty"`
}

// Ran records that the index was brought up to date, or was not: by the syncer, by a search, or
// at a caller's request, which needs no report.
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

// record is sync.json: the last time that the index was brought up to date, by
// whichever process. It is for people who ask; nothing depends on it.
type record struct {
	Format int `json:"format"`
	Run
}

// keepRun writes a run down. That it can't be is no fault of the run.
func keepRun(state store.Store, run *Run) {
	data, err := json.Marshal(record{recordFormat, *run})
	if err == nil {
		_, _ = state.Put(store.Synced, store.Doc{Name: recordName, Data: append(data, '\n')})
	}
}

// lastRun reads the run that was last written down, nil if none can be read.
func lastRun(state store.Store) *Run {
	data, err := state.Get(recordName)
	var r record
	if err != nil || json.Unmarshal(data, &r) != nil || r.Format != recordFormat {
		return nil
	}
	return &r.Run
}
