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
	// Bootstrap names the files of standing instructions. Remembered reports whether a session
	// begins with MEMORY.md and USER.md, DailyLogs whether it begins with the logs of two days.
	Bootstrap  []string `json:"bootstrap"`
	Remembered bool     `json:"remembered"`
	DailyLogs  bool     `json:"daily_logs"`
	// WorkspaceTokens, RecallTokens and RecallItems limit the memory in a prompt; 0 allows none.
	WorkspaceTokens int `json:"workspace_tokens"`
	RecallTokens    int `json:"recall_tokens"`
	RecallItems     int `json:"recall_items"`
	// Embedder is the model by which questions become vectors, "" for words alone.
	Embedder string `json:"embedder"`
	// NeverEmbedded counts the texts that exceed the embedder's tokens of a whole day.
	NeverEmbedded int         `json:"never_embedded"`
	Index         IndexStatus `json:"index"`
	// Sync is the state of the index's updates. Sessions counts the past sessions that are
	// searched.
	Sync     SyncStatus   `json:"sync"`
	Sessions PastSessions `json:"sessions"`
	// Collections are the names of the searched collections: the workspace, and folders outside
	// it.
	Collections []string `json:"collections"`
	// Searched counts the files of the workspace that are searched. Only a report of
	// [Report] counts them.
	Searched int `json:"searched_files"`
	// LeftOut is the Markdown that is not searched: now in a [Report], else when Reindex
	// was last called.
	LeftOut markdownstore.LeftOut `json:"left_out"`
}

// IndexState is the state of an index file, in one word.
type IndexState string

// The states.
const (
	IndexOK      IndexState = "ok"
	IndexOff     IndexState = "off"     // memory is switched off
	IndexMissing IndexState = "missing" // nothing was indexed yet
	IndexForeign IndexState = "foreign" // the file is none of ours
	IndexNewer   IndexState = "newer"   // a newer version wrote it
	IndexOlder   IndexState = "older"   // an older version wrote it
	IndexDamaged IndexState = "damaged"
	IndexFailed  IndexState = "failed" // it can't be read; Detail says why
)

// IndexStatus describes an index file.
type IndexStatus struct {
	// Backend is the kind of index: sqlite, postgres or qmd. Path is the file, or names the
	// database.
	Backend string     `json:"backend"`
	Path    string     `json:"path"`
	State   IndexState `json:"state"`
	// Detail is why State is none of the others.
	Detail string `json:"detail,omitempty"`
	// Hint is the remedy.
	Hint  string `json:"-"`
	Files int64  `json:"files"`
	// Unread are files that could not be read at the last try.
	Unread int64 `json:"unread"`
	Chunks int64 `json:"chunks"`
	// TextBytes is the size of the chunks' text. FileBytes is the size of the file with its log.
	TextBytes int64 `json:"text_bytes"`
	FileBytes int64 `json:"file_bytes"`
	// Model is the model that made the vectors. Vectors counts the chunks that have one.
	Model   string `json:"model"`
	Vectors int64  `json:"vectors"`
	// Behind: files or the rules have changed since the files were indexed.
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
	// Last is the last run, of this kernel or else of another process; nil if none is
	// known.
	Last *SyncRun `json:"last,omitempty"`
}

// PastSessions counts the stored past sessions.
type PastSessions struct {
	Enabled bool   `json:"enabled"`
	Agent   string `json:"agent"`
	// Sources are the folders of transcripts. Own reports whether the kernel's own sessions are
	// read too.
	Sources []string `json:"sources"`
	Own     bool     `json:"own"`
	// Sessions can be found, Turns are in them, Forgotten counts keys that were forgotten.
	Sessions  int `json:"sessions"`
	Turns     int `json:"turns"`
	Forgotten int `json:"forgotten"`
	// Error is why they can't be counted, "" if they can.
	Error string `json:"error,omitempty"`
}

// WatchStatus is the state of the watch over the workspace's folders.
type WatchStatus struct {
	// On: changes are seen as they happen. Folders are watched.
	On      bool `json:"on"`
	Folders int  `json:"folders"`
	// Detail is why it is off, or sees only a part; "" if there is nothing to say.
	Detail string `json:"detail,omitempty"`
}

// The reasons of a [SyncRun].
const (
	SyncStart    = "session_start"
	SyncSearch   = "search"
	SyncInterval = "interval"
	SyncWatch    = "watch"
	// SyncAsked is a reindex that somebody asked for.
	SyncAsked = "reindex"
)

// SyncRun is one update of the index.
type SyncRun struct {
	// Reason is the event that started the syncer's last pass.
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
