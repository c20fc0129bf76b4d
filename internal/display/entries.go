package display

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
)

// writers holds the words for who wrote an entry, in every verb.
var writers = map[string]string{"": "somebody", api.ByPerson: "a person", api.ByWords: "a person", api.ByAgent: "an agent", api.ByUpkeep: "memkernel's upkeep", api.BySession: "memkernel, of a session", api.ByMark: "memkernel"}

// Entries prints entries of memory: the address, the date and the writer, and below them the text.
func Entries(s *Sheet, l *api.MemoryList) {
	for i := range l.Entries {
		e := &l.Entries[i]
		date := ""
		if e.Date != "" && !strings.Contains(e.Path, e.Date) {
			date = "  " + e.Date
		}
		s.Line("{}{}  {}", inked{Bold, address(e.Path, e.Line)}, date, inked{Gray, writers[e.By]})
		s.Para(2, "", "{}", e.Text)
	}
}

func address(path string, line int) string { return Say("{}:{%d}", path, line) }

var cited = textutil.LazyRegexp(`#L(\d+)(?:-L\d+)?$`)

// Address returns the address FILE:LINE of a citation, which is FILE#L3-L9.
func Address(citation string) string { return Printable(cited.ReplaceAllString(citation, ":$1")) }

// Edited prints an entry that was added, replaced or removed: its address, and its text. A text
// that is no longer there is marked as old.
func Edited(s *Sheet, e *api.EntryEdited) {
	s.Line("{}", address(e.Path, e.Line))
	text := func(mark, text string) {
		for l := range strings.SplitSeq(text, "\n") {
			s.raw(s.Say("  {}{}", mark, l))
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
}

// Everywhere lists the text that was, or would be, removed, the searched places, and the text
// that is left.
func Everywhere(s *Sheet, e *api.Everywhere) {
	goes := "would go"
	if e.Applied {
		goes = "went"
	}
	for _, x := range e.Sessions {
		s.Line("session {}: {?all of it, }{page} {}", x.Session, x.Whole, len(x.Pages), goes)
	}
	for _, l := range e.Lines {
		s.Line("{} {}: {}", address(l.Path, l.Line), goes, Clip(l.Text, max(s.Columns()-len(l.Path)-20, 20)))
	}
	if n := len(e.Backups); n > 0 {
		s.Line("{backup} of memory's files {}", n, goes)
	}
	if e.Indexed {
		s.Line("the index was made anew")
	}
	left := len(e.Left)
	if len(e.Sessions)+len(e.Lines)+len(e.Backups)+left == 0 {
		s.Line("nothing holds it")
	}
	switch {
	case e.Applied && left > 0:
		s.Line("searched {file}, {bytes}: {place} of it left", e.Files, e.Bytes, left)
	case e.Applied:
		s.Line("searched {file}, {bytes}: nothing has these words any more", e.Files, e.Bytes)
	case left > 0:
		s.Line("{place} of it would be left", left)
	}
	for _, l := range e.Left {
		s.Line("  {}: {}", l.Path, l.Why)
	}
	if e.Applied {
		s.Line("not touched: transcripts that hosts keep in their own folders, and git")
	}
}

// Forgotten lists the entries that were, or would be, forgotten.
func Forgotten(s *Sheet, out *api.Forgotten) {
	for _, p := range out.Pages {
		s.Line("{}  {}  {bytes}{}", p.ID, strings.TrimSpace(cmp.Or(p.Tool, string(p.Type))+" "+p.Path), p.Bytes, AtTime(p.Created))
	}
	for _, t := range out.Transcripts {
		s.Line("{} of agent {}  searched: {turn}  {} stays", t.Key, t.Agent, t.Turns, t.Path)
	}
	for _, m := range out.Memory {
		s.Line("{}  brought in or written down: {block}", m.Path, m.Entries)
	}
	for _, e := range out.Elsewhere {
		s.Line("stays: {}", e)
	}
	if n := len(out.Backups); n > 0 {
		s.Line("goes too: {backup} of memory's files that quote it; what was pruned then can't be undone", n)
	}
	s.Line("{page} of {bytes} {?would be }forgotten, {blob} removed, {%d} kept for others", len(out.Pages), out.Bytes, !out.Applied, len(out.Blobs), len(out.Kept))
}
