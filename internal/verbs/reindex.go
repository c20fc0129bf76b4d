package verbs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
)

func reindexVerb(a *cli.App) *cobra.Command {
	r := &api.ReindexOptions{}
	cmd := &cobra.Command{
		Long: `reindex reads the memory files that changed since the last time, and forgets those
that are gone. The index is derived: deleting it loses nothing, and one that is
damaged or of an older version is made anew. A file that can't be read or is no text
is told and left out; that is no error. With --quiet that is printed, and if the index
was made anew of itself, and nothing else.

If the configuration names a provider of vectors, chunks without one get theirs.
What that takes is estimated before anything is sent; more than half a
dollar or ten million tokens is sent with --yes only. With
another model, the vectors of the old one are used until the new are complete.`,
		Example: `  memkernel reindex
  memkernel reindex --full --workspace ~/project`,
		RunE: with(a, r, runReindex),
	}
	cmd.Flags().BoolVar(&r.Full, "full", false, "make the index anew; vectors are kept")
	cmd.Flags().BoolVar(&r.Approved, "yes", false, "send texts to the provider of vectors, whatever they cost")
	cmd.Flags().DurationVar(&r.Wait, "wait", 10*time.Second, "how long to wait for another process that is indexing")
	return cmd
}

func runReindex(ctx context.Context, a *cli.App, o *api.ReindexOptions) error {
	if o.Wait < 0 {
		return cli.Usagef("--wait %v: give how long to wait, such as 30s", o.Wait)
	}
	k, err := openMemory(ctx, a, cli.Needs{Vectors: true})
	if err != nil {
		return err
	}
	defer k.Close()
	o.Wait, o.Progress = max(o.Wait, 1), a.IndexProgress()
	r, err := k.Reindex(ctx, o)
	a.ProgressDone()
	if err != nil {
		return indexError(err)
	}
	doc := document.OfReindex(r, k.IndexPath())
	err = cli.Answer(a, doc, doc, func(s *display.Sheet, d *document.Reindex) { showReindex(s, d, a.Quiet) })
	if err != nil || r.EmbedErr == nil {
		return err
	}
	return cli.Hint(r.EmbedErr, "%s", embedHint(r.EmbedErr))
}

// indexError adds a hint for the command line to an error of the index.
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
		return cli.Hint(msg, "move it away, name another state folder with --state-dir, or run 'memkernel reindex --full', which moves it aside")
	case errors.Is(err, index.ErrNewer):
		return cli.Hint(msg, "update memkernel, or run 'memkernel reindex --full', which moves it aside")
	case errors.Is(err, index.ErrDamaged), errors.Is(err, index.ErrOlder), errors.Is(err, index.ErrMissing):
		return cli.Hint(msg, "run 'memkernel reindex', which makes it anew from the Markdown files")
	case errors.Is(err, index.ErrBusy):
		return cli.Hint(msg, "try again when the other process is done, or wait longer with --wait")
	}
	return cli.Hint(msg, "%s", e.Hint)
}

// embedHint returns a hint for texts without a vector.
func embedHint(err error) string {
	if limit := (*api.EmbedLimitError)(nil); errors.As(err, &limit) {
		return "run 'memkernel reindex --yes' to send it; until then search does without"
	}
	return "the index is up to date for words; run reindex again when the provider answers"
}

// showReindex reports the results of a run. If quiet is set, it reports only skipped or refused files
// and a rebuilt index.
func showReindex(s *display.Sheet, d *document.Reindex, quiet bool) {
	always := func(name, form string, values ...any) {
		s.Hang(s.Paint("bold", display.Left(name, 8))+" ", 9, "", form, values...)
	}
	row := always
	if quiet {
		row = func(string, string, ...any) {}
	}
	if d.IndexBytes > 0 {
		row("index", "{}, {bytes}", d.Index, d.IndexBytes)
	} else {
		row("index", "{}", d.Index) // a database, which others may share
	}
	if d.Rebuilt != "" {
		always("rebuilt", "{}", d.Rebuilt)
	}
	if d.Aside != "" {
		always("kept", "what was there: {}", d.Aside)
	}
	row("files", "{}: {} added, {} changed, {} removed, {} unchanged", d.Files.Listed, d.Files.Added, d.Files.Changed, d.Files.Removed, d.Files.Unchanged)
	row("chunks", "{}: {} added, {} removed", d.Chunks.Total, d.Chunks.Added, d.Chunks.Removed)
	if d.Chunks.Reanalysed > 0 {
		row("", "the words of {chunk} were made again by newer rules", d.Chunks.Reanalysed)
	}
	if past := d.Sessions; past.Listed > 0 {
		row("sessions", "{}: {} read, {turn}, {} forgotten", past.Listed, past.Read, past.Turns, past.Forgotten)
	}
	if d.Vectors.Model != "" {
		row("vectors", "{} of {}: {} embedded, {} refused", d.Vectors.Total, d.Vectors.Model, d.Vectors.Embedded, d.Vectors.Refused)
	}
	if why := d.Vectors.RefusedReason; why != "" {
		name := ""
		if quiet {
			name = "vectors"
		}
		always(name, "refused: {}", why)
	}
	if e := d.Vectors.Estimate; e != nil && e.Texts > 0 {
		price := ""
		if e.PriceSource != "" {
			price = s.Say(" ({}, {})", e.PriceSource, e.PriceAsOf)
		}
		row("", "estimated before: {}{}", e.Text, price)
	}
	if d.Files.Read > 0 {
		row("speed", "{bytes} in {}: {%.1f} MB/s, {} chunks/s", d.Bytes, time.Duration(d.Seconds*float64(time.Second)).Round(time.Millisecond), d.MBPerSecond, int(d.ChunksPerSecond))
	}
	for _, f := range d.Skipped {
		always("skipped", "{}", told(f))
	}
	for _, n := range d.Notes {
		always("note", "{}", told(n))
	}
	if l := &d.LeftOut; l.Files > 0 {
		row("left out", "{}", strings.TrimPrefix(l.String(), "left out: "))
		var names []string
		for _, f := range l.First {
			names = append(names, f.Path)
		}
		row("", "{}{?, …}; index.include and index.exclude say what is memory", names, l.Files > len(names))
	}
}

// told returns the remark about a file, after its name unless the remark contains the name.
func told(s api.SkippedFile) string {
	if s.Path == "" || strings.Contains(s.Reason, s.Path) {
		return s.Reason
	}
	return s.Path + ": " + s.Reason
}
