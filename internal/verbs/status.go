package verbs

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/install"
)

func statusVerb(a *cli.App) *cobra.Command {
	var o api.StatusOptions
	cmd := &cobra.Command{
		Long: fmt.Sprintf(`status says what is stored where, and how big it is. It reads the %d sessions that were
written to last; of the others it says size and time alone, and what is in them is not
counted. --all reads every session, --session one. Memories that Claude Code and Codex
keep of their own are named.`, api.MostSessions),
		RunE: with(a, &o, runStatus),
	}
	cmd.Flags().StringVarP(&o.Session, "session", "s", "", "`key` of the only session to read")
	cmd.Flags().BoolVar(&o.All, "all", false, "read every session")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	return cmd
}

func runStatus(ctx context.Context, a *cli.App, o *api.StatusOptions) error {
	st, err := ask(ctx, a, cli.Needs{}, "", (*kernel.Kernel).Status, o)
	if err != nil {
		return err
	}
	sync := a.Config.Index.Sync // the settings of programs that keep running
	st.Memory.Sync.OnStart, st.Memory.Sync.OnSearch, st.Memory.Sync.IntervalSeconds = sync.OnSessionStart, sync.OnSearch, time.Duration(sync.Interval).Seconds()
	st.Memory.Sync.Watch.On = sync.Watch
	a.Findings(st.Unreadable)
	doc := statusJSON{document.Of(st).Schema, st, foldersOf(ctx, a), memories(a)}
	return cli.Answer(a, doc, st, func(s *display.Sheet, st *api.Status) {
		showStatus(s, st)
		for _, f := range doc.Folders {
			s.Line("added folder {}: {}", f.Name, f.text())
		}
		for _, m := range doc.HostMemories {
			s.Line("{} keeps memories of its own: {file} in {}, {}", m.Title, m.Files, m.Folder, searched[a.Config.Retrieval.HostMemories])
		}
	})
}

// searched says whether the memories of hosts are searched.
var searched = map[bool]string{true: "which private sessions search (retrieval.host_memories)", false: "which memkernel does not search (retrieval.host_memories)"}

// statusJSON is the document of status, with the memories that hosts keep themselves.
type statusJSON struct {
	Schema string `json:"schema"`
	*api.Status
	// Folders are the added folders, which are searched and never written to.
	Folders []folderJSON `json:"folders"`
	// HostMemories are folders in which hosts keep their own memories. Private sessions
	// search them, unless retrieval.host_memories is false. The list is empty for a shared workspace.
	HostMemories []install.Memories `json:"host_memories,omitempty"`
}

// memories returns the folders in which hosts keep their own memories. The folders belong to the
// user, so it returns no folders for a shared workspace.
func memories(a *cli.App) []install.Memories {
	in, err := installer(a)
	if err != nil || !a.Config.Workspace.Private {
		return nil // without a folder its memories can't be recognised
	}
	return in.Memories()
}

// showStatus lists the stored data and its size.
func showStatus(s *display.Sheet, st *api.Status) {
	bold := func(name string) any { return display.Inked("bold", name) }
	s.Line("{}  {}", bold("state"), st.StateDir)
	if st.Blobs > 0 {
		s.Line("  {blob} of {bytes}", st.Blobs, st.BlobBytes)
	}
	maskedText(s, st)
	memoryText(s, &st.Memory)
	netsText(s, &st.Nets)
	for _, m := range st.SummaryModels {
		s.Line("{}  {}", bold("notes"), display.Clip(m.Model, s.Columns()-7))
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
		s.Line("{}  {}", bold("session"), display.Clip(e.Key, s.Columns()-9))
		s.Line("  {turn}, {page}, {span} that left; journal {bytes}, projections {bytes}", e.Turns, e.Pages, e.Spans, e.JournalBytes, e.ProjectionBytes)
		s.Line("  thrash index {%.2f}: {fault} and {alert} over {hit} + 1", e.Paging.Thrash, e.Paging.ExplicitFaults, e.Paging.Alerts, e.Paging.Hits)
		lifeText(s, &e.Life)
		for _, m := range e.ModelSummaries {
			s.Line("  notes by {}: {%d}, {%d} closed; last{}, {}", display.Clip(m.Model, s.Columns()-50), m.Notes, m.Closed, m.Time, m.Reason)
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
func maskedText(s *display.Sheet, st *api.Status) {
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
func memoryText(s *display.Sheet, m *api.MemoryStatus) {
	s.Line("{}  {}", display.Inked("bold", "memory"), m.Workspace)
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
		s.Line("  a user turn recalls {item}, {} tokens at most, by {}", m.RecallItems, m.RecallTokens, display.Clip(cmp.Or(m.Embedder, "words alone"), s.Columns()-50))
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
	indexText(s, &m.Index)
	if l := m.Sync.Last; l != nil {
		s.Line("  last synced{} by {}: {file} read, {%d} gone", l.Time, l.Reason, l.Files, l.Removed)
		s.Para(4, "", "{}", l.Error)
	}
}

// indexText describes the index.
func indexText(s *display.Sheet, ix *api.IndexStatus) {
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
		behind = ", behind the files" + behindBy(&ix.Lag)
	}
	s.Line("  index: {chunk}{}, {bytes}{}", ix.Chunks, vectors, ix.FileBytes, behind)
	if ix.Behind {
		s.Line("  the next search brings it up to date, or {}", s.Command("'memkernel reindex'"))
	}
}

// lifeText lists the checkpoints, compactions and flushes of a session.
func lifeText(s *display.Sheet, l *api.LifeStatus) {
	newest := "none"
	if len(l.Checkpoints) > 0 {
		newest = l.Checkpoints[0]
	}
	s.Line("  reset {time}; {checkpoint}, the newest {}", l.Epoch, len(l.Checkpoints), newest)
	last := func(t time.Time) string { return momentAfter(", last", t) }
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

// netsText describes SESSION-STATE.md and the working buffer.
func netsText(s *display.Sheet, n *api.NetsStatus) {
	if st := &n.SessionState; st.Bytes > 0 || st.Detail != "" {
		s.Line("{}  {}", display.Inked("bold", "working state"), st.Path)
		switch {
		case st.Detail != "":
			s.Para(2, "", "can't be read: {}", st.Detail)
		case st.Session == "":
			s.Para(2, "", "{bytes}, none of it the kernel's", st.Bytes)
		default:
			s.Para(2, "", "{bytes}, {bytes} of it not the kernel's; session {} after {message}{}{?, edited since}", st.Bytes, st.OtherBytes,
				display.Clip(st.Session, s.Columns()-40), st.Messages, atTime(st.Time), st.Edited)
		}
	}
	if f := &n.Buffer; f.Bytes > 0 || f.Detail != "" {
		s.Line("{}  {}", display.Inked("bold", "working buffer"), f.Path)
		if f.Detail != "" {
			s.Para(2, "", "can't be read: {}", f.Detail)
			return
		}
		s.Para(2, "", "{entry}, {bytes}, last{}; {?never dumped}{}", f.Entries, f.Bytes, f.Newest, f.LastDump.IsZero(), momentAfter("last dump", f.LastDump))
	}
}
