package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/statedir"
)

// Status is what stands in a state directory.
type Status struct {
	StateDir string          `json:"state_dir"`
	Sessions []SessionStatus `json:"sessions"`
	// Others are sessions that were not read, the newest first. Masked, Forgotten and
	// Retired don't count what is in them.
	Others []OtherSession `json:"others"`
	// Unreadable are sessions that can't be read, and why.
	Unreadable []Finding `json:"unreadable"`
	// Blobs and BlobBytes count the content-addressed store.
	Blobs     int   `json:"blobs"`
	BlobBytes int64 `json:"blob_bytes"`
	// Masked counts the secrets that were masked in what is stored, by rule. Pages
	// of versions that did not say which are counted as "unknown".
	Masked []MaskCount `json:"masked"`
	// Forgotten are pages that were forgotten, Retired those whose content went by
	// retention.
	Forgotten int `json:"forgotten"`
	Retired   int `json:"retired"`
	// Memory is what is taken from the workspace's Markdown.
	Memory MemoryStatus `json:"memory"`
	// Nets is what stands in that Markdown of the sessions' working state.
	Nets NetsStatus `json:"nets"`
	// SummaryModels are those that were asked for notes, with their cool-downs.
	SummaryModels []Cooldown `json:"summary_models"`
}

// MaskCount is how many secrets a rule found.
type MaskCount struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

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

// SessionStatus is what stands of one session.
type SessionStatus struct {
	// Key is the session's, as the host spells it; of a folder of before December 2026
	// that does not say whose it is, its name. Folder is the name of its folder.
	Key    string       `json:"key"`
	Folder string       `json:"folder"`
	Pages  int          `json:"pages"`
	Turns  int          `json:"turns"`
	Spans  int          `json:"spans"`
	Lines  []LineStatus `json:"lines"`
	// ModelSummaries are the branches that a model made notes on.
	ModelSummaries []ModelSummary `json:"model_summaries"`
	// Life is what compactions, resets and flushes left behind.
	Life LifeStatus `json:"life"`
	// JournalBytes and ProjectionBytes are file sizes.
	JournalBytes    int64 `json:"journal_bytes"`
	ProjectionBytes int64 `json:"projection_bytes"`
}

// LineStatus is one conversation: a branch planned for a model.
type LineStatus struct {
	Branch     string `json:"branch"`
	Model      string `json:"model"`
	Generation int    `json:"generation"`
	Messages   int    `json:"messages"`
	Items      int    `json:"items"`
	Cuts       int    `json:"cuts"`
	Tokens     int    `json:"tokens"`
	// FixedTokens is the size of system prompt and tools in the last call, beside Tokens.
	FixedTokens int       `json:"fixed_tokens"`
	LastPlan    string    `json:"last_plan"`
	LastStart   time.Time `json:"last_start,omitzero"`
	// LastCut is the newest, nil if there was none. FutileCuts of the newest reclaimed
	// next to nothing; BreakerOpen: more are refused until the prompt grows.
	LastCut     *CutStatus `json:"last_cut"`
	FutileCuts  int        `json:"futile_cuts"`
	BreakerOpen bool       `json:"breaker_open"`
	// Refusals of the provider in a row were answered by smaller plans; LearnedWindow
	// is what it said that it takes, 0 if it never did.
	Refusals      int `json:"refusals"`
	LearnedWindow int `json:"learned_window"`
}

// StatusOptions say which sessions are read.
type StatusOptions struct {
	// Session is the only one; "" takes the newest, All every one.
	Session string
	All     bool
}

// StatusSessions is how many sessions a status reads, those that were written to last.
const StatusSessions = 20

// OtherSession is a session that was not read.
type OtherSession struct {
	Key    string `json:"key"`
	Folder string `json:"folder"`
	// Bytes is what its journal and projections hold, Last when they were written to.
	Bytes int64     `json:"bytes"`
	Last  time.Time `json:"last,omitzero"`
}

// Status is [Kernel.StatusOf] the newest sessions.
func (k *Kernel) Status(ctx context.Context) (*Status, error) {
	return k.StatusOf(ctx, StatusOptions{})
}

// StatusOf reads what is where and how big. It writes nothing. A session that is asked for
// and is not there is a [NoSessionError].
func (k *Kernel) StatusOf(ctx context.Context, o StatusOptions) (*Status, error) {
	st := &Status{Others: []OtherSession{}, Unreadable: []Finding{}, StateDir: k.stateDir, Sessions: []SessionStatus{}, Masked: []MaskCount{}, Memory: k.memoryStatus(ctx), Nets: k.netsStatus(), SummaryModels: k.cooldowns().all()}
	folders, others, err := k.statusFolders(&o)
	if err != nil {
		return nil, err
	}
	for i := range others {
		other := &others[i]
		if other.Key, err = sessionKeyIn(k.state, other.Folder); err != nil {
			other.Key = other.Folder
			st.Unreadable = append(st.Unreadable, unreadable(other.Folder, err))
		}
		st.Others = append(st.Others, *other)
	}
	masked := map[string]int{}
	for _, f := range folders {
		s, unlock, err := k.visit(ctx, f, false)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			st.Unreadable = append(st.Unreadable, unreadable(f, err))
			continue
		}
		st.Sessions = append(st.Sessions, s.status(k.now()))
		s.countMasked(masked)
		st.Forgotten, st.Retired = st.Forgotten+len(s.forgotten), st.Retired+len(s.retired)
		unlock()
	}
	for _, rule := range sortedKeys(masked) {
		st.Masked = append(st.Masked, MaskCount{rule, masked[rule]})
	}
	for info, err := range k.blobs.Walk() {
		if err != nil {
			return nil, err
		}
		st.Blobs++
		st.BlobBytes += info.Bytes
	}
	return st, ctx.Err()
}

