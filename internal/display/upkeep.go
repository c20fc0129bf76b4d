package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// Curated lists the entries that were, or would be, added.
func Curated(s *Sheet, out *api.Curated) {
	for i := range out.Entries {
		e := &out.Entries[i]
		s.Hang("  + ", 4, "", "{} {}", e.Tags, e.Text)
		from := "from " + e.From
		if e.Replaces != "" {
			from += fmt.Sprintf(", in the place of %q", e.Replaces)
		}
		s.Para(6, Gray, "{}", from)
	}
	for i := range out.Facts {
		s.Hang("  ", 4, "", "{}", factsLine(&out.Facts[i]))
	}
	if out.TakenBack > 0 {
		s.Para(0, "", "{}", TakenBack(out))
	}
	what := Added(out) + " in " + out.Path
	if len(out.Entries) == 0 {
		what = s.Say("nothing {?else }of {} that {} doesn't have", out.TakenBack > 0, out.Day, out.Path)
	}
	if out.Left > 0 {
		what += fmt.Sprintf(", %d more keep", out.Left)
	}
	s.Line("{}; {bytes} of the working buffer read", what, out.BufferBytes)
}

// Added says how many entries were, or would be, added under the heading of a day.
func Added(out *api.Curated) string {
	n := len(out.Entries)
	return Say("{entry} {} added under {}", n, doneTo(n, out.Applied), out.Day)
}

// TakenBack says how many entries stay away because a person took them back, and how one comes
// back.
func TakenBack(out *api.Curated) string {
	return Say("left out: {entry} that you took back; 'memkernel remember --to {} TEXT' writes one again", out.TakenBack, out.Path)
}

// factsLine describes the question about a log's facts that a model was, or would be, asked, and
// the facts that were taken from the answer.
func factsLine(f *api.Facts) string {
	lines, price, most := fmt.Sprintf("lines %d to %d of %s", f.FromLine, f.ToLine, f.Path), "", ""
	if f.USD != nil {
		price, most = fmt.Sprintf(", $%.4f", *f.USD), fmt.Sprintf(", at most $%.4f", *f.USD)
	}
	switch f.Reason {
	case "":
		return Say("{} would be sent to {} for facts: about {} tokens, and at most {} back{}", lines, f.Model, f.InputTokens, f.OutputTokens, most)
	case "OK":
		return Say("{}: {fact} in {}, {%d} dropped; {} and {} tokens{}", lines, f.Taken, f.File, f.Dropped, f.InputTokens, f.OutputTokens, price)
	}
	return Say("{}: no facts: {}: {}", lines, f.Reason, f.Detail)
}

// shownMove is the length of the shown part of a block, in characters.
const shownMove = 100

// Pruned lists the blocks that moved, or would move, with their new place. It also lists the
// blocks that stay.
func Pruned(s *Sheet, out *api.Pruned) {
	for i := range out.Moves {
		m := &out.Moves[i]
		to := m.To
		if to == "" {
			to = "nowhere: it is elsewhere, too"
		}
		s.Line("{} -> {} {}", inked{Bold, address(m.From, m.Line)}, to, inked{Gray, "(" + string(m.Why) + ")"})
		s.Line("    {}", clipped(m.Text, shownMove))
	}
	for i := range out.Changes {
		c := &out.Changes[i]
		s.Line("{}: {} to {%d} lines", c.Path, c.LinesBefore, c.LinesAfter)
	}
	for _, over := range slices.Concat(out.Over, UnknownNames(out.Unknown), out.Kept) {
		s.Para(0, yellow, "note: {}", over)
	}
	s.Line("{entry} {} moved, {bytes} of the working buffer emptied, {bytes} left", len(out.Moves), doneTo(len(out.Moves), out.Applied), out.BufferBytes, out.BufferLeft)
}

// UnknownNames returns a message for names of --include that match no entry.
func UnknownNames(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q names no file that is pruned, no heading in one and no entry", n))
	}
	return out
}

// clipped returns the beginning of a text on one line.
func clipped(s string, n int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n]) + "…"
}

// doneTo returns the verb for the action that was, or would be, done to n things.
func doneTo(n int, applied bool) string {
	switch {
	case !applied:
		return "would be"
	case n == 1:
		return "was"
	}
	return "were"
}

// Loss lists the lines that a file has lost.
func Loss(s *Sheet, loss *consolidation.Loss) {
	for _, l := range loss.Lost {
		s.Line("{%5d}  {}", l.Line, l.Text)
	}
	s.Line("{} lost {%d} of {line}, {%.0f} %; {%.0f} % may be", loss.Path, len(loss.Lost), loss.Lines, 100*loss.Share, 100*loss.Limit)
}
