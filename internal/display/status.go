package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
)

// Status lists the stored data and its size.
func Status(w io.Writer, st *api.Status, p Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", p.Paint(Bold, "state"), Printable(st.StateDir))
	fmt.Fprintf(&b, "  %s of %s\n", Plural(st.Blobs, "blob"), Size(st.BlobBytes))
	maskedText(&b, st)
	memoryText(&b, &st.Memory, p)
	netsText(&b, &st.Nets, p)
	modelsText(&b, st.SummaryModels, p)
	if len(st.Sessions) == 0 {
		b.WriteString("  no sessions\n")
		return Flush(w, &b)
	}
	for _, s := range st.Sessions {
		fmt.Fprintf(&b, "%s  %s\n", p.Paint(Bold, "session"), Clip(s.Key, p.Columns()-9))
		fmt.Fprintf(&b, "  %s, %s, %s that left; journal %s, projections %s\n", Plural(s.Turns, "turn"), Plural(s.Pages, "page"), Plural(s.Spans, "span"), Size(s.JournalBytes), Size(s.ProjectionBytes))
		fmt.Fprintf(&b, "  thrash index %s\n", thrashText(&s.Paging))
		lifeText(&b, &s.Life)
		for _, m := range s.ModelSummaries {
			fmt.Fprintf(&b, "  notes by %s: %d, %d closed; last%s, %s\n", Clip(m.Model, p.Columns()-50), m.Notes, m.Closed, strings.TrimPrefix(AtTime(m.Time), ", at"), m.Reason)
		}
		for _, l := range s.Lines {
			name := l.Model
			if l.Branch != "" {
				name += " on " + l.Branch
			}
			fmt.Fprintf(&b, "  %s\n", p.Paint(cyan, Clip(name, p.Columns()-4)))
			tokens := Thousands(l.Tokens+l.FixedTokens) + " tokens"
			if l.FixedTokens > 0 {
				tokens += fmt.Sprintf(" (%s fixed)", Thousands(l.FixedTokens))
			}
			fmt.Fprintf(&b, "    %s, %s, generation %d, %s, last call%s\n", Plural(l.Messages, "message"), tokens, l.Generation, Plural(l.Cuts, "cut"), strings.TrimPrefix(AtTime(l.LastStart), ", at"))
			cutText(&b, &l)
		}
	}
	for _, f := range st.Unreadable {
		fmt.Fprintf(&b, "%s  %s can't be read: %s\n", p.Paint(Bold, "session"), Printable(f.Session), Printable(f.What))
	}
	if n := len(st.Others); n > 0 {
		bytes := int64(0)
		for _, o := range st.Others {
			bytes += o.Bytes
		}
		fmt.Fprintf(&b, "%s  %s that were not read, %s, last written to%s; --all reads them\n", p.Paint(Bold, "others"), Plural(n, "session"), Size(bytes), strings.TrimPrefix(AtTime(st.Others[0].Last), ", at"))
	}
	return Flush(w, &b)
}

// maskedText counts the masked secrets by rule, and the forgotten and retired pages.
func maskedText(b *strings.Builder, st *api.Status) {
	var rules []string
	total := 0
	for _, m := range st.Masked {
		total += m.Count
		rules = append(rules, fmt.Sprintf("%s %d", m.Rule, m.Count))
	}
	if total > 0 {
		for _, l := range Wrap(fmt.Sprintf("%s masked: %s", Plural(total, "secret"), strings.Join(rules, ", ")), Columns-2) {
			fmt.Fprintf(b, "  %s\n", l)
		}
	}
	if st.Forgotten+st.Retired > 0 {
		fmt.Fprintf(b, "  %s forgotten, %d retired\n", Plural(st.Forgotten, "page"), st.Retired)
	}
}

