package plan

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// When a message is taken, ingest.Maker.Levels chooses the level at which a new result is first
// shown, without knowing the free room. This file lowers the new items that do not fit. They are
// shown as large as there is room, in this order: in full; compressed, at whatever size fits;
// structured; as a pointer, if the model can follow one. Nothing that was sent changes without a
// cut:
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
	// leastClip is the least size of a clipped text in bytes. A text of fewer tokens is not clipped.
	leastClip = 40
	// fitTries limits the number of sizes that are tried for an excerpt.
	fitTries = 6
	// nearly is the part of the room, in percent, from which a size is good enough.
	nearly = 97
)

// fitting is the conversation, in which new items that are larger than the free room are shown
// shorter.
type fitting struct {
	// hosts is the projection's view of the messages.
	hosts []pagevm.HostMessage
	// texts are the texts of a special size, by hash. own are the pages that are shown by such a
	// text.
	texts map[string]string
	own   map[string]bool
	// pressed are the sent pages that must stay, at the lower levels at which they have to be
	// shown.
	pressed map[string]pagevm.Level
	settled branch.Settled
	yields
}

// yields is the room that the kernel's own texts have if a cut is made.
type yields struct {
	// carry is the room for the carry block without pins and files, in calibrated tokens.
	carry int
	// bare reports that the notes and the recalled memory of the open loop leave, too.
	bare bool
}

// fit shows the new items that do not fit at lower levels, as described above.
func fit(c *call, l *limits, o *opening) fitting {
	f := settle(c)
	f.yields = o.made.yields
	at := *c // the call with the settled messages
	at.Hosts = f.hosts
	over := grownOver(&at, l, o)
	if over <= 0 {
		return f
	}
	if large := largeResults(&at, l); len(large) > 0 {
		size := 0
		for i := range large {
			size += large[i].size
		}
		room := max(int(freeShare*float64(size-over)), l.Scale(at.Maker.Large))
		for i, share := range shares(large, room) {
			large[i] = lowered(&at, l, large[i], share)
		}
		f = f.with(large)
		at.Hosts = f.hosts
		over = grownOver(&at, l, o)
	}
	if over > 0 {
		f = press(&at, l, o, f, over)
	}
	return f
}

// with returns the fitting with all of these texts in the form that they have now.
func (f fitting) with(all []shortenable) fitting {
	f.hosts, f.texts, f.own = slices.Clone(f.hosts), maps.Clone(f.texts), maps.Clone(f.own)
	for i := range all {
		t := &all[i]
		f.hosts[t.i].Segments = slices.Clone(f.hosts[t.i].Segments)
		f.hosts[t.i].Segments[t.j] = t.seg
		if t.excerpt != "" {
			f.texts[t.seg.At[pagevm.Compressed].Hash] = t.excerpt
			f.own[t.seg.Page] = true
		}
	}
	return f
}

// carryShare returns the room for the carry block without pins and files: at most a quarter of
// the room for the conversation. The share is our choice.
func carryShare(c *call, l *limits) int {
	return min(l.Scale(c.carryRoom(l)), max(0, l.Hard-l.Fixed)/4)
}

// press makes the required items fit into the window. Sent items only change if a cut is needed in
// any case. If results and users' messages can't be made short enough, the carry block gives up
// half of its room. Then the model's newest message, with the inputs of its calls, and the host's
// instructions among the messages are shortened. Finally the carry block and the loop's notes and
// recalled memory are left out.
func press(c *call, l *limits, o *opening, f fitting, over int) fitting {
	blocks := loopBlocks(c, l)
	room := l.Hard - l.Fixed - o.standing - blocks
	must := mustStandTokens(c, l)
	if must <= room-f.carry {
		return f // a cut makes enough room
	}
	all := candidates(c, l, leastBroken, false)
	size, least := floors(c, l, all)
	if must-size+least > room-f.carry {
		f.carry /= 2
	}
	if must-size+least > room-f.carry {
		all = candidates(c, l, leastClip, true)
		size, least = floors(c, l, all)
		for i := range all {
			least -= all[i].least
			all[i].least = min(all[i].least, shortest(c, l, all[i]))
			least += all[i].least
		}
	}
	if spare := room - (must - size + least); spare < f.carry {
		f.carry = max(0, spare)
		if f.bare = spare < 0; f.bare {
			room += blocks
		}
	}
	share := shares(all, room-f.carry-(must-size))
	f.pressed = map[string]pagevm.Level{}
	for _, sent := range []bool{false, true} {
		if sent && over <= 0 {
			break // without a cut the new texts alone make the room
		}
		for i := range all {
			t := &all[i]
			if share[i] >= t.size || t.sent != sent {
				continue
			}
			all[i] = lowered(c, l, *t, share[i])
			over -= t.size - l.Scale(t.seg.At[t.seg.First].Tokens)
			if sent {
				f.pressed[t.seg.Page] = t.seg.First
			}
		}
	}
	return f.with(all)
}

