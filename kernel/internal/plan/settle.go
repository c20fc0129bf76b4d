package plan

import (
	"slices"
	"sync"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
)

// settle sets the segments of messages that were sent to the levels at which they are shown. A
// segment that must be shown keeps its level, and its text of a special size for as long as the
// message is open. Any other segment gets the ordinary levels of its page, among which the next cut
// chooses. If the shown text is shorter, the segment keeps the shown text. The result does not
// depend on which of the messages this process planned itself.
func settle(c *call) fitting {
	f := fitting{hosts: c.Hosts, texts: map[string]string{}, own: map[string]bool{},
		settled: branch.Settled{Generation: c.Prev.Proj.Generation, Releveled: c.prior.Releveled}}
	changed := c.Prev.Settled != f.settled
	standing := sync.OnceValue(func() map[string]*pagevm.Item { return shortened(c.Prev.Proj.Items[:c.Align.Items]) })
	answered := newest(c.Msgs, byModel)
	before := sync.OnceValue(func() map[string]*pagevm.Item { return shortened(c.Prev.Proj.Items) })
	shared := true // earlier states share the messages
	for i := range c.Hosts {
		sent := i < c.Align.At
		anew := !sent && i < c.absorbed // a message that had left returns
		read := sent && (changed || i >= c.absorbed)
		copied := false
		for j := range c.Hosts[i].Segments {
			was := &c.Hosts[i].Segments[j]
			fitted := c.Prev.Fitted[was.Page]
			seen := !sent && i < answered && was.First == pagevm.Compressed
			if !anew && !read && !fitted && !seen && (!sent || was.First == pagevm.Full) {
				continue
			}
			now := *was
			if anew || fitted || read && represented(c, was) {
				now = releveled(c, i, j)
			}
			switch {
			case sent && c.Align.Seen[i].Gone:
				now.First = pagevm.Full
			case sent:
				var special bool
				if now, special = asShown(now, standing()[now.Page], c.mustStand(i), c.Places[i].Closed); special {
					f.own[now.Page] = true
				}
			case i < answered && now.First == pagevm.Compressed:
				// The model has already seen the content in full, unless an earlier prompt showed
				// the same text.
				if it := before()[now.Page]; it == nil || it.Level != pagevm.Compressed {
					now.First = pagevm.Full
				}
			}
			if now == *was {
				continue
			}
			if shared {
				f.hosts, shared = slices.Clone(f.hosts), false
			}
			if !copied {
				f.hosts[i].Segments, copied = slices.Clone(f.hosts[i].Segments), true
			}
			f.hosts[i].Segments[j] = now
		}
	}
	return f
}

// byModel reports whether a message is the model's.
func byModel(m *memkernel.Message) bool {
	return m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost
}

// newest returns the index of the newest message that is wanted, -1 if there is none.
func newest(msgs []memkernel.Message, wanted func(*memkernel.Message) bool) int {
	i := len(msgs) - 1
	for i >= 0 && !wanted(&msgs[i]) {
		i--
	}
	return i
}

// shortened returns, by page, the items that show less than the host's message.
func shortened(items []pagevm.Item) map[string]*pagevm.Item {
	found := map[string]*pagevm.Item{}
	for i := range items {
		if items[i].Shortened() {
			found[items[i].Page] = &items[i]
		}
	}
	return found
}

// asShown returns a segment of a sent message as the item shows it, in full if there is no item.
// It reports whether the segment is shown by a text of a special size.
func asShown(s pagevm.Segment, it *pagevm.Item, mustStand, closed bool) (now pagevm.Segment, special bool) {
	s.First = pagevm.Full
	if it == nil {
		return s, false
	}
	if sh := &s.At[it.Level]; sh.Hash != it.Hash && (sh.Hash == "" || sh.Tokens > it.Tokens || !closed) {
		s = withSpecial(s, it.Level, pagevm.Shown{Hash: it.Hash, Tokens: it.Tokens, Positions: it.Positions, Markable: it.Markable, Image: it.Image})
		special = true
	}
	if mustStand {
		s.First = it.Level
	}
	return s, special
}

// represented reports whether a page has levels that the segment lacks. Another process made them
// because it had to show the message shorter.
func represented(c *call, s *pagevm.Segment) bool {
	if s.Kind != pagevm.ItemHost || s.Lowest(true) < pagevm.Full {
		return false
	}
	page := c.Page(s.Page)
	return page != nil && slices.ContainsFunc(page.Reps, func(r pagevm.Rep) bool { return r.Level < pagevm.Full })
}

// releveled returns a segment with the ordinary levels of its page.
func releveled(c *call, i, j int) pagevm.Segment {
	s := c.Hosts[i].Segments[j]
	clear(s.At[:pagevm.Full])
	s.First = pagevm.Full
	if page := c.Page(s.Page); page != nil {
		c.Maker.Levels(&s, page, c.SegmentParts(i, &s), c.overhead(j))
	}
	return s
}
