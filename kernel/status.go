package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Status is what stands in a state directory.
type Status struct {
	StateDir string          `json:"state_dir"`
	Sessions []SessionStatus `json:"sessions"`
	// Others are sessions that were not read, the newest first. Masked, Forgotten and
	// Retired don't count what is in them.
	Others []OtherSession `json:"others"`
	// Unreadable are sessions that can't be read, and why.
	Unreadable []health.Finding `json:"unreadable"`
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
	// Paging is what the plans of all its conversations told of paging.
	Paging paging.Report `json:"paging"`
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
	st := &Status{Others: []OtherSession{}, Unreadable: []health.Finding{}, StateDir: k.stateDir, Sessions: []SessionStatus{}, Masked: []MaskCount{}, Memory: memoryStatus(ctx, k.workspace, k.memory), Nets: fallbacksStatus(k.memory, &k.life), SummaryModels: cooldowns(k.state)}
	folders, others, err := statusFolders(k, &o)
	if err != nil {
		return nil, err
	}
	for i := range others {
		other := &others[i]
		if other.Key, err = folder.KeyIn(k.state, other.Folder); err != nil {
			other.Key = other.Folder
			st.Unreadable = append(st.Unreadable, folder.Unreadable(other.Folder, err))
		}
		st.Others = append(st.Others, *other)
	}
	masked := map[string]int{}
	for _, f := range folders {
		s, unlock, err := k.sessions.Visit(ctx, f, false)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			st.Unreadable = append(st.Unreadable, folder.Unreadable(f, err))
			continue
		}
		st.Sessions = append(st.Sessions, sessionStatus(s, k.life.Progress, k.now()))
		countMasked(s, masked)
		forgotten, retired := s.Graves.Count()
		st.Forgotten, st.Retired = st.Forgotten+forgotten, st.Retired+retired
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

// SessionStatus says what stands of one session, and how memory is, without looking
// at any other session. It writes nothing.
func (k *Kernel) SessionStatus(ctx context.Context, key string) (SessionStatus, MemoryStatus, error) {
	s, unlock, err := k.open(ctx, key, false)
	if err != nil {
		return SessionStatus{}, MemoryStatus{}, err
	}
	st := sessionStatus(s, k.life.Progress, k.now())
	unlock()
	return st, memoryStatus(ctx, k.workspace, k.memory), ctx.Err()
}

// statusFolders are the folders of the sessions to read, and what is said of the others
// without opening anything.
func statusFolders(k *Kernel, o *StatusOptions) (read []string, others []OtherSession, err error) {
	all, err := folder.All(k.state)
	if err != nil || o.All {
		return all, nil, err
	}
	if o.Session != "" {
		name, err := folder.Of(k.state, o.Session)
		if err == nil && !slices.Contains(all, name) {
			err = fmt.Errorf("status: %w", noSession(k.state, o.Session))
		}
		return []string{name}, nil, err
	}
	for _, f := range all {
		s := OtherSession{Folder: f}
		for _, name := range []string{folder.JournalFile, folder.RecordsFile} {
			if fi, err := folder.In(k.state, f).Stat(name); err == nil {
				s.Bytes += fi.Size
				if fi.Time.After(s.Last) {
					s.Last = fi.Time
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

func sessionStatus(s *session.Session, o ProgressOptions, now time.Time) SessionStatus {
	st := SessionStatus{Key: s.Key, Folder: s.Name, Pages: len(s.Pages), Turns: s.Account.Committed, Spans: len(s.Spans), Lines: []LineStatus{}, ModelSummaries: modelSummaries(s), Life: lifeStatus(s, o, now), Paging: pagingReport(s),
		JournalBytes: folder.Size(s.Files, folder.JournalFile), ProjectionBytes: folder.Size(s.Files, folder.RecordsFile)}
	names := map[string]branch.Key{}
	for key := range s.Branches.All {
		names[key.Branch+"\x00"+key.Model] = key
	}
	for _, name := range sortedKeys(names) {
		l := s.Branches.All[names[name]]
		st.Lines = append(st.Lines, LineStatus{Branch: l.Branch, Model: l.Model, Generation: l.Proj.Generation,
			Messages: len(l.Proj.Seen), Items: len(l.Proj.Items), Cuts: len(l.Proj.Cuts), Tokens: l.Proj.Tokens(), FixedTokens: l.FixedTokens(),
			LastPlan: l.Plan, LastStart: l.Ledger.LastStart})
		st.Lines[len(st.Lines)-1].breakerStatus(l, o)
	}
	return st
}

// countMasked counts what was masked in the session's pages.
func countMasked(s *session.Session, by map[string]int) {
	for _, p := range s.Pages {
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

// LifeStatus is what the boundaries of a session left behind.
type LifeStatus struct {
	// Epoch counts the resets, Compactions the host's since the last one;
	// LastCompaction is when the newest was.
	Epoch          int       `json:"epoch"`
	Compactions    int       `json:"compactions"`
	LastCompaction time.Time `json:"last_compaction,omitzero"`
	// Checkpoints are on disk, newest first.
	Checkpoints []string `json:"checkpoints"`
	// Flushed counts the entries of the day's logs that flushes wrote, LastFlush is
	// when the newest was.
	Flushed   int       `json:"flushed"`
	LastFlush time.Time `json:"last_flush,omitzero"`
	// CutWaiting: a compaction was asked for that the next plan makes.
	CutWaiting bool `json:"cut_waiting"`
	// Warning tells of a session that was compacted again and again of late.
	Warning string `json:"warning,omitempty"`
}

// CutStatus is a cut of a line, its tokens without tools and system, as counted.
type CutStatus struct {
	Time   time.Time `json:"time,omitzero"`
	Reason string    `json:"reason"`
	Before int       `json:"tokens_before"`
	After  int       `json:"tokens_after"`
}

// lifeStatus reads what the boundaries left, by the clock now.
func lifeStatus(s *session.Session, o ProgressOptions, now time.Time) LifeStatus {
	st := LifeStatus{Epoch: s.Account.Epoch, Compactions: s.Account.Compactions, Checkpoints: []string{}}
	if n := len(s.Account.Compacted); n > 0 {
		st.LastCompaction = s.Account.Compacted[n-1]
	}
	if ids, err := checkpoint.NewStore(s.Files).List(); err == nil {
		st.Checkpoints = append(st.Checkpoints, ids...)
	}
	for _, e := range s.Promised() {
		if strings.HasPrefix(e.ID, "fl-") {
			st.Flushed++
			if t := e.Current().Time; t.After(st.LastFlush) {
				st.LastFlush = t
			}
		}
	}
	for branch, n := range s.Account.Pending {
		done := 0
		for key, l := range s.Branches.All {
			if key.Branch == branch {
				done = max(done, l.Compacted)
			}
		}
		st.CutWaiting = st.CutWaiting || done < n
	}
	st.Warning = spiral(o, s, s.Branches.Newest("", "").Proj, now)
	return st
}

// breakerStatus fills in what cuts of a line came to.
func (st *LineStatus) breakerStatus(l *branch.State, o ProgressOptions) {
	st.FutileCuts, st.Refusals, st.LearnedWindow = l.Breaker.Futile, l.Overflow.Tries, l.Overflow.Window
	st.BreakerOpen = l.Breaker.Futile >= o.withDefaults().Futile
	if n := len(l.Proj.Cuts); n > 0 {
		c := &l.Proj.Cuts[n-1]
		st.LastCut = &CutStatus{Time: c.Time, Reason: c.Reason, Before: c.Before, After: c.After}
	}
}

// paging sums up what the plans of the session's conversations told of paging.
func pagingReport(s *session.Session) paging.Report {
	var sum paging.Counts
	for _, l := range s.Branches.All {
		sum = sum.Plus(l.Paging)
	}
	return sum.Report()
}

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
