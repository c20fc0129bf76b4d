package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel"
)

func drawCurated(w io.Writer, out *kernel.Curated, p painter) error {
	for i := range out.Entries {
		e := &out.Entries[i]
		for n, l := range wrap(strings.TrimSpace(e.Tags.String()+" "+e.Text), columns-4) {
			lead := "    "
			if n == 0 {
				lead = "  + "
			}
			fmt.Fprintf(w, "%s%s\n", lead, l)
		}
		from := "from " + e.From
		if e.Replaces != "" {
			from += fmt.Sprintf(", in the place of %q", e.Replaces)
		}
		for _, l := range wrap(from, columns-6) {
			fmt.Fprintf(w, "      %s\n", p.do(gray, l))
		}
	}
	done := doneTo(len(out.Entries), out.Applied)
	what := fmt.Sprintf("%s of %s %s added to %s", entryCount(len(out.Entries)), out.Day, done, out.Path)
	if len(out.Entries) == 0 {
		what = "nothing of " + out.Day + " that " + out.Path + " doesn't have"
	}
	if out.Left > 0 {
		what += fmt.Sprintf(", %d more keep", out.Left)
	}
	if m := &out.Advice; m.Model != "" {
		what += fmt.Sprintf("; %s: %s, %d operations taken, %d refused", m.Model, m.Reason, m.Accepted, len(m.Refused))
	}
	_, err := fmt.Fprintf(w, "%s; %s of the working buffer read\n", printable(what), size(int64(out.BufferBytes)))
	return err
}

func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return thousands(n) + " entries"
}

// shownMove is how much of a block the text shows, in characters.
const shownMove = 100

// shownSuggestions is how many suggestions the text shows.
const shownSuggestions = 20

func drawPruned(w io.Writer, out *kernel.Pruned, p painter) error {
	for i := range out.Moves {
		m := &out.Moves[i]
		to := m.To
		if to == "" {
			to = "nowhere: it stands elsewhere, too"
		}
		fmt.Fprintf(w, "%s -> %s %s\n", p.do(bold, fmt.Sprintf("%s:%d", printable(m.From), m.Line)), printable(to), p.do(gray, "("+string(m.Why)+")"))
		fmt.Fprintf(w, "    %s\n", printable(clipped(m.Text, shownMove)))
	}
	for i := range out.Changes {
		c := &out.Changes[i]
		fmt.Fprintf(w, "%s: %s to %d lines\n", printable(c.Path), thousands(c.LinesBefore), c.LinesAfter)
	}
	for i := range out.Suggestions {
		s := &out.Suggestions[i]
		if i == shownSuggestions {
			fmt.Fprintf(w, "%s\n", p.do(gray, fmt.Sprintf("and %s more that could leave; --json has all", thousands(len(out.Suggestions)-i))))
			break
		}
		fmt.Fprintf(w, "%s stays %s\n", p.do(bold, fmt.Sprintf("%s:%d", printable(s.Path), s.Line)), p.do(gray, printable(fmt.Sprintf("(%s; --include %q lets it leave)", s.Why, s.Include))))
		fmt.Fprintf(w, "    %s\n", printable(clipped(s.Text, shownMove)))
	}
	for _, over := range slices.Concat(out.Over, unknownNames(out.Unknown), out.Kept) {
		for _, l := range wrap("note: "+over, columns) {
			fmt.Fprintln(w, p.do(yellow, l))
		}
	}
	done := doneTo(len(out.Moves), out.Applied)
	_, err := fmt.Fprintf(w, "%s %s moved, %s of the working buffer emptied, %s left\n", entryCount(len(out.Moves)), done, size(int64(out.BufferBytes)), size(int64(out.BufferLeft)))
	return err
}

// unknownNames says which names of --include name nothing.
func unknownNames(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q names no file that is pruned, no heading in one and no entry", n))
	}
	return out
}

// clipped is the beginning of a text, on one line.
func clipped(s string, n int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n]) + "…"
}

// doneTo is the verb for what was, or would be, done to n things.
func doneTo(n int, applied bool) string {
	switch {
	case !applied:
		return "would be"
	case n == 1:
		return "was"
	}
	return "were"
}

func drawLoss(w io.Writer, loss *consolidation.Loss) error {
	for _, l := range loss.Lost {
		fmt.Fprintf(w, "%5d  %s\n", l.Line, printable(l.Text))
	}
	_, err := fmt.Fprintf(w, "%s lost %d of %s, %.0f %%; %.0f %% may be\n", loss.Path, len(loss.Lost), plural(loss.Lines, "line"), 100*loss.Share, 100*loss.Limit)
	return err
}
