package api

import (
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// MemoryStatus holds the settings of memory and the size of its index.
type MemoryStatus struct {
	// Workspace is the folder of the Markdown. If Enabled is false, memory is off and all other
	// fields are empty.
	Workspace string `json:"workspace"`
	Enabled   bool   `json:"enabled"`
	// Bootstrap names the files of standing instructions.
	Bootstrap []string `json:"bootstrap"`
	// Remembered reports whether a session begins with MEMORY.md and USER.md.
	Remembered bool `json:"remembered"`
	// DailyLogs reports whether a session begins with the logs of two days.
	DailyLogs bool `json:"daily_logs"`
	// WorkspaceTokens, RecallTokens and RecallItems limit the memory in a prompt; 0 allows none.
	WorkspaceTokens int `json:"workspace_tokens"`
	RecallTokens    int `json:"recall_tokens"`
	RecallItems     int `json:"recall_items"`
	// Embedder is the model that turns questions into vectors, "" if memory is searched by words
	// only.
	Embedder string      `json:"embedder"`
	Index    IndexStatus `json:"index"`
	// Sync is the state of the index's updates.
	Sync SyncStatus `json:"sync"`
	// Sessions counts the past sessions that are searched.
	Sessions PastSessions `json:"sessions"`
	// Collections are the names of the searched collections: the workspace, and folders outside
	// the workspace.
	Collections []string `json:"collections"`
	// Survey counts the Markdown of the workspace. Only a [Status] has all of it. Other answers
	// have only LeftOut, as of the last Reindex.
	markdownstore.Survey
}

// IndexState is the state of an index file, in one word.
type IndexState string

// The states.
const (
	IndexOK      IndexState = "ok"
	IndexOff     IndexState = "off"     // memory is switched off
	IndexMissing IndexState = "missing" // nothing was indexed yet
	IndexForeign IndexState = "foreign" // the file is not an index of the kernel
	IndexNewer   IndexState = "newer"   // a newer version wrote it
	IndexOlder   IndexState = "older"   // an older version wrote it
	IndexDamaged IndexState = "damaged"
	IndexFailed  IndexState = "failed" // the index can't be read; Detail holds the error
)

// IndexStatus describes an index file.
type IndexStatus struct {
	// Backend is the kind of index: sqlite, postgres or qmd.
	Backend string `json:"backend"`
	// Path is the index file, or the name of the database.
	Path  string     `json:"path"`
	State IndexState `json:"state"`
	// Detail is the error if the index can't be read.
	Detail string `json:"detail,omitempty"`
	// Hint is the remedy.
	Hint  string `json:"-"`
	Files int64  `json:"files"`
	// Unread counts the files that could not be read at the last try.
	Unread int64 `json:"unread"`
	Chunks int64 `json:"chunks"`
	// TextBytes is the size of the chunks' text.
	TextBytes int64 `json:"text_bytes"`
	// FileBytes is the size of the index file with its log.
	FileBytes int64 `json:"file_bytes"`
	// Model is the model that made the vectors.
	Model string `json:"model"`
	// Vectors counts the chunks that have a vector.
	Vectors int64 `json:"vectors"`
	// Behind reports that files or the rules have changed since the files were indexed.
	Behind bool `json:"behind"`
	// Lag is how far the index is behind.
	Lag index.Lag `json:"lag"`
}

// SyncStatus is the state of the index's updates in the background.
type SyncStatus struct {
	OnStart  bool `json:"on_session_start"`
	OnSearch bool `json:"on_search"`
	// IntervalSeconds is 0 if updates do not follow the clock.
	IntervalSeconds float64     `json:"interval_seconds"`
	Watch           WatchStatus `json:"watch"`
	// Last is the last run of this kernel. If this kernel made no run, it is the last run of
	// another process. It is nil if no run is known.
	Last *SyncRun `json:"last,omitempty"`
}

// PastSessions counts the stored past sessions.
type PastSessions struct {
	Enabled bool   `json:"enabled"`
	Agent   string `json:"agent"`
	// Sources are the folders of transcripts.
	Sources []string `json:"sources"`
	// Own reports whether the kernel's own sessions are read too.
	Own bool `json:"own"`
	// Sessions counts the sessions that can be found.
	Sessions int `json:"sessions"`
	// Turns counts the turns in these sessions.
	Turns int `json:"turns"`
	// Forgotten counts the keys that were forgotten.
	Forgotten int `json:"forgotten"`
	// Error is why the past sessions can't be counted, "" if they were counted.
	Error string `json:"error,omitempty"`
}

// WatchStatus is the state of the watch over the workspace's folders.
type WatchStatus struct {
	// On reports that changes are seen as they happen.
	On bool `json:"on"`
	// Folders counts the watched folders.
	Folders int `json:"folders"`
	// Detail is why the watch is off, or why it sees only some folders; "" otherwise.
	Detail string `json:"detail,omitempty"`
}

// SyncRun is one update of the index.
type SyncRun struct {
	// Reason is the event that started the syncer's last pass: session_start, search, interval,
	// watch, or reindex for a reindex that somebody requested.
	Reason string `json:"reason"`
	// Time is the time at which the update ended.
	Time time.Time `json:"time"`
	// Files counts the files that were read.
	Files int `json:"files"`
	// Removed counts the files that are gone.
	Removed int `json:"removed"`
	// Process is the process that made the update.
	Process int `json:"process"`
	// Watching reports whether that process saw changes as they happened.
	Watching bool `json:"watching"`
	// Error is why the update failed, or why vectors are missing; "" otherwise.
	Error string `json:"error,omitempty"`
}
