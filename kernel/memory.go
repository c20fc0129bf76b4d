package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	mem "github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

// defaultWorkspaceTokens limits the workspace's own files in a prompt: OpenClaw's limit of 24,000
// characters for all of them, at three characters to the token.
const defaultWorkspaceTokens = 8000

// MemoryOptions set the parts of the workspace's Markdown that a kernel uses. The zero value
// means the defaults.
type MemoryOptions struct {
	// Off leaves the workspace's files alone. No file is shown in a prompt or searched.
	Off bool
	// Store are the settings of the workspace. Private is set per request. If Include is nil,
	// private sessions read all Markdown of the workspace; with an empty list memory is MEMORY.md,
	// USER.md and memory/ alone.
	Store markdownstore.Options
	// Files keeps the workspace's Markdown outside the workspace's folder, which is then left
	// alone. Package service/postgres has such a store. The caller that opened the files must
	// close them, after the kernel.
	Files markdownstore.Files
	// Bootstrap names the files whose instructions every prompt shows, most
	// important first. Default: AGENTS.md, SOUL.md, IDENTITY.md, TOOLS.md.
	Bootstrap []string
	// WorkspaceTokens limits the workspace's files in a prompt. 0 takes 8,000. With
	// a negative value prompts show none of the files.
	WorkspaceTokens int
	// NoRemembered shows MEMORY.md and USER.md only as search results. NoDailyLogs does the same
	// for the logs of today and yesterday.
	NoRemembered, NoDailyLogs bool
	// RecallTokens limits the memory recalled for a user turn. 0 takes
	// [retrieval.DefaultPackTokens]. With a negative value nothing is recalled.
	RecallTokens int
	// NoSpans limits searches to files. They leave out the messages that left the session's
	// prompts.
	NoSpans bool
	// Ranking are the settings of the search. Its Embedder is taken from Embedder.
	Ranking retrieval.Options
	// Edits is the rule for which entries of memory agents may change; default [api.EditOwn].
	Edits api.EditRule
	// Embedder makes vectors. With nil, searches use words only, and nothing is sent anywhere.
	Embedder embed.Provider
	// EmbedLimit is the amount that a reindex may send to the Embedder without approval.
	EmbedLimit api.EmbedLimit
	// MediaPaths are folders of the workspace whose images and sounds are found
	// too, in private sessions, if the Embedder is an [embed.MediaProvider].
	MediaPaths []string
	// Folders are searched in addition to the workspace, and never written to. Store.Include
	// selects files of the workspace to search in addition to memory's own files.
	// [markdownstore.Everything] selects all Markdown of the workspace.
	Folders []api.MemoryFolder
	// Backend keeps the index. The zero value is index.sqlite in the state directory.
	Backend api.Backend
	// Sync sets when the index is updated in the background.
	Sync SyncOptions
	// Sessions sets whether the messages of other sessions are searched.
	Sessions PastOptions
}

func (o *MemoryOptions) setDefaults(stateDir string) {
	if o.Store.Include == nil && o.Files == nil {
		o.Store.Include, o.Store.PrivateNotes = markdownstore.Everything(), true
	}
	if o.Bootstrap == nil {
		o.Bootstrap = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md"}
	}
	o.WorkspaceTokens = cmp.Or(o.WorkspaceTokens, defaultWorkspaceTokens)
	o.RecallTokens = cmp.Or(o.RecallTokens, retrieval.DefaultPackTokens)
	if o.Backend.Open == nil {
		o.Backend = api.SQLite(indexPath(stateDir))
	}
}

// indexPath is the index file in a state directory.
func indexPath(stateDir string) string { return filepath.Join(stateDir, "index.sqlite") }

// status returns the settings of memory for a status report.
func (o *MemoryOptions) status(workspace string) api.MemoryStatus {
	st := api.MemoryStatus{Workspace: workspace, Bootstrap: []string{}, Index: api.IndexStatus{State: api.IndexOff}, Sessions: api.PastSessions{Sources: []string{}}, Collections: []string{},
		Survey: markdownstore.Survey{LeftOut: markdownstore.LeftOut{Reasons: []markdownstore.LeftCount{}, First: []markdownstore.LeftFile{}}}}
	if o.Off {
		return st
	}
	st.Enabled, st.Bootstrap, st.Remembered, st.DailyLogs = true, append(st.Bootstrap, o.Bootstrap...), !o.NoRemembered, !o.NoDailyLogs
	st.WorkspaceTokens = max(o.WorkspaceTokens, 0)
	if o.RecallTokens > 0 {
		st.RecallTokens, st.RecallItems = o.RecallTokens, retrieval.DefaultPackItems
	}
	if o.Embedder != nil {
		st.Embedder = o.Embedder.Model()
	}
	st.Index = api.IndexStatus{Backend: o.Backend.Name, Path: o.Backend.Place}
	st.Sync = api.SyncStatus{OnStart: o.Sync.OnStart, OnSearch: o.Sync.OnSearch, IntervalSeconds: o.Sync.Interval.Seconds()}
	st.Sessions.Enabled, st.Sessions.Own = o.Sessions.Enabled, o.Sessions.Enabled
	for _, src := range o.Sessions.Sources {
		st.Sessions.Sources = append(st.Sessions.Sources, src.Path)
	}
	return st
}

