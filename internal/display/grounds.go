package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
)

// recorded holds what the record adds to the writer of an entry.
var recorded = map[string]string{
	"": ", and no record says who", api.ByPerson: ", by hand", api.ByWords: ", who said it in a session", api.ByUpkeep: ", and stands as it was written",
	api.ByMark: ", by its mark, and no record says that it stands as it was written",
}

// Grounds prints the evidence for an entry.
func Grounds(w io.Writer, g *api.Grounds, p Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d\n", Printable(g.Path), g.Line)
	p.para(&b, 2, "", strings.TrimSpace(g.Tags.String()+" "+g.Text))
	row := func(name, text string) { p.hang(&b, Left(name, 12), 12, "", text) }
	row("written", "by "+writers[g.WrittenBy]+recorded[g.WrittenBy])
	if g.Run != "" {
		row("chosen", fmt.Sprintf("in %s for %s, by %s (%.1f)", g.Run, g.RunDay, strings.Join(g.Why, ", "), g.Score))
	}
	for i := range g.From {
		text := g.From[i].Ref
		if t := g.From[i].Text; t != "" {
			text += ": " + t
		}
		row("from", text)
	}
	if len(g.Supersedes) > 0 {
		row("replaces", strings.Join(g.Supersedes, ", "))
	}
	if g.Date != "" {
		row("age", fmt.Sprintf("%s, of %s", Plural(g.Age, "day"), g.Date))
	}
	if len(g.Days) > 0 {
		row("said", fmt.Sprintf("in the logs of %s: %s", Plural(len(g.Days), "day"), strings.Join(g.Days, ", ")))
	}
	if g.Sessions > 0 {
		row("noted", "of "+Plural(g.Sessions, "session"))
	}
	if g.Calls > 0 {
		row("cost", Plural(g.Calls, "call"))
	}
	used := "for no turn that memkernel planned; what hooks add is not counted"
	if g.Recalled > 0 {
		used = fmt.Sprintf("for %s, last on %s; the agent then named it in %d", Plural(g.Recalled, "turn"), g.Last.Format("2006-01-02"), g.Named)
	}
	row("recalled", used)
	return Flush(w, &b)
}
