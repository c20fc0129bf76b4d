package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
)

// Status lists the stored data and its size.
func Status(w io.Writer, st *api.Status, p Style) error {
	s := &sheet{Style: p}
	s.linef("%s  %s", s.Paint(Bold, "state"), Printable(st.StateDir))
	s.linef("  %s of %s", Plural(st.Blobs, "blob"), Size(st.BlobBytes))
	s.maskedText(st)
	s.memoryText(&st.Memory)
	s.netsText(&st.Nets)
	s.modelsText(st.SummaryModels)
	if len(st.Sessions) == 0 {
		s.line("  no sessions")
		return Flush(w, &s.b)
	}
	for _, e := range st.Sessions {
		s.linef("%s  %s", s.Paint(Bold, "session"), Clip(e.Key, s.Columns()-9))
		s.linef("  %s, %s, %s that left; journal %s, projections %s", Plural(e.Turns, "turn"), Plural(e.Pages, "page"), Plural(e.Spans, "span"), Size(e.JournalBytes), Size(e.ProjectionBytes))
		s.linef("  thrash index %s", thrashText(&e.Paging))
		s.lifeText(&e.Life)
		for _, m := range e.ModelSummaries {
			s.linef("  notes by %s: %d, %d closed; last%s, %s", Clip(m.Model, s.Columns()-50), m.Notes, m.Closed, moment(m.Time), m.Reason)
		}
		for _, l := range e.Lines {
			name := l.Model
			if l.Branch != "" {
				name += " on " + l.Branch
			}
			s.linef("  %s", s.Paint(cyan, Clip(name, s.Columns()-4)))
			tokens := Thousands(l.Tokens+l.FixedTokens) + " tokens"
			if l.FixedTokens > 0 {
				tokens += fmt.Sprintf(" (%s fixed)", Thousands(l.FixedTokens))
			}
			s.linef("    %s, %s, generation %d, %s, last call%s", Plural(l.Messages, "message"), tokens, l.Generation, Plural(l.Cuts, "cut"), moment(l.LastStart))
			s.cutText(&l)
		}
	}
	for _, f := range st.Unreadable {
		s.linef("%s  %s can't be read: %s", s.Paint(Bold, "session"), Printable(f.Session), Printable(f.What))
	}
	if n := len(st.Others); n > 0 {
		bytes := int64(0)
		for _, o := range st.Others {
			bytes += o.Bytes
		}
		s.linef("%s  %s that were not read, %s, last written to%s; --all reads them", s.Paint(Bold, "others"), Plural(n, "session"), Size(bytes), moment(st.Others[0].Last))
	}
	return Flush(w, &s.b)
}

// maskedText counts the masked secrets by rule, and the forgotten and retired pages.
func (s *sheet) maskedText(st *api.Status) {
	var rules []string
	total := 0
	for _, m := range st.Masked {
		total += m.Count
		rules = append(rules, fmt.Sprintf("%s %d", m.Rule, m.Count))
	}
	if total > 0 {
		s.say(2, "", fmt.Sprintf("%s masked: %s", Plural(total, "secret"), strings.Join(rules, ", ")))
	}
	if st.Forgotten+st.Retired > 0 {
		s.linef("  %s forgotten, %d retired", Plural(st.Forgotten, "page"), st.Retired)
	}
}

func (s *sheet) memoryText(m *api.MemoryStatus) {
	s.linef("%s  %s", s.Paint(Bold, "memory"), Printable(m.Workspace))
	if !m.Enabled {
		s.line("  switched off")
		return
	}
	shown := m.Bootstrap
	if m.Remembered {
		shown = append(shown[:len(shown):len(shown)], "USER.md", "MEMORY.md")
	}
	if m.DailyLogs {
		shown = append(shown[:len(shown):len(shown)], "two days' logs")
	}
	s.say(2, "", fmt.Sprintf("a session begins with %s, %s tokens at most", cmp.Or(strings.Join(shown, ", "), "nothing"), Thousands(m.WorkspaceTokens)))
	if m.RecallItems > 0 {
		s.linef("  a user turn recalls %s, %s tokens at most, by %s", Plural(m.RecallItems, "item"), Thousands(m.RecallTokens), Clip(cmp.Or(m.Embedder, "words alone"), s.Columns()-50))
	} else {
		s.line("  a user turn recalls nothing")
	}
	s.say(2, "", m.Survey.Text())
	s.pastText(&m.Sessions)
	s.indexText(&m.Index)
	if m.NeverEmbedded > 0 {
		s.linef("  %s will never get a vector: a whole day's embedding.daily_tokens are fewer", Plural(m.NeverEmbedded, "text"))
	}
	s.syncText(m)
}

// modelsText writes the state of the models that make notes.
func (s *sheet) modelsText(models []api.Cooldown) {
	for _, m := range models {
		s.linef("%s  %s", s.Paint(Bold, "notes"), Clip(m.Model, s.Columns()-7))
		if m.Failures > 0 {
			s.linef("  %s in a row, the last %s; asked again from%s on", Plural(m.Failures, "failure"), m.Reason, moment(m.Until))
		} else {
			s.linef("  last answered%s", moment(m.Answered))
		}
	}
}

