package plan

import (
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// ownSize remembers that a page stands with a text of its own size.
func ownSize(d *deciding, page string) {
	if d.fitted == nil {
		d.fitted = map[string]bool{}
	}
	d.fitted[page] = true
}

// settle makes the segments of messages that were sent and must stand say how they
// stand: their level, and a text of its own size for as long as the message is open.
// Then the next cut chooses from the page's ordinary levels, or has the text that
// stands, if that is shorter. It comes to the same in a process that planned the
// messages itself and in one that reads the session.
func settle(d *deciding) {
	d.fitted, d.settled = nil, d.Prev.Proj.Generation
	changed := d.Prev.Settled != d.Prev.Proj.Generation
	if d.Absorbed == d.Align.At && len(d.Prev.Fitted) == 0 && !changed {
		return
	}
	standing := map[string]*pagevm.Item{}
	items := d.Prev.Proj.Items[:d.Align.Items]
	for i := range items {
		if Shortened(&items[i]) {
			standing[items[i].Page] = &items[i]
		}
	}
	d.Hosts = append([]pagevm.HostMessage(nil), d.Hosts...) // earlier lines share them
	for i := range d.Hosts {
		back := i >= d.Align.At && i < d.Absorbed // what had left comes back
		all := back || i < d.Align.At && (i >= d.Absorbed || changed && d.mustStand(i))
		copied := false
		for j := range d.Hosts[i].Segments {
			page := d.Hosts[i].Segments[j].Page
			if !all && !d.Prev.Fitted[page] {
				continue
			}
			if !copied {
				d.Hosts[i].Segments = append([]pagevm.Segment(nil), d.Hosts[i].Segments...)
				copied = true
			}
			if back || d.Prev.Fitted[page] {
				relevel(d, i, j)
			}
			if i < d.Align.At && !d.Align.Seen[i].Gone {
				settleSegment(d, i, j, standing[page])
			}
		}
	}
}

// settleSegment settles a segment that stands as it, nil if it stands in full.
func settleSegment(d *deciding, i, j int, it *pagevm.Item) {
	s := &d.Hosts[i].Segments[j]
	if s.First = pagevm.Full; it == nil {
		return
	}
	if it.Level == pagevm.Compressed && represent.Refers(d.Text(it.Hash)) {
		return // what it names may leave
	}
	s.First = it.Level
	if sh := &s.At[it.Level]; sh.Hash != it.Hash && (sh.Hash == "" || sh.Tokens > it.Tokens || !d.Places[i].Closed) {
		*sh = pagevm.Shown{Hash: it.Hash, Tokens: it.Tokens, Positions: it.Positions, Markable: it.Markable, Image: it.Image}
		ownSize(d, s.Page)
	}
}

// relevel gives a segment the ordinary levels of its page.
func relevel(d *deciding, i, j int) {
	s := &d.Hosts[i].Segments[j]
	clear(s.At[:pagevm.Full])
	s.First = pagevm.Full
	if page := d.Page(s.Page); page != nil {
		d.maker().Levels(s, page, d.SegmentParts(i, s), overhead(d, j))
	}
}

// Shortened reports whether an item shows less of a host's message than came.
func Shortened(it *pagevm.Item) bool {
	return it.Level != pagevm.Full && (it.Kind == pagevm.ItemResult || it.Kind == pagevm.ItemHost)
}