func memoryText(b *strings.Builder, m *api.MemoryStatus, p Style) {
	fmt.Fprintf(b, "%s  %s\n", p.Paint(Bold, "memory"), Printable(m.Workspace))
	if !m.Enabled {
		b.WriteString("  switched off\n")
		return
	}
	shown := m.Bootstrap
	if m.Remembered {
		shown = append(shown[:len(shown):len(shown)], "USER.md", "MEMORY.md")
	}
	if m.DailyLogs {
		shown = append(shown[:len(shown):len(shown)], "two days' logs")
	}
	p.para(b, 2, "", fmt.Sprintf("a session begins with %s, %s tokens at most", cmp.Or(strings.Join(shown, ", "), "nothing"), Thousands(m.WorkspaceTokens)))
	if m.RecallItems > 0 {
		fmt.Fprintf(b, "  a user turn recalls %s, %s tokens at most, by %s\n", Plural(m.RecallItems, "item"), Thousands(m.RecallTokens), Clip(cmp.Or(m.Embedder, "words alone"), p.Columns()-50))
	} else {
		b.WriteString("  a user turn recalls nothing\n")
	}
	p.para(b, 2, "", searchedText(m))
	indexText(b, p, &m.Index)
	if m.NeverEmbedded > 0 {
		fmt.Fprintf(b, "  %s will never get a vector: a whole day's embedding.daily_tokens are fewer\n", Plural(m.NeverEmbedded, "text"))
	}
	syncText(b, m)
}

// modelsText writes the state of the models that make notes.
func modelsText(b *strings.Builder, models []api.Cooldown, p Style) {
	for _, m := range models {
		fmt.Fprintf(b, "%s  %s\n", p.Paint(Bold, "notes"), Clip(m.Model, p.Columns()-7))
		if m.Failures > 0 {
			fmt.Fprintf(b, "  %s in a row, the last %s; asked again from%s on\n", Plural(m.Failures, "failure"), m.Reason, strings.TrimPrefix(AtTime(m.Until), ", at"))
		} else {
			fmt.Fprintf(b, "  last answered%s\n", strings.TrimPrefix(AtTime(m.Answered), ", at"))
		}
	}
}

func indexText(b *strings.Builder, p Style, ix *api.IndexStatus) {
	if ix.State != api.IndexOK {
		state := string(ix.State)
		if ix.State == api.IndexMissing {
			state = "none yet, the first search makes it"
		}
		fmt.Fprintf(b, "  index: %s; %s says more\n", state, p.command("'memkernel doctor'"))
		return
	}
	fmt.Fprintf(b, "  index: %s, %s", Plural(int(ix.Files), "file"), Plural(int(ix.Chunks), "chunk"))
	if ix.Model != "" {
		fmt.Fprintf(b, ", %s", Plural(int(ix.Vectors), "vector"))
	}
	fmt.Fprintf(b, ", %s", Size(ix.FileBytes))
	if ix.Behind {
		fmt.Fprintf(b, ", behind the files%s", BehindBy(&ix.Lag))
	}
	b.WriteString("\n")
	if ix.Behind {
		fmt.Fprintf(b, "  the next search brings it up to date, or %s\n", p.command("'memkernel reindex'"))
	}
}

// searchedText lists the searched sources, the sources that are not searched, and the settings
// that change this.
func searchedText(m *api.MemoryStatus) string {
	past := "not searched"
	if m.Sessions.Enabled {
		past = "searched"
	}
	return fmt.Sprintf("%s searched; %s (index.include, index.exclude); past sessions %s (retrieval.sessions.enabled)",
		Plural(m.Searched, "file"), cmp.Or(m.LeftOut.String(), "no Markdown left out"), past)
}

