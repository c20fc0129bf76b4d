package kernel

import (
	"github.com/memkernel/memkernel/pagevm"
)

// ownSize remembers that a page stands with a text of its own size.
func (w *work) ownSize(page string) {
	if w.next.Fitted == nil {
		w.next.Fitted = map[string]bool{}
	}
	w.next.Fitted[page] = true
}

// settle makes the segments of messages that were sent and must stand say how they
// stand: their level, and a text of its own size for as long as the message is open.
// Then the next cut chooses from the page's ordinary levels, or has the text that
// stands, if that is shorter. It comes to the same in a process that planned the
// messages itself and in one that reads the session.
func (w *work) settle() {
	w.next.Fitted, w.next.Settled = nil, w.prev.Proj.Generation
	changed := w.prev.Settled != w.prev.Proj.Generation
	if w.Absorbed == w.align.At && len(w.prev.Fitted) == 0 && !changed {
		return
	}
	standing := map[string]*pagevm.Item{}
	items := w.prev.Proj.Items[:w.align.Items]
	for i := range items {
		if shortened(&items[i]) {
			standing[items[i].Page] = &items[i]
		}
	}
	w.Hosts = append([]pagevm.HostMessage(nil), w.Hosts...) // earlier lines share them
	for i := range w.Hosts {
		back := i >= w.align.At && i < w.Absorbed // what had left comes back
		all := back || i < w.align.At && (i >= w.Absorbed || changed && w.mustStand(i))
		copied := false
		for j := range w.Hosts[i].Segments {
			page := w.Hosts[i].Segments[j].Page
			if !all && !w.prev.Fitted[page] {
				continue
			}
			if !copied {
				w.Hosts[i].Segments = append([]pagevm.Segment(nil), w.Hosts[i].Segments...)
				copied = true
			}
			if back || w.prev.Fitted[page] {
				w.relevel(i, j)
			}
			if i < w.align.At && !w.align.Seen[i].Gone {
				w.settleSegment(i, j, standing[page])
			}
		}
	}
}

// settleSegment settles a segment that stands as it, nil if it stands in full.
func (w *work) settleSegment(i, j int, it *pagevm.Item) {
	s := &w.Hosts[i].Segments[j]
	if s.First = pagevm.Full; it == nil {
		return
	}
	s.First = it.Level
	if sh := &s.At[it.Level]; sh.Hash != it.Hash && (sh.Hash == "" || sh.Tokens > it.Tokens || !w.places[i].Closed) {
		*sh = pagevm.Shown{Hash: it.Hash, Tokens: it.Tokens, Positions: it.Positions, Markable: it.Markable, Image: it.Image}
		w.ownSize(s.Page)
	}
}

// relevel gives a segment the ordinary levels of its page.
func (w *work) relevel(i, j int) {
	s := &w.Hosts[i].Segments[j]
	clear(s.At[:pagevm.Full])
	s.First = pagevm.Full
	if page := w.page(s.Page); page != nil {
		w.ingester().Levels(s, page, w.segmentParts(i, s), w.overhead(j))
	}
}
