package display

import (
	"cmp"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
)

// Status lists the stored data and its size.
func Status(s *Sheet, st *api.Status) {
	bold := func(name string) inked { return inked{Bold, name} }
	s.Line("{}  {}\n  {blob} of {bytes}", bold("state"), st.StateDir, st.Blobs, st.BlobBytes)
	s.maskedText(st)
	s.memoryText(&st.Memory)
	s.netsText(&st.Nets)
	for _, m := range st.SummaryModels {
		s.Line("{}  {}", bold("notes"), Clip(m.Model, s.Columns()-7))
		if m.Failures > 0 {
			s.Line("  {failure} in a row, the last {}; asked again from{} on", m.Failures, m.Reason, m.Until)
		} else {
			s.Line("  last answered{}", m.Answered)
		}
	}
	if len(st.Sessions) == 0 {
		s.Line("  no sessions")
		return
	}
	for _, e := range st.Sessions {
		s.Line("{}  {}", bold("session"), Clip(e.Key, s.Columns()-9))
		s.Line("  {turn}, {page}, {span} that left; journal {bytes}, projections {bytes}", e.Turns, e.Pages, e.Spans, e.JournalBytes, e.ProjectionBytes)
		s.Line("  thrash index {}", thrashText(&e.Paging))
		s.lifeText(&e.Life)
		for _, m := range e.ModelSummaries {
			s.Line("  notes by {}: {%d}, {%d} closed; last{}, {}", Clip(m.Model, s.Columns()-50), m.Notes, m.Closed, m.Time, m.Reason)
		}
		for i := range e.Lines {
			s.conversation(&e.Lines[i])
		}
	}
	for _, f := range st.Unreadable {
		s.Line("{}  {} can't be read: {}", bold("session"), f.Session, f.What)
	}
	if n := len(st.Others); n > 0 {
		bytes := int64(0)
		for _, o := range st.Others {
			bytes += o.Bytes
		}
		s.Line("{}  {session} that were not read, {bytes}, last written to{}; --all reads them", bold("others"), n, bytes, st.Others[0].Last)
	}
}

// maskedText counts the masked secrets by rule, and the forgotten and retired pages.
func (s *Sheet) maskedText(st *api.Status) {
	var rules []string
	total := 0
	for _, m := range st.Masked {
		total += m.Count
		rules = append(rules, fmt.Sprintf("%s %d", m.Rule, m.Count))
	}
	if total > 0 {
		s.Para(2, "", "{secret} masked: {}", total, rules)
	}
	if st.Forgotten+st.Retired > 0 {
		s.Line("  {page} forgotten, {%d} retired", st.Forgotten, st.Retired)
	}
}

// memoryText describes memory and its index.
func (s *Sheet) memoryText(m *api.MemoryStatus) {
	s.Line("{}  {}", inked{Bold, "memory"}, m.Workspace)
	if !m.Enabled {
		s.Line("  switched off")
		return
	}
	shown := m.Bootstrap
	if m.Remembered {
		shown = append(shown[:len(shown):len(shown)], "USER.md", "MEMORY.md")
	}
	if m.DailyLogs {
		shown = append(shown[:len(shown):len(shown)], "two days' logs")
	}
	s.Para(2, "", "a session begins with {?nothing}{}, {} tokens at most", len(shown) == 0, shown, m.WorkspaceTokens)
	if m.RecallItems > 0 {
		s.Line("  a user turn recalls {item}, {} tokens at most, by {}", m.RecallItems, m.RecallTokens, Clip(cmp.Or(m.Embedder, "words alone"), s.Columns()-50))
	} else {
		s.Line("  a user turn recalls nothing")
	}
	s.Para(2, "", "{}", m.Survey.Text())
	switch past := &m.Sessions; {
	case !past.Enabled:
		s.Line("  past sessions are not searched: retrieval.sessions.enabled is false")
	case past.Sessions+past.Forgotten > 0:
		s.Line("  {past session} searched: {turn}, {%d} forgotten", past.Sessions, past.Turns, past.Forgotten)
	default:
		s.Line("  no past sessions yet")
	}
	s.indexText(&m.Index)
	if m.NeverEmbedded > 0 {
		s.Line("  {text} will never get a vector: a whole day's embedding.daily_tokens are fewer", m.NeverEmbedded)
	}
	if l := m.Sync.Last; l != nil {
		s.Line("  last synced{} by {}: {file} read, {%d} gone", l.Time, l.Reason, l.Files, l.Removed)
		s.Para(4, "", "{}", l.Error)
	}
}

