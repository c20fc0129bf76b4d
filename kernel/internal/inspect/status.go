package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/summary"
)

// Status reports the places and sizes of everything that is kept. It writes nothing. For a
// missing session it returns the error of [Inspector.NoSession].
func (in *Inspector) Status(ctx context.Context, o api.StatusOptions) (*api.Status, error) {
	st := &api.Status{Others: []api.OtherSession{}, Unreadable: []health.Finding{}, StateDir: in.StateDir, Sessions: []api.SessionStatus{}, Masked: []api.MaskCount{}, Memory: in.MemoryStatus(ctx), Nets: in.nets(), SummaryModels: notes.OpenCooldowns(in.State).All()}
	var err error
	if in.Memory != nil {
		if st.Memory.Survey, err = in.Memory.Private.Survey(ctx); err != nil {
			return nil, err
		}
	}
	folders, others, err := folders(in, &o)
	if err != nil {
		return nil, err
	}
	for i := range others {
		other := &others[i]
		if other.Key, err = folder.KeyIn(in.State, other.Folder); err != nil {
			other.Key = other.Folder
			st.Unreadable = append(st.Unreadable, folder.Unreadable(other.Folder, err))
		}
		st.Others = append(st.Others, *other)
	}
	masked := map[string]int{}
	for _, f := range folders {
		s, unlock, err := in.Sessions.Visit(ctx, f)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			st.Unreadable = append(st.Unreadable, folder.Unreadable(f, err))
			continue
		}
		st.Sessions = append(st.Sessions, in.Session(s))
		for _, p := range s.Pages {
			rest := p.Masked
			for rule, n := range p.MaskedBy {
				masked[rule] += n
				rest -= n
			}
			if rest > 0 {
				masked["unknown"] += rest
			}
		}
		st.Forgotten += len(s.Graves.Pages)
		st.Retired += len(s.Graves.Unkept)
		unlock()
	}
	for _, rule := range sorted(masked) {
		st.Masked = append(st.Masked, api.MaskCount{Rule: rule, Count: masked[rule]})
	}
	for info, err := range in.Blobs.Walk() {
		if err != nil {
			return nil, err
		}
		st.Blobs++
		st.BlobBytes += info.Bytes
	}
	return st, ctx.Err()
}

// folders returns the folders of the sessions to read. For the other sessions it returns a report
// that needs no file opened.
func folders(in *Inspector, o *api.StatusOptions) (read []string, others []api.OtherSession, err error) {
	if o.All || o.Session != "" {
		if read, err = folder.All(in.State); err != nil || o.All {
			return read, nil, err
		}
		name := folder.Of(o.Session)
		if !slices.Contains(read, name) {
			err = fmt.Errorf("status: %w", in.NoSession(o.Session))
		}
		return []string{name}, nil, err
	}
	at := map[string]int{}
	for _, name := range []string{folder.JournalFile, folder.RecordsFile} {
		logs, err := store.Logs(in.State, folder.Sessions, name, time.Now())
		if err != nil {
			return nil, nil, err
		}
		for _, l := range logs {
			i, known := at[l.Name]
			if !known {
				i = len(others)
				at[l.Name], others = i, append(others, api.OtherSession{Folder: l.Name})
			}
			if fi, err := l.Info(); err == nil {
				others[i].Bytes += fi.Size
				others[i].Last = later(others[i].Last, fi.Time)
			}
		}
	}
	slices.SortStableFunc(others, func(a, b api.OtherSession) int { return b.Last.Compare(a.Last) })
	n := min(api.MostSessions, len(others))
	for _, s := range others[:n] {
		read = append(read, s.Folder)
	}
	slices.Sort(read)
	return read, others[n:], nil
}

