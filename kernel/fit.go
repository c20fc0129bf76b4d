package kernel

import (
	"slices"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// fitNewest lowers results that have not been sent yet and are too large to be
// shown in full: first those that count as large and do not fit, then, largest
// first, as many as it takes for the newest atom to fit at all. Nothing that was
// sent changes.
func (w *work) fitNewest() {
	room := w.hard - w.fixed - w.standing - w.scale(carryRoom(w.window))
	if w.unsent(room) {
		return
	}
	large := w.unscale(budget.LargeResult(w.window))
	fresh := w.freshResults()
	over := w.newestTokens() - w.unscale(room)
	standing := w.prev.proj.Tokens() + w.freshTokens() - w.unscale(w.hard-w.fixed)
	for _, s := range fresh {
		full := s.At[s.First].Tokens
		if over <= 0 && (standing <= 0 || full <= large) {
			break
		}
		lower(s, over > 0)
		saved := full - s.At[s.First].Tokens
		over, standing = over-saved, standing-saved
	}
}

// lower takes a segment down one level, or as far as it goes.
func lower(s *pagevm.Segment, far bool) {
	for l := s.First - 1; l > pagevm.Pointer; l-- {
		if s.At[l].Hash != "" {
			s.First = l
			if !far {
				return
			}
		}
	}
}

// unsent tells whether all that is new fits easily.
func (w *work) unsent(room int) bool {
	return w.prev.proj.Tokens()+w.freshTokens() <= w.unscale(room)
}

// freshTokens is what the messages that were not sent yet would add.
func (w *work) freshTokens() int {
	n := 0
	for i := w.align.At; i < len(w.hosts); i++ {
		for j := range w.hosts[i].Segments {
			s := &w.hosts[i].Segments[j]
			n += s.At[s.First].Tokens
		}
	}
	return n
}

// newestTokens is what must stand whatever is cut: the atoms that are not closed
// and the opener of the loop.
func (w *work) newestTokens() int {
	n := 0
	for i := range w.hosts {
		if w.places[i].Closed && !w.places[i].Opener && i < len(w.hosts)-1 {
			continue
		}
		for j := range w.hosts[i].Segments {
			s := &w.hosts[i].Segments[j]
			n += s.At[s.First].Tokens
		}
	}
	return n
}

// freshResults are the results of open atoms that were not sent yet, largest
// first. Their hosts are copied, since earlier lines share them.
func (w *work) freshResults() []*pagevm.Segment {
	w.hosts = append([]pagevm.HostMessage(nil), w.hosts...)
	var out []*pagevm.Segment
	for i := w.align.At; i < len(w.hosts); i++ {
		if w.places[i].Closed {
			continue
		}
		w.hosts[i].Segments = append([]pagevm.Segment(nil), w.hosts[i].Segments...)
		for j := range w.hosts[i].Segments {
			if s := &w.hosts[i].Segments[j]; s.Kind == pagevm.ItemResult && s.Committed && s.First > pagevm.Structured {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *pagevm.Segment) int { return b.At[b.First].Tokens - a.At[a.First].Tokens })
	return out
}

// carryRoom is room for the summary and the list of spans in a carry block.
func carryRoom(window int) int {
	return summary.Cap(window) + maxSpanLines*60 + restoreRoom(window, 0)/2
}
