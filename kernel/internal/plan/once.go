package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// onceShare is how much of a result may be left, at most, for its repetitions to be worth
// leaving out.
const onceShare = 0.8

// showOnce has new results of what was read before, or of a command that ran before, name
// the lines that stand whole in the prompt in the place of showing them again. What they
// name may leave with any cut: from then on they have the ordinary levels of their page.
func showOnce(d *deciding) {
	if !d.prior.Once || d.Made.Cut != nil || d.req.Demand != nil || d.Align.At >= len(d.Hosts) {
		return
	}
	whole := map[string]bool{}
	for i := range d.Proj.Items {
		if it := &d.Proj.Items[i]; it.Kind == pagevm.ItemResult && it.Level == pagevm.Full {
			whole[it.Page] = true
		}
	}
	some := false
	hosts := slices.Clone(d.Hosts)
	for i := d.Align.At; i < len(hosts); i++ {
		hosts[i].Segments = slices.Clone(hosts[i].Segments)
		for j := range hosts[i].Segments {
			s := &hosts[i].Segments[j]
			if text := d.repeated(i, s, whole); text != "" && d.shorten(i, j, s, text) {
				some = true
				delete(whole, s.Page)
			}
		}
	}
	if !some {
		return
	}
	d.Hosts = hosts
	d.Proj, d.Made = d.nextProjection(d.delta(), d.Wishes, d.granted)
}

// repeated is a result's text with what stands whole replaced, "" if it repeats nothing.
func (d *deciding) repeated(i int, s *pagevm.Segment, whole map[string]bool) string {
	parts := d.SegmentParts(i, s)
	if s.Kind != pagevm.ItemResult || s.First != pagevm.Full || !s.Committed || !breakable(d.Msgs[i].Role, parts) || len(parts[0].Result.Content) != 1 {
		return ""
	}
	call, page := d.Calls[parts[0].Result.CallID], d.Page(s.Page)
	if call == nil || page == nil {
		return ""
	}
	about := subjectOf(call)
	for k := i; k >= 0; k-- {
		for j := len(d.Hosts[k].Segments) - 1; j >= 0; j-- {
			e := &d.Hosts[k].Segments[j]
			if e.Page == s.Page || !whole[e.Page] {
				continue
			}
			old := d.SegmentParts(k, e)
			if old[0].Result == nil || len(old[0].Result.Content) != 1 {
				continue
			}
			before := d.Calls[old[0].Result.CallID]
			if before == nil || subjectOf(before) != about || d.Page(e.Page) == nil {
				continue
			}
			above := "the earlier result of " + d.Mask.Text(nameOf(before))
			return represent.Repeat(readInput(d, old, d.Page(e.Page)).Text, readInput(d, parts, page).Text, above)
		}
	}
	return ""
}

// subjectOf is the file that a call reads, or the call itself.
func subjectOf(c *memkernel.ToolCall) string {
	if kind, paths := toolcall.Classify(c.Name, c.Input); kind == toolcall.CallRead && len(paths) == 1 {
		return paths[0]
	}
	return toolcall.Canonical(c.Name, c.Input)
}

// nameOf names a call by its tool and what it reads or runs.
func nameOf(c *memkernel.ToolCall) string {
	what := toolcall.Path(c.Name, c.Input)
	if what == "" {
		what = toolcall.Command(c.Name, c.Input)
	}
	if what == "" || len(what) > maxCommand {
		return c.Name
	}
	return c.Name + " " + what
}

// wholeAgain are the pages of a projection that are shown by naming what stands elsewhere:
// a cut shows them in full, or at a level of their own.
func (d *measured) wholeAgain(levels map[string]pagevm.Level) map[string]pagevm.Level {
	own := levels
	for i := range d.Prev.Proj.Items {
		it := &d.Prev.Proj.Items[i]
		if it.Kind != pagevm.ItemResult || it.Level != pagevm.Compressed || !represent.Refers(d.prior.Texts[it.Hash]) {
			continue
		}
		if _, wished := levels[it.Page]; !wished {
			if len(own) == len(levels) {
				own = maps.Clone(levels)
			}
			own = withLevel(own, it.Page, pagevm.Full)
		}
	}
	return own
}

// shorten has a segment show a text, false if that saves too little.
func (d *deciding) shorten(i, j int, s *pagevm.Segment, text string) bool {
	sum := sha256.Sum256([]byte(text))
	sh := d.maker().Lowered(s, d.SegmentParts(i, s), text, hex.EncodeToString(sum[:]), overhead(d, j))
	if float64(sh.Tokens) > onceShare*float64(s.At[pagevm.Full].Tokens) {
		return false
	}
	d.Texts[sh.Hash] = text
	s.At[pagevm.Compressed], s.First = sh, pagevm.Compressed
	ownSize(d, s.Page)
	return true
}
