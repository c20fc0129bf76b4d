package display

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// Reindex reports the results of a run. If quiet is set, it reports only skipped or refused files
// and a rebuilt index.
func Reindex(w io.Writer, d *document.Reindex, p Style, quiet bool) error {
	var b strings.Builder
	always := func(name, format string, args ...any) {
		p.hang(&b, p.Paint(Bold, Left(name, 8))+" ", 9, "", fmt.Sprintf(format, args...))
	}
	row := always
	if quiet {
		row = func(string, string, ...any) {}
	}
	if d.IndexBytes > 0 {
		row("index", "%s, %s", d.Index, Size(d.IndexBytes))
	} else {
		row("index", "%s", d.Index) // a database, which others may share
	}
	if d.Rebuilt != "" {
		always("rebuilt", "%s", d.Rebuilt)
	}
	if d.Aside != "" {
		always("kept", "what was there: %s", d.Aside)
	}
	row("files", "%s: %s added, %s changed, %s removed, %s unchanged", Thousands(d.Files.Listed), Thousands(d.Files.Added), Thousands(d.Files.Changed), Thousands(d.Files.Removed), Thousands(d.Files.Unchanged))
	row("chunks", "%s: %s added, %s removed", Thousands(int(d.Chunks.Total)), Thousands(d.Chunks.Added), Thousands(d.Chunks.Removed))
	if d.Chunks.Reanalysed > 0 {
		row("", "the words of %s were made again by newer rules", Plural(d.Chunks.Reanalysed, "chunk"))
	}
	if s := d.Sessions; s.Listed > 0 {
		row("sessions", "%s: %s read, %s, %s forgotten", Thousands(s.Listed), Thousands(s.Read), Plural(s.Turns, "turn"), Thousands(s.Forgotten))
	}
	if d.Vectors.Model != "" {
		row("vectors", "%s of %s: %s embedded, %s refused", Thousands(int(d.Vectors.Total)), d.Vectors.Model, Thousands(d.Vectors.Embedded), Thousands(d.Vectors.Refused))
	}
	if why := d.Vectors.RefusedReason; why != "" {
		name := ""
		if quiet {
			name = "vectors"
		}
		always(name, "refused: %s", Printable(why))
	}
	if e := d.Vectors.Estimate; e != nil && e.Texts > 0 {
		row("", "estimated before: %s%s", e.Text, priced(e))
	}
	if d.Files.Read > 0 {
		row("speed", "%s in %s: %.1f MB/s, %s chunks/s", Size(d.Bytes), time.Duration(d.Seconds*float64(time.Second)).Round(time.Millisecond), d.MBPerSecond, Thousands(int(d.ChunksPerSecond)))
	}
	for _, s := range d.Skipped {
		always("skipped", "%s", told(s))
	}
	for _, n := range d.Notes {
		always("note", "%s", told(n))
	}
	if d.LeftOut.Files > 0 {
		row("left out", "%s", strings.TrimPrefix(d.LeftOut.String(), "left out: "))
		row("", "%s", leftNames(&d.LeftOut))
	}
	return Flush(w, &b)
}

// priced returns the source of a price.
func priced(e *document.Estimate) string {
	if e.PriceSource == "" {
		return ""
	}
	return fmt.Sprintf(" (%s, %s)", e.PriceSource, e.PriceAsOf)
}

// leftNames names files that were left out.
func leftNames(l *markdownstore.LeftOut) string {
	names := make([]string, len(l.First))
	for i, f := range l.First {
		names[i] = Printable(f.Path)
	}
	text := strings.Join(names, ", ")
	if l.Files > len(l.First) {
		text += ", …"
	}
	return text + "; index.include and index.exclude say what is memory"
}

// told returns the remark about a file, after its name unless the remark contains the name.
func told(s api.SkippedFile) string {
	if s.Path == "" || strings.Contains(s.Reason, s.Path) {
		return s.Reason
	}
	return s.Path + ": " + s.Reason
}

// ReindexStep returns the present stage of a reindex, the number of finished units, and the
// number of all units.
func ReindexStep(p api.ReindexProgress) (stage string, done, all int, unit string) {
	switch p.Stage {
	case api.StageIndex:
		return "reading files", p.Files, p.FilesTotal, "file"
	case api.StageVectors:
		return "copying vectors", int(p.Done), int(p.Total), "vector"
	}
	return "embedding", int(p.Done), int(p.Total), "text"
}

// lineEvery is the time between two lines of ReindexLines.
const lineEvery = 10 * time.Second

// ReindexLines prints a line every ten seconds, for an output that is not a terminal.
func ReindexLines(w io.Writer, now func() time.Time) func(api.ReindexProgress) {
	last := now()
	return func(p api.ReindexProgress) {
		if t := now(); p.Total > 0 && t.Sub(last) >= lineEvery {
			last = t
			stage, done, all, unit := ReindexStep(p)
			fmt.Fprintf(Bare(w), "memkernel: %s: %s of %s, %d %%\n", stage, Thousands(done), Plural(all, unit), 100*p.Done/p.Total)
		}
	}
}