// floors gives every text its least size. It returns the sum of the sizes, and the sum of the
// least sizes.
func floors(c *call, l *limits, all []shortenable) (size, least int) {
	for i := range all {
		all[i] = withFloor(c, l, all[i])
		size += all[i].size
		least += all[i].least
	}
	return size, least
}

// yielding returns the opening with the fitting's room for the carry block.
func (o opening) yielding(f *fitting) opening {
	o.made.yields = f.yields
	return o
}

// dropped returns the notes and recalled memory that a cut drops although they stay with an open
// loop.
func (y *yields) dropped(c *call, proj *pagevm.Projection, carry []pagevm.Block) map[string]bool {
	drop := saidBy(c, proj, carry)
	for i := range proj.Items {
		if it := &proj.Items[i]; y.bare && !it.Hosted() {
			drop[it.Page] = true
		}
	}
	return drop
}

// loopBlocks returns the size of the notes and recalled memory that stay with the open loop.
func loopBlocks(c *call, l *limits) (n int) {
	loop := map[string]bool{}
	for i := range c.Hosts {
		if c.Places[i].InLoop || c.Places[i].Opener {
			loop[c.Hosts[i].Key] = true
		}
	}
	for i := range c.Prev.Proj.Items[:c.Align.Items] {
		if it := &c.Prev.Proj.Items[i]; loop[it.Key] && !it.Hosted() {
			n += l.Scale(it.Tokens)
		}
	}
	return n
}

// shortenable is a text that may be shown shorter: segment j of message i.
type shortenable struct {
	i, j int
	sent bool
	seg  pagevm.Segment
	// size is the text's size as it would be shown. least is the size of its lowest level, 0 if
	// that is not known yet. Both are in calibrated tokens.
	size, least int
	// excerpt is the text of a special size by which the segment is shown, "" if there is none.
	excerpt string
}

// parts returns the parts of the message that hold the text.
func (t *shortenable) parts(c *call) []memkernel.Part { return c.SegmentParts(t.i, &t.seg) }

