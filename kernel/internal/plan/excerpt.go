package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// excerptOf returns the text and the size of the largest excerpt of a file that takes at most
// room tokens. It returns 0 if no excerpt fits.
func excerptOf(c *call, f *File, page string, full, room int) (text string, tokens int) {
	e := represent.FileExcerpts(page, f.Text, c.Request.Resolver, f.Type == pagevm.Bootstrap)
	excerpt := func(n int) string {
		if text := memoryPart(f, n); f.Type != pagevm.Bootstrap && len(text) <= n+200 {
			return text
		}
		return e.Rep(n).Text // a file of instructions, or one with lines that are too long
	}
	return largestWithin(room, scaled(len(f.Text), room, full), len(f.Text), func(n int) (string, int) {
		shown := f.headed(excerpt(n))
		return shown, c.Maker.Count.Text(shown)
	})
}

// memoryPart shows a file of memory in at most n bytes: its beginning, and its newest part.
func memoryPart(f *File, n int) string {
	parts, missing := represent.Ends(f.Path, f.Text, n)
	switch {
	case len(parts) == 0:
		return ""
	case missing == "":
		return parts[0].Text
	}
	return parts[0].Text + "[" + missing + "]\n" + parts[1].Text
}

// cutDetail returns a text that says how much of a file is left out, which limit is the reason, and
// how to show more.
func cutDetail(c *call, l *limits, f *File, full, shown, squeezed int) string {
	bound := fmt.Sprintf("%d tokens, workspace.max_tokens, which can be raised", c.prior.Memory.CarryTokens)
	switch {
	case squeezed > 0:
		bound = "what the newest messages leave of the window"
	case carryBound(c, l) < c.prior.Memory.CarryTokens:
		bound = fmt.Sprintf("%d tokens, an eighth of the window, whatever workspace.max_tokens says", carryBound(c, l))
	}
	detail := fmt.Sprintf("%s has %d tokens and %d of them are shown: pins and the workspace's files share %s; move what is rarely needed to memory/, where it is found by searching",
		f.Path, l.Scale(full), l.Scale(shown), bound)
	if names := largest(f.Text); len(names) > 0 {
		detail += ", first of all " + strings.Join(names, ", ")
	}
	return detail
}

// largestSections is the number of sections that a note suggests to move. Each has at least a
// share of the file.
const largestSections = 3

// largest returns the largest sections of a file, if it has more than one.
func largest(text string) (names []string) {
	all := slices.DeleteFunc(represent.Sections(text), func(s represent.Section) bool { return s.Heading == "" })
	if len(all) < 2 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b represent.Section) int { return cmp.Compare(len(b.Text), len(a.Text)) })
	for _, s := range all[:min(len(all), largestSections)] {
		r := []rune(textutil.Visible(s.Heading))
		if len(r) > 60 {
			r = append(r[:59], '…')
		}
		names = append(names, fmt.Sprintf("%q", string(r)))
	}
	return names
}
