package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel"
)

// maskedText tells what was taken for secrets, and what is gone.
func maskedText(b *strings.Builder, st *kernel.Status) {
	var rules []string
	total := 0
	for _, m := range st.Masked {
		total += m.Count
		rules = append(rules, fmt.Sprintf("%s %d", m.Rule, m.Count))
	}
	if total > 0 {
		for _, l := range wrap(fmt.Sprintf("%s masked: %s", plural(total, "secret"), strings.Join(rules, ", ")), columns-2) {
			fmt.Fprintf(b, "  %s\n", l)
		}
	}
	if st.Forgotten+st.Retired > 0 {
		fmt.Fprintf(b, "  %s forgotten, %d retired\n", plural(st.Forgotten, "page"), st.Retired)
	}
}

func memoryText(b *strings.Builder, m *kernel.MemoryStatus, p painter) {
	fmt.Fprintf(b, "%s  %s\n", p.do(bold, "memory"), printable(m.Workspace))
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
	for _, l := range wrap(fmt.Sprintf("a session begins with %s, %s tokens at most", cmp.Or(strings.Join(shown, ", "), "nothing"), thousands(m.WorkspaceTokens)), columns-2) {
		fmt.Fprintf(b, "  %s\n", l)
	}
	if m.RecallItems > 0 {
		fmt.Fprintf(b, "  a user turn recalls %s, %s tokens at most, by %s\n", plural(m.RecallItems, "item"), thousands(m.RecallTokens), clip(cmp.Or(m.Embedder, "words alone"), columns-50))
	} else {
		b.WriteString("  a user turn recalls nothing\n")
	}
	indexText(b, &m.Index)
	if m.NeverEmbedded > 0 {
		fmt.Fprintf(b, "  %s will never get a vector: a whole day's embedding.daily_tokens are fewer\n", plural(m.NeverEmbedded, "text"))
	}
	syncText(b, m)
}

// modelsText says how it stands with the models that make notes.
func modelsText(b *strings.Builder, models []kernel.Cooldown, p painter) {
	for _, m := range models {
		fmt.Fprintf(b, "%s  %s\n", p.do(bold, "notes"), clip(m.Model, columns-7))
		if m.Failures > 0 {
			fmt.Fprintf(b, "  %s in a row, the last %s; asked again from%s on\n", plural(m.Failures, "failure"), m.Reason, strings.TrimPrefix(atTime(m.Until), ", at"))
		} else {
			fmt.Fprintf(b, "  last answered%s\n", strings.TrimPrefix(atTime(m.Answered), ", at"))
		}
	}
}

func indexText(b *strings.Builder, ix *kernel.IndexStatus) {
	if ix.State != kernel.IndexOK {
		fmt.Fprintf(b, "  index: %s; 'memkernel doctor' says more\n", ix.State)
		return
	}
	fmt.Fprintf(b, "  index: %s, %s", plural(int(ix.Files), "file"), plural(int(ix.Chunks), "chunk"))
	if ix.Model != "" {
		fmt.Fprintf(b, ", %s", plural(int(ix.Vectors), "vector"))
	}
	fmt.Fprintf(b, ", %s", size(ix.FileBytes))
	if ix.Behind {
		fmt.Fprintf(b, ", behind the files%s", behindBy(&ix.Lag))
	}
	b.WriteString("\n")
	if ix.Behind {
		b.WriteString("  run 'memkernel reindex' to bring it up to date\n")
	}
}

