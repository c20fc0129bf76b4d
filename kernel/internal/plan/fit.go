package plan

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/summary"
)

// New items that do not fit are shown as large as there is room, in this order: in full;
// compressed, at whatever size fits; structured; as a pointer, if the model can follow one.
// Nothing that was sent changes without a cut:
//
//	a large result   takes the free room, so that no cut is needed; at least the size
//	                 that counts as large, for which a cut makes room
//	required items   are together larger than the window: results and users' messages
//	                 share the room that is left, also those that were sent, which a
//	                 forced cut shows shorter
//
// A text of a special size is kept with the kernel's own texts, by hash. The item shows this text
// until a cut. As soon as the model has answered, the page has its ordinary levels again.

const (
	// freeShare is the share of the free room that large results may take. The rest is for the
	// model's next steps, which would otherwise begin with a cut.
	freeShare = 0.9
	// leastExcerpt is the least size of a shortened text in tokens, however little room is left.
	leastExcerpt = 120
	// leastBroken is the size in tokens below which a text is not shortened.
	leastBroken = 200
	// fitTries limits the number of sizes that are tried for a share.
	fitTries = 6
	// nearly is the part of the share, in percent, from which a size is good enough.
	nearly = 97
)

// fitNewest lowers the new items that do not fit, as described above.
func fitNewest(d *deciding) {
	settle(d)
	over := grownTokens(d) - d.Hard
	if over <= 0 {
		return
	}
	d.Hosts = append([]pagevm.HostMessage(nil), d.Hosts...) // earlier lines share them
	if large := largeResults(d); len(large) > 0 {
		now := int(freeShare * float64(sum(large)-over))
		share(d, large, max(now, d.Scale(d.maker().Large)))
		over = grownTokens(d) - d.Hard
	}
	if over > 0 {
		press(d, over)
	}
}

// press makes the required items fit into the window. Sent items only change if a cut is needed
// in any case.
func press(d *deciding, over int) {
	room := d.Hard - d.Fixed - d.Standing - d.Scale(carryRoom(d.Window)) - loopBlocks(d)
	must := d.newestTokens()
	if must <= room {
		return // a cut makes room
	}
	all := candidates(d, leastBroken)
	fresh := slices.DeleteFunc(slices.Clone(all), func(c *fitted) bool { return c.sent })
	floors(d, all)
	shares(all, room-(must-sum(all)))
	saved := 0
	for _, c := range fresh {
		saved += c.size - min(c.share, c.size)
	}
	if saved >= over {
		all = fresh
	}
	for _, c := range all {
		if c.share < c.size {
			lower(d, c)
		}
		if c.sent && c.share < c.size {
			d.pressed = withLevel(d.pressed, segment(d, c).Page, segment(d, c).First)
		}
	}
}

// loopBlocks returns the size of the notes and recalled memory that stay with the open loop.
func loopBlocks(d *deciding) (n int) {
	loop := map[string]bool{}
	for i := range d.Hosts {
		if d.Places[i].InLoop || d.Places[i].Opener {
			loop[d.Hosts[i].Key] = true
		}
	}
	for i := range d.Prev.Proj.Items[:d.Align.Items] {
		if it := &d.Prev.Proj.Items[i]; loop[it.Key] && (it.Kind == pagevm.ItemNote || it.Kind == pagevm.ItemRetrieval) {
			n += d.Scale(it.Tokens)
		}
	}
	return n
}

func withLevel(m map[string]pagevm.Level, page string, l pagevm.Level) map[string]pagevm.Level {
	if m == nil {
		m = map[string]pagevm.Level{}
	}
	m[page] = l
	return m
}

// fitted is a text that may be shown shorter. It has the text's segment, and whether the segment
// was sent.
type fitted struct {
	i, j int
	sent bool
	// size is the item's size as it would be shown. least is the size of the item's lowest level.
	// share is the size that the item may have. All sizes are in calibrated tokens.
	size, least, share int
	text               *represent.EvidenceInput // the source of representations, once it is wanted
}

func sum(all []*fitted) (n int) {
	for _, c := range all {
		n += c.size
	}
	return n
}

