package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
)

func newStatus(a *app) *cobra.Command {
	var o kernel.StatusOptions
	cmd := &cobra.Command{
		Use: "status", Short: "say what is stored where, and how big it is", Args: noArgs,
		Long: fmt.Sprintf(`status says what is stored where, and how big it is. It reads the %d sessions that were
written to last; of the others it says size and time alone, and what is in them is not
counted. --all reads every session, --session one.`, kernel.StatusSessions),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runStatus(cmd.Context(), o) },
	}
	cmd.Flags().StringVarP(&o.Session, "session", "s", "", "`key` of the only session to read")
	cmd.Flags().BoolVar(&o.All, "all", false, "read every session")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	return cmd
}

func (a *app) runStatus(ctx context.Context, o kernel.StatusOptions) error {
	k, err := a.kernel(ctx, nil)
	if err != nil {
		return err
	}
	defer k.Close()
	st, err := k.StatusOf(ctx, o)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(document.OfStatus(st))
	}
	_, err = a.out.Write([]byte(statusText(st, a.painter())))
	return err
}

func statusText(st *kernel.Status, p painter) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", p.do(bold, "state"), printable(st.StateDir))
	fmt.Fprintf(&b, "  %s of %s\n", plural(st.Blobs, "blob"), size(st.BlobBytes))
	maskedText(&b, st)
	memoryText(&b, &st.Memory, p)
	netsText(&b, &st.Nets, p)
	modelsText(&b, st.SummaryModels, p)
	if len(st.Sessions) == 0 {
		b.WriteString("  no sessions\n")
		return b.String()
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
	return b.String()
}

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
	for _, l := range wrap(fmt.Sprintf("a session begins with %s, %s tokens at most", first(strings.Join(shown, ", "), "nothing"), thousands(m.WorkspaceTokens)), columns-2) {
		fmt.Fprintf(b, "  %s\n", l)
	}
	if m.RecallItems > 0 {
		fmt.Fprintf(b, "  a user turn recalls %s, %s tokens at most, by %s\n", plural(m.RecallItems, "item"), thousands(m.RecallTokens), clip(first(m.Embedder, "words alone"), columns-50))
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
