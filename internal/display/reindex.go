package display

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
)

// Reindex reports the results of a run. If quiet is set, it reports only skipped or refused files
// and a rebuilt index.
func Reindex(s *Sheet, d *document.Reindex, quiet bool) {
	always := func(name, form string, values ...any) {
		s.Hang(s.Paint(Bold, Left(name, 8))+" ", 9, "", form, values...)
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