// statusFolders are the folders of the sessions to read, and what is said of the others
// without opening anything.
func (k *Kernel) statusFolders(o *StatusOptions) (read []string, others []OtherSession, err error) {
	all, err := k.sessionFolders()
	if err != nil || o.All {
		return all, nil, err
	}
	if o.Session != "" {
		name, err := folderOf(k.state, o.Session)
		if err == nil && !slices.Contains(all, name) {
			err = fmt.Errorf("status: %w", k.noSession(o.Session))
		}
		return []string{name}, nil, err
	}
	for _, f := range all {
		s := OtherSession{Folder: f}
		for _, name := range []string{journalFile, recordsFile} {
			if fi, err := k.folder(f).Stat(name); err == nil {
				s.Bytes += fi.Size()
				if fi.ModTime().After(s.Last) {
					s.Last = fi.ModTime()
				}
			}
		}
		others = append(others, s)
	}
	slices.SortStableFunc(others, func(a, b OtherSession) int { return b.Last.Compare(a.Last) })
	n := min(StatusSessions, len(others))
	for _, s := range others[:n] {
		read = append(read, s.Folder)
	}
	slices.Sort(read)
	return read, others[n:], nil
}

func (k *Kernel) memoryStatus(ctx context.Context) MemoryStatus {
	st := MemoryStatus{Workspace: k.workspace, Bootstrap: []string{}, Index: IndexStatus{State: IndexOff}, Sessions: PastStatus{Sources: []string{}}}
	m := k.memory
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
	st.NeverEmbedded, _, _ = m.neverEmbedded(ctx) // an index that can't be read says so itself
	st.Index, st.Sync, st.Sessions = m.indexStatus(ctx), m.syncStatus(), m.pastStatus()
	return st
}

func (m *memory) indexStatus(ctx context.Context) IndexStatus {
	st := IndexStatus{Backend: m.opts.Backend.Name, Path: m.opts.Backend.Place, State: IndexOK}
	fail := func(err error) IndexStatus {
		st.State, st.Detail = IndexFailed, err.Error()
		if e := (*index.Error)(nil); errors.As(err, &e) {
			st.Detail = e.Kind.Error()
			if e.Err != nil {
				st.Detail += " (" + e.Err.Error() + ")"
			}
			if st.Hint = e.Hint; st.Hint == "" {
				st.Hint = indexSymptoms[IndexFailed].Hint
			}
		}
		for _, s := range indexStates {
			if errors.Is(err, s.err) {
				st.State = s.state
			}
		}
		return st
	}
	ix, err := m.reader(ctx)
	if err != nil {
		return fail(err)
	}
	s, err := ix.Stats(ctx)
	if err != nil {
		return fail(err)
	}
	st.Files, st.Unread, st.Chunks, st.TextBytes, st.FileBytes = s.Files, s.Unread, s.Chunks, s.TextBytes, s.FileBytes
	st.Model, st.Vectors = s.Model, s.Vectors
	st.Lag, err = ix.Lag(ctx, m.files(ctx, nil))
	if err != nil {
		return fail(err)
	}
	st.Behind = !st.Lag.Zero()
	return st
}

// sessionFolders lists the folders of all sessions.
func (k *Kernel) sessionFolders() ([]string, error) { return sessionFolders(k.state) }

func sessionFolders(state statedir.Dir) ([]string, error) {
	entries, err := state.ReadDir(sessionsFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func (s *session) status(now time.Time) SessionStatus {
	st := SessionStatus{Key: s.key, Folder: s.name, Pages: len(s.pages), Turns: s.turns, Spans: len(s.spans), Lines: []LineStatus{}, ModelSummaries: s.modelSummaries(), Life: s.lifeStatus(now),
		JournalBytes: size(s.files, journalFile), ProjectionBytes: size(s.files, recordsFile)}
	names := map[string]lineKey{}
	for key := range s.lines {
		names[key.branch+"\x00"+key.model] = key
	}
	for _, name := range sortedKeys(names) {
		l := s.lines[names[name]]
		st.Lines = append(st.Lines, LineStatus{Branch: l.Branch, Model: l.Model, Generation: l.Proj.Generation,
			Messages: len(l.Proj.Seen), Items: len(l.Proj.Items), Cuts: len(l.Proj.Cuts), Tokens: l.Proj.Tokens(), FixedTokens: l.FixedTokens(),
			LastPlan: l.Plan, LastStart: l.Ledger.LastStart})
		st.Lines[len(st.Lines)-1].breakerStatus(l, s.lifeOpt.Progress)
	}
	return st
}

// countMasked counts what was masked in the session's pages.
func (s *session) countMasked(by map[string]int) {
	for _, p := range s.pages {
		rest := p.Masked
		for rule, n := range p.MaskedBy {
			by[rule] += n
			rest -= n
		}
		if rest > 0 {
			by["unknown"] += rest
		}
	}
}

func size(dir statedir.Dir, name string) int64 {
	st, err := dir.Stat(name)
	if err != nil {
		return 0
	}
	return st.Size()
}

// IndexPath is where the index over the workspace's Markdown is kept, a file or the
// name of a database; "" if memory is off.
func (k *Kernel) IndexPath() string {
	if k.memory == nil {
		return ""
	}
	return k.memory.opts.Backend.Place
}