// carry returns the parts of memory that a prompt shows.
func (o *MemoryOptions) carry() plan.Memory {
	if o.Off {
		return plan.Memory{CarryTokens: defaultWorkspaceTokens, RecallTokens: retrieval.DefaultPackTokens}
	}
	return plan.Memory{Bootstrap: o.Bootstrap, NoRemembered: o.NoRemembered, NoDailyLogs: o.NoDailyLogs, NoSpans: o.NoSpans,
		WorkspaceTokens: o.WorkspaceTokens, CarryTokens: cmp.Or(max(o.WorkspaceTokens, 0), defaultWorkspaceTokens), RecallTokens: o.RecallTokens}
}

// openMemory opens the workspace's memory. It returns nil if memory is off. The index is opened
// when it is first needed. Like everything in the store local, it belongs to this machine.
func openMemory(ctx context.Context, dir string, local, state store.Store, o MemoryOptions, masker *mask.Masker, now func() time.Time) (*mem.Memory, error) {
	if o.Off {
		return nil, nil
	}
	if o.Embedder != nil {
		o.Ranking.Embedder = o.Embedder
	}
	var leases store.Store
	if o.Backend.Shared {
		leases = state
	}
	sync := mem.SyncOptions{OnStart: o.Sync.OnStart, OnSearch: o.Sync.OnSearch, Interval: o.Sync.Interval, Report: o.Sync.Report}
	if o.Sync.Watch {
		sync.Watch = &watch.Options{}
	}
	return mem.Open(ctx, dir, mem.Options{Leases: leases, Store: o.Store, Files: o.Files, State: local, Masker: masker, Now: now,
		Prepare: func() error {
			if err := store.KeepOutOfGit(local); err != nil && !store.Exists(local, "") {
				return err
			}
			return nil
		},
		Backend: o.Backend, Ranking: o.Ranking,
		Embedder: o.Embedder, Allow: o.EmbedLimit.Allow,
		MediaPaths: o.MediaPaths, Folders: o.Folders, Wait: o.Sync.Wait, Sync: sync,
		Sessions: mem.SessionOptions{Enabled: o.Sessions.Enabled, Sources: o.Sessions.Sources, DeltaBytes: o.Sessions.DeltaBytes, Own: archive.Journals{State: state}.List}})
}

// Search finds memory for a question. If the result is empty or a part of the search is missing,
// such as an index that can't be made, the result gives the reason and the error is nil. The error
// wraps [api.ErrQuestion] for a question that is too long. It wraps [api.ErrDamaged],
// [api.ErrNewer] or [api.ErrClosed] if the session can't be read.
//
// The first search makes the index, without vectors. Every later search first adds the files that
// have changed. If indexing takes longer than the search waits, the result holds the hits found by
// then, with the reason INDEXING. Indexing continues in the background until Close. If no index can
// be written and there are few files, the search reads the files themselves.
func (k *Kernel) Search(ctx context.Context, req api.SearchRequest) (*retrieval.Result, error) {
	done := k.watch.begin(api.OpSearch)
	r, err := search(ctx, k, req)
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Found, d.Reason = len(r.Hits), r.Reason })
	return r, err
}