// Session returns the status of one open session. It writes nothing.
func (in *Inspector) Session(s *session.Session) api.SessionStatus {
	st := api.SessionStatus{Key: s.Key, Folder: s.Name, Pages: len(s.Pages), Turns: s.Account.Committed, Spans: len(s.Spans), Lines: []api.LineStatus{}, ModelSummaries: modelSummaries(s), Life: lifeStatus(s, in.Now())}
	st.JournalBytes, st.ProjectionBytes = s.Bytes()
	var counts paging.Counts
	for _, l := range s.Branches.All {
		counts = counts.Plus(l.Paging)
		line := api.LineStatus{Branch: l.Branch, Model: l.Model, Generation: l.Proj.Generation,
			Messages: len(l.Proj.Seen), Items: len(l.Proj.Items), Cuts: len(l.Proj.Cuts), Tokens: l.Proj.Tokens(), FixedTokens: l.FixedTokens(),
			LastPlan: l.Plan, LastStart: l.Ledger.LastStart, FutileCuts: l.Breaker.Futile, BreakerOpen: l.Breaker.Futile >= plan.MaxFutile,
			Refusals: l.Overflow.Tries, LearnedWindow: l.Overflow.Window}
		if n := len(l.Proj.Cuts); n > 0 {
			c := &l.Proj.Cuts[n-1]
			line.LastCut = &api.LineCut{Time: c.Time, Reason: c.Reason, Before: c.Before, After: c.After}
		}
		st.Lines = append(st.Lines, line)
	}
	slices.SortFunc(st.Lines, func(a, b api.LineStatus) int {
		return cmp.Or(strings.Compare(a.Branch, b.Branch), strings.Compare(a.Model, b.Model))
	})
	st.Paging = counts.Report()
	return st
}

