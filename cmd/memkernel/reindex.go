package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
)

// reindexFlags are the flags of reindex.
type reindexFlags struct {
	full, watch, yes bool
	wait             time.Duration
}

func newReindex(a *app) *cobra.Command {
	r := &reindexFlags{}
	cmd := &cobra.Command{
		Use:   "reindex",
		Short: "bring the index up to date with the workspace's Markdown",
		Long: `reindex reads the memory files that changed since the last time, and forgets those
that are gone. The index is derived: deleting it loses nothing, and one that is
damaged or of an older version is made anew. A file that can't be read or is no text
is told and left out; that is no error.

If the configuration names a provider of vectors, chunks without one get theirs.
What that takes is estimated before anything is sent; what is more than
embedding.confirm_cost or embedding.confirm_tokens is sent with --yes only. With
another model, the vectors of the old one are used until the new are complete.`,
		Example: `  memkernel reindex
  memkernel reindex --full --workspace ~/project`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runReindex(cmd.Context(), r) },
	}
	cmd.Flags().BoolVar(&r.full, "full", false, "make the index anew; vectors are kept")
	cmd.Flags().BoolVar(&r.watch, "watch", false, "go on until interrupted, and follow the files as index.sync says")
	cmd.Flags().BoolVar(&r.yes, "yes", false, "send texts to the provider of vectors, whatever they cost")
	cmd.Flags().DurationVar(&r.wait, "wait", 10*time.Second, "how long to wait for another process that is indexing")
	return cmd
}

func (a *app) runReindex(ctx context.Context, f *reindexFlags) error {
	if f.wait < 0 {
		return usagef("--wait %v: give how long to wait, such as 30s", f.wait)
	}
	if f.watch && a.json {
		return usagef("--watch prints a line for every change: leave out --json")
	}
	if err := a.memoryOn(); err != nil {
		return err
	}
	k, err := a.indexer(ctx, f.watch)
	if err != nil {
		return err
	}
	defer k.Close()
	opts := &kernel.ReindexOptions{Full: f.full, Approved: f.yes, Wait: max(f.wait, 1)}
	bars := a.bars()
	if bars != nil {
		opts.Progress = bars.show
	}
	r, err := k.Reindex(ctx, opts)
	bars.done()
	if err != nil {
		return indexError(err)
	}
	doc := document.OfReindex(r, k.IndexPath())
	if a.json {
		err = a.writeJSON(doc)
	} else {
		_, err = a.out.Write([]byte(reindexText(doc, a.painter())))
	}
	if err == nil && f.watch {
		return a.follow(ctx)
	}
	if err != nil || r.EmbedErr == nil {
		return err
	}
	return hint(r.EmbedErr, "%s", embedHint(r.EmbedErr))
}

func reindexText(d *document.Reindex, p painter) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		for i, l := range wrap(fmt.Sprintf(format, args...), columns-9) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "%s %s\n", p.do(bold, left(name, 8)), l)
		}
	}
	if d.IndexBytes > 0 {
		row("index", "%s, %s", d.Index, size(d.IndexBytes))
	} else {
		row("index", "%s", d.Index) // a database, which is others' too
	}
	if d.Rebuilt != "" {
		why, _, _ := strings.Cut(d.Rebuilt, ": rebuild the index") // which was done
		why, _, _ = strings.Cut(why, ": update memkernel")
		why, _, _ = strings.Cut(why, ": move it away")
		row("rebuilt", "%s", why)
	}
	if d.Aside != "" {
		row("kept", "what was there: %s", d.Aside)
	}
	row("files", "%s: %s added, %s changed, %s removed, %s unchanged", thousands(d.Files.Listed), thousands(d.Files.Added), thousands(d.Files.Changed), thousands(d.Files.Removed), thousands(d.Files.Unchanged))
	row("chunks", "%s: %s added, %s removed", thousands(int(d.Chunks.Total)), thousands(d.Chunks.Added), thousands(d.Chunks.Removed))
	if d.Chunks.Reanalysed > 0 {
		row("", "the words of %s were made again by newer rules", plural(d.Chunks.Reanalysed, "chunk"))
	}
	if s := d.Sessions; s.Listed > 0 {
		row("sessions", "%s: %s read, %s, %s forgotten", thousands(s.Listed), thousands(s.Read), plural(s.Turns, "turn"), thousands(s.Forgotten))
	}
	if d.Vectors.Model != "" {
		row("vectors", "%s of %s: %s embedded, %s refused", thousands(int(d.Vectors.Total)), d.Vectors.Model, thousands(d.Vectors.Embedded), thousands(d.Vectors.Refused))
	}
	if why := d.Vectors.RefusedReason; why != "" {
		row("", "refused: %s", printable(why))
	}
	if e := d.Vectors.Estimate; e != nil && e.Texts > 0 {
		row("", "estimated before: %s%s", e.Text, priced(e))
	}
	if d.Files.Read > 0 {
		row("speed", "%s in %s: %.1f MB/s, %s chunks/s", size(d.Bytes), time.Duration(d.Seconds*float64(time.Second)).Round(time.Millisecond), d.MBPerSecond, thousands(int(d.ChunksPerSecond)))
	}
	for _, s := range d.Skipped {
		row("skipped", "%s", told(s))
	}
	for _, n := range d.Notes {
		row("note", "%s", told(n))
	}
	return b.String()
}

// priced says where a price is from.
func priced(e *document.Estimate) string {
	if e.PriceSource == "" {
		return ""
	}
	return fmt.Sprintf(" (%s, %s)", e.PriceSource, e.PriceAsOf)
}

// told is what is said of a file, behind its name unless that is in it.
func told(s kernel.Skipped) string {
	if s.Path == "" || strings.Contains(s.Reason, s.Path) {
		return s.Reason
	}
	return s.Path + ": " + s.Reason
}

// indexError adds the way out of an error of the index that a command line has.
func indexError(err error) error {
	var e *index.Error
	if !errors.As(err, &e) {
		return err
	}
	plain := *e
	plain.Hint = ""
	msg := fmt.Errorf("%s", strings.TrimSuffix(plain.Error(), ": "))
	switch {
	case errors.Is(err, index.ErrForeign):
		return hint(msg, "move it away, name another state folder with --state-dir, or run 'memkernel reindex --full', which moves it aside")
	case errors.Is(err, index.ErrNewer):
		return hint(msg, "update memkernel, or run 'memkernel reindex --full', which moves it aside")
	case errors.Is(err, index.ErrDamaged), errors.Is(err, index.ErrOlder), errors.Is(err, index.ErrMissing):
		return hint(msg, "run 'memkernel reindex', which makes it anew from the Markdown files")
	case errors.Is(err, index.ErrBusy):
		return hint(msg, "try again when the other process is done, or wait longer with --wait")
	}
	return hint(msg, "%s", e.Hint)
}
