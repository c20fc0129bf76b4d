package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// spreadTries is how often an excerpt is made to come near the size of its room. spreadNearly is
// the part of the room, in percent, that is near enough.
const spreadTries, spreadNearly = 6, 97

// spread gives the remaining room to files that are not shown in full, most important first. Each
// file is shown by the largest excerpt that fits, instead of a smaller level. The files belong to
// the last of the pages. It returns the excerpts' texts by hash.
func (d *deciding) spread(files []File, pages []*pagevm.Page, fits []pagevm.Fit, levels []pagevm.Level, room int) (blocks []pagevm.Block, texts map[string]string) {
	for i := range fits {
		room -= fits[i].Tokens[levels[i]]
	}
	blocks, texts = blocksAt(pages, fits, levels), map[string]string{}
	at := func(id string) int {
		return slices.IndexFunc(blocks, func(b pagevm.Block) bool { return b.Page == id })
	}
	for i := range files {
		n := len(pages) - len(files) + i
		j := at(pages[n].ID)
		if levels[n] == pagevm.Full || j < 0 || room <= 0 {
			continue
		}
		took, text := d.excerptOf(&files[i], pages[n].ID, fits[n].Tokens[pagevm.Full], room+blocks[j].Tokens)
		if took <= blocks[j].Tokens {
			continue
		}
		room -= took - blocks[j].Tokens
		h := ids.Hash(text)
		texts[h] = text
		blocks[j].Level, blocks[j].Hash, blocks[j].Tokens = pagevm.Compressed, h, took
	}
	for i := range files {
		n := len(pages) - len(files) + i
		shown := 0
		if j := at(pages[n].ID); j >= 0 {
			shown = blocks[j].Tokens
		}
		if full := fits[n].Tokens[pagevm.Full]; 2*shown < full {
			d.log.faults = append(d.log.faults, fault.Fault{Code: fault.WorkspaceCut, Page: pages[n].ID, Detail: d.cutDetail(&files[i], full, shown)})
		}
	}
	return blocks, texts
}

// excerptOf returns the size and the text of the largest excerpt of a file that takes at most
// room tokens. It returns 0 if no excerpt fits.
func (d *deciding) excerptOf(f *File, page string, full, room int) (best int, text string) {
	e := represent.FileExcerpts(page, f.Text, d.req.Resolver, f.Type == pagevm.Bootstrap)
	excerpt := func(n int) string {
		if text := memoryPart(f, n); f.Type != pagevm.Bootstrap && len(text) <= n+200 {
			return text
		}
		return e.Rep(n).Text // of instructions, and of lines that are too long
	}
	low, high := 0, len(f.Text)
	n := scaled(high, room, full)
	for range spreadTries {
		shown := f.headed(excerpt(n))
		took := d.Count.Text(shown)
		if took > room {
			high = n
		} else if low = n; took > best {
			best, text = took, shown
		}
		if took <= room && 100*took >= spreadNearly*room {
			break
		}
		next := scaled(n, (100+spreadNearly)*room, 200*max(took, 1))
		if next >= high || next <= low {
			next = (low + high) / 2
		}
		if n = next; n <= low {
			break
		}
	}
	return best, text
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

// cutDetail says how much of a file is left out, by which limit, and the ways out.
func (d *deciding) cutDetail(f *File, full, shown int) string {
	bound := fmt.Sprintf("%d tokens, workspace.max_tokens, which can be raised", d.prior.Memory.CarryTokens)
	switch {
	case d.squeezed > 0:
		bound = "what the newest messages leave of the window"
	case d.carryBound() < d.prior.Memory.CarryTokens:
		bound = fmt.Sprintf("%d tokens, an eighth of the window, whatever workspace.max_tokens says", d.carryBound())
	}
	detail := fmt.Sprintf("%s has %d tokens and %d of them are shown: pins and the workspace's files share %s; move what is rarely needed to memory/, where it is found by searching",
		f.Path, d.Scale(full), d.Scale(shown), bound)
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
