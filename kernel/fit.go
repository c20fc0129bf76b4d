package kernel

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/summary"
)

// What is new and does not fit is shown as large as there is room, in this order: in
// full; compressed, at whatever size fits; structured; as a pointer, if the model can
// follow one. Nothing that was sent changes off a cut:
//
//	a large result   takes what is free, so that no cut is needed; at least the size
//	                 that counts as large, for which a cut makes room
//	what must stand  is larger than the window by itself: results and users' messages
//	                 share what is left of it, also those that were sent, which a
//	                 forced cut shows shorter
//
// A text of its own size is kept with the kernel's own texts, by hash, and is what the
// item shows until a cut. From the time that the model has answered, the page has its
// ordinary levels again.

const (
	// freeShare is how much of the free room large results take: the rest is for the
	// model's next steps, which would else begin with a cut.
	freeShare = 0.9
	// leastExcerpt is the least that is left of a text however little room there is,
	// leastBroken the size below which it is not worth breaking, in tokens.
	leastExcerpt = 120
	leastBroken  = 200
	// fitTries bounds the sizes that are tried for a share, nearly is how much of it, in
	// percent, is enough.
	fitTries = 6
	nearly   = 97
)

// fitNewest lowers what does not fit, see above.
func (w *work) fitNewest() {
	w.settle()
	over := w.uncut() - w.hard
	if over <= 0 {
		return
	}
	w.Hosts = append([]pagevm.HostMessage(nil), w.Hosts...) // earlier lines share them
	if large := w.largeResults(); len(large) > 0 {
		now := int(freeShare * float64(sum(large)-over))
		w.share(large, max(now, w.scale(w.ingester().Large)))
		over = w.uncut() - w.hard
	}
	if over > 0 {
		w.press(over)
	}
}

// press makes what must stand fit into the window. What was sent only changes if that
// takes a cut in any case.
func (w *work) press(over int) {
	room := w.hard - w.fixed - w.standing - w.scale(carryRoom(w.window)) - w.loopBlocks()
	must := w.newestTokens()
	if must <= room {
		return // a cut makes room
	}
	all := w.candidates(leastBroken)
	fresh := slices.DeleteFunc(slices.Clone(all), func(c *fitted) bool { return c.sent })
	w.floors(all)
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
			w.lower(c)
		}
		if c.sent && c.share < c.size {
			w.pressed = withLevel(w.pressed, w.segment(c).Page, w.segment(c).First)
		}
	}
}

