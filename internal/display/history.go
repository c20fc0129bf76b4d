package display

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/consolidation/history"
	"github.com/memkernel/memkernel/kernel/api"
)

// origins holds the wording for the writer of a version.
var origins = map[consolidation.Origin]string{
	consolidation.OriginHand: "by a person's hand", consolidation.OriginWords: "by a person, in a session", consolidation.OriginAgent: "by an agent, in a session",
	consolidation.OriginTool: "by a tool, in a session", consolidation.OriginUpkeep: "by memkernel's upkeep", consolidation.OriginUnknown: "by somebody, no record says who",
}

// events holds the wording of each event.
var events = map[history.Event]string{
	history.EventFirst: "first known", history.EventWritten: "written", history.EventChanged: "changed", history.EventPromoted: "promoted", history.EventMoved: "moved",
	history.EventRemoved: "taken out", history.EventRestored: "back again",
}

// History prints the earlier states of an entry or a file.
func History(s *Sheet, h *api.History) {
	name := h.Path
	if h.Line > 0 {
		name = address(h.Path, h.Line)
	}
	s.Line("{}, {version}", name, h.Total)
	for i := range h.Versions {
		v := &h.Versions[i]
		at := v.Time.UTC().Format("2006-01-02 15:04Z")
		if v.By {
			at += " or before"
		}
		s.Line("\n{}, {}{}", inked{Bold, at + "  " + events[v.Event]}, origins[v.Origin], because(h, v))
		s.placesOf(h, v)
		s.version(v)
	}
	if n := h.Total - len(h.Versions); n > 0 {
		s.Line("\n{version} more; --limit 0 prints all", n)
	}
	if h.Unkept > 0 {
		s.Line("\nof {state} of the file the text is not kept: retention or forget removed it, or it holds what is taken for a secret", h.Unkept)
	}
}

// because names the run that made a version, and the one that it took back.
func because(h *api.History, v *history.Version) string {
	switch {
	case v.Kind == history.Undone:
		of := ""
		if i := slices.IndexFunc(h.Versions, func(o history.Version) bool { return o.Run == v.Undoes }); i >= 0 {
			u := h.Versions[i].Undoes
			of = Say(", {}{? of }{}", h.Versions[i].Kind, u != "", u)
		}
		return Say(" ({} took back {}{})", v.Run, v.Undoes, of)
	case v.Run != "":
		return Say(" ({}, {})", v.Run, v.Kind)
	}
	return ""
}

// placesOf writes the place of a version, its origin and its destination.
func (s *Sheet) placesOf(h *api.History, v *history.Version) {
	if v.Line > 0 && (v.Path != h.Path || v.Line != h.Line) {
		s.Para(4, "", "at {}", address(v.Path, v.Line))
	}
	if len(v.From) > 0 {
		s.Para(4, "", "from {}", v.From)
	}
	if len(v.To) > 0 {
		s.Para(4, "", "to {}", v.To)
	}
	if v.SupersededBy != "" {
		s.Para(4, "", "superseded by {}", v.SupersededBy)
	}
	if v.Line == 0 {
		s.Para(4, "", "{line} added, {%d} removed", v.Added, v.Removed)
	}
}

// version writes the text of a version, or the difference from the previous version.
func (s *Sheet) version(v *history.Version) {
	if v.Diff == "" {
		for l := range strings.SplitSeq(strings.TrimRight(v.Text, "\r\n"), "\n") {
			s.Para(4, "", "{}", l)
		}
	}
	for l := range strings.Lines(v.Diff) {
		l = strings.TrimRight(l, "\r\n")
		var as ink
		switch {
		case strings.HasPrefix(l, "+"):
			as = green
		case strings.HasPrefix(l, "-"):
			as = red
		}
		s.Line("    {}", inked{as, l})
	}
}

// recorded holds what the record adds to the writer of an entry.
var recorded = map[string]string{
	"": ", and no record says who", api.ByPerson: ", by hand", api.ByWords: ", who said it in a session", api.ByUpkeep: ", and stands as it was written",
	api.ByMark: ", by its mark, and no record says that it stands as it was written",
}

// Grounds prints the evidence for an entry.
func Grounds(s *Sheet, g *api.Grounds) {
	s.Line("{}", address(g.Path, g.Line))
	s.Para(2, "", "{}", strings.TrimSpace(g.Tags.String()+" "+g.Text))
	row := func(name, form string, values ...any) { s.Hang(Left(name, 12), 12, "", form, values...) }
	row("written", "by {}{}", writers[g.WrittenBy], recorded[g.WrittenBy])
	if g.Run != "" {
		row("chosen", "in {} for {}, by {} ({%.1f})", g.Run, g.RunDay, g.Why, g.Score)
	}
	for _, f := range g.From {
		row("from", "{}{?: }{}", f.Ref, f.Text != "", f.Text)
	}
	if len(g.Supersedes) > 0 {
		row("replaces", "{}", g.Supersedes)
	}
	if g.Date != "" {
		row("age", "{day}, of {}", g.Age, g.Date)
	}
	if len(g.Days) > 0 {
		row("said", "in the logs of {day}: {}", len(g.Days), g.Days)
	}
	if g.Sessions > 0 {
		row("noted", "of {session}", g.Sessions)
	}
	if g.Calls > 0 {
		row("cost", "{call}", g.Calls)
	}
	if g.Recalled == 0 {
		row("recalled", "for no turn that memkernel planned; what hooks add is not counted")
		return
	}
	row("recalled", "for {turn}, last on {}; the agent then named it in {%d}", g.Recalled, g.Last.Format("2006-01-02"), g.Named)
}