// indexText describes the index.
func (s *Sheet) indexText(ix *api.IndexStatus) {
	if ix.State != api.IndexOK {
		state := string(ix.State)
		if ix.State == api.IndexMissing {
			state = "none yet, the first search makes it"
		}
		s.Line("  index: {}; {} says more", state, s.Command("'memkernel doctor'"))
		return
	}
	vectors, behind := "", ""
	if ix.Model != "" {
		vectors = s.Say(", {vector}", ix.Vectors)
	}
	if ix.Behind {
		behind = ", behind the files" + BehindBy(&ix.Lag)
	}
	s.Line("  index: {chunk}{}, {bytes}{}", ix.Chunks, vectors, ix.FileBytes, behind)
	if ix.Behind {
		s.Line("  the next search brings it up to date, or {}", s.Command("'memkernel reindex'"))
	}
}

// lifeText lists the records that the boundaries of a session left.
func (s *Sheet) lifeText(l *api.LifeStatus) {
	newest := "none"
	if len(l.Checkpoints) > 0 {
		newest = l.Checkpoints[0]
	}
	s.Line("  reset {time}; {checkpoint}, the newest {}", l.Epoch, len(l.Checkpoints), newest)
	last := func(t time.Time) string { return momentAfter(", last ", t) }
	if l.Compactions > 0 {
		s.Line("  compacted {time}{}", l.Compactions, last(l.LastCompaction))
	}
	if l.Flushed > 0 {
		s.Line("  flushed {time}, {%d} by the model{}", l.Flushed, l.FlushedByModel, last(l.LastFlush))
		if l.LastFlushPath != "" {
			s.Line("  {}", api.FlushLine(l.LastFlushItems, l.LastFlushPath))
		}
	}
	if l.CutWaiting {
		s.Line("  the next plan cuts: a compaction was asked for")
	}
	s.Para(2, "", "{}", l.Warning)
}

// conversation describes a conversation of a session, and its cuts.
func (s *Sheet) conversation(l *api.LineStatus) {
	name, fixed := l.Model, ""
	if l.Branch != "" {
		name += " on " + l.Branch
	}
	if l.FixedTokens > 0 {
		fixed = s.Say(" ({} fixed)", l.FixedTokens)
	}
	s.Line("  {}", inked{cyan, Clip(name, s.Columns()-4)})
	s.Line("    {message}, {} tokens{}, generation {%d}, {cut}, last call{}", l.Messages, l.Tokens+l.FixedTokens, fixed, l.Generation, l.Cuts, l.LastStart)
	if c := l.LastCut; c != nil {
		s.Line("    last cut{}: {}, from {} to {} tokens", c.Time, c.Reason, c.Before, c.After)
	}
	if l.BreakerOpen {
		s.Line("    {cut} came to nothing: no more until the prompt grows", l.FutileCuts)
	}
	if l.LearnedWindow > 0 {
		s.Line("    the provider takes {} tokens, as it said when it refused a call", l.LearnedWindow)
	}
}

// netsText describes the part of the working state in the workspace's Markdown.
func (s *Sheet) netsText(n *api.NetsStatus) {
	if st := &n.SessionState; st.Bytes > 0 || st.Detail != "" {
		s.Line("{}  {}", inked{Bold, "working state"}, st.Path)
		switch {
		case st.Detail != "":
			s.Para(2, "", "can't be read: {}", st.Detail)
		case st.Session == "":
			s.Para(2, "", "{bytes}, none of it the kernel's", st.Bytes)
		default:
			s.Para(2, "", "{bytes}, {bytes} of it not the kernel's; session {} after {message}{}{?, edited since}", st.Bytes, st.OtherBytes,
				Clip(st.Session, s.Columns()-40), st.Messages, AtTime(st.Time), st.Edited)
		}
	}
	if f := &n.Buffer; f.Bytes > 0 || f.Detail != "" {
		s.Line("{}  {}", inked{Bold, "working buffer"}, f.Path)
		if f.Detail != "" {
			s.Para(2, "", "can't be read: {}", f.Detail)
			return
		}
		s.Para(2, "", "{entry}, {bytes}, last{}; {?never dumped}{}", f.Entries, f.Bytes, f.Newest, f.LastDump.IsZero(), momentAfter("last dump ", f.LastDump))
	}
}