// syncText writes when, and by which caller, the index was last brought up to date.
func syncText(b *strings.Builder, m *api.MemoryStatus) {
	if l := m.Sync.Last; l != nil {
		fmt.Fprintf(b, "  last synced%s by %s, watcher %s: %s read, %d gone\n", strings.TrimPrefix(AtTime(l.Time), ", at"), l.Reason, onOff(l.Watching), Plural(l.Files, "file"), l.Removed)
		for _, line := range Wrap(l.Error, Columns-4) {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if s := &m.Sessions; s.Enabled && s.Sessions+s.Forgotten > 0 {
		fmt.Fprintf(b, "  past sessions: %s, %s, %d forgotten\n", Thousands(s.Sessions), Plural(s.Turns, "turn"), s.Forgotten)
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
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
func lifeText(b *strings.Builder, l *api.LifeStatus) {
	newest := "none"
	if len(l.Checkpoints) > 0 {
		newest = l.Checkpoints[0]
	}
	fmt.Fprintf(b, "  reset %s; %s, the newest %s\n", Plural(l.Epoch, "time"), Plural(len(l.Checkpoints), "checkpoint"), newest)
	if l.Compactions > 0 {
		fmt.Fprintf(b, "  compacted %s%s\n", Plural(l.Compactions, "time"), strings.Replace(AtTime(l.LastCompaction), " at", " last", 1))
	}
	if l.Flushed > 0 {
		fmt.Fprintf(b, "  flushed %s, %d by the model, last%s\n", Plural(l.Flushed, "time"), l.FlushedByModel, strings.TrimPrefix(AtTime(l.LastFlush), ", at"))
		if l.LastFlushPath != "" {
			fmt.Fprintf(b, "  %s\n", api.FlushLine(l.LastFlushItems, l.LastFlushPath))
		}
	}
	if l.CutWaiting {
		b.WriteString("  the next plan cuts: a compaction was asked for\n")
	}
	if l.Warning != "" {
		for _, line := range Wrap(l.Warning, Columns-2) {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// cutText sums up the cuts of a conversation.
func cutText(b *strings.Builder, l *api.LineStatus) {
	if c := l.LastCut; c != nil {
		fmt.Fprintf(b, "    last cut%s: %s, from %s to %s tokens\n", strings.TrimPrefix(AtTime(c.Time), ", at"), c.Reason, Thousands(c.Before), Thousands(c.After))
	}
	if l.BreakerOpen {
		fmt.Fprintf(b, "    %s came to nothing: no more until the prompt grows\n", Plural(l.FutileCuts, "cut"))
	}
	if l.LearnedWindow > 0 {
		fmt.Fprintf(b, "    the provider takes %s tokens, as it said when it refused a call\n", Thousands(l.LearnedWindow))
	}
}

// netsText describes the part of the working state in the workspace's Markdown.
func netsText(b *strings.Builder, n *api.NetsStatus, p Style) {
	if s := &n.SessionState; s.Bytes > 0 || s.Detail != "" {
		fmt.Fprintf(b, "%s  %s\n", p.Paint(Bold, "working state"), s.Path)
		switch {
		case s.Detail != "":
			textLine(b, "can't be read: "+Printable(s.Detail))
		case s.Session == "":
			textLine(b, fmt.Sprintf("%s, none of it the kernel's", Size(int64(s.Bytes))))
		default:
			edited := ""
			if s.Edited {
				edited = ", edited since"
			}
			textLine(b, fmt.Sprintf("%s, %s of it not the kernel's; session %s after %s%s%s", Size(int64(s.Bytes)), Size(int64(s.OtherBytes)),
				Clip(s.Session, p.Columns()-40), Plural(s.Messages, "message"), AtTime(s.Time), edited))
		}
	}
	if f := &n.Buffer; f.Bytes > 0 || f.Detail != "" {
		fmt.Fprintf(b, "%s  %s\n", p.Paint(Bold, "working buffer"), f.Path)
		if f.Detail != "" {
			textLine(b, "can't be read: "+Printable(f.Detail))
			return
		}
		dump := "never dumped"
		if !f.LastDump.IsZero() {
			dump = "last dump" + strings.TrimPrefix(AtTime(f.LastDump), ", at")
		}
		textLine(b, fmt.Sprintf("%s, %s, last%s; %s", Plural(f.Entries, "entry"), Size(int64(f.Bytes)), strings.TrimPrefix(AtTime(f.Newest), ", at"), dump))
	}
}

// textLine writes a line of a section, wrapped.
func textLine(b *strings.Builder, text string) {
	for _, l := range Wrap(text, Columns-2) {
		fmt.Fprintf(b, "  %s\n", l)
	}
}