// shares divides room among items. An item that needs less than an equal share gets the room that
// it needs, and all others get equal shares of the rest. An item that can't be shown in its share
// gets its least size.
func shares(all []*fitted, room int) {
	low, high := 0, 0
	for _, c := range all {
		high = max(high, c.size)
	}
	at := func(level int) (n int) {
		for _, c := range all {
			c.share = max(min(level, c.size), min(c.least, c.size))
			n += c.share
		}
		return n
	}
	for low < high {
		if mid := (low + high + 1) / 2; at(mid) <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	at(low)
}

// share lowers some new texts so that together they fit into room.
func share(d *deciding, all []*fitted, room int) {
	shares(all, room)
	for _, c := range all {
		if c.share < c.size {
			lower(d, c)
		}
	}
}

// largeResults returns the new results that count as large.
func largeResults(d *deciding) []*fitted {
	large := d.maker().Large
	return slices.DeleteFunc(candidates(d, large+1), func(c *fitted) bool {
		return c.sent || segment(d, c).Kind != pagevm.ItemResult
	})
}

// candidates returns the texts that every cut keeps, that may be shown shorter, and that have at
// least so many tokens as the parameter least says. It copies their messages.
func candidates(d *deciding, least int) []*fitted {
	var out []*fitted
	g := d.maker()
	for i := range d.Hosts {
		if !d.mustStand(i) {
			continue
		}
		for j := range d.Hosts[i].Segments {
			s := &d.Hosts[i].Segments[j]
			parts := d.SegmentParts(i, s)
			if !s.Committed || s.At[s.First].Tokens-g.MediaTokens(parts) < least || !breakable(d.Msgs[i].Role, parts) {
				continue
			}
			out = append(out, &fitted{i: i, j: j, sent: i < d.Align.At, size: d.Scale(s.At[s.First].Tokens)})
		}
		d.Hosts[i].Segments = append([]pagevm.Segment(nil), d.Hosts[i].Segments...)
	}
	return out
}

// breakable reports whether a part may be shown shorter. The text of results and of users'
// messages may be.
func breakable(role memkernel.Role, parts []memkernel.Part) bool {
	if r := parts[0].Result; r != nil {
		return !r.Opaque && !r.Synthetic && len(ingest.TextRuns(r.Content)) > 0
	}
	return role == memkernel.RoleUser && len(ingest.TextRuns(parts)) > 0 &&
		!slices.ContainsFunc(parts, func(p memkernel.Part) bool { return p.Call != nil || ingest.Thinking(&p) })
}

func segment(d *deciding, c *fitted) *pagevm.Segment { return &d.Hosts[c.i].Segments[c.j] }

// floors fills in the least sizes of texts. Messages get their levels now.
func floors(d *deciding, all []*fitted) {
	for _, c := range all {
		s := segment(d, c)
		if s.Kind == pagevm.ItemHost && s.Lowest(true) == pagevm.Full {
			representMessage(d, c)
		}
		media := d.maker().MediaTokens(d.SegmentParts(c.i, s))
		c.least = min(c.size, d.Scale(media+leastExcerpt))
		for l := pagevm.Floor(s.Type, d.req.Resolver != ""); l <= s.First; l++ {
			if s.At[l].Hash != "" {
				c.least = min(c.least, d.Scale(s.At[l].Tokens))
			}
		}
	}
}

// representMessage gives a message's page its levels, and captures it with them.
func representMessage(d *deciding, c *fitted) {
	s, m, g := segment(d, c), &d.Msgs[c.i], d.maker()
	parts := d.SegmentParts(c.i, s)
	page := d.Page(s.Page)
	if page == nil {
		return
	}
	leveled := *page
	leveled.Reps = slices.Concat(page.Reps, represent.Message(textOf(d, c, page), d.Represent))
	leveled.Resolver = d.req.Resolver
	d.Out.Replace(&leveled, func() string { return g.RunText(m, s.Part, s.Part+s.Parts) })
	g.Levels(s, &leveled, parts, overhead(d, c.j))
}

// overhead is the framing that the first segment of a message bears.
func overhead(d *deciding, j int) int {
	if j > 0 {
		return 0
	}
	return d.Count.Overheads.PerMessage
}

// lower lowers a text to the highest level that fits its share. If even the lowest level is too
// large, the text is shown by a few lines.
func lower(d *deciding, c *fitted) {
	s := segment(d, c)
	own := hostMade(d, s) && d.Scale(s.At[pagevm.Compressed].Tokens) <= c.share
	if !own && s.First >= pagevm.Compressed && d.unscale(c.share) >= max(2*s.At[pagevm.Structured].Tokens, 2*leastExcerpt) && excerpt(d, c) {
		return
	}
	lowest := s.First
	for l := min(s.First, pagevm.Compressed); l >= pagevm.Floor(s.Type, d.req.Resolver != ""); l-- {
		if t := s.At[l]; t.Hash != "" && t.Tokens < s.At[lowest].Tokens {
			lowest = l
		}
		if d.Scale(s.At[lowest].Tokens) <= c.share {
			break
		}
	}
	if d.Scale(s.At[lowest].Tokens) > c.share && excerpt(d, c) {
		return
	}
	s.First = lowest
}

// hostMade reports whether a host's own compressor made the compressed level.
func hostMade(d *deciding, s *pagevm.Segment) bool {
	page := d.Page(s.Page)
	return page != nil && s.At[pagevm.Compressed].Hash != "" &&
		slices.ContainsFunc(page.Reps, func(r pagevm.Rep) bool { return r.Hash == s.At[pagevm.Compressed].Hash && r.Maker != "" })
}

// excerpt shows a text by the largest compressed form that fits its share. It returns false if no
// form fits.
func excerpt(d *deciding, c *fitted) bool {
	s, g := segment(d, c), d.maker()
	parts := d.SegmentParts(c.i, s)
	page := d.Page(s.Page)
	if page == nil {
		return false
	}
	var best pagevm.Shown
	room := d.unscale(c.share)
	media := g.MediaTokens(parts)
	if room -= media; room <= 0 {
		return false
	}
	in := textOf(d, c, page)
	e, text, low, high := represent.NewExcerpts(in), "", 0, len(in.Text)
	n := scaled(high, room, s.At[pagevm.Full].Tokens-media)
	for range fitTries {
		rep := e.Rep(n)
		sh := g.Lowered(s, parts, rep.Text, rep.Hash, overhead(d, c.j))
		took := sh.Tokens - media
		if took <= room {
			if low = n; took > best.Tokens-media || text == "" {
				best, text = sh, rep.Text
			}
			if 100*took >= nearly*room {
				break
			}
		} else {
			high = n
		}
		next := scaled(n, (100+nearly)*room, 200*max(took, 1))
		if next >= high || next <= low {
			next = (low + high) / 2
		}
		if n = next; n <= low {
			break
		}
	}
	if text == "" {
		return false
	}
	d.Texts[best.Hash] = text
	s.At[pagevm.Compressed], s.First = best, pagevm.Compressed
	ownSize(d, s.Page)
	return true
}

func scaled(n, by, of int) int { return int(float64(n) * float64(by) / float64(max(of, 1))) }

// textOf returns the source of a page's representations.
func textOf(d *deciding, c *fitted, page *pagevm.Page) represent.EvidenceInput {
	if c.text == nil {
		in := readInput(d, d.SegmentParts(c.i, segment(d, c)), page)
		c.text = &in
	}
	return *c.text
}

func readInput(d *deciding, parts []memkernel.Part, page *pagevm.Page) represent.EvidenceInput {
	g, r := d.maker(), parts[0].Result
	if r == nil {
		return g.MessageInput(parts, page)
	}
	call := d.Calls[r.CallID]
	if call == nil {
		call = &memkernel.ToolCall{Name: r.Name}
	}
	input, _ := g.Mask.Mask(call.Input)
	in := g.Evidence(r, call.Name, input, page)
	in.Text, in.Breaks, _ = g.Joined(r.Content)
	return in
}

// grownTokens returns the size that the prompt would have if it only grew.
func grownTokens(d *deciding) int {
	p := *d.Prev.Proj
	p.Items = p.Items[:d.Align.Items]
	n := d.Fixed + d.scaledFresh()
	if d.Wishes.CarryNow {
		p.Carry = nil
		for _, b := range d.Wishes.Carry {
			n += d.Scale(b.Tokens)
		}
	}
	return n + d.Conversation(&p) + d.AnchorShift(d.Prev.Anchor, &p)
}

// carryRoom returns the room for the summary and the list of spans in a carry block.
func carryRoom(window int) int {
	return summary.Cap(window) + maxSpanLines*60 + workedTokens + RestoreRoom(window)/2
}
