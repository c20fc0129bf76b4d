package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/summary"
)

// Status reports the places and sizes of everything that is kept. It writes nothing. For a
// missing session it returns the error of [Inspector.NoSession].
func (in *Inspector) Status(ctx context.Context, o api.StatusOptions) (*api.Status, error) {
	st := &api.Status{Others: []api.OtherSession{}, Unreadable: []health.Finding{}, StateDir: in.StateDir, Sessions: []api.SessionStatus{}, Masked: []api.MaskCount{}, Memory: in.MemoryStatus(ctx), Nets: in.nets(), SummaryModels: cooldowns(in.State)}
	if err := in.survey(ctx, &st.Memory); err != nil {
		return nil, err
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
		st.Sessions = append(st.Sessions, sessionStatus(s, in.Now()))
		countMasked(s, masked)
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

// Session returns the status of one open session. It writes nothing.
func (in *Inspector) Session(s *session.Session) api.SessionStatus {
	return sessionStatus(s, in.Now())
}

// folders returns the folders of the sessions to read. For the other sessions it returns a report
// that needs no file opened.
func folders(in *Inspector, o *api.StatusOptions) (read []string, others []api.OtherSession, err error) {
	all, err := folder.All(in.State)
	if err != nil || o.All {
		return all, nil, err
	}
	if o.Session != "" {
		name, err := folder.Of(in.State, o.Session)
		if err == nil && !slices.Contains(all, name) {
			err = fmt.Errorf("status: %w", in.NoSession(o.Session))
		}
		return []string{name}, nil, err
	}
	for _, f := range all {
		s := api.OtherSession{Folder: f}
		for _, name := range []string{folder.JournalFile, folder.RecordsFile} {
			if fi, err := folder.In(in.State, f).Stat(name); err == nil {
				s.Bytes += fi.Size
				if fi.Time.After(s.Last) {
					s.Last = fi.Time
				}
			}
		}
		others = append(others, s)
	}
	slices.SortStableFunc(others, func(a, b api.OtherSession) int { return b.Last.Compare(a.Last) })
	n := min(api.MostSessions, len(others))
	for _, s := range others[:n] {
		read = append(read, s.Folder)
	}
	slices.Sort(read)
	return read, others[n:], nil
}

func sessionStatus(s *session.Session, now time.Time) api.SessionStatus {
	st := api.SessionStatus{Key: s.Key, Folder: s.Name, Pages: len(s.Pages), Turns: s.Account.Committed, Spans: len(s.Spans), Lines: []api.LineStatus{}, ModelSummaries: modelSummaries(s), Life: lifeStatus(s, now), Paging: pagingReport(s),
		JournalBytes: shown(s.Files, folder.JournalFile), ProjectionBytes: shown(s.Files, folder.RecordsFile)}
	names := map[string]branch.Key{}
	for key := range s.Branches.All {
		names[key.Branch+"\x00"+key.Model] = key
	}
	for _, name := range sorted(names) {
		l := s.Branches.All[names[name]]
		st.Lines = append(st.Lines, api.LineStatus{Branch: l.Branch, Model: l.Model, Generation: l.Proj.Generation,
			Messages: len(l.Proj.Seen), Items: len(l.Proj.Items), Cuts: len(l.Proj.Cuts), Tokens: l.Proj.Tokens(), FixedTokens: l.FixedTokens(),
			LastPlan: l.Plan, LastStart: l.Ledger.LastStart})
		broken(&st.Lines[len(st.Lines)-1], l)
	}
	return st
}

// shown returns the size of a file, or 0 if the size is unknown.
func shown(dir store.Store, name string) int64 {
	n, _ := folder.Size(dir, name)
	return n
}

// countMasked counts the masked secrets in the session's pages.
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
	for _, e := range s.Promised() {
		countFlush(&st, e)
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
	if st.Warning = spiral(s, s.Branches.Newest("", "").Proj, now); st.Warning == "" && st.Compactions > checkpoint.SpiralCount {
		st.Warning = fmt.Sprintf("%d compactions in this session: each one loses more; go on in a fresh session", st.Compactions)
	}
	return st
}

// broken fills in the results of a line's cuts.
func broken(st *api.LineStatus, l *branch.State) {
	st.FutileCuts, st.Refusals, st.LearnedWindow = l.Breaker.Futile, l.Overflow.Tries, l.Overflow.Window
	st.BreakerOpen = l.Breaker.Futile >= plan.MaxFutile
	if n := len(l.Proj.Cuts); n > 0 {
		c := &l.Proj.Cuts[n-1]
		st.LastCut = &api.LineCut{Time: c.Time, Reason: c.Reason, Before: c.Before, After: c.After}
	}
}

// pagingReport sums up the paging of the plans of the session's conversations.
func pagingReport(s *session.Session) paging.Report {
	var sum paging.Counts
	for _, l := range s.Branches.All {
		sum = sum.Plus(l.Paging)
	}
	return sum.Report()
}

// nets reads how much of the working state the workspace's Markdown holds.
func (in *Inspector) nets() api.NetsStatus {
	st := api.NetsStatus{SessionState: api.StateFileStatus{Path: workstate.StatePath}, Buffer: api.BufferStatus{Path: workstate.BufferPath}}
	if m := in.Memory; m != nil {
		st.SessionState.Enabled, st.Buffer.Enabled = in.StateFile, in.Buffer
		readStateFile(&st.SessionState, m)
		readBuffer(&st.Buffer, m)
	}
	return st
}

func readStateFile(st *api.StateFileStatus, m *memory.Memory) {
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

func readBuffer(st *api.BufferStatus, m *memory.Memory) {
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
		if n, err := summary.ReadNotes(p); err == nil {
			last := n.Last()
			m := api.ModelSummary{Branch: branch, Deltas: n.Version, Model: last.Model, Time: last.Time, Messages: last.Messages, Operations: last.Operations, Reason: last.Reason}
			m.Notes, m.Closed = n.Count()
			out = append(out, m)
		}
	}
	return out
}

// cooldowns returns the cool-downs of all models that were asked, by name.
func cooldowns(state store.Store) []api.Cooldown {
	out := []api.Cooldown{}
	for _, c := range notes.OpenCooldowns(state).All() {
		out = append(out, api.Cooldown(c))
	}
	return out
}

// spiral returns a warning if there were too many compactions within a short time, and ""
// otherwise. The cuts of a projection count as compactions.
func spiral(s *session.Session, p *pagevm.Projection, now time.Time) string {
	return plan.Spiral(s.Account.Compacted, p, now)
}

// countFlush counts an entry of memory that a flush wrote.
func countFlush(st *api.LifeStatus, e journal.Entry) {
	flush, agent := workstate.WrittenBy(e.ID)
	if !flush {
		return
	}
	st.Flushed++
	if agent {
		st.FlushedByModel++
	}
	t := e.Current().Time
	if t.Before(st.LastFlush) {
		return
	}
	st.LastFlush = t
	var said workstate.Entry
	if json.Unmarshal(e.Current().Value, &said) == nil {
		st.LastFlushItems, st.LastFlushPath = said.Lines(), said.Path
	}
}