func (s *sheet) indexText(ix *api.IndexStatus) {
	if ix.State != api.IndexOK {
		state := string(ix.State)
		if ix.State == api.IndexMissing {
			state = "none yet, the first search makes it"
		}
		s.linef("  index: %s; %s says more", state, s.command("'memkernel doctor'"))
		return
	}
	vectors, behind := "", ""
	if ix.Model != "" {
		vectors = ", " + Plural(int(ix.Vectors), "vector")
	}
	if ix.Behind {
		behind = ", behind the files" + BehindBy(&ix.Lag)
	}
	s.linef("  index: %s%s, %s%s", Plural(int(ix.Chunks), "chunk"), vectors, Size(ix.FileBytes), behind)
	if ix.Behind {
		s.linef("  the next search brings it up to date, or %s", s.command("'memkernel reindex'"))
	}
}

// syncText writes when, and by which caller, the index was last brought up to date.
func (s *sheet) syncText(m *api.MemoryStatus) {
	if l := m.Sync.Last; l != nil {
		s.linef("  last synced%s by %s: %s read, %d gone", moment(l.Time), l.Reason, Plural(l.Files, "file"), l.Removed)
		s.say(4, "", l.Error)
	}
}

// pastText counts the past sessions that are searched.
func (s *sheet) pastText(past *api.PastSessions) {
	switch {
	case !past.Enabled:
		s.line("  past sessions are not searched: retrieval.sessions.enabled is false")
	case past.Sessions+past.Forgotten > 0:
		s.linef("  %s searched: %s, %d forgotten", Plural(past.Sessions, "past session"), Plural(past.Turns, "turn"), past.Forgotten)
	default:
		s.line("  no past sessions yet")
	}
}

// Size formats a number of bytes for people.
func Size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// lifeText lists the records that the boundaries of a session left.
func (s *sheet) lifeText(l *api.LifeStatus) {
	newest := "none"
	if len(l.Checkpoints) > 0 {
		newest = l.Checkpoints[0]
	}
	s.linef("  reset %s; %s, the newest %s", Plural(l.Epoch, "time"), Plural(len(l.Checkpoints), "checkpoint"), newest)
	if l.Compactions > 0 {
		s.linef("  compacted %s%s", Plural(l.Compactions, "time"), last(l.LastCompaction))
	}
	if l.Flushed > 0 {
		s.linef("  flushed %s, %d by the model%s", Plural(l.Flushed, "time"), l.FlushedByModel, last(l.LastFlush))
		if l.LastFlushPath != "" {
			s.linef("  %s", api.FlushLine(l.LastFlushItems, l.LastFlushPath))
		}
	}
	if l.CutWaiting {
		s.line("  the next plan cuts: a compaction was asked for")
	}
	s.say(2, "", l.Warning)
}

// cutText sums up the cuts of a conversation.
func (s *sheet) cutText(l *api.LineStatus) {
	if c := l.LastCut; c != nil {
		s.linef("    last cut%s: %s, from %s to %s tokens", moment(c.Time), c.Reason, Thousands(c.Before), Thousands(c.After))
	}
	if l.BreakerOpen {
		s.linef("    %s came to nothing: no more until the prompt grows", Plural(l.FutileCuts, "cut"))
	}
	if l.LearnedWindow > 0 {
		s.linef("    the provider takes %s tokens, as it said when it refused a call", Thousands(l.LearnedWindow))
	}
}

// netsText describes the part of the working state in the workspace's Markdown.
func (s *sheet) netsText(n *api.NetsStatus) {
	if st := &n.SessionState; st.Bytes > 0 || st.Detail != "" {
		s.linef("%s  %s", s.Paint(Bold, "working state"), st.Path)
		switch {
		case st.Detail != "":
			s.say(2, "", "can't be read: "+Printable(st.Detail))
		case st.Session == "":
			s.say(2, "", fmt.Sprintf("%s, none of it the kernel's", Size(int64(st.Bytes))))
		default:
			edited := ""
			if st.Edited {
				edited = ", edited since"
			}
			s.say(2, "", fmt.Sprintf("%s, %s of it not the kernel's; session %s after %s%s%s", Size(int64(st.Bytes)), Size(int64(st.OtherBytes)),
				Clip(st.Session, s.Columns()-40), Plural(st.Messages, "message"), AtTime(st.Time), edited))
		}
	}
	if f := &n.Buffer; f.Bytes > 0 || f.Detail != "" {
		s.linef("%s  %s", s.Paint(Bold, "working buffer"), f.Path)
		if f.Detail != "" {
			s.say(2, "", "can't be read: "+Printable(f.Detail))
			return
		}
		dump := "never dumped"
		if !f.LastDump.IsZero() {
			dump = "last dump" + moment(f.LastDump)
		}
		s.say(2, "", fmt.Sprintf("%s, %s, last%s; %s", Plural(f.Entries, "entry"), Size(int64(f.Bytes)), moment(f.Newest), dump))
	}
}

// last says when something happened last, or returns "" if it is not known.
func last(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", last" + moment(t)
}