func search(ctx context.Context, k *Kernel, req api.SearchRequest) (*retrieval.Result, error) {
	if len(req.Query) > api.MaxQuestion && !req.Prompt {
		return nil, fmt.Errorf("%w: %d bytes, and at most %d are taken", api.ErrQuestion, len(req.Query), api.MaxQuestion)
	}
	if k.memory == nil {
		return &retrieval.Result{Hits: []retrieval.Hit{}, Reason: retrieval.Disabled, Mode: retrieval.NoSearch, Detail: "memory is switched off"}, nil
	}
	if err := k.memory.Fresh(ctx); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	sc := k.memory.Scope(req.Private, req.Agent, req.SessionKey, req.Source)
	sc.Collection, sc.Loaded, sc.Named = req.Collection, req.Loaded, req.Scope
	if req.Folder != "" {
		sc.Project = k.memory.Project(req.Folder)
	}
	if err := sc.Check(k.memory.Collections()); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	q := retrieval.Query{Text: req.Query, Limit: req.MaxResults, MinScore: req.MinScore, MinBest: req.MinBest, MinShare: retrieval.DefaultMinShare, Passages: true, Lines: req.Lines, Prompt: req.Prompt, Now: req.Now}
	if q.Now.IsZero() {
		q.Now = k.now()
	}
	if req.SessionKey != "" && !k.desk.Carry.NoSpans && req.Source != api.SourceMemory && req.Collection == "" && !sc.Selects() {
		s, unlock, err := k.open(ctx, req.SessionKey)
		if err != nil {
			return nil, err
		}
		q.Spans, err = s.Archived()
		unlock()
		if err != nil {
			return nil, fmt.Errorf("search session %s: %w", req.SessionKey, err)
		}
	}
	res := k.memory.Search(ctx, sc, q, mem.Patience{Wait: req.Wait, Asked: true, Peek: req.Peek, Progress: req.Progress})
	if req.Prompt && req.SessionKey != "" && len(res.Hits) > 0 {
		if err := k.reading(ctx, req.SessionKey, func(s *session.Session) error {
			if heard := s.Heard(); heard != nil {
				res.Hits = slices.DeleteFunc(res.Hits, func(h retrieval.Hit) bool { return h.Kind == retrieval.Memory && heard(h.Text) })
			}
			return nil
		}); err != nil {
			return nil, fmt.Errorf("search session %s: %w", req.SessionKey, err)
		}
	}
	return &res, ctx.Err()
}

// Read returns lines of a memory file. A missing file is not an error: the content then gives the
// reason. For a file that is not part of memory Read returns a [markdownstore.DeniedError].
func (k *Kernel) Read(ctx context.Context, req api.ReadRequest) (*markdownstore.Content, error) {
	if k.memory == nil {
		return nil, fmt.Errorf("read %s: memory is switched off", req.Path)
	}
	if mem.IsPast(req.Path) {
		return k.memory.Document(k.memory.Scope(req.Private, req.Agent, req.SessionKey, ""), req.Path, req.From, req.Lines)
	}
	if err := k.memory.Fresh(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", req.Path, err)
	}
	c, err := k.memory.Read(req.Private, req.Path, req.From, req.Lines)
	if err != nil {
		return nil, err
	}
	return &c, ctx.Err()
}

// PastOptions set whether the messages of other sessions are searched. It is off by default.
type PastOptions struct {
	// Enabled makes documents of past sessions, with secrets masked, whenever the index is
	// updated. Private sessions of the same agent find these documents.
	Enabled bool
	// Sources are folders of transcripts that hosts write.
	Sources []sessions.Source
	// DeltaBytes is the number of new bytes from which a session is read again; see
	// [sessions.Options]. An explicit Reindex reads all sessions.
	DeltaBytes int64
}

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
	// Watch updates the index when files have changed, after one and a half seconds without
	// another change. If the system can't watch files, the index is updated at Interval or, if
	// that is 0, every five minutes.
	Watch bool
	// Report, if not nil, is called after every run, by the goroutine that made the run.
	Report func(api.SyncRun)
}

// Remember appends a text to a file of the workspace, durably and once. It writes the request to
// the journal before it writes the file. After a kill between the two writes, the file is written
// when the session is next opened.
func (k *Kernel) Remember(ctx context.Context, req api.RememberRequest) (*api.Remembered, error) {
	done := k.watch.begin(api.OpRemember)
	r, err := k.desk.Remember(ctx, req)
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Found = 1 })
	return r, err
}

// Reindex updates the index of the workspace, or makes it if it does not exist. It rebuilds an
// index that is damaged or of an older format, and moves a damaged index aside. If the file is
// not an index of the kernel, or is an index of a newer format, Reindex returns an error and
// leaves the file, unless o.Full is set. If an embedder is configured, Reindex
// makes the missing vectors. A failure of the embedder is only reported in the result, since the
// search by words needs no vectors.
func (k *Kernel) Reindex(ctx context.Context, o *api.ReindexOptions) (*api.Reindexed, error) {
	if k.memory == nil {
		return nil, errors.New("reindex: memory is switched off")
	}
	if o == nil {
		o = &api.ReindexOptions{}
	}
	return k.memory.Reindex(ctx, o)
}
