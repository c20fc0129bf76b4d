package plan

import (
	"slices"
	"sync"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
)

// ownSize records that a page is shown by a text of a special size.
func ownSize(d *deciding, page string) {
	if d.fitted == nil {
		d.fitted = map[string]bool{}
	}
	d.fitted[page] = true
}

// settle sets the segments of messages that were sent to the levels at which they are shown. A
// segment that must be shown keeps its level, and its text of a special size for as long as the
// message is open. Any other segment gets the ordinary levels of its page, among which the next
// cut chooses. If the shown text is shorter, the segment keeps the shown text. The result is the
// same in a process that planned the messages itself, in one that planned some of them, and in
// one that reads the session.
func settle(d *deciding) {
	d.fitted, d.settled = nil, branch.Settled{Generation: d.Prev.Proj.Generation, Releveled: d.prior.Releveled}
	changed := d.Prev.Settled != d.settled
	standing := sync.OnceValue(func() map[string]*pagevm.Item { return shortened(d.Prev.Proj.Items[:d.Align.Items]) })
	answered := lastAnswer(d)
	before := sync.OnceValue(func() map[string]*pagevm.Item { return shortened(d.Prev.Proj.Items) })
	shared := true // earlier lines share them
	for i := range d.Hosts {
		sent := i < d.Align.At
		anew := !sent && i < d.Absorbed // a message that had left returns
		read := sent && (changed || i >= d.Absorbed)
		copied := false
		for j := range d.Hosts[i].Segments {
			was := &d.Hosts[i].Segments[j]
			fitted := d.Prev.Fitted[was.Page]
			seen := !sent && i < answered && was.First == pagevm.Compressed
			if !anew && !read && !fitted && !seen && (!sent || was.First == pagevm.Full) {
				continue
			}
			now := *was
			if anew || fitted || read && represented(d, was) {
				relevel(d, i, j, &now)
			}
			switch {
			case sent && d.Align.Seen[i].Gone:
				now.First = pagevm.Full
			case sent:
				settleSegment(d, i, &now, standing()[now.Page])
			case i < answered && now.First == pagevm.Compressed:
				// The model has seen the content whole already, unless an earlier prompt showed
				// the same text.
				if it := before()[now.Page]; it == nil || it.Level != pagevm.Compressed {
					now.First = pagevm.Full
				}
			}
			if now == *was {
				continue
			}
			if shared {
				d.Hosts, shared = slices.Clone(d.Hosts), false
			}
			if !copied {
				d.Hosts[i].Segments, copied = slices.Clone(d.Hosts[i].Segments), true
			}
			d.Hosts[i].Segments[j] = now
		}
	}
}

// lastAnswer returns the index of the model's newest message, -1 if there is none.
func lastAnswer(d *deciding) int {
	for i := len(d.Msgs) - 1; i >= 0; i-- {
		if d.Msgs[i].Role == memkernel.RoleAssistant && d.Msgs[i].Origin == memkernel.OriginHost {
			return i
		}
	}
	return -1
}

// shortened returns, by page, the items that show less than the host's message.
func shortened(items []pagevm.Item) map[string]*pagevm.Item {
	found := map[string]*pagevm.Item{}
	for i := range items {
		if Shortened(&items[i]) {
			found[items[i].Page] = &items[i]
		}
	}
	return found
}

// settleSegment settles a segment of a message. The parameter it is the item that shows the
// segment, nil if the segment is shown in full.
func settleSegment(d *deciding, i int, s *pagevm.Segment, it *pagevm.Item) {
	s.First = pagevm.Full
	if it == nil {
		return
	}
	if sh := &s.At[it.Level]; sh.Hash != it.Hash && (sh.Hash == "" || sh.Tokens > it.Tokens || !d.Places[i].Closed) {
		*sh = pagevm.Shown{Hash: it.Hash, Tokens: it.Tokens, Positions: it.Positions, Markable: it.Markable, Image: it.Image}
		ownSize(d, s.Page)
	}
	if d.mustStand(i) {
		s.First = it.Level
	}
}

// represented reports whether a segment lacks the levels that its page has. Another process made
// such levels because it had to show the message shorter.
func represented(d *deciding, s *pagevm.Segment) bool {
	if s.Kind != pagevm.ItemHost || s.Lowest(true) < pagevm.Full {
		return false
	}
	page := d.Page(s.Page)
	return page != nil && slices.ContainsFunc(page.Reps, func(r pagevm.Rep) bool { return r.Level < pagevm.Full })
}

// relevel gives a segment the ordinary levels of its page.
func relevel(d *deciding, i, j int, s *pagevm.Segment) {
	clear(s.At[:pagevm.Full])
	s.First = pagevm.Full
	if page := d.Page(s.Page); page != nil {
		d.maker().Levels(s, page, d.SegmentParts(i, s), overhead(d, j))
	}
}

// Shortened reports whether an item shows less than the host's message.
func Shortened(it *pagevm.Item) bool {
	return it.Level != pagevm.Full && (it.Kind == pagevm.ItemResult || it.Kind == pagevm.ItemHost)
}
