package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
)

// writers holds the words for who wrote an entry, in every verb.
var writers = map[string]string{"": "somebody", api.ByPerson: "a person", api.ByWords: "a person", api.ByAgent: "an agent", api.ByUpkeep: "memkernel's upkeep", api.BySession: "memkernel, of a session", api.ByMark: "memkernel"}

// Entries prints entries of memory: the address, the date and the writer, and below them the text.
func Entries(w io.Writer, l *api.MemoryList, p Style) error {
	var b strings.Builder
	for i := range l.Entries {
		e := &l.Entries[i]
		head := p.Paint(Bold, address(e.Path, e.Line))
		if e.Date != "" && !strings.Contains(e.Path, e.Date) {
			head += "  " + e.Date
		}
		fmt.Fprintf(&b, "%s  %s\n", head, p.Paint(Gray, writers[e.By]))
		p.para(&b, 2, "", e.Text)
	}
	return Flush(w, &b)
}

func address(path string, line int) string { return fmt.Sprintf("%s:%d", Printable(path), line) }

var cited = textutil.LazyRegexp(`#L(\d+)(?:-L\d+)?$`)

// Address returns the address FILE:LINE of a citation, which is FILE#L3-L9.
func Address(citation string) string { return Printable(cited.ReplaceAllString(citation, ":$1")) }

// Edited prints an entry that was added, replaced or removed: its address, and its text. A text
// that is no longer there is marked as old.
func Edited(w io.Writer, e *api.EntryEdited) error {
	var b strings.Builder
	b.WriteString(address(e.Path, e.Line) + "\n")
	text := func(mark, text string) {
		for l := range strings.SplitSeq(text, "\n") {
			b.WriteString(strings.TrimRight("  "+mark+Printable(l), " ") + "\n")
			mark = strings.Repeat(" ", len(mark))
		}
	}
	switch {
	case e.Before == "":
		text("", e.After)
	case e.EndLine == 0:
		text("gone  ", e.Before)
	default:
		text("old  ", e.Before)
		text("new  ", e.After)
	}
	return Flush(w, &b)
}

// Everywhere lists the text that was, or would be, removed, the searched places, and the text
// that is left.
func Everywhere(w io.Writer, e *api.Everywhere, p Style) error {
	var b strings.Builder
	goes := "would go"
	if e.Applied {
		goes = "went"
	}
	for _, s := range e.Sessions {
		what := Plural(len(s.Pages), "page")
		if s.Whole {
			what = "all of it, " + what
		}
		fmt.Fprintf(&b, "session %s: %s %s\n", Printable(s.Session), what, goes)
	}
	for _, l := range e.Lines {
		fmt.Fprintf(&b, "%s:%d %s: %s\n", Printable(l.Path), l.Line, goes, Clip(Printable(l.Text), max(p.Columns()-len(l.Path)-20, 20)))
	}
	if n := len(e.Backups); n > 0 {
		fmt.Fprintf(&b, "%s of memory's files %s\n", Plural(n, "backup"), goes)
	}
	if e.Indexed {
		b.WriteString("the index was made anew\n")
	}
	if len(e.Sessions)+len(e.Lines)+len(e.Backups)+len(e.Left) == 0 {
		b.WriteString("nothing holds it\n")
	}
	places := Plural(len(e.Left), "place")
	switch searched := Plural(e.Files, "file") + ", " + Size(e.Bytes); {
	case e.Applied && len(e.Left) > 0:
		fmt.Fprintf(&b, "searched %s: %s of it left\n", searched, places)
	case e.Applied:
		fmt.Fprintf(&b, "searched %s: nothing has these words any more\n", searched)
	case len(e.Left) > 0:
		fmt.Fprintf(&b, "%s of it would be left\n", places)
	}
	for _, l := range e.Left {
		fmt.Fprintf(&b, "  %s: %s\n", Printable(l.Path), Printable(l.Why))
	}
	if e.Applied {
		b.WriteString("not touched: transcripts that hosts keep in their own folders, and git\n")
	}
	return Flush(w, &b)
}

// Forgotten lists the entries that were, or would be, forgotten.
func Forgotten(w io.Writer, out *api.Forgotten) error {
	for _, p := range out.Pages {
		what := strings.TrimSpace(cmp.Or(p.Tool, string(p.Type)) + " " + p.Path)
		fmt.Fprintf(w, "%s  %s  %s%s\n", Printable(p.ID), Printable(what), Size(p.Bytes), AtTime(p.Created))
	}
	for _, t := range out.Transcripts {
		fmt.Fprintf(w, "%s of agent %s  searched: %s  %s stays\n", Printable(t.Key), Printable(t.Agent), Plural(t.Turns, "turn"), Printable(t.Path))
	}
	for _, m := range out.Memory {
		fmt.Fprintf(w, "%s  brought in or written down: %s\n", Printable(m.Path), Plural(m.Entries, "block"))
	}
	for _, e := range out.Elsewhere {
		fmt.Fprintf(w, "stays: %s\n", Printable(e))
	}
	if n := len(out.Backups); n > 0 {
		fmt.Fprintf(w, "goes too: %s of memory's files that quote it; what was pruned then can't be undone\n", Plural(n, "backup"))
	}
	done := "would be forgotten"
	if out.Applied {
		done = "forgotten"
	}
	_, err := fmt.Fprintf(w, "%s of %s %s, %s removed, %d kept for others\n", Plural(len(out.Pages), "page"), Size(out.Bytes), done, Plural(len(out.Blobs), "blob"), len(out.Kept))
	return err
}