// loopBlocks is what notes and recalled memory take that stay with the open loop.
func (w *work) loopBlocks() (n int) {
	loop := map[string]bool{}
	for i := range w.Hosts {
		if w.places[i].InLoop || w.places[i].Opener {
			loop[w.Hosts[i].Key] = true
		}
	}
	for i := range w.prev.Proj.Items[:w.align.Items] {
		if it := &w.prev.Proj.Items[i]; loop[it.Key] && (it.Kind == pagevm.ItemNote || it.Kind == pagevm.ItemRetrieval) {
			n += w.scale(it.Tokens)
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

// fitted is a text that may be shown shorter: a segment, and whether it was sent.
type fitted struct {
	i, j int
	sent bool
	// size is what it takes as it would stand, least what its lowest level takes, share
	// what it may take. Calibrated tokens.
	size, least, share int
	text               *represent.EvidenceInput // what representations are made of, once it is wanted
}

func sum(all []*fitted) (n int) {
	for _, c := range all {
		n += c.size
	}
	return n
}

// shares divides room: all have as much as they need, or as much as the others that
// need more. What can't do with so little has its least.
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

// share lowers some new texts to so much room together.
func (w *work) share(all []*fitted, room int) {
	shares(all, room)
	for _, c := range all {
		if c.share < c.size {
			w.lower(c)
		}
	}
}

// largeResults are the new results that count as large.
func (w *work) largeResults() []*fitted {
	large := w.ingester().Large
	return slices.DeleteFunc(w.candidates(large+1), func(c *fitted) bool {
		return c.sent || w.segment(c).Kind != pagevm.ItemResult
	})
}

// candidates are the texts of at least so many tokens that must stand whatever is
// cut and may be shown shorter. Their messages are copied.
func (w *work) candidates(least int) []*fitted {
	var out []*fitted
	g := w.ingester()
	for i := range w.Hosts {
		if !w.mustStand(i) {
			continue
		}
		for j := range w.Hosts[i].Segments {
			s := &w.Hosts[i].Segments[j]
			parts := w.segmentParts(i, s)
			if !s.Committed || s.At[s.First].Tokens-g.MediaTokens(parts) < least || !breakable(w.Msgs[i].Role, parts) {
				continue
			}
			out = append(out, &fitted{i: i, j: j, sent: i < w.align.At, size: w.scale(s.At[s.First].Tokens)})
		}
		w.Hosts[i].Segments = append([]pagevm.Segment(nil), w.Hosts[i].Segments...)
	}
	return out
}

// breakable tells what may be shown shorter: the text of results, and of users'
// messages.
func breakable(role memkernel.Role, parts []memkernel.Part) bool {
	if r := parts[0].Result; r != nil {
		return !r.Opaque && !r.Synthetic && len(ingest.TextRuns(r.Content)) > 0
	}
	return role == memkernel.RoleUser && len(ingest.TextRuns(parts)) > 0 &&
		!slices.ContainsFunc(parts, func(p memkernel.Part) bool { return p.Call != nil || ingest.Thinking(&p) })
}

// mustStand tells whether a message stands whatever is cut: it is not closed, opened
// the loop, or is the newest.
func (w *work) mustStand(i int) bool {
	return !w.places[i].Closed || w.places[i].Opener || i == len(w.Hosts)-1
}

func (w *work) segment(c *fitted) *pagevm.Segment { return &w.Hosts[c.i].Segments[c.j] }

func (w *work) segmentParts(i int, s *pagevm.Segment) []memkernel.Part {
	return w.Msgs[i].Parts[s.Part : s.Part+s.Parts]
}

// floors fills in the least that texts take. Messages get their levels now.
func (w *work) floors(all []*fitted) {
	for _, c := range all {
		s := w.segment(c)
		if s.Kind == pagevm.ItemHost && s.Lowest(true) == pagevm.Full {
			w.representMessage(c)
		}
		media := w.ingester().MediaTokens(w.segmentParts(c.i, s))
		c.least = min(c.size, w.scale(media+leastExcerpt))
		for l := pagevm.Floor(s.Type, w.req.Resolver != ""); l <= s.First; l++ {
			if s.At[l].Hash != "" {
				c.least = min(c.least, w.scale(s.At[l].Tokens))
			}
		}
	}
}

// representMessage gives a message's page its levels, and captures it with them.
func (w *work) representMessage(c *fitted) {
	s, m, g := w.segment(c), &w.Msgs[c.i], w.ingester()
	parts := w.segmentParts(c.i, s)
	page := w.page(s.Page)
	if page == nil {
		return
	}
	leveled := *page
	leveled.Reps = slices.Concat(page.Reps, represent.Message(w.input(c, page), w.Represent))
	leveled.Resolver = w.req.Resolver
	w.Out.Replace(&leveled, func() string { return g.RunText(m, s.Part, s.Part+s.Parts) })
	g.Levels(s, &leveled, parts, w.overhead(c.j))
}

// overhead is the framing that the first segment of a message bears.
func (w *work) overhead(j int) int {
	if j > 0 {
		return 0
	}
	return w.Count.Overheads.PerMessage
}

// lower takes a text down to the highest level that its share allows. A text for which
// even the lowest is too much is shown by a few lines.
func (w *work) lower(c *fitted) {
	s := w.segment(c)
	own := w.foreign(s) && w.scale(s.At[pagevm.Compressed].Tokens) <= c.share
	if !own && s.First >= pagevm.Compressed && w.unscale(c.share) >= max(2*s.At[pagevm.Structured].Tokens, 2*leastExcerpt) && w.excerpt(c) {
		return
	}
	lowest := s.First
	for l := min(s.First, pagevm.Compressed); l >= pagevm.Floor(s.Type, w.req.Resolver != ""); l-- {
		if t := s.At[l]; t.Hash != "" && t.Tokens < s.At[lowest].Tokens {
			lowest = l
		}
		if w.scale(s.At[lowest].Tokens) <= c.share {
			break
		}
	}
	if w.scale(s.At[lowest].Tokens) > c.share && w.excerpt(c) {
		return
	}
	s.First = lowest
}

// foreign tells whether a host's own compressor made the compressed level.
func (w *work) foreign(s *pagevm.Segment) bool {
	page := w.page(s.Page)
	return page != nil && s.At[pagevm.Compressed].Hash != "" &&
		slices.ContainsFunc(page.Reps, func(r pagevm.Rep) bool { return r.Hash == s.At[pagevm.Compressed].Hash && r.Maker != "" })
}

// excerpt shows a text by the largest compressed form that its share allows, false if
// it allows none.
func (w *work) excerpt(c *fitted) bool {
	s, g := w.segment(c), w.ingester()
	parts := w.segmentParts(c.i, s)
	page := w.page(s.Page)
	if page == nil {
		return false
	}
	var best pagevm.Shown
	room := w.unscale(c.share)
	media := g.MediaTokens(parts)
	if room -= media; room <= 0 {
		return false
	}
	in := w.input(c, page)
	e, text, low, high := represent.NewExcerpts(in), "", 0, len(in.Text)
	n := scaled(high, room, s.At[pagevm.Full].Tokens-media)
	for range fitTries {
		rep := e.Rep(n)
		sh := g.Lowered(s, parts, rep.Text, rep.Hash, w.overhead(c.j))
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
	w.texts[best.Hash] = text
	s.At[pagevm.Compressed], s.First = best, pagevm.Compressed
	w.ownSize(s.Page)
	return true
}

func scaled(n, by, of int) int { return int(float64(n) * float64(by) / float64(max(of, 1))) }

// input is what the representations of a page are made of.
func (w *work) input(c *fitted, page *pagevm.Page) represent.EvidenceInput {
	if c.text == nil {
		in := w.readInput(w.segmentParts(c.i, w.segment(c)), page)
		c.text = &in
	}
	return *c.text
}

func (w *work) readInput(parts []memkernel.Part, page *pagevm.Page) represent.EvidenceInput {
	g, r := w.ingester(), parts[0].Result
	if r == nil {
		return g.MessageInput(parts, page)
	}
	call := w.Calls[r.CallID]
	if call == nil {
		call = &memkernel.ToolCall{Name: r.Name}
	}
	input, _ := g.Mask.Mask(call.Input)
	in := g.Evidence(r, call.Name, input, page)
	in.Text, in.Breaks, _ = g.Joined(r.Content)
	return in
}

// uncut is what the prompt would take if it only grew.
func (w *work) uncut() int {
	p := *w.prev.Proj
	p.Items = p.Items[:w.align.Items]
	n := w.fixed + w.scaledFresh()
	if w.wishes.CarryNow {
		p.Carry = nil
		for _, b := range w.wishes.Carry {
			n += w.scale(b.Tokens)
		}
	}
	return n + w.conversation(&p) + w.anchorShift(&p)
}

// scaledFresh is what the messages that were not sent yet would add.
func (w *work) scaledFresh() (n int) {
	for i := w.align.At; i < len(w.Hosts); i++ {
		n += w.scaledHost(i)
	}
	return n
}

// newestTokens is what must stand whatever is cut: the atoms that are not closed
// and the opener of the loop. Calibrated.
func (w *work) newestTokens() (n int) {
	for i := range w.Hosts {
		if w.mustStand(i) {
			n += w.scaledHost(i)
		}
	}
	return n
}

// newestItems are what must stand, as items.
func (w *work) newestItems() (items []pagevm.Item) {
	for i := range w.Hosts {
		for j := range w.Hosts[i].Segments {
			if s := &w.Hosts[i].Segments[j]; w.mustStand(i) {
				items = append(items, pagevm.Item{Kind: s.Kind, Page: s.Page, Tokens: s.At[s.First].Tokens})
			}
		}
	}
	return items
}

func (w *work) scaledHost(i int) (n int) {
	for j := range w.Hosts[i].Segments {
		s := &w.Hosts[i].Segments[j]
		n += w.scale(s.At[s.First].Tokens)
	}
	return n
}

// carryRoom is room for the summary and the list of spans in a carry block.
func carryRoom(window int) int {
	return summary.Cap(window) + maxSpanLines*60 + restoreRoom(window, 0)/2
}
