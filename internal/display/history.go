package display

import (
	"fmt"
	"io"
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
func History(w io.Writer, h *api.History, p Style) error {
	var b strings.Builder
	name := Printable(h.Path)
	if h.Line > 0 {
		name = fmt.Sprintf("%s:%d", name, h.Line)
	}
	fmt.Fprintf(&b, "%s, %s\n", name, Plural(h.Total, "version"))
	for i := range h.Versions {
		v := &h.Versions[i]
		at := v.Time.UTC().Format("2006-01-02 15:04Z")
		if v.By {
			at += " or before"
		}
		fmt.Fprintf(&b, "\n%s\n", p.Paint(Bold, at+"  "+events[v.Event])+", "+origins[v.Origin]+Printable(because(h, v)))
		for _, l := range placesOf(h, v) {
			p.para(&b, 4, "", l)
		}
		b.WriteString(p.body(h, v))
	}
	if n := h.Total - len(h.Versions); n > 0 {
		fmt.Fprintf(&b, "\n%s more; --limit 0 prints all\n", Plural(n, "version"))
	}
	if h.Unkept > 0 {
		fmt.Fprintf(&b, "\nof %s of the file the text is not kept: retention or forget removed it, or it holds what is taken for a secret\n", Plural(h.Unkept, "state"))
	}
	return Flush(w, &b)
}

// because names the run that made a version, and the one that it took back.
func because(h *api.History, v *history.Version) string {
	switch {
	case v.Kind == history.Undone:
		of := ""
		if i := slices.IndexFunc(h.Versions, func(o history.Version) bool { return o.Run == v.Undoes }); i >= 0 {
			of = ", " + string(h.Versions[i].Kind)
			if u := h.Versions[i].Undoes; u != "" {
				of += " of " + u
			}
		}
		return fmt.Sprintf(" (%s took back %s%s)", v.Run, v.Undoes, of)
	case v.Run != "":
		return fmt.Sprintf(" (%s, %s)", v.Run, v.Kind)
	}
	return ""
}

// placesOf lists the place of a version, its origin and its destination.
func placesOf(h *api.History, v *history.Version) []string {
	var out []string
	if at := fmt.Sprintf("%s:%d", v.Path, v.Line); v.Line > 0 && (v.Path != h.Path || v.Line != h.Line) {
		out = append(out, "at "+at)
	}
	if len(v.From) > 0 {
		out = append(out, "from "+strings.Join(v.From, ", "))
	}
	if len(v.To) > 0 {
		out = append(out, "to "+strings.Join(v.To, ", "))
	}
	if v.SupersededBy != "" {
		out = append(out, "superseded by "+v.SupersededBy)
	}
	if v.Line == 0 {
		out = append(out, fmt.Sprintf("%s added, %d removed", Plural(v.Added, "line"), v.Removed))
	}
	return out
}

// body returns the text of a version, or the difference from the previous version.
func (p Style) body(h *api.History, v *history.Version) string {
	var b strings.Builder
	if v.Diff != "" {
		for l := range strings.Lines(v.Diff) {
			l = Printable(strings.TrimRight(l, "\r\n"))
			switch {
			case strings.HasPrefix(l, "+"):
				l = p.Paint(green, l)
			case strings.HasPrefix(l, "-"):
				l = p.Paint(red, l)
			}
			b.WriteString("    " + l + "\n")
		}
		return b.String()
	}
	for l := range strings.SplitSeq(strings.TrimRight(v.Text, "\r\n"), "\n") {
		p.para(&b, 4, "", l)
	}
	return b.String()
}
