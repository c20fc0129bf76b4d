package kernel

import (
	"time"

	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// NetsStatus is what stands in the workspace's Markdown of the sessions' working state.
type NetsStatus struct {
	SessionState StateFileStatus `json:"session_state"`
	Buffer       BufferStatus    `json:"working_buffer"`
}

// StateFileStatus is what stands in SESSION-STATE.md.
type StateFileStatus struct {
	Path    string `json:"path"`
	Enabled bool   `json:"enabled"`
	// Bytes is the file's size, 0 if there is none, OtherBytes what of it is not the
	// kernel's.
	Bytes      int `json:"size_bytes"`
	OtherBytes int `json:"other_bytes"`
	// Session is the folder of the session whose section stands there, "" if there is
	// none; Epoch, Messages and Time say how far it had come.
	Session  string    `json:"session"`
	Epoch    int       `json:"epoch"`
	Messages int       `json:"messages"`
	Time     time.Time `json:"time,omitzero"`
	// Edited: somebody changed the section.
	Edited bool `json:"edited"`
	// Detail says why the file can't be read.
	Detail string `json:"detail,omitempty"`
}

// BufferStatus is what stands in the working buffer.
type BufferStatus struct {
	Path    string `json:"path"`
	Enabled bool   `json:"enabled"`
	Bytes   int    `json:"size_bytes"`
	// Entries counts those of the kernel, Newest is when the last was made, and LastDump
	// when all of the state was written.
	Entries  int       `json:"entries"`
	Newest   time.Time `json:"newest,omitzero"`
	LastDump time.Time `json:"last_dump,omitzero"`
	Detail   string    `json:"detail,omitempty"`
}

// fallbacksStatus reads what stands there; m is nil if memory is off.
func fallbacksStatus(m *memory, o *LifeOptions) NetsStatus {
	st := NetsStatus{SessionState: StateFileStatus{Path: workstate.StatePath}, Buffer: BufferStatus{Path: workstate.BufferPath}}
	if m == nil {
		return st
	}
	st.SessionState.Enabled = !o.Off && !o.StateFile.Off
	st.Buffer.Enabled = !o.Off && !o.Buffer.Off
	st.SessionState.read(m)
	st.Buffer.read(m)
	return st
}

func (st *StateFileStatus) read(m *memory) {
	f, _, err := workstate.ReadStateFile(m.Private)
	if err != nil {
		st.Detail = err.Error()
		return
	}
	st.Bytes, st.OtherBytes = len(f.Text), len(f.Text)
	if sec := f.Section; sec != nil {
		st.OtherBytes = len(f.Others())
		st.Session, st.Epoch, st.Messages, st.Time, st.Edited = sec.Owner, sec.Epoch, sec.Captured, sec.At, sec.Edited
	}
}

func (st *BufferStatus) read(m *memory) {
	text, err := workstate.ReadBuffer(m.Private)
	if err != nil {
		st.Detail = err.Error()
		return
	}
	st.Bytes = len(text)
	for _, e := range workstate.Buffered(text) {
		st.Entries++
		st.Newest = later(st.Newest, e.At)
		if e.What == workstate.BufferDump {
			st.LastDump = later(st.LastDump, e.At)
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