// shares divides room among items, and returns the share of each in calibrated tokens. An item
// that needs less than an equal share gets the room that it needs, and all others get equal shares
// of the rest. An item that can't be shown in its share gets its least size.
func shares(all []shortenable, room int) []int {
	low, high := 0, 0
	for i := range all {
		high = max(high, all[i].size)
	}
	out := make([]int, len(all))
	at := func(level int) (n int) {
		for i := range all {
			out[i] = max(min(level, all[i].size), min(all[i].least, all[i].size))
			n += out[i]
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
	return out
}

// largeResults returns the new results that count as large.
func largeResults(c *call, l *limits) []shortenable {
	return slices.DeleteFunc(candidates(c, l, c.Maker.Large+1, false), func(t shortenable) bool {
		return t.sent || t.seg.Kind != pagevm.ItemResult
	})
}

// candidates returns the texts that every cut keeps, that may be shown shorter, and that have at
// least least tokens. With own they include the model's own messages and the host's instructions.
func candidates(c *call, l *limits, least int, own bool) (out []shortenable) {
	for i := range c.Hosts {
		if !c.mustStand(i) {
			continue
		}
		for j := range c.Hosts[i].Segments {
			s := &c.Hosts[i].Segments[j]
			parts := c.SegmentParts(i, s)
			if s.Committed && s.At[s.First].Tokens-c.Maker.MediaTokens(parts) >= least && (breakable(c.Msgs[i].Role, parts) || own && !c.Hosts[i].Held && clippable(c.Msgs[i].Role, parts)) {
				out = append(out, shortenable{i: i, j: j, sent: i < c.Align.At, seg: *s, size: l.Scale(s.At[s.First].Tokens)})
			}
		}
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

// withFloor returns a text with its least size. A message gets its levels here, if it has none yet.
func withFloor(c *call, l *limits, t shortenable) shortenable {
	parts := t.parts(c)
	if c.Msgs[t.i].Role == memkernel.RoleAssistant {
		t.least = t.size // the model's messages have no levels
		return t
	}
	if page := c.Page(t.seg.Page); page != nil && t.seg.Kind == pagevm.ItemHost && t.seg.Lowest(true) == pagevm.Full {
		m, s := &c.Msgs[t.i], &t.seg
		leveled := *page
		leveled.Reps = slices.Concat(page.Reps, represent.Message(sourceOf(c, parts, page)))
		leveled.Resolver = c.Request.Resolver
		c.Maker.Out.Replace(&leveled, func() string { return c.Maker.RunText(m, s.Part, s.Part+s.Parts) })
		c.Maker.Levels(&t.seg, &leveled, parts, c.overhead(t.j))
	}
	t.least = min(t.size, l.Scale(c.Maker.MediaTokens(parts)+leastExcerpt))
	for level := pagevm.Floor(t.seg.Type, c.Request.Resolver != ""); level <= t.seg.First; level++ {
		if t.seg.At[level].Hash != "" {
			t.least = min(t.least, l.Scale(t.seg.At[level].Tokens))
		}
	}
	return t
}

// shortest returns the size of a text's shortest excerpt.
func shortest(c *call, l *limits, t shortenable) int {
	page := c.Page(t.seg.Page)
	if page == nil {
		return t.size
	}
	excerpt, _ := excerpts(c, t.parts(c), page, c.Msgs[t.i].Role)
	text, hash := excerpt(0)
	return l.Scale(c.Maker.Lowered(&t.seg, t.parts(c), text, hash, c.overhead(t.j)).Tokens)
}

// overhead returns the framing tokens of a segment. Only the first segment of a message has them.
func (c *call) overhead(segment int) int {
	if segment > 0 {
		return 0
	}
	return c.Maker.Count.PerMessage
}

// lowered returns a text at the highest level that fits its share. If even the lowest level is too
// large, only a few lines are shown. A text that fits is returned as it is.
func lowered(c *call, l *limits, t shortenable, share int) shortenable {
	if share >= t.size {
		return t
	}
	at := &t.seg.At
	if t.seg.First >= pagevm.Compressed && l.unscale(share) >= max(2*at[pagevm.Structured].Tokens, 2*leastExcerpt) {
		if short, ok := excerpted(c, l, t, share); ok {
			return short
		}
	}
	lowest := t.seg.First
	for level := min(t.seg.First, pagevm.Compressed); level >= pagevm.Floor(t.seg.Type, c.Request.Resolver != ""); level-- {
		if s := at[level]; s.Hash != "" && s.Tokens < at[lowest].Tokens {
			lowest = level
		}
		if l.Scale(at[lowest].Tokens) <= share {
			break
		}
	}
	if l.Scale(at[lowest].Tokens) > share {
		if short, ok := excerpted(c, l, t, share); ok {
			return short
		}
	}
	t.seg.First = lowest
	return t
}

// clippable reports whether a message of the model or of the host's own instructions may be
// shortened, because it holds words or inputs of the host's tools.
func clippable(role memkernel.Role, parts []memkernel.Part) bool {
	return role == memkernel.RoleAssistant && slices.ContainsFunc(parts, ingest.Clippable) || ingest.SystemRole(role) && len(ingest.TextRuns(parts)) > 0
}

// excerpted returns a text shown by the largest compressed form that fits its share. It returns
// false if no form fits.
func excerpted(c *call, l *limits, t shortenable, share int) (shortenable, bool) {
	parts := t.parts(c)
	page := c.Page(t.seg.Page)
	media := c.Maker.MediaTokens(parts)
	room := l.unscale(share) - media
	if page == nil || room <= 0 {
		return t, false
	}
	excerpt, size := excerpts(c, parts, page, c.Msgs[t.i].Role)
	try := func(n int) (shortenable, int) {
		text, hash := excerpt(n)
		sh := c.Maker.Lowered(&t.seg, parts, text, hash, c.overhead(t.j))
		short := t
		short.seg, short.excerpt = withSpecial(t.seg, pagevm.Compressed, sh), text
		short.seg.First = pagevm.Compressed
		return short, sh.Tokens - media
	}
	best, took := largestWithin(room, scaled(size, room, t.seg.At[pagevm.Full].Tokens-media), size, try)
	if best.excerpt == "" {
		best, took = try(0)
	}
	if best.excerpt == "" || took > room {
		return t, false
	}
	return best, true
}

// withSpecial returns a segment with a text of a special size at a level. It removes the lower
// levels that are not smaller.
func withSpecial(s pagevm.Segment, level pagevm.Level, text pagevm.Shown) pagevm.Segment {
	for lower := range level {
		if s.At[lower].Tokens >= text.Tokens {
			s.At[lower] = pagevm.Shown{}
		}
	}
	s.At[level] = text
	return s
}

// excerpts returns a function that makes a text of about n bytes out of parts, with its hash, and
// the size of the whole text. With an n of 0 the text is as short as possible. A message of the model keeps all its parts, each clipped.
func excerpts(c *call, parts []memkernel.Part, page *pagevm.Page, role memkernel.Role) (make func(n int) (text, hash string), size int) {
	if role == memkernel.RoleAssistant {
		return func(n int) (string, string) {
			text := ingest.Clipped(parts, max(n/len(parts), leastClip), c.Maker.Mask.Text)
			return text, ingest.Hash(text)
		}, len(parts) * int(page.Bytes)
	}
	in := sourceOf(c, parts, page)
	e := represent.NewExcerpts(in)
	return func(n int) (string, string) {
		if n == 0 {
			text := ingest.Clip(in.Text, leastClip)
			return text, ingest.Hash(text)
		}
		rep := e.Rep(n)
		return rep.Text, rep.Hash
	}, len(in.Text)
}

// largestWithin returns the largest excerpt of at most room tokens that it finds, and the excerpt's
// tokens. The function try makes an excerpt of n bytes. largestWithin begins with n bytes, and
// tries at most high bytes.
func largestWithin[T any](room, n, high int, try func(n int) (T, int)) (best T, tokens int) {
	low := 0
	for range fitTries {
		excerpt, took := try(n)
		if took <= room && took > tokens {
			best, tokens = excerpt, took
		}
		switch {
		case took > room:
			high = n
		case 100*took >= nearly*room:
			return best, tokens
		default:
			low = n
		}
		next := scaled(n, (100+nearly)*room, 200*max(took, 1))
		if next >= high || next <= low {
			next = (low + high) / 2
		}
		if n = next; n <= low {
			break
		}
	}
	return best, tokens
}

func scaled(n, by, of int) int { return int(float64(n) * float64(by) / float64(max(of, 1))) }

// sourceOf returns the source of a page's representations.
func sourceOf(c *call, parts []memkernel.Part, page *pagevm.Page) represent.EvidenceInput {
	r := parts[0].Result
	if r == nil {
		return c.Maker.MessageInput(parts, page)
	}
	call := c.Maker.Calls[r.CallID]
	if call == nil {
		call = &toolcall.Call{Name: r.Name}
	}
	input, _ := c.Maker.Mask.Mask(call.Input)
	in := c.Maker.Evidence(r, call.Name, input, page)
	in.Text, in.Breaks, _ = c.Maker.Joined(r.Content)
	return in
}

// grownOver returns by how many tokens the prompt would be too large if it only grew.
func grownOver(c *call, l *limits, o *opening) int {
	p := *c.Prev.Proj
	p.Items = p.Items[:c.Align.Items]
	n := 0
	for _, s := range c.segments(c.Align.At) {
		n += l.Scale(s.At[s.First].Tokens)
	}
	if o.now {
		p.Carry = nil
		for i := range o.made.blocks {
			n += l.Scale(o.made.blocks[i].Tokens)
		}
	}
	return n - l.room(&p)
}