// syncText says when the index was last brought up to date, and by what.
func syncText(b *strings.Builder, m *kernel.MemoryStatus) {
	if l := m.Sync.Last; l != nil {
		fmt.Fprintf(b, "  last synced%s by %s, watcher %s: %s read, %d gone\n", strings.TrimPrefix(atTime(l.Time), ", at"), l.Reason, onOff(l.Watching), plural(l.Files, "file"), l.Removed)
		for _, line := range wrap(l.Error, columns-4) {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if s := &m.Sessions; s.Enabled {
		fmt.Fprintf(b, "  past sessions: %s, %s, %d forgotten\n", thousands(s.Sessions), plural(s.Turns, "turn"), s.Forgotten)
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// lifeText says what the boundaries of a session left behind.
func lifeText(b *strings.Builder, l *kernel.LifeStatus) {
	newest := "none"
	if len(l.Checkpoints) > 0 {
		newest = l.Checkpoints[0]
	}
	fmt.Fprintf(b, "  reset %s; %s, the newest %s\n", plural(l.Epoch, "time"), plural(len(l.Checkpoints), "checkpoint"), newest)
	if l.Compactions > 0 {
		fmt.Fprintf(b, "  compacted %s, last%s\n", plural(l.Compactions, "time"), strings.TrimPrefix(atTime(l.LastCompaction), ", at"))
	}
	if l.Flushed > 0 {
		fmt.Fprintf(b, "  flushed %s, last%s\n", plural(l.Flushed, "time"), strings.TrimPrefix(atTime(l.LastFlush), ", at"))
	}
	if l.CutWaiting {
		b.WriteString("  the next plan cuts: a compaction was asked for\n")
	}
	if l.Warning != "" {
		for _, line := range wrap(l.Warning, columns-2) {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// cutText says what the cuts of a conversation came to.
func cutText(b *strings.Builder, l *kernel.LineStatus) {
	if c := l.LastCut; c != nil {
		fmt.Fprintf(b, "    last cut%s: %s, from %s to %s tokens\n", strings.TrimPrefix(atTime(c.Time), ", at"), c.Reason, thousands(c.Before), thousands(c.After))
	}
	if l.BreakerOpen {
		fmt.Fprintf(b, "    %s came to nothing: no more until the prompt grows\n", plural(l.FutileCuts, "cut"))
	}
	if l.LearnedWindow > 0 {
		fmt.Fprintf(b, "    the provider takes %s tokens, as it said when it refused a call\n", thousands(l.LearnedWindow))
	}
}

// netsText says what stands of the working state in the workspace's Markdown.
func netsText(b *strings.Builder, n *kernel.NetsStatus, p painter) {
	if s := &n.SessionState; s.Bytes > 0 || s.Detail != "" {
		fmt.Fprintf(b, "%s  %s\n", p.do(bold, "working state"), s.Path)
		switch {
		case s.Detail != "":
			textLine(b, "can't be read: "+printable(s.Detail))
		case s.Session == "":
			textLine(b, fmt.Sprintf("%s, none of it the kernel's", size(int64(s.Bytes))))
		default:
			edited := ""
			if s.Edited {
				edited = ", edited since"
			}
			textLine(b, fmt.Sprintf("%s, %s of it not the kernel's; session %s after %s%s%s", size(int64(s.Bytes)), size(int64(s.OtherBytes)),
				clip(s.Session, columns-40), plural(s.Messages, "message"), atTime(s.Time), edited))
		}
	}
	if f := &n.Buffer; f.Bytes > 0 || f.Detail != "" {
		fmt.Fprintf(b, "%s  %s\n", p.do(bold, "working buffer"), f.Path)
		if f.Detail != "" {
			textLine(b, "can't be read: "+printable(f.Detail))
			return
		}
		dump := "never dumped"
		if !f.LastDump.IsZero() {
			dump = "last dump" + strings.TrimPrefix(atTime(f.LastDump), ", at")
		}
		textLine(b, fmt.Sprintf("%s, %s, last%s; %s", entries(f.Entries), size(int64(f.Bytes)), strings.TrimPrefix(atTime(f.Newest), ", at"), dump))
	}
}

// textLine writes a line of a section, wrapped.
func textLine(b *strings.Builder, text string) {
	for _, l := range wrap(text, columns-2) {
		fmt.Fprintf(b, "  %s\n", l)
	}
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return thousands(n) + " entries"
}

func drawStatus(w io.Writer, st *kernel.Status, p painter) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", p.do(bold, "state"), printable(st.StateDir))
	fmt.Fprintf(&b, "  %s of %s\n", plural(st.Blobs, "blob"), size(st.BlobBytes))
	maskedText(&b, st)
	memoryText(&b, &st.Memory, p)
	netsText(&b, &st.Nets, p)
	modelsText(&b, st.SummaryModels, p)
	if len(st.Sessions) == 0 {
		b.WriteString("  no sessions\n")
		return flush(w, &b)
	}
	for _, s := range st.Sessions {
		fmt.Fprintf(&b, "%s  %s\n", p.do(bold, "session"), clip(s.Key, columns-9))
		fmt.Fprintf(&b, "  %s, %s, %s that left; journal %s, projections %s\n", plural(s.Turns, "turn"), plural(s.Pages, "page"), plural(s.Spans, "span"), size(s.JournalBytes), size(s.ProjectionBytes))
		lifeText(&b, &s.Life)
		for _, m := range s.ModelSummaries {
			fmt.Fprintf(&b, "  notes by %s: %d, %d closed; last%s, %s\n", clip(m.Model, columns-50), m.Notes, m.Closed, strings.TrimPrefix(atTime(m.Time), ", at"), m.Reason)
		}
		for _, l := range s.Lines {
			name := l.Model
			if l.Branch != "" {
				name += " on " + l.Branch
			}
			fmt.Fprintf(&b, "  %s\n", p.do(cyan, clip(name, columns-4)))
			tokens := thousands(l.Tokens+l.FixedTokens) + " tokens"
			if l.FixedTokens > 0 {
				tokens += fmt.Sprintf(" (%s fixed)", thousands(l.FixedTokens))
			}
			fmt.Fprintf(&b, "    %s, %s, generation %d, %s, last call%s\n", plural(l.Messages, "message"), tokens, l.Generation, plural(l.Cuts, "cut"), strings.TrimPrefix(atTime(l.LastStart), ", at"))
			cutText(&b, &l)
		}
	}
	for _, f := range st.Unreadable {
		fmt.Fprintf(&b, "%s  %s can't be read: %s\n", p.do(bold, "session"), printable(f.Session), printable(f.What))
	}
	if n := len(st.Others); n > 0 {
		bytes := int64(0)
		for _, o := range st.Others {
			bytes += o.Bytes
		}
		fmt.Fprintf(&b, "%s  %s that were not read, %s, last written to%s; --all reads them\n", p.do(bold, "others"), plural(n, "session"), size(bytes), strings.TrimPrefix(atTime(st.Others[0].Last), ", at"))
	}
	return flush(w, &b)
}
