package kernel

import (
	"encoding/json"

	"github.com/memkernel/memkernel/internal/store"
)

// recordFormat is the version of sync.json.
//
//	1: first version
const recordFormat = 1

// syncRecord is sync.json: the last time that the index was brought up to date, by
// whichever process. It is for people who ask; nothing depends on it.
type syncRecord struct {
	Format int `json:"format"`
	SyncRun
}

const syncRecordName = "sync.json"

// keepRun writes a run down. That it can't be is no fault of the run.
func (m *memory) keepRun(run *SyncRun) {
	data, err := json.Marshal(syncRecord{recordFormat, *run})
	if err == nil {
		_, _ = m.state.Put(store.Synced, store.Doc{Name: syncRecordName, Data: append(data, '\n')})
	}
}

// lastRun reads the run that was last written down, nil if none can be read.
func (m *memory) lastRun() *SyncRun {
	data, err := m.state.Get(syncRecordName)
	var r syncRecord
	if err != nil || json.Unmarshal(data, &r) != nil || r.Format != recordFormat {
		return nil
	}
	return &r.SyncRun
}
