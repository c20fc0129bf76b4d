package display

import (
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
)

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
