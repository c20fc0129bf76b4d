package plan

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// laterLead begins a line of a recalled note with the user's later words.
const laterLead = "Later the user said: "

// maxLaterLine is the longest line that is compared, in bytes. A longer line rarely states a
// single fact.
const maxLaterLine = 400

// sayLater adds the user's later words about the same subject to recalled words of the user. For
// example, "the port of X is 1" is not recalled without a later "the port of X is 2". If several
// notes have the same later line, out has only the best note, and same has the others. also has the
// citations of the later words.
func sayLater(c *call, l *limits, items []retrieval.Item) (out []retrieval.Item, also []memkernel.Ref, same []api.Excluded) {
	at := placesOfPages(c.Hosts)
	said := map[string]bool{}
	for _, it := range items {
		page, _, _ := strings.Cut(it.ID, retrieval.LinesMark)
		i, here := at[page]
		if it.Kind != retrieval.Session || !here || !transcript.PlainUser(c.Msgs[i]) {
			out = append(out, it)
			continue
		}
		j, line := restated(c, i, it.Text)
		switch {
		case line == "":
			out = append(out, it)
			continue
		case said[line]:
			same = append(same, leftOut(c, l, it.Citation, it.Text, retrieval.Duplicate))
			continue
		}
		said[line] = true
		it.Text += "\n" + laterLead + c.Maker.Mask.Text(line)
		out = append(out, it)
		for k := range c.Hosts[j].Segments {
			also = append(also, memkernel.Ref{Path: c.Hosts[j].Segments[k].Page, Hash: ingest.Hash(line)})
		}
	}
	return out, also, same
}

// restated returns the newest message after message i in which the user repeated a line of a text
// with another value, and the repeated line. The line is "" if there is no such message.
func restated(c *call, i int, text string) (message int, line string) {
	for j := len(c.Msgs) - 1; j > i; j-- {
		m := &c.Msgs[j]
		if m.Origin != memkernel.OriginHost || !transcript.PlainUser(*m) {
			continue
		}
		for now := range strings.Lines(transcript.Words(*m)) {
			now = strings.TrimSpace(now)
			if len(now) > maxLaterLine {
				continue
			}
			for was := range strings.Lines(text) {
				if len(was) <= maxLaterLine && summary.Restates(strings.TrimSpace(was), now) {
					return j, now
				}
			}
		}
	}
	return 0, ""
}
