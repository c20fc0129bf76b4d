package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
)

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

func drawReindex(w io.Writer, d *document.Reindex, p painter) error {
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
	return flush(w, &b)
}

func drawMigrate(w io.Writer, d *document.Migrate, p painter) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		for i, l := range wrap(fmt.Sprintf(format, args...), columns-9) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "%s %s\n", p.do(bold, left(name, 8)), l)
		}
	}
	row("from", "%s", d.From)
	row("to", "%s", d.To)
	if d.Why != "" {
		row("made", "from the files: %s", d.Why)
	}
	row("files", "%s: %s added, %s changed, %s removed, %s unchanged", thousands(d.Files.Listed), thousands(d.Files.Added), thousands(d.Files.Changed), thousands(d.Files.Removed), thousands(d.Files.Unchanged))
	row("chunks", "%s: %s added, %s removed", thousands(int(d.Chunks.Total)), thousands(d.Chunks.Added), thousands(d.Chunks.Removed))
	row("vectors", "%s: %s copied, %s were there", thousands(int(d.Vector.Total)), thousands(d.Vector.Copied), thousands(d.Vector.There))
	if d.Checks > 0 {
		row("compared", "%s chunks and vectors, all alike", thousands(d.Checks))
	}
	for _, s := range d.Failed {
		row("skipped", "%s", told(s))
	}
	return flush(w, &b)
}
