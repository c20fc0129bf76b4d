package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// Curated lists the entries that were, or would be, added.
func Curated(w io.Writer, out *api.Curated, p Style) error {
	for i := range out.Entries {
		e := &out.Entries[i]
		p.hang(w, "  + ", 4, "", e.Tags.String()+" "+e.Text)
		from := "from " + e.From
		if e.Replaces != "" {
			from += fmt.Sprintf(", in the place of %q", e.Replaces)
		}
		p.para(w, 6, Gray, from)
	}
	for i := range out.Facts {
		p.hang(w, "  ", 4, "", factsLine(&out.Facts[i]))
	}
	if out.TakenBack > 0 {
		p.para(w, 0, "", TakenBack(out))
	}
	what := Added(out) + " in " + out.Path
	if len(out.Entries) == 0 {
		what = "nothing of " + out.Day + " that " + out.Path + " doesn't have"
		if out.TakenBack > 0 {
			what = "nothing else of " + out.Day + " that " + out.Path + " doesn't have"
		}
	}
	if out.Left > 0 {
		what += fmt.Sprintf(", %d more keep", out.Left)
	}
	_, err := fmt.Fprintf(w, "%s; %s of the working buffer read\n", Printable(what), Size(int64(out.BufferBytes)))
	return err
}

// Added says how many entries were, or would be, added under the heading of a day.
func Added(out *api.Curated) string {
	n := len(out.Entries)
	return fmt.Sprintf("%s %s added under %s", Plural(n, "entry"), doneTo(n, out.Applied), out.Day)
}

// TakenBack says how many entries stay away because a person took them back, and how one comes
// back.
func TakenBack(out *api.Curated) string {
	return fmt.Sprintf("left out: %s that you took back; 'memkernel remember --to %s TEXT' writes one again", Plural(out.TakenBack, "entry"), out.Path)
}

// factsLine describes the question about a log's facts that a model was, or would be, asked, and
// the facts that were taken from the answer.
func factsLine(f *api.Facts) string {
	price := ""
	if f.USD != nil {
		price = fmt.Sprintf(", $%.4f", *f.USD)
	}
	switch lines := fmt.Sprintf("lines %d to %d of %s", f.FromLine, f.ToLine, f.Path); f.Reason {
	case "":
		if price != "" {
			price = ", at most " + price[2:]
		}
		return fmt.Sprintf("%s would be sent to %s for facts: about %s tokens, and at most %s back%s", lines, f.Model, Thousands(f.InputTokens), Thousands(f.OutputTokens), price)
	case "OK":
		return fmt.Sprintf("%s: %s in %s, %d dropped; %s and %s tokens%s", lines, Plural(f.Taken, "fact"), f.File, f.Dropped, Thousands(f.InputTokens), Thousands(f.OutputTokens), price)
	default:
		return fmt.Sprintf("%s: no facts: %s: %s", lines, f.Reason, f.Detail)
	}
}

// shownMove is the length of the shown part of a block, in characters.
const shownMove = 100

// Pruned lists the blocks that moved, or would move, with their new place. It also lists the
// blocks that stay.
func Pruned(w io.Writer, out *api.Pruned, p Style) error {
	for i := range out.Moves {
		m := &out.Moves[i]
		to := m.To
		if to == "" {
			to = "nowhere: it is elsewhere, too"
		}
		fmt.Fprintf(w, "%s -> %s %s\n", p.Paint(Bold, fmt.Sprintf("%s:%d", Printable(m.From), m.Line)), Printable(to), p.Paint(Gray, "("+string(m.Why)+")"))
		fmt.Fprintf(w, "    %s\n", Printable(clipped(m.Text, shownMove)))
	}
	for i := range out.Changes {
		c := &out.Changes[i]
		fmt.Fprintf(w, "%s: %s to %d lines\n", Printable(c.Path), Thousands(c.LinesBefore), c.LinesAfter)
	}
	for _, over := range slices.Concat(out.Over, UnknownNames(out.Unknown), out.Kept) {
		p.para(w, 0, yellow, "note: "+over)
	}
	done := doneTo(len(out.Moves), out.Applied)
	_, err := fmt.Fprintf(w, "%s %s moved, %s of the working buffer emptied, %s left\n", Plural(len(out.Moves), "entry"), done, Size(int64(out.BufferBytes)), Size(int64(out.BufferLeft)))
	return err
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
func Loss(w io.Writer, loss *consolidation.Loss) error {
	for _, l := range loss.Lost {
		fmt.Fprintf(w, "%5d  %s\n", l.Line, Printable(l.Text))
	}
	_, err := fmt.Fprintf(w, "%s lost %d of %s, %.0f %%; %.0f %% may be\n", loss.Path, len(loss.Lost), Plural(loss.Lines, "line"), 100*loss.Share, 100*loss.Limit)
	return err
}
