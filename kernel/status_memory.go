package kernel

import (
	"context"
	"errors"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// MemoryStatus says how memory is set and what is indexed of it.
type MemoryStatus struct {
	// Workspace is the folder of the Markdown. Enabled is false if it is left
	// alone; all else is then empty.
	Workspace string `json:"workspace"`
	Enabled   bool   `json:"enabled"`
	// Bootstrap names the files of standing instructions; Remembered and DailyLogs
	// tell whether a session begins with MEMORY.md and USER.md, and with the logs
	// of two days.
	Bootstrap  []string `json:"bootstrap"`
	Remembered bool     `json:"remembered"`
	DailyLogs  bool     `json:"daily_logs"`
	// WorkspaceTokens, RecallTokens and RecallItems bound what a prompt gets; 0 is
	// nothing.
	WorkspaceTokens int `json:"workspace_tokens"`
	RecallTokens    int `json:"recall_tokens"`
	RecallItems     int `json:"recall_items"`
	// Embedder is the model by which questions become vectors, "" for words alone.
	Embedder string `json:"embedder"`
	// NeverEmbedded counts the texts that take more tokens than a whole day has.
	NeverEmbedded int         `json:"never_embedded"`
	Index         IndexStatus `json:"index"`
	// Sync says how the index is kept up to date, Sessions what is searched of past
	// sessions.
	Sync     SyncStatus `json:"sync"`
	Sessions PastStatus `json:"sessions"`
	// Collections are the names of what is searched: the workspace, and folders beside it.
	Collections []string `json:"collections"`
	// LeftOut is the Markdown that was no memory when Reindex was last called.
	LeftOut markdownstore.LeftOut `json:"left_out"`
}

// IndexState says in one word how an index file is.
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

// indexStates are the states by what package index calls them.
var indexStates = []struct {
	err   error
	state IndexState
}{
	{index.ErrMissing, IndexMissing}, {index.ErrForeign, IndexForeign}, {index.ErrNewer, IndexNewer},
	{index.ErrOlder, IndexOlder}, {index.ErrDamaged, IndexDamaged},
}

// IndexStatus is what an index file holds.
type IndexStatus struct {
	// Backend is what keeps it: sqlite, postgres or qmd. Path is the file, or names
	// the database.
	Backend string     `json:"backend"`
	Path    string     `json:"path"`
	State   IndexState `json:"state"`
	// Detail says why State is none of the others.
	Detail string `json:"detail,omitempty"`
	// Hint is the way out.
	Hint  string `json:"-"`
	Files int64  `json:"files"`
	// Unread are files that could not be read when last tried.
	Unread int64 `json:"unread"`
	Chunks int64 `json:"chunks"`
	// TextBytes is the text of the chunks, FileBytes the file with its log.
	TextBytes int64 `json:"text_bytes"`
	FileBytes int64 `json:"file_bytes"`
	// Model made the vectors, Vectors counts the chunks that have one.
	Model   string `json:"model"`
	Vectors int64  `json:"vectors"`
	// Behind: files have changed since they were indexed, or the rules have.
	Behind bool `json:"behind"`
	// Lag says by how much.
	Lag index.Lag `json:"lag"`
}

// SyncStatus says how the index is kept up to date in the background.
type SyncStatus struct {
	OnStart         bool       `json:"on_session_start"`
	OnSearch        bool       `json:"on_search"`
	IntervalSeconds float64    `json:"interval_seconds"`
	Watch           WatchState `json:"watch"`
	// Last is the last run, of this kernel or else of another process; nil if none is
	// known.
	Last *SyncRun `json:"last,omitempty"`
}

// PastStatus counts what is kept of past sessions.
type PastStatus struct {
	Enabled bool   `json:"enabled"`
	Agent   string `json:"agent"`
	// Sources are the folders of transcripts, Own tells whether the kernel's own
	// sessions are read too.
	Sources   []string `json:"sources"`
	Own       bool     `json:"own"`
	Sessions  int      `json:"sessions"`
	Turns     int      `json:"turns"`
	Forgotten int      `json:"forgotten"`
	// Error is why they can't be counted, "" if they can.
	Error string `json:"error,omitempty"`
}

// MemoryEnabled tells whether the workspace's files are used at all.
func (k *Kernel) MemoryEnabled() bool { return k.memory != nil }

// EmbeddingModel is the model by which questions become vectors, "" for words alone.
func (k *Kernel) EmbeddingModel() string {
	if k.memory == nil || k.memory.opts.Embedder == nil {
		return ""
	}
	return k.memory.opts.Embedder.Model()
}

// IndexPath is where the index over the workspace's Markdown is kept, a file or the
// name of a database; "" if memory is off.
func (k *Kernel) IndexPath() string {
	if k.memory == nil {
		return ""
	}
	return k.memory.opts.Backend.Place
}

// memoryStatus reads how the memory of a workspace is; m is nil if it is off.
func memoryStatus(ctx context.Context, workspace string, m *memory) MemoryStatus {
	st := MemoryStatus{Workspace: workspace, Bootstrap: []string{}, Index: IndexStatus{State: IndexOff}, Sessions: PastStatus{Sources: []string{}}, Collections: []string{},
		LeftOut: markdownstore.LeftOut{Reasons: []markdownstore.LeftCount{}, First: []markdownstore.LeftFile{}}}
	if m == nil {
		return st
	}
	o := &m.opts
	st.Enabled, st.Bootstrap, st.Remembered, st.DailyLogs = true, append(st.Bootstrap, o.Bootstrap...), !o.NoRemembered, !o.NoDailyLogs
	st.WorkspaceTokens = max(o.WorkspaceTokens, 0)
	if o.RecallTokens > 0 && o.RecallItems > 0 {
		st.RecallTokens, st.RecallItems = o.RecallTokens, o.RecallItems
	}
	if o.Embedder != nil {
		st.Embedder = o.Embedder.Model()
	}
	st.NeverEmbedded, _, _ = m.NeverEmbedded(ctx) // an index that can't be read says so itself
	st.Index, st.Sync, st.Sessions = indexStatus(ctx, m), syncStatus(m), pastStatus(m)
	st.Collections = m.Collections()
	if left := m.LastLeft(); left.Files > 0 {
		st.LeftOut = left
	}
	return st
}

// indexStatus reads what the index holds, and by how much it is behind.
func indexStatus(ctx context.Context, m *memory) IndexStatus {
	st := IndexStatus{Backend: m.opts.Backend.Name, Path: m.opts.Backend.Place, State: IndexOK}
	fail := func(err error) IndexStatus {
		st.State, st.Detail = IndexFailed, err.Error()
		if e := (*index.Error)(nil); errors.As(err, &e) {
			st.Detail = e.Kind.Error()
			if e.Err != nil {
				st.Detail += " (" + e.Err.Error() + ")"
			}
			if st.Hint = e.Hint; st.Hint == "" {
				st.Hint = unsearchable[IndexFailed].Hint
			}
		}
		for _, s := range indexStates {
			if errors.Is(err, s.err) {
				st.State = s.state
			}
		}
		return st
	}
	ix, err := m.Index(ctx)
	if err != nil {
		return fail(err)
	}
	s, err := ix.Stats(ctx)
	if err != nil {
		return fail(err)
	}
	st.Files, st.Unread, st.Chunks, st.TextBytes, st.FileBytes = s.Files, s.Unread, s.Chunks, s.TextBytes, s.FileBytes
	st.Model, st.Vectors = s.Model, s.Vectors
	st.Lag, err = m.Behind(ctx, ix)
	if err != nil {
		return fail(err)
	}
	st.Behind = !st.Lag.Zero()
	return st
}

func syncStatus(m *memory) SyncStatus {
	o := &m.opts.Sync
	watching, last := m.Sync.Status()
	return SyncStatus{OnStart: o.OnStart, OnSearch: o.OnSearch, IntervalSeconds: o.Interval.Seconds(), Watch: WatchState(watching), Last: syncRun(last)}
}

func pastStatus(m *memory) PastStatus {
	o := &m.opts.Sessions
	st := PastStatus{Enabled: o.Enabled, Agent: m.Agent(""), Sources: []string{}, Own: o.Enabled && !o.NoOwn}
	for _, src := range o.Sources {
		st.Sources = append(st.Sources, src.Path)
	}
	n, err := m.Past.Stats()
	if err != nil {
		st.Error = err.Error()
	}
	st.Sessions, st.Turns, st.Forgotten = n.Conversations, n.Turns, n.Forgotten
	return st
}