// lifeStatus reads the results of the boundaries, by the clock now.
func lifeStatus(s *session.Session, now time.Time) api.LifeStatus {
	st := api.LifeStatus{Epoch: s.Account.Epoch, Compactions: s.Account.Compactions, Checkpoints: []string{}}
	if l, err := s.Life.Now(); err == nil {
		st.Compactions = max(st.Compactions, l.State.Thread.From.Since())
	}
	if n := len(s.Account.Compacted); n > 0 {
		st.LastCompaction = s.Account.Compacted[n-1]
	}
	if ids, err := checkpoint.NewStore(s.Files).List(); err == nil {
		st.Checkpoints = append(st.Checkpoints, ids...)
	}
	for _, e := range s.Promised() { // the entries of memory that flushes wrote
		flush, agent := workstate.WrittenBy(e.ID)
		if !flush {
			continue
		}
		st.Flushed++
		if agent {
			st.FlushedByModel++
		}
		var said workstate.Entry
		if t := e.Current().Time; !t.Before(st.LastFlush) {
			st.LastFlush = t
			if json.Unmarshal(e.Current().Value, &said) == nil {
				st.LastFlushItems, st.LastFlushPath = said.Lines(), said.Path
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
	if st.Warning = plan.Spiral(s.Account.Compacted, s.Branches.Newest("", "").Proj, now); st.Warning == "" && st.Compactions > checkpoint.SpiralCount {
		st.Warning = fmt.Sprintf("%d compactions in this session: each one loses more; go on in a fresh session", st.Compactions)
	}
	return st
}

// nets reads how much of the working state the workspace's Markdown holds.
func (in *Inspector) nets() (st api.NetsStatus) {
	sum, buf := &st.SessionState, &st.Buffer
	sum.Path, buf.Path = workstate.StatePath, workstate.BufferPath
	m := in.Memory
	if m == nil {
		return st
	}
	sum.Enabled, buf.Enabled = in.StateFile, in.Buffer
	f, _, err := workstate.ReadStateFile(m.Private)
	if err != nil {
		sum.Detail = err.Error()
	}
	sum.Bytes, sum.OtherBytes = len(f.Text), len(f.Text)
	if sec := f.Section; sec != nil {
		sum.OtherBytes = len(f.Others())
		sum.Session, sum.Epoch, sum.Messages, sum.Time, sum.Edited = sec.Owner, sec.Epoch, sec.Captured, sec.At, sec.Edited
	}
	text, err := workstate.ReadBuffer(m.Private)
	if err != nil {
		buf.Detail = err.Error()
		return st
	}
	buf.Bytes = len(text)
	for _, e := range workstate.Buffered(text) {
		buf.Entries++
		buf.Newest = later(buf.Newest, e.At)
		if e.What == workstate.BufferDump {
			buf.LastDump = later(buf.LastDump, e.At)
		}
	}
	return st
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// modelSummaries returns the state of the notes on each branch of this epoch.
func modelSummaries(s *session.Session) []api.ModelSummary {
	out := []api.ModelSummary{}
	if s.Journal == nil {
		return out
	}
	prefix := turn.NotesPage(s, "")
	for _, p := range s.Journal.Store().Pages(s.Name) {
		branch, ok := strings.CutPrefix(p.Key, prefix)
		if !ok || p.Type != summary.NotesType {
			continue
		}
		if n, err := summary.ReadNotes(*p); err == nil {
			last := n.Last()
			m := api.ModelSummary{Branch: branch, Deltas: n.Version, Model: last.Model, Time: last.Time, Messages: last.Messages, Operations: last.Operations, Reason: last.Reason}
			m.Notes, m.Closed = n.Count()
			out = append(out, m)
		}
	}
	return out
}

// MemoryStatus reads the settings and the index of memory.
func (in *Inspector) MemoryStatus(ctx context.Context) api.MemoryStatus {
	st, m := in.Set, in.Memory
	if m == nil {
		return st
	}
	st.Index = in.IndexStatus(ctx)
	st.Sync.Watch, st.Sync.Last = m.Sync.Status()
	n, err := m.Past.Stats()
	if err != nil {
		st.Sessions.Error = err.Error()
	}
	st.Sessions.Agent, st.Sessions.Sessions, st.Sessions.Turns, st.Sessions.Forgotten = m.Agent(""), n.Conversations, n.Turns, n.Forgotten
	st.Collections = m.Collections()
	if left := m.LastLeft(); left.Files > 0 {
		st.LeftOut = left
	}
	return st
}

// indexStates maps the names that package index uses to states.
var indexStates = []struct {
	err   error
	state api.IndexState
}{
	{index.ErrMissing, api.IndexMissing}, {index.ErrForeign, api.IndexForeign}, {index.ErrNewer, api.IndexNewer},
	{index.ErrOlder, api.IndexOlder}, {index.ErrDamaged, api.IndexDamaged},
}

// IndexStatus reads the content of the index, and how much of memory the index still lacks.
func (in *Inspector) IndexStatus(ctx context.Context) api.IndexStatus {
	st, m := in.Set.Index, in.Memory
	if m == nil {
		return st
	}
	ix, err := m.Index(ctx)
	var s index.Stats
	if err == nil {
		s, err = ix.Stats(ctx)
	}
	if err == nil {
		st.Files, st.Unread, st.Chunks, st.TextBytes, st.FileBytes = s.Files, s.Unread, s.Chunks, s.TextBytes, s.FileBytes
		st.Model, st.Vectors = s.Model, s.Vectors
		if st.Lag, err = m.Behind(ctx, ix); err == nil {
			st.State, st.Behind = api.IndexOK, !st.Lag.Zero()
			return st
		}
	}
	st.State, st.Detail = api.IndexFailed, err.Error()
	if e := (*index.Error)(nil); errors.As(err, &e) {
		st.Detail, st.Hint = e.Kind.Error(), cmp.Or(e.Hint, unsearchable[api.IndexFailed].Hint)
		if e.Err != nil {
			st.Detail += " (" + e.Err.Error() + ")"
		}
	}
	for _, s := range indexStates {
		if errors.Is(err, s.err) {
			st.State = s.state
		}
	}
	return st
}
